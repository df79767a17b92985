"""RaMBO's Table 1, measured: how the time of four AP losses, forward and backward, grows; one thread.

The goals are the exponents that the table claims, in lists of n scores of which p are relevant:

| method | claimed | against n, p a share of n | against p, n fixed |
|---|---|---|---|
| RaMBO | O(n log n) | 1 and a little | 0 |
| AP-SVM, Mohapatra et al. | O(n log p) | 1 and a little | little above 0 |
| error-driven, Chen et al. | O(np) | 2 | 1 |
| AP-SVM, Yue et al. | O(n²), here O(n log n + np) | 2 | 1 |

Chapters 4 and 12 measure in the same way: the best of torch's blocked_autorange, and a line fitted on logarithmic axes.
"""

import numpy as np
import pytest
import torch
from torch.utils import benchmark as timing

from rankedu.book.studies.scaling import fitted_exponent
from rankedu.losses import APLoss, APSVMLoss, ErrorDrivenAPLoss
from rankedu.rankers import BlackboxRanker

#: The loss, the exponents claimed against n and against p, and whether the pairs are looked at one by one.
METHODS = {
    "RaMBO": (lambda n: APLoss(BlackboxRanker(0.4 * n), margin=0.02), 1, 0, False),
    "Mohapatra": (lambda n: APSVMLoss("mohapatra"), 1, 0, False),
    "error-driven": (lambda n: ErrorDrivenAPLoss(1.0), 2, 1, True),
    "Yue": (lambda n: APSVMLoss("yue"), 2, 1, True),
}
#: Most pairs that a method which looks at all of them is given.
PAIRS = 3e7


def seconds(make, n, p, *, min_run_time=0.1):
    """The shortest of several runs, on one thread."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(n, generator=generator).requires_grad_()
    relevance = torch.zeros(n, dtype=torch.bool)
    relevance[torch.randperm(n, generator=generator)[:p]] = True
    names = {"loss": make(n), "scores": scores, "relevance": relevance}
    timer = timing.Timer("loss(scores, relevance).backward()", globals=names)
    return min(timer.blocked_autorange(min_run_time=min_run_time).times)


def measured_complexity(make, *, lengths=None, share=None, n=None, counts=None, **options):
    """Seconds by length where ``share`` of the items is relevant, or by number of relevant items at one length n."""
    if counts is None:
        return {length: seconds(make, length, max(1, round(share * length)), **options) for length in lengths}
    return {p: seconds(make, n, p, **options) for p in counts}


def report(benchmark, told, times):
    exponent, error = fitted_exponent(times)
    shown = ", ".join(f"{key}: {1e3 * value:.3g}" for key, value in times.items())
    print(f"\n{benchmark.name}: {told}^({exponent:.2f} ± {error:.2f}); ms at {shown}")
    benchmark.extra_info.update({"exponent": round(exponent, 3), "error": round(error, 3)})
    return exponent


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("method", METHODS)
def test_time_against_the_length(benchmark, method, share):
    make, claimed, _, pairwise = METHODS[method]
    longest = (PAIRS / share) ** 0.5 if pairwise else 1e6
    lengths = np.geomspace(longest / 10, longest, 6).astype(int).tolist()
    times = benchmark.pedantic(measured_complexity, (make,), {"lengths": lengths, "share": share}, rounds=1)
    assert abs(report(benchmark, "n", times) - claimed) < 0.35


@pytest.mark.parametrize("method", METHODS)
def test_time_against_the_number_of_relevant_items(benchmark, method):
    make, _, claimed, pairwise = METHODS[method]
    n = 30_000 if pairwise else 300_000
    counts = np.geomspace(n / 300, n / 30, 6).astype(int).tolist()
    times = benchmark.pedantic(measured_complexity, (make,), {"n": n, "counts": counts}, rounds=1)
    assert abs(report(benchmark, "p", times) - claimed) < 0.35
