"""Figures of chapter 9: the sigmoid, who is in its operating region, and which temperature trains best."""

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure

from rankbook.ch09_smooth_ap import study
from rankbook.kit import style
from rankbook.kit.figures import paper_figure
from rankbook.kit.linear_maps import start_weights
from rankedu.rankers import SigmoidRanker


def sigmoid_and_slope(temperatures: Sequence[float] = (0.2, 0.05, 0.01)) -> Figure:
    """The staircase of one comparison, smoothed at three temperatures, and the slopes that this makes."""
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.3)
    x = torch.linspace(-0.5, 0.5, 2001, dtype=torch.float64)
    facts = []
    for temperature, line in zip(temperatures, ("-", "--", "-."), strict=False):
        ranker = SigmoidRanker(temperature)
        left.plot(x, ranker.step(x), line, label=f"τ = {temperature:g}")
        right.semilogy(x, ranker.slope(x), line)
        facts.append(f"τ = {temperature:g}: largest slope {1 / (4 * temperature):g}")
    left.step([-0.5, 0, 0.5], [0, 0, 1], where="pre", color=style.GREY, linewidth=1, zorder=0)
    left.set(xlabel="difference $y_j - y_k$", title="what $j$ adds to the rank of $k$")
    left.legend(loc="upper left")
    right.axhline(study.THRESHOLD, color=style.GREY, linewidth=1)
    right.text(0.25, study.THRESHOLD * 1.2, f"{study.THRESHOLD:g}", ha="center", color=style.GREY)
    right.set(xlabel="difference $y_j - y_k$", title="its slope", ylim=(1e-4, 60))
    return style.describe(
        figure,
        "Left, sigmoids of a difference of scores, steeper as the temperature falls, beside a step from 0 to 1. Right, "
        f"their slopes on a logarithmic axis. {'; '.join(facts)}. They fall below {study.THRESHOLD:g} at differences "
        f"of {', '.join(f'{study.operating_width(t):.2f}' for t in temperatures)}.",
    )


@paper_figure("Smooth-AP supp. Fig. S7")
def proportion_by_batch_size(sizes: Sequence[int] = (16, 32, 64, 128, 256)) -> Figure:
    """P and the share of relevant-irrelevant pairs, of one network that is shown batches of all sizes."""
    figure, panels = style.figure(1, 2, width=6.8, height=4.0)
    facts, labels = [], {"P": "P, all pairs", "share": "P±, relevant-irrelevant pairs"}
    for axes, temperature in zip(panels, study.TWO, strict=True):
        for name, maps in (("untrained", start_weights(study.STARTS)), ("trained", study.maps_of(temperature))):
            found = [study.seen(maps, size, temperature) for size in sizes]
            for (key, label), colour, line in zip(
                labels.items(), (style.BLUE, style.ORANGE), ("o-", "s--"), strict=True
            ):
                means = [float(one[key].mean()) for one in found]
                colour = colour if name == "trained" else style.GREY
                axes.semilogx(sizes, means, line, color=colour, label=f"{label}, {name}")
                values = ", ".join(f"{mean:.2f} at {size}" for size, mean in zip(sizes, means, strict=True))
                facts.append(f"τ = {temperature:g}, {label}, {name}: {values}")
        axes.set(xlabel="batch size m", ylim=(0, None), title=f"τ = {temperature:g}")
        style.xticks(axes, sizes)
    panels[0].set(ylabel="share in the region")
    style.legend_below(figure, panels[0], 2, fontsize=10)
    return style.describe(figure, f"Shares of pairs in the operating region. {'. '.join(facts)}.")


def temperatures_compared() -> Figure:
    """R@1 by τ, and by the margin of triplets, after two lengths of training."""
    figure, panels = style.figure(1, 2, width=6.8, height=4.0, sharey=True)
    facts = []
    for axes, steps in zip(panels, study.LENGTHS, strict=True):
        found = study.temperatures(steps)
        facts.append(f"After {steps} steps: {'; '.join(found.draw(axes, style.looks(found.test, markersize=5)))}")
        axes.set(xlabel="temperature τ, or margin", title=f"after {steps} steps", ylim=(0, 0.55))
    panels[0].set(ylabel="R@1 of new classes")
    style.legend_below(figure, panels[0], 2, fontsize=10)
    return style.describe(
        figure, f"R@1 by the temperature of Smooth-AP and by the margin of triplets. {'. '.join(facts)}."
    )
