"""One look for every figure: colour-blind safe, legible at 600 pixels, described in words."""

import io
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.text import Text
from matplotlib.ticker import NullLocator
from PIL import Image

#: The hues, by day on white and by night on dark. Any two are told apart with the three common deficiencies of colour
#: vision, too. Amber and sky are for marks; as words they would be too pale on white.
HUES = {
    "blue": ("#1753c7", "#5f99f5"),
    "red": ("#9f3805", "#f7793a"),
    "green": ("#095632", "#18c276"),
    "purple": ("#7e1066", "#c486cb"),
    "amber": ("#b87c05", "#f9b721"),
    "sky": ("#3693b2", "#8eddff"),
    "ink": ("#222222", "#e6e6e6"),
    "grey": ("#757575", "#9aa4ae"),
}
BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY = (day for day, _ in HUES.values())
YELLOW = "#F0E442"  # of areas that have an edge
#: What a colour means, in every figure; relevant and irrelevant items also by :func:`mark` and :func:`area`.
ROLES = {
    "positive": "blue",
    "between": "amber",  # an item of a level between relevant and irrelevant
    "negative": "red",
    "gradient": "purple",
    "ahead": "green",  # y + λc, and what is interpolated with it
    "margin": "sky",
    "blackbox": "green",
    "sigmoid": "amber",
    "histogram": "sky",
    "projection": "purple",
    "supremum": "blue",
}
POSITIVE, NEGATIVE, GRADIENT, AHEAD = (HUES[ROLES[role]][0] for role in ("positive", "negative", "gradient", "ahead"))
#: Sequential map of the landscapes: monotone in lightness, so it survives greyscale printing.
LANDSCAPE = "viridis"

DPI = 100
#: The size of all text in points, and the greatest width of a figure in inches. On a phone that is 360 pixels wide, the
#: text is then at least 11 pixels high.
SIZE, WIDEST = 15.5, 6.4
#: The letters of the site, and for signs that they lack those of matplotlib.
FONTS = ["Book Sans", "DejaVu Sans"]
for _file in sorted((Path(__file__).parent / "fonts").glob("*.ttf")):
    fontManager.addfont(_file)
# All that is drawn where this is imported has the look: a light grid, no box, and a title at the left.
_LOOK: dict[Any, Any] = (
    {f"{part}size": SIZE for part in ("font.", "axes.title", "axes.label", "figure.label", "figure.title")}
    | {f"{part}size": SIZE for part in ("xtick.label", "ytick.label", "legend.font")}
    | {"font.family": FONTS, "mathtext.fontset": "stix", "legend.frameon": False, "lines.linewidth": 2.0}
    | {f"axes.spines.{side}": False for side in ("top", "right", "left")}
    | {"axes.grid": True, "axes.axisbelow": True, "grid.color": "#e4e7eb", "grid.linewidth": 1.0}
    | {"axes.edgecolor": "#9aa4ae", "xtick.color": "#9aa4ae", "xtick.major.size": 0, "ytick.major.size": 0}
    | {"xtick.minor.size": 0, "ytick.minor.size": 0, "xtick.labelcolor": "#4d565f", "ytick.labelcolor": "#4d565f"}
    | {"axes.titlelocation": "left", "axes.titleweight": "bold", "axes.labelcolor": "#4d565f", "text.color": BLACK}
    | {"image.cmap": LANDSCAPE, "figure.facecolor": "white"}
    | {"axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK])}
    | {"svg.hashsalt": "rankedu", "svg.fonttype": "path"}
)
mpl.rcParams.update(_LOOK)

#: Numbers in words, as descriptions have them.
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


#: Looks that can be told apart by colour, by marker and by line. Red is kept for what stands apart.
_COLOURS, _LINES = (GREEN, ORANGE, SKY, PURPLE, BLUE, BLACK, GREY), ("-", "--", "-.", ":", "-", "--", "-.")
_LOOKS = [{"color": c, "marker": m, "linestyle": ls} for c, m, ls in zip(_COLOURS, "os^DvPX", _LINES, strict=True)]
#: Rankers, and the losses that are made of them, which have the same look: its number.
_KIN = "blackbox RaMBO rambo_ap", "sigmoid Smooth-AP smooth_ap", "histogram FastAP", "projection", "supremum roadmap"
_MADE_OF = {name: number for number, names in enumerate(_KIN) for name in names.split()}


def figure(
    rows: int = 1, columns: int = 1, *, width: float = 6.4, height: float = 4.0, **options: Any
) -> tuple[Figure, Any]:
    """Make a figure in the book's style, at most `WIDEST` inches wide."""
    made = Figure(figsize=(min(width, WIDEST), height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, **options)


def looks(names: Iterable[str], **same: Any) -> dict[str, dict[str, Any]]:
    """A look for each of some methods, a known one's always the same: options of a plot, and those that all have."""
    wanted = list(names)
    others = cycle([look for i, look in enumerate(_LOOKS) if i not in {_MADE_OF.get(name) for name in wanted}])
    return {name: (_LOOKS[_MADE_OF[name]] if name in _MADE_OF else next(others)) | same for name in wanted}


def mark(relevant: bool) -> dict[str, Any]:
    """How an item is marked: a relevant one is a filled disc, an irrelevant one a hollow square."""
    if relevant:
        return {"marker": "o", "color": POSITIVE, "markerfacecolor": POSITIVE}
    return {"marker": "s", "color": NEGATIVE, "markerfacecolor": "white", "markeredgewidth": 1.8}


def area(relevant: bool) -> dict[str, Any]:
    """How a bar or a tile of an item is filled: irrelevant ones are hatched."""
    return {"color": POSITIVE if relevant else NEGATIVE, "hatch": "" if relevant else "//"}


def draw_items(
    axes: Axes, x: Iterable[Any], y: Iterable[Any], names: Iterable[str], relevant: Iterable[Any], size: float = 20
) -> None:
    """Mark items, each with its name inside."""
    for place, height, name, good in zip(x, y, names, relevant, strict=True):
        axes.plot([place], [height], markersize=size if good else 0.87 * size, zorder=4, **mark(good))
        ink: dict[str, Any] = {"color": "white" if good else NEGATIVE, "weight": "bold", "size": 0.65 * size}
        axes.text(place, height, name, ha="center", va="center_baseline", zorder=5, **ink)


def write(axes: Axes, x: float, y: float, text: Any, **look: Any) -> Text:
    """Write a text whose middle is at (x, y)."""
    return axes.text(x, y, str(text), **{"ha": "center", "va": "center"} | look)


def bare(axes: Axes, **limits: Any) -> None:
    """Set the limits of a drawing that has no axis."""
    axes.set(**limits)
    axes.axis("off")


def legend_beside(axes: Axes, **options: Any) -> None:
    """Draw the legend to the right of the axes."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **options)


def legend_below(made: Figure, axes: Axes, columns: int = 6, **options: Any) -> None:
    """One legend for the whole figure, of what was drawn on one of its axes, in columns as there is room."""
    handles, labels = axes.get_legend_handles_labels()
    wide = 3.5 + 0.45 * max(map(len, labels))  # of a column, in letters
    room = int(made.get_figwidth() * 72 / (SIZE * wide))
    made.legend(handles, labels, loc="outside lower center", ncols=max(1, min(len(labels), columns, room)), **options)


def name_lines(axes: Axes, names: Iterable[str] | None = None) -> None:
    """Write its name at the right end of each line, in its colour, instead of a legend."""
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    axes.get_xlim(), axes.get_ylim()  # the limits that follow from what was drawn
    places = []
    for line, name in zip(lines, names or [str(line.get_label()) for line in lines], strict=True):
        points = axes.transAxes.inverted().transform(line.get_transform().transform(line.get_xydata()))
        inside = points[(points[:, 0] <= 1.001) & (points[:, 1] > -0.001) & (points[:, 1] < 1.001)]
        places.append((float(inside[-1, 1]), name, line.get_color()))
    figure = axes.get_figure(root=True)
    assert figure is not None
    step = 1.15 * SIZE / 72 / (axes.get_position().height * figure.get_figheight())
    lowest = -np.inf
    for height, name, colour in sorted(places):
        lowest = max(height, lowest + step)
        axes.text(1.02, lowest, name, va="center", color=colour, transform=axes.transAxes)


def xticks(axes: Axes, values: Iterable[float], text: str = "{:g}") -> None:
    """Name these places of a logarithmic axis and no others."""
    places = list(values)
    axes.set_xticks(places, [text.format(place) for place in places])
    axes.xaxis.set_minor_locator(NullLocator())


def listed(values: Iterable[Any], form: str = "{}", between: str = ", ") -> str:
    """Numbers in a row, as descriptions have them."""
    return between.join(map(form.format, values))


def in_words(count: int) -> str:
    """A number as descriptions have it: in words up to ten."""
    return _WORDS[count] if count < len(_WORDS) else str(count)


def describe(made: Figure, text: str) -> Figure:
    """Attach the alternative text: what a reader who cannot see the figure should know. Returns the figure."""
    made.set_label(" ".join(text.split()))
    return made


def description(made: Figure) -> str:
    """The alternative text of a figure; empty if :func:`describe` was never called."""
    return str(made.get_label() or "")


def size(made: Figure) -> dict[str, int]:
    """The width and height of the figure on a page, in CSS pixels."""
    width, height = made.get_size_inches() * DPI
    return {"width": round(width), "height": round(height)}


def png(made: Figure) -> bytes:
    """The figure as PNG bytes, twice as large as on a page and in 256 colours: sharp on dense screens, and lighter."""
    drawn = Image.open(io.BytesIO(_saved(made, format="png", dpi=2 * DPI))).convert("RGB")
    buffer = io.BytesIO()
    drawn.quantize(256, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def svg(made: Figure) -> bytes:
    """The figure as SVG bytes, without a date."""
    return _saved(made, format="svg", metadata={"Date": None, "Creator": None})


def _saved(made: Figure, **options: Any) -> bytes:
    buffer = io.BytesIO()
    made.savefig(buffer, **{"dpi": DPI, **options})
    return buffer.getvalue()
