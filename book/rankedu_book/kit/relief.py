"""Landscapes as solid blocks: the book's section of score space, seen by a viewer from the front and above."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from matplotlib import colormaps
from torch import Tensor

from rankedu.rankers import BlackboxRanker
from rankedu_book.kit import style
from rankedu_book.kit.landscapes import (
    Section,
    interpolated_landscape,
    random_coefficients,
    random_section,
    rank_landscape,
)
from rankedu_book.kit.ranks import Array

STEEL = (0.80, 0.81, 0.84)
#: The random but fixed section of the book's landscapes.
SEED, EXTENT = 3, 1.2
#: From which corner the landscapes are seen: degrees around the vertical, and above the horizon.
TURN, ELEVATION = 30.0, 38.0


class View(NamedTuple):
    """The book's section as a viewer sees it."""

    section: Section  # its u runs to the right, its v into the depth
    coefficients: Array  # of the loss c·rk(y)
    inside: npt.NDArray[np.bool_]  # which of its points lie in the square
    staircase: Array  # the loss itself

    def ends(self, height: Array) -> tuple[float, float]:
        """The least and the largest height in the square."""
        return float(height[self.inside].min()), float(height[self.inside].max())


def view(size: int = 520, *, seed: int = SEED, extent: float = EXTENT) -> View:
    """Turn the section towards the viewer; ``size`` points along each side."""
    cosine, sine = np.cos(np.deg2rad(TURN)), np.sin(np.deg2rad(TURN))
    flat, coefficients = random_section(seed=seed, extent=extent), random_coefficients(seed=seed)
    u, v = cosine * flat.u - sine * flat.v, sine * flat.u + cosine * flat.v
    section = Section(flat.origin, u, v, flat.extent * (abs(cosine) + abs(sine)), size)
    across, depth = np.meshgrid(*section.axes())
    a, b = cosine * across + sine * depth, -sine * across + cosine * depth
    inside = np.asarray(np.maximum(np.abs(a), np.abs(b)) <= extent)
    return View(section, coefficients, inside, rank_landscape(section, coefficients))


@torch.no_grad()
def surface(seen: View, ranker: Callable[[Tensor], Tensor]) -> Array:
    """The loss c·rk(y) over the section with the ranks of a ranker; of a blackbox ranker its interpolation."""
    if isinstance(ranker, BlackboxRanker):
        return interpolated_landscape(seen.section, seen.coefficients, ranker.lam)
    rows = (torch.from_numpy(row.copy()) for row in seen.section.points())
    return np.stack([seen.coefficients @ ranker(row).numpy().T for row in rows])


def draw_blocks(axes: Sequence[Any], seen: View, heights: Sequence[Array], titles: Sequence[str]) -> None:
    """Draw height fields as blocks, all on the vertical scale of the staircase; the staircase itself with its walls."""
    span, blocks = np.subtract(*seen.ends(seen.staircase)[::-1]), []
    for height in heights:
        bottom = (sum(seen.ends(height)) - span) / 2
        stepped = height is seen.staircase
        blocks.append(relief((height - bottom) / span, seen.inside, seen.section.extent, stepped=stepped))
    painted = np.flatnonzero((np.stack(blocks) < 1).any(axis=(0, 2, 3)))
    for axis, title, block in zip(axes, titles, blocks, strict=True):
        axis.imshow(block[painted[0] : painted[-1] + 1])
        axis.set_axis_off()
        axis.set_title(title)


def relief(levels: Array, inside: npt.NDArray[np.bool_], extent: float, *, stepped: bool) -> Array:
    """Paint a height field as a solid block, seen along the columns from above: exact treads and risers, no mesh.

    ``levels`` are heights in [0, 1], its rows run from the front to the back. A pixel shows the nearest row that rises
    as high as its line of sight. Returns an RGB image.
    """
    n = len(levels)
    columns, step = np.arange(n), 2 * extent / (n - 1)
    sine, cosine = np.sin(np.deg2rad(ELEVATION)), np.cos(np.deg2rad(ELEVATION))
    tall = 0.62 * extent
    floor = -0.12 * tall
    depth = np.linspace(-extent, extent, n)[:, None]
    top = np.where(inside, depth * sine + levels * tall * cosine, -np.inf)
    front = inside.argmax(axis=0)
    foot = depth[front, 0] * sine + floor * cosine
    lines = np.arange(floor * cosine - extent * sine, tall * cosine + extent * sine, step)
    skyline = np.maximum.accumulate(top, axis=0)
    row = np.stack([np.searchsorted(skyline[:, i], lines) for i in columns], axis=1)
    seen = (row < n) & (lines[:, None] >= foot) & inside.any(0)
    row = np.minimum(row, n - 1)
    below = (top[row, columns] - lines[:, None]) / cosine  # how far under the edge of the tread the line of sight hits
    riser = below > 1.01 * step * sine / cosine
    colours = colormaps[style.LANDSCAPE]
    if stepped:
        image = colours(levels[row, columns] - np.where(riser, below, 0) / tall)[..., :3]
        image *= np.where(riser, 0.62, 1.0)[..., None]
    else:
        image = np.clip(colours(levels)[..., :3] * _light(levels * tall, step)[..., None], 0, 1)[row, columns]
    image = np.where((riser & (row == front))[..., None], STEEL, image)
    return np.asarray(np.where(seen[..., None], image, 1.0)[::-1])


def _light(height: Array, step: float) -> Array:
    """Brightness of a smooth surface under a lamp at the front left; 1 where it is level."""
    along, across = np.gradient(height, step)
    lamp = np.array([-0.55, -0.25, 0.8])
    length = np.sqrt(along**2 + across**2 + 1)
    facing = (-across * lamp[0] - along * lamp[1] + lamp[2]) / length / lamp[2]
    return np.asarray(0.4 + 0.6 * np.clip(facing, 0, 1.5))
