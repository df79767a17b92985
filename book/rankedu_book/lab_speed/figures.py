"""Figures of the lab `speed`: seconds on logarithmic axes."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankedu_book.kit import style
from rankedu_lab.experiments.speed.tables import duration, size_text

Row = Mapping[str, Any]
#: Who is drawn how: colour, marker, line.
LOOKS = {
    "ours": (style.BLUE, "o", "-"),
    "transcription": (style.RED, "s", "--"),
    "pytorch-metric-learning": (style.ORANGE, "D", "-."),
    "scikit-learn": (style.GREEN, "^", "-."),
    "torchmetrics": (style.PURPLE, "v", "-."),
}


def list_times(rows: Sequence[Row], printed: Mapping[int, float] | None = None) -> Figure:
    """Draw the seconds of a loss of one long list against its length: AP on the left, recall on the right.

    Source: RaMBO Tab. 6.
    """
    timed = _timed(rows)
    figure, panels = style.figure(1, 2, width=9.2, height=4.6, sharex=True, sharey=True)
    facts = []
    for axes, work in zip(panels, ("AP", "recall"), strict=True):
        facts += _lines(axes, timed, work)
        _limit_lines(axes, timed)
        axes.set(xscale="log", yscale="log", xlabel="scores in the list", title=f"{work} loss")
    if printed:
        panels[0].plot(list(printed), list(printed.values()), "*", color=style.YELLOW, markeredgecolor=style.BLACK,
                       markersize=12, linestyle="", label="printed (2020)")  # fmt: skip
        facts.append("printed: " + ", ".join(f"{duration(s)} at {size_text(n)}" for n, s in printed.items()))
    facts += _limits_in_words(timed)
    panels[0].set_ylabel("seconds, forward + backward")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return style.describe(figure, f"Seconds against the length of a list, on logarithmic axes. {'; '.join(facts)}.")


def batch_times(rows: Sequence[Row]) -> Figure:
    """Draw the seconds of each loss of a batch against the batch's size, a panel each, beside one matrix product."""
    timed = _timed(rows)
    works = [work for work in dict.fromkeys(row["work"] for row in timed) if work != "limit"]
    figure, grid = style.figure(-(-len(works) // 4), min(4, len(works)), width=10.4, height=2.9 * -(-len(works) // 4),
                                sharex=True, sharey=True, squeeze=False)  # fmt: skip
    facts: list[str] = []
    handles: dict[str, Artist] = {}
    for place, (axes, work) in enumerate(itertools.zip_longest(grid.flat, works)):
        if work is None:
            axes.set_axis_off()
            continue
        facts += _lines(axes, timed, work)
        if "value alone" not in work:
            _limit_lines(axes, timed)
        axes.set(xscale="log", yscale="log", title=work)
        axes.set_xticks(sizes := sorted({row["size"] for row in timed}), [str(size) for size in sizes])
        axes.tick_params(axis="x", labelrotation=60, labelbottom=place + 4 >= len(works))
        axes.minorticks_off()
        drawn, names = axes.get_legend_handles_labels()
        handles |= dict(zip(names, drawn, strict=True))
    for axes in grid[:, 0]:
        axes.set_ylabel("seconds")
    figure.legend(handles=list(handles.values()), labels=list(handles), loc="outside lower center", ncols=3)
    facts += _limits_in_words(timed)
    return style.describe(figure, f"Seconds against the batch size, on logarithmic axes. {'; '.join(facts)}.")


def _timed(rows: Sequence[Row]) -> list[Row]:
    found = [row for row in rows if row.get("seconds") is not None]
    if not found:
        raise ValueError("rows must hold a time, got none (give the lab a larger budget, or more memory)")
    return found


def _lines(axes: Axes, rows: Sequence[Row], work: str) -> list[str]:
    """A line for each contender of one piece of work; what they say in words."""
    facts = []
    for who, (colour, marker, line) in LOOKS.items():
        x, y = _seconds(rows, work, who)
        if x:
            axes.plot(x, y, marker=marker, color=colour, linestyle=line, markersize=5, label=who)
            ends = (f"{duration(y[i])} at {size_text(x[i])}" for i in (0, -1))
            facts.append(f"{work}, {who}: {' to '.join(ends)}")
    return facts


def _seconds(rows: Sequence[Row], work: str, who: str) -> tuple[list[int], list[float]]:
    """The sizes that a contender was timed at, and how long it took."""
    points = [row for row in rows if (row["work"], row["contender"]) == (work, who)]
    return [row["size"] for row in points], [row["seconds"] for row in points]


def _limit_lines(axes: Axes, rows: Sequence[Row]) -> None:
    """Thin grey lines for what nobody can avoid."""
    names = dict.fromkeys(row["contender"] for row in rows if row["work"] == "limit")
    looks = [(style.GREY, ":"), (style.GREY, "-."), (style.BLACK, ":"), (style.BLACK, "--")]
    for name, (colour, line) in zip(names, itertools.cycle(looks), strict=False):
        axes.plot(*_seconds(rows, "limit", name), color=colour, linestyle=line, linewidth=1.3, label=name)


def _limits_in_words(rows: Sequence[Row]) -> list[str]:
    last = {row["contender"]: row for row in rows if row["work"] == "limit"}
    return [f"{name}: {duration(row['seconds'])} at {size_text(row['size'])}" for name, row in last.items()]
