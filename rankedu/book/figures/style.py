"""One look for every figure: colour-blind safe, legible at 600 pixels, described in words.

A figure function makes its figure with :func:`figure`, says with :func:`describe` what a reader who cannot see it
should know, and returns it. Nothing here touches pyplot's global state, so no figure leaks.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Okabe and Ito's palette, which readers with any common colour vision can tell apart.
BLUE, ORANGE, GREEN, RED, SKY, PURPLE, YELLOW, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#F0E442",
    "#222222",
)
GREY = "#8A8A8A"
#: Relevant and irrelevant items look the same in the whole book. (They differ in marker and hatch too.)
POSITIVE, NEGATIVE = BLUE, RED
#: Sequential map of the landscapes: monotone in lightness, so it survives greyscale printing.
LANDSCAPE = "viridis"

DPI = 100
_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "legend.fontsize": 11,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK]),
    "lines.linewidth": 2.0,
    "image.cmap": LANDSCAPE,
    "figure.facecolor": "white",
    "svg.hashsalt": "rankedu",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the book's style to what is drawn inside the block."""
    with mpl.rc_context(_RC):
        yield


def figure(
    rows: int = 1, columns: int = 1, *, width: float = 6.4, height: float = 4.0, **options: Any
) -> tuple[Figure, Any]:
    """Make a figure in the book's style.

    Parameters
    ----------
    rows, columns : int
        Grid of axes.
    width, height : float
        Inches; at 100 dots an inch the default is 640 × 400 pixels.
    **options
        Passed to :meth:`matplotlib.figure.Figure.subplots`.

    Returns
    -------
    Figure, Axes or array of Axes
    """
    with style():
        made = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
        FigureCanvasAgg(made)
        axes = made.subplots(rows, columns, **options)
    return made, axes


def describe(made: Figure, text: str) -> Figure:
    """Attach the alternative text: what a reader who cannot see the figure should know. Returns the figure."""
    made.set_label(" ".join(text.split()))
    return made


def description(made: Figure) -> str:
    """The alternative text of a figure; empty if :func:`describe` was never called."""
    return str(made.get_label() or "")


def png(made: Figure, dpi: int = DPI) -> bytes:
    """The figure as PNG bytes, the same bytes at every call with the same matplotlib."""
    buffer = io.BytesIO()
    with style():
        made.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def svg(made: Figure) -> bytes:
    """The figure as SVG bytes, without a date."""
    buffer = io.BytesIO()
    with style():
        made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def webp(made: Figure, dpi: int = DPI) -> bytes:
    """The figure as lossless WebP bytes: a third of the PNG's size, for the frames of the static book."""
    from PIL import Image

    with style():
        made.set_dpi(dpi)
        canvas = made.canvas
        assert isinstance(canvas, FigureCanvasAgg)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, format="WEBP", lossless=True, quality=60, method=4)
    return buffer.getvalue()
