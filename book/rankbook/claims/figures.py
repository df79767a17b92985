"""The trials of the searches behind the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.colors import LogNorm

from rankbook.kit import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
