"""The claims of the papers against what was found here: a difference and its interval for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.colors import LogNorm

from rankbook.kit import style
from ranklab.runs.judging import CONFIRMED, REFUTED, UNDECIDED, Judgement
from ranklab.runs.search import Between, importances

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Half-widths beyond which a distance is told and not drawn.
FAR = 6.0
#: Colour and marker, so that a verdict can be told without colours.
_LOOKS = {CONFIRMED: (style.BLUE, "o"), REFUTED: (style.NEGATIVE, "s"), UNDECIDED: (style.GREY, "D")}


def forest(judged: Mapping[str, Judgement]) -> Figure:
    """Draw a line for each claim, in standard units: how far its difference is from the threshold of its rule.

    The unit is the half-width of the interval, so that claims in points, levels and shares stand in one picture. What
    is farther than `FAR` stands at the edge, with its number.
    """
    made, axes = style.figure(height=max(2.2, 1.0 + 0.3 * len(judged)))
    sentences = []
    for place, (name, judgement) in enumerate(reversed([*judged.items()])):
        estimate = judgement.estimate
        colour, marker = _LOOKS[judgement.verdict]
        distance = (estimate.mean - estimate.threshold) / (estimate.half_width or 1.0)
        if abs(distance) <= FAR:
            axes.errorbar(distance, place, xerr=1.0, fmt=marker, color=colour, capsize=3, markersize=6)
        else:
            edge, side = (FAR, "right") if distance > 0 else (-FAR, "left")
            axes.plot(edge, place, marker="<>"[distance > 0], color=colour, markersize=8)
            axes.text(0.95 * edge, place, f"{distance:+.0f} ", ha=side, va="center", fontsize="small")
        sentences.append(f"{name}: {judgement.verdict}, {distance:+.1f}")
    for verdict in dict.fromkeys(judgement.verdict for judgement in judged.values()):
        axes.plot([], [], _LOOKS[verdict][1], color=_LOOKS[verdict][0], label=verdict)
    axes.axvline(0, color=style.BLACK, linewidth=1)
    axes.set_yticks(range(len(judged)), list(judged)[::-1])
    axes.set(xlim=(-FAR - 1, FAR + 1), ylim=(-0.6, len(judged) - 0.4))
    axes.set_xlabel("distance from the threshold, in half-widths")
    style.legend_below(made, axes)
    axes.grid(axis="x", alpha=0.3)
    return style.describe(
        made,
        f"{len(judged)} claims, each with the distance of its difference from the threshold of its rule, in "
        f"half-widths of the interval; beyond 1 it is confirmed, below −1 refuted. {'; '.join(reversed(sentences))}.",
    )


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


def coordinates(name: str, trials: Sequence[Mapping[str, Any]], space: Mapping[str, Between]) -> Figure:
    """Draw the trials of an arm, given as in `trials`, each as a line through its settings.

    An axis for each setting of the space, logarithmic where the search was, with the share of the spread that it
    explains; the last axis is the metric. The best trial is the thick line, and a darker one is better. Narrow enough
    for a phone.
    """
    done = [(trial["point"], trial["value"]) for trial in trials if trial["value"] is not None]
    shares = importances(space, done)
    made, axes = style.figure(width=3.4, height=1.9)
    _draw_lines(axes, space, sorted(done, key=lambda trial: trial[1]), shares)
    axes.set_title(name, fontsize=10, pad=16)
    first = max(shares, key=shares.__getitem__)
    return style.describe(
        made,
        f"The trials of {name} as lines through their settings, the best one thick. {first} explains "
        f"{shares[first]:.0%} of the spread.",
    )


def _draw_lines(
    axes: Axes,
    space: Mapping[str, Between],
    done: Sequence[tuple[Mapping[str, Any], float]],
    shares: Mapping[str, float],
) -> None:
    """The trials (point, value), the worst first, on parallel axes."""
    worst, best = done[0][1], done[-1][1]
    metric = Between(worst, best if best > worst else worst + 1)
    for number, (point, value) in enumerate(done, start=1):
        heights = [between.place(point[setting]) for setting, between in space.items()]
        good = metric.place(value)
        last = number == len(done)
        axes.plot([*heights, good], color=style.ORANGE if last else str(0.85 - 0.7 * good), lw=3.0 if last else 1.2)
    ranges = [*((between.low, between.high) for between in space.values()), (100 * worst, 100 * best)]
    for place, (low, high) in enumerate(ranges):
        axes.axvline(place, color=style.BLACK, linewidth=0.8)
        for height, value, side in ((-0.05, low, "top"), (1.05, high, "bottom")):
            axes.text(place, height, f"{float(f'{value:.3g}'):g}", ha="center", va=side, fontsize=9)
    labels = [*(f"{setting}\n{shares[setting]:.0%}" for setting in space), "on val"]
    axes.set_xticks(range(len(labels)), labels, fontsize=9)
    axes.tick_params(length=0, pad=12)
    axes.set(ylim=(-0.05, 1.05), xlim=(-0.25, len(space) + 0.25), yticks=[])
    axes.spines[:].set_visible(False)
