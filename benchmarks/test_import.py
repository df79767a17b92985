"""`import rankedu` against `import torch`, each in a fresh process: the goal is at most 1.3 times.

The package imports its rooms when they are first named, so that the bare import does not even load torch; the rooms of
the numerical core do.
"""

import statistics
import subprocess
import sys
import time

import pytest

CORE = "from rankedu import rank, blackbox, rankers, metrics, landscapes, solvers"


def seconds(statement):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, timeout=120)
    return time.perf_counter() - start


@pytest.mark.parametrize("statement", ["import rankedu", CORE], ids=["package", "core"])
def test_import(benchmark, statement):
    seconds(CORE)  # fill the disk cache
    torch_alone = []

    def import_torch():
        """Runs before each round, so that the two are timed in turn."""
        torch_alone.append(seconds("import torch"))
        return (statement,), {}

    benchmark.pedantic(seconds, setup=import_torch, rounds=5)
    one_torch = statistics.median(torch_alone)
    ratio = benchmark.stats.stats.median / one_torch
    benchmark.extra_info.update(torch_s=round(one_torch, 3), ratio_to_torch=round(ratio, 3))
    print(f"\n{statement}: {ratio:.2f} x import torch ({one_torch:.2f} s)")
