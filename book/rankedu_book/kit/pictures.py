"""Rows of retrieved pictures, each in a frame that says what it is by colour, by line and by a sign."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from rankedu_book.kit import style
from rankedu_lab.datasets.transforms import IMAGENET_MEAN, IMAGENET_SD

#: Share of its cell that a picture fills.
FILLED = 0.86
#: Pictures are brought to so many pixels: more are not seen in a figure of 700.
SIDE = 64


@dataclass(frozen=True)
class Mark:
    """How a kind of result is framed, and the sign that says the same without colour."""

    colour: str
    line: Literal["-", "--", "-.", ":"]
    sign: str


RELEVANT, IRRELEVANT = Mark(style.POSITIVE, "-", "✓"), Mark(style.NEGATIVE, "--", "✗")
QUERY = Mark(style.BLACK, "-", "")
#: Frames of the levels between the two: each colour with its line.
BETWEEN: dict[str, Literal["-", "--", "-.", ":"]] = {style.SKY: "-.", style.ORANGE: "--", style.PURPLE: ":"}


def marks_of(n_levels: int) -> tuple[Mark, ...]:
    """A mark for each level, from 0, nothing in common, to L, the class of the query; signs count shared levels."""
    looks = list(BETWEEN.items())[n_levels == 2 :]  # with one level between, it is orange, as in HAPPIER's figure
    between = [Mark(*looks[(n_levels - 1 - level) % len(looks)], str(level)) for level in range(1, n_levels)]
    return (IRRELEVANT, *between, RELEVANT)


def picture(images: Any, index: int) -> npt.NDArray[np.uint8]:
    """A picture as pixels, shape (S, S, 3): ink on paper for one channel, colours for three."""
    image = torch.as_tensor(images.load(index) if hasattr(images, "load") else images[index]).detach().cpu()
    image = image.float() / 255 if image.dtype == torch.uint8 else image.float()
    if image.ndim == 2:
        image = image[None]
    if image.ndim != 3 or len(image) not in (1, 3):
        raise ValueError(f"images must be (N, H, W), (N, 1, H, W) or (N, 3, H, W), got one of {tuple(image.shape)}")
    if len(image) == 1:
        image = (1 - image).expand(3, -1, -1)
    elif image.min() < 0:
        image = image * torch.tensor(IMAGENET_SD)[:, None, None] + torch.tensor(IMAGENET_MEAN)[:, None, None]
    if image.shape[1:] != (SIDE, SIDE):
        larger = min(image.shape[1:]) > SIDE
        image = torch.nn.functional.interpolate(image[None], (SIDE, SIDE), mode="area" if larger else "bilinear")[0]
    return np.asarray((255 * image.clamp(0, 1)).round().byte().permute(1, 2, 0).contiguous().numpy())


def draw_row(
    axes: Axes,
    images: Any,
    indices: Sequence[int] | Tensor,
    marks: Sequence[Mark],
    *,
    x: float = 0.0,
    y: float = 0.0,
    signs: str = "below",
) -> None:
    """Draw pictures from left to right in cells of size 1, the first with its lower left corner at (x, y)."""
    cell = round(SIDE / FILLED)
    sheet = np.full((SIDE, cell * len(indices), 3), 255, dtype=np.uint8)
    for place, index in enumerate(map(int, indices)):
        sheet[:, place * cell : place * cell + SIDE] = picture(images, index)
    axes.imshow(sheet, extent=(x, x + len(indices), y, y + FILLED), zorder=2)
    for place, mark in enumerate(marks):
        left = x + place
        look: dict[str, Any] = {"edgecolor": mark.colour, "linestyle": mark.line, "fill": False, "zorder": 3}
        axes.add_patch(Rectangle((left, y), FILLED, FILLED, linewidth=2.4 if signs == "below" else 1.8, **look))
        if signs == "below":
            colour = mark.colour if mark in (RELEVANT, IRRELEVANT) else style.BLACK  # pale digits are not legible
            axes.text(left + FILLED / 2, y - 0.05, mark.sign, color=colour, ha="center", va="top", weight="bold")
    if signs == "inside":
        wrong = [x + place + FILLED - 0.13 for place, mark in enumerate(marks) if mark is IRRELEVANT]
        for width, colour in ((4.5, "white"), (2.0, IRRELEVANT.colour)):
            axes.plot(wrong, [y + 0.13] * len(wrong), "x", color=colour, markersize=6, markeredgewidth=width, zorder=4)


def draw_query(axes: Axes, images: Any, query: int, title: str, y: float) -> None:
    """Draw the picture of a query at the left, and its title below."""
    draw_row(axes, images, [query], [QUERY], x=0.3, y=y)
    axes.text(0.3 + FILLED / 2, y - 0.1, textwrap.fill(title, 9), ha="center", va="top")


def draw_list(axes: Axes, images: Any, items: Tensor, marks: Sequence[Mark], text: str, x: float, y: float) -> None:
    """Draw the pictures that are retrieved first, below a text."""
    draw_row(axes, images, items[: len(marks)], marks, x=x, y=y)
    axes.text(x, y + 0.93, text, va="bottom")


def bare(axes: Axes, width: float, low: float, high: float) -> None:
    """Show nothing but pictures, on equal scales."""
    style.bare(axes, xlim=(-0.06, width), ylim=(low, high), aspect="equal")
