"""Retrieval metrics of a whole test set, as ratios to the matrix product that nobody can avoid, in one interleaved run.

The goals, on one thread, with 20,000 embeddings of 512 dimensions, stand in `goals.py`: R@1, 10, 100, 1000, mAP and
mAP@R of the classes, then with H-AP, ASI and NDCG over three levels. At 60,000, at most 300 MB of memory beyond what
was there before.

The classes are those of a product catalogue: 2 to 8 items each, in 96 groups, in 12 super-classes of thousands.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from rankedu.metrics import evaluate_retrieval

FINE = (*(f"recall_at_{k}" for k in (1, 10, 100, 1000)), "average_precision", "map_at_r")
GRADED = ("h_ap", "asi", "ndcg")


def catalogue(n, dim=512, seed=0):
    """Embeddings, and labels of three levels."""
    generator, random = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    leaf = torch.from_numpy(np.repeat(np.arange(n), random.integers(2, 9, n))[:n])
    classes = int(leaf[-1]) + 1
    group = torch.from_numpy(random.integers(0, 96, classes))
    centre = 0.6 * torch.randn(classes, dim, generator=generator)
    for weight, members in ((0.3, group), (0.4, group // 8)):
        centre += weight * torch.randn(96, dim, generator=generator)[members]
    order = torch.randperm(n, generator=generator)
    leaf = leaf[order]
    labels = torch.stack([group[leaf] // 8, group[leaf], leaf], dim=1)
    embeddings = 1.5 * torch.randn(n, dim, generator=generator)
    for rows in torch.arange(n).split(4096):
        embeddings[rows] += centre[leaf[rows]]
    return embeddings, labels


def product(embeddings, chunk=256):
    """All similarities, a chunk at a time, into the same memory."""
    unit = normalize(embeddings, dim=1)
    room = torch.empty(chunk, len(unit))
    for queries in unit.split(chunk):
        torch.mm(queries, unit.T, out=room[: len(queries)])


@pytest.mark.parametrize(
    ("metrics", "levels"), [(FINE, slice(2, 3)), ((*FINE, *GRADED), slice(0, 3))], ids=["fine", "with the graded ones"]
)
def test_retrieval(interleaved, metrics, levels):
    embeddings, labels = catalogue(20_000)

    def evaluate():
        return evaluate_retrieval(embeddings, labels[:, levels], metrics=metrics, progress=False)

    interleaved(evaluate, {"the matrix product": lambda: product(embeddings)}, 3)


PEAK = """
import sys, warnings, torch
sys.path.insert(0, sys.argv[1])
from test_retrieval import FINE, GRADED, catalogue, evaluate_retrieval
torch.set_num_threads(1)
def kilobytes(name):
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith(name)).split()[1])
def evaluate(embeddings, labels):
    return evaluate_retrieval(embeddings, labels, metrics=(*FINE, *GRADED), progress=False)
warnings.simplefilter("ignore")
evaluate(*catalogue(300))  # loads the libraries
embeddings, labels = catalogue(60_000)
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = kilobytes("VmRSS")
evaluate(embeddings, labels)
print((kilobytes("VmHWM") - before) / 1000)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads the peak from Linux's /proc")
def test_memory(benchmark):
    """The whole of it takes minutes; what is timed is mostly the matrix product."""
    command = [sys.executable, "-c", PEAK, str(Path(__file__).parent)]
    said = benchmark.pedantic(subprocess.check_output, args=(command,), kwargs={"text": True}, rounds=1)
    benchmark.extra_info["extra megabytes"] = round(float(said))
    print(f"\n{benchmark.name}: {float(said):.0f} MB at the peak, at 60,000 embeddings")
