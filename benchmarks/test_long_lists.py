"""One list of ten million scores: exact ranks, and memory, of the blackbox losses; the goals stand in `goals.py`.

`python benchmarks/test_long_lists.py WORK N` prints the seconds and the peak of memory for another length, up to 10⁸.
The bytes are those taken beyond the scores and the labels, at the peak, each gradient included.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from rankedu.losses import APLoss, HAPLoss, RecallLoss
from rankedu.rankers import BlackboxRanker

N = 10**7
WORK = {
    "ap": lambda lam: APLoss(BlackboxRanker(lam), margin=0.02),
    "recall": lambda lam: RecallLoss(BlackboxRanker(lam), margin=0.02),
    "hap": lambda lam: HAPLoss(BlackboxRanker(lam), margin=0.02),
}


def long_list(n, work="ap"):
    """Scores with ties, and 1 % of relevant ones; for H-AP of two grades."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(n, generator=generator).mul_(1 << 20).round_().div_(1 << 20)
    relevance = torch.rand(n, generator=generator) < 0.01
    if work == "hap":
        relevance = relevance.float()
        relevance[::3] *= 0.5
    return scores.requires_grad_(), relevance


def positions(scores):
    """The rank of every item by one stable sort of the scores alone."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


@pytest.mark.parametrize("work", ["ap", "recall"])
def test_exact_at_ten_million(benchmark, work):
    """Value and gradient against ranks that a sort in float64 finds."""
    scores, relevance = long_list(N)
    lam, label, p = 0.4 * N, relevance.numpy(), int(relevance.sum())
    loss = WORK[work](lam)

    def ours():
        scores.grad = None
        value = loss(scores, relevance)
        value.backward()
        return value.item()

    value = benchmark.pedantic(ours, rounds=1)
    half = np.float32(0.01)
    shifted = np.where(label, scores.detach().numpy() - half, scores.detach().numpy() + half)
    before = positions(shifted)
    ranks, within = before[label].astype(np.float64), positions(shifted[label])
    if work == "ap":
        expected, slope = 1 - (within / ranks).mean(), within / ranks**2 / p
    else:
        expected, slope = np.log1p(ranks - within).mean(), 1 / (1 + ranks - within) / p
    assert abs(value - expected) < 1e-6 * max(1, expected)
    moved = shifted.copy()
    moved[label] += (lam * slope).astype(np.float32)
    found, expected = scores.grad.double().numpy() * lam, positions(moved) - before
    wrong = np.count_nonzero(np.abs(found - expected) > 1 + 1e-6 * np.abs(expected))
    print(f"\n{work}: the gradient moves {np.count_nonzero(expected)} items; {wrong} are off by more than rounding")
    # a score that is rounded otherwise passes its neighbours, who are then off by one rank
    assert np.count_nonzero(expected) > 1000 and wrong < 1e-3 * p


def kilobytes(name):
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith(name)).split()[1])


def bytes_a_score(work, n):
    """Seconds, and bytes of the peak that a score takes, beyond what was there."""
    torch.set_num_threads(1)
    loss = WORK[work](0.4 * n)
    for m in (10_000, 400_000):  # loads the libraries, and takes what the sort needs
        scores, relevance = long_list(m, work)
        loss(scores, relevance).backward()
    scores, relevance = long_list(n, work)
    Path("/proc/self/clear_refs").write_text("5")
    before, start = kilobytes("VmRSS"), time.process_time()
    loss(scores, relevance).backward()
    return time.process_time() - start, 1024 * (kilobytes("VmHWM") - before) / n


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak from Linux's /proc")
@pytest.mark.parametrize("work", WORK)
def test_memory(benchmark, work):
    command = [sys.executable, __file__, work, str(N)]
    said = benchmark.pedantic(subprocess.check_output, (command,), {"text": True, "timeout": 300}, rounds=1)
    taken, found = (float(said.split()[word]) for word in (0, 3))
    benchmark.extra_info.update({"bytes a score": round(found, 1), "seconds": round(taken, 2)})
    print(f"\n{work}: {found:.1f} bytes a score at {N}")


if __name__ == "__main__":
    taken, found = bytes_a_score(sys.argv[1], int(float(sys.argv[2])))
    print(f"{taken:.2f} seconds and {found:.1f} bytes a score")
