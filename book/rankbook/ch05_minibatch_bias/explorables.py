"""Explorable of chapter 5: what batches of a given size and memory say about the data set."""

import numpy as np
from matplotlib.figure import Figure

from rankbook.ch05_minibatch_bias.figures import draw_error_bars, draw_sizes_axis
from rankbook.ch05_minibatch_bias.study import SIZES, sample_estimates, synthetic_ranking
from rankbook.kit import style
from rankbook.kit.explorable import choice, explorable, goal, hold, tell
from rankbook.kit.ranks import Array

BINS = np.linspace(0, 1, 41)


@goal(
    "Find batches most of which say nothing at all.",
    lambda at: at.empty > 0.5,
    "In {empty:.0%} of the batches of {batch_size} no query has a relevant item to find, and {perfect:.0%} of the "
    "others show a perfect mAP of 1.",
)
@goal(
    "See as much of the bias as with 64 and no memory, with smaller batches.",
    lambda at: at.length == 64 and at.batch_size < 64,
    "The lists have {length} items again. The mean is {mean:.2f}, and batches of 64 have {mean_64:.2f}, because the "
    "lists are equally long. The standard deviation is {spread:.2f} instead of {spread_64:.2f}, because there are "
    "only {batch_size} queries.",
)
@goal(
    "Let batches be right on average.",
    lambda at: abs(at.mean - at.truth) < 0.005,
    "The list is the whole set of {length} items, and now the bias is zero. The standard deviation that remains, "
    "{spread:.3f}, is due to the choice of the queries.",
)
@explorable(batch_size=choice(SIZES, default=64), memory=choice((0, 1, 3, 7), label="memory M, in batches"))
def batch_size_and_bias(batch_size: int, memory: int) -> Figure:
    """The mAP of random batches, beside that of the data set (1024 items in 64 synthetic clusters on a sphere)."""
    truth, estimates = synthetic_ranking().mean_ap, _estimates(batch_size, memory)
    lengths, curve = [*SIZES, len(synthetic_ranking())], [float(np.nanmean(_estimates(m, 0))) for m in SIZES] + [truth]
    seen = estimates[~np.isnan(estimates)]
    mean, spread, empty = float(seen.mean()), float(seen.std()), 1 - len(seen) / len(estimates)
    length = min((1 + memory) * batch_size, len(synthetic_ranking()))
    figure, (above, below) = style.figure(2, 1, width=5.8, height=4.9)
    of_64 = _estimates(64, 0)
    tell(figure, empty=empty, perfect=float((seen == 1).mean()), length=length, truth=float(truth))
    tell(figure, mean=mean, spread=spread, mean_64=float(of_64.mean()), spread_64=float(of_64.std()))
    style.place(figure, (0.12, 0.60, 0.85, 0.33), (0.12, 0.12, 0.85, 0.33))
    counts, _ = np.histogram(seen, BINS)
    above.bar(BINS[:-1], counts / counts.max(), np.diff(BINS), align="edge", color=style.SKY, antialiased=False)
    above.axvline(truth, color=style.BLACK, linestyle="--")
    above.axvline(mean, color=style.RED)
    above.set(xlim=(0, 1), ylim=(0, 1.05), yticks=(), ylabel="batches")
    above.set_xlabel(f"mAP of a batch ({empty:.0%} of them have none)")
    above.set_title(f"data set {truth:.2f},  batches {mean:.2f} ± {spread:.2f},  lists of {length}")
    below.plot(lengths, curve, color=style.GREEN, label="batches without memory", zorder=1)
    below.axhline(truth, color=style.BLACK, linestyle="--", label="the data set")
    draw_error_bars(below, [length], [(mean, spread)], color=style.RED, label="these batches, ± sd")
    draw_sizes_axis(below, (8, 32, 128, 512, 1024), "list length: (1 + M) · batch size, at most all")
    below.set(xlim=(7, 1180), yticks=(0, 0.5, 1))
    reached = {size: min((1 + memory) * size, len(synthetic_ranking())) for size in SIZES}
    hold(below, batch_size=lambda size: (reached[size], np.interp(reached[size], lengths, curve)))
    return style.describe(
        figure,
        f"Above, a histogram of the mAP of {len(estimates)} random batches of {batch_size} with a memory of {memory} "
        f"batches, so lists of {length}: mean {mean:.2f}, standard deviation {spread:.2f}, where the data set has "
        f"{truth:.2f}. In {empty:.0%} of the batches no query found a relevant item in its list. Below, the mean mAP "
        f"of batches without memory against the length of the lists, a falling curve from {curve[0]:.2f} at "
        f"{lengths[0]} to {curve[-1]:.2f} at {lengths[-1]}, with the mean marked at {length}.",
    )


def _estimates(batch_size: int, memory: int) -> Array:
    batches = min(300, max(32, 16_384 // batch_size))
    return sample_estimates(synthetic_ranking(), batch_size, length=memory, batches=batches)
