"""The claims of the papers against what was found here: a difference and its interval for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankedu.book.figures import style
from rankedu.lab.runs.judging import CONFIRMED, REFUTED, UNDECIDED, Judgement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["forest", "trials"]

#: Half-widths beyond which a distance is told and not drawn.
FAR = 6.0
#: Colour and marker, so that a verdict can be told without colours.
_LOOKS = {CONFIRMED: (style.BLUE, "o"), REFUTED: (style.NEGATIVE, "s"), UNDECIDED: (style.GREY, "D")}


def forest(judged: Mapping[str, Judgement]) -> Figure:
    """Draw a line for each claim, in standard units: how far its difference is from the threshold of its rule.

    The unit is the half-width of the interval, so that claims in points, levels and shares stand in one picture. What
    is farther than `FAR` stands at the edge, with its number. ValueError without a judged claim.
    """
    if not judged:
        raise ValueError("judged must hold a claim, got none (put some to the test: rankedu claims --run)")
    made, axes = style.figure(height=max(2.2, 1.0 + 0.3 * len(judged)))
    sentences = []
    with style.style():
        for place, (name, judgement) in enumerate(reversed([*judged.items()])):
            estimate = judgement.estimate
            colour, marker = _LOOKS[judgement.verdict]
            distance = (estimate.mean - estimate.threshold) / (estimate.half_width or 1.0)
            if abs(distance) <= FAR:
                axes.errorbar(distance, place, xerr=1.0, fmt=marker, color=colour, capsize=3, markersize=6)
            else:
                side = "right" if distance > 0 else "left"
                edge = math.copysign(FAR, distance)
                axes.plot(edge, place, marker=">" if distance > 0 else "<", color=colour, markersize=8)
                axes.annotate(
                    f"{distance:+.0f} ",
                    (edge, place),
                    (-8 if distance > 0 else 8, 0),
                    ha=side,
                    va="center",
                    textcoords="offset points",
                    fontsize="small",
                )
            sentences.append(f"{name}: {judgement.verdict}, {distance:+.1f}")
        for verdict in dict.fromkeys(judgement.verdict for judgement in judged.values()):
            axes.plot([], [], _LOOKS[verdict][1], color=_LOOKS[verdict][0], label=verdict)
        axes.axvline(0, color=style.BLACK, linewidth=1)
        axes.set_yticks(range(len(judged)), list(judged)[::-1])
        axes.set(
            xlabel="distance from the threshold, in half-widths",
            xlim=(-FAR - 1, FAR + 1),
            ylim=(-0.6, len(judged) - 0.4),
        )
        style.legend_below(made, axes)
        axes.grid(axis="x", alpha=0.3)
    return style.describe(
        made,
        f"{len(judged)} claims, each with the distance of its difference from the threshold of its rule, in "
        f"half-widths of the interval; beyond 1 it is confirmed, below −1 refuted. {'; '.join(reversed(sentences))}.",
    )


def trials(arms: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Draw a row of trials for each arm of {arm: [{"point": {setting: value}, "value": metric or None}, …]}.

    Colour tells the learning rate, on a logarithmic scale that all arms share. ValueError without an arm.
    """
    if not arms:
        raise ValueError("arms must hold a search, got none (make some: rankedu claims --run)")
    made, axes = style.figure(height=max(2.2, 1.2 + 0.3 * len(arms)))
    rates = [trial["point"]["lr"] for of_arm in arms.values() for trial in of_arm if trial["value"] is not None]
    sentences = []
    with style.style():
        for place, (name, of_arm) in enumerate(reversed([*arms.items()])):
            done = [trial for trial in of_arm if trial["value"] is not None]
            values = [100 * trial["value"] for trial in done]
            dots = axes.scatter(
                values,
                [place] * len(done),
                c=[trial["point"]["lr"] for trial in done],
                cmap="viridis",
                norm="log",
                s=28,
                edgecolors=style.BLACK,
                linewidths=0.4,
            )
            dots.set_clim(min(rates), max(rates))
            sentences.append(f"{name}: from {min(values):.1f} to {max(values):.1f}")
        made.colorbar(dots, ax=axes, label="learning rate")
        axes.set_yticks(range(len(arms)), list(arms)[::-1])
        axes.set(xlabel="metric on val by which it is chosen (percent)", ylim=(-0.6, len(arms) - 0.4))
        axes.grid(axis="x", alpha=0.3)
    return style.describe(made, f"All trials of each search, a dot a trial. {'; '.join(reversed(sentences))}.")
