"""Figures of chapter 9: the sigmoid, its operating region, what the temperature trades, and Table S2 measured."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.figure import Figure

from rankbook.ch09_smooth_ap import study
from rankbook.kit import style
from rankbook.kit.figures import paper_figure
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


def temperature_trade(lists: int = 6, n: int = 20, positives: int = 4) -> Figure:
    """What a temperature costs: the value is biased where it is large, the gradient dies where it is small."""
    temperatures = np.geomspace(1e-4, 10, 81)
    values, norms, exact = study.by_temperature(temperatures, lists, n, positives)
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.5)
    limit = (1 + (positives - 1) / 2) / (1 + (n - 1) / 2)
    left.semilogx(temperatures, values, color=style.BLUE, linewidth=1.5)
    left.plot([temperatures[0]] * lists, exact, "o", color=style.BLACK, markersize=5, clip_on=False)
    left.axhline(limit, color=style.GREY, linewidth=1, linestyle=":")
    left.set(xlabel="temperature τ", title="smooth AP; dots: AP", ylim=(0, 1))
    right.loglog(temperatures, norms, color=style.ORANGE, linewidth=1.5)
    right.set(xlabel="temperature τ", title="length of its gradient", ylim=(1e-6, 1e2))
    worst = np.abs(values - exact).max(1)
    at = {t: int(np.argmin(np.abs(temperatures - t))) for t in (1e-3, 1e-2, 1e-1, 1.0)}
    facts = "; ".join(
        f"at τ = {t:g} the value is off by up to {worst[i]:.2f}, the median gradient is {np.median(norms[i]):.2g} long"
        for t, i in at.items()
    )
    return style.describe(
        figure,
        f"Two panels over the temperature, for {lists} random lists of {n} items, {positives} of them relevant. Left, "
        f"smooth AP leaves AP as the temperature grows, and all lists meet at {limit:.2f}. Right, the length of the "
        f"gradient, which has a hump between. {facts}.",
    )


@paper_figure("Smooth-AP supp. Fig. S7")
def proportion_by_batch_size(
    batch_sizes: Sequence[int] = study.BATCH_SIZES, images: int = study.IMAGES, temperature: float = 0.01
) -> Figure:
    """P against the batch size, on glyphs, and the operating region of the sigmoid."""
    found = study.shares_while_training(tuple(batch_sizes), images, temperature)
    labels = {
        "run": f"a run for each size, {images} images",
        "steps": f"their first {images // max(batch_sizes)} steps",
        "same": "one network, all sizes",
    }
    figure, (left, right) = style.figure(1, 2, width=6.8, height=4.1, width_ratios=(1.3, 1))
    looks = (("o-", style.BLUE), ("^-.", style.GREEN), ("s--", style.ORANGE))
    for (name, shares), (line, colour) in zip(found.items(), looks, strict=True):
        left.semilogx(list(shares), list(shares.values()), line, color=colour, label=labels[name])
    left.semilogx(batch_sizes, [1 / size for size in batch_sizes], ":", color=style.GREY, label="the diagonal alone")
    left.set(xlabel="batch size m", ylabel="P", ylim=(0, None), title="pairs that have a gradient")
    style.xticks(left, batch_sizes)
    style.legend_below(figure, left, 2, fontsize=10)
    width = study.operating_width(temperature)
    x = torch.linspace(-3 * width, 3 * width, 601, dtype=torch.float64)
    right.plot(x, SigmoidRanker(temperature).step(x), color=style.BLUE)
    right.axvspan(-width, width, color=style.YELLOW, alpha=0.45, linewidth=0)
    right.set(xlabel="difference", ylabel="sigmoid", title=f"operating region, τ = {temperature:g}")
    right.set_xticks([-width, 0, width], [f"−{width:.2f}", "0", f"{width:.2f}"])
    return style.describe(
        figure,
        f"Left, P against the batch size at τ = {temperature:g}. "
        + "".join(
            f"{labels[name]}: {', '.join(f'{p:.3f} at {size}' for size, p in shares.items())}. "
            for name, shares in found.items()
        )
        + f"Right, the sigmoid, with the differences up to "
        f"±{width:.3f} shaded, where its slope exceeds {study.THRESHOLD:g}.",
    )
