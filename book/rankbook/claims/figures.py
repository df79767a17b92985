"""The claims of the papers against what was found here: a difference and its interval for each."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.colors import LogNorm

from rankbook.kit import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Points within which the axis is linear; and beyond, logarithmic.
LINEAR = 1.0
#: Colour and marker, so that an answer can be told without colours.
_LOOKS = {
    "is above": (style.BLUE, "o"),
    "is below": (style.RED, "s"),
    "is level with": (style.GREEN, "D"),
    "cannot be told from": (style.GREY, "X"),
}


def forest(clauses: Sequence[Sequence[Any]]) -> Figure:
    """Draw what was found of each clause, in each of its metrics, in points; a hollow mark is of the first round.

    A clause is what `tools.results.answers` found: sides, metric, mean, half-width, what is said, and the round.
    """
    rows = [one for clause in clauses for one in clause]
    made, axes = style.figure(height=1.2 + 0.32 * len(rows))
    labels = []
    for place, one in enumerate(reversed(rows)):
        colour, marker = _LOOKS[one.verb]
        fill = {"markerfacecolor": "white"} if one.first else {}
        axes.errorbar(one.mean, place, xerr=one.half_width, fmt=marker, color=colour, capsize=3, markersize=6, **fill)
        labels.append("\n".join(textwrap.wrap(f"{one.plus} − {one.minus}, {one.metric}", 52)))
    for verb in dict.fromkeys(one.verb for one in rows):
        axes.plot([], [], _LOOKS[verb][1], color=_LOOKS[verb][0], label=verb)
    axes.axvline(0, color=style.BLACK, linewidth=1)
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=0.5)
    ticks = [-10, -3, -1, 0, 1, 3, 10]
    axes.set_xticks(ticks, [f"{tick:+d}".replace("-", "−") if tick else "0" for tick in ticks])
    axes.set_yticks(range(len(rows)), labels, fontsize=8)
    axes.set(xlim=(-30, 30), ylim=(-0.6, len(rows) - 0.4), xlabel="difference in points")
    style.legend_below(made, axes, columns=2)
    axes.grid(axis="x", alpha=0.3)
    told = (f"{one.plus} {one.verb} {one.minus}: {one}" for one in rows)
    return style.describe(made, f"{len(rows)} differences with their intervals. {'; '.join(told)}.")


def trials(arms: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Draw a row of trials for each arm of {arm: [{"point": {setting: value}, "value": metric or None}, …]}.

    Colour tells the learning rate, on a logarithmic scale that all arms share.
    """
    made, axes = style.figure(height=max(2.2, 1.2 + 0.3 * len(arms)))
    rates = [trial["point"]["lr"] for of_arm in arms.values() for trial in of_arm if trial["value"] is not None]
    sentences = []
    for place, (name, of_arm) in enumerate(reversed([*arms.items()])):
        done = [trial for trial in of_arm if trial["value"] is not None]
        values = [100 * trial["value"] for trial in done]
        look = {"cmap": "viridis", "norm": LogNorm(min(rates), max(rates)), "edgecolors": style.BLACK}
        colours = [trial["point"]["lr"] for trial in done]
        dots = axes.scatter(values, [place] * len(done), c=colours, s=28, linewidths=0.4, **look)
        sentences.append(f"{name}: from {min(values):.1f} to {max(values):.1f}")
    made.colorbar(dots, ax=axes, label="learning rate")
    axes.set_yticks(range(len(arms)), list(arms)[::-1])
    axes.set(xlabel="metric on val by which it is chosen (percent)", ylim=(-0.6, len(arms) - 0.4))
    axes.grid(axis="x", alpha=0.3)
    return style.describe(made, f"All trials of each search, a dot a trial. {'; '.join(reversed(sentences))}.")
