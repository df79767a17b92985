"""What the benchmarks share: one thread, and contenders timed in turn, so that ratios survive a noisy machine."""

import statistics
import time

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def interleaved(benchmark):
    """Time a piece of work and others in turn; print the ratios and keep them with the benchmark.

    Called as ``interleaved(ours, {"what": theirs, ...}, rounds)``, all of them functions without arguments. Returns the
    median seconds of ours.
    """

    def run(ours, others, rounds):
        for contender in others.values():
            contender()  # warms up
        times = {name: [] for name in others}

        def others_first():
            for name, contender in others.items():
                start = time.perf_counter()
                contender()
                times[name].append(time.perf_counter() - start)

        benchmark.pedantic(ours, setup=others_first, rounds=rounds, warmup_rounds=1)
        mine = benchmark.stats.stats.median
        keep(benchmark, mine, {name: statistics.median(values) for name, values in times.items()})
        return mine

    return run


def keep(benchmark, mine, medians):
    """Print the ratios, and put them into what ``--benchmark-json`` writes."""
    shown = "; ".join(f"{mine / value:.2f} x {name} ({1e3 * value:.1f} ms)" for name, value in medians.items())
    print(f"\n{benchmark.name}: {1e3 * mine:.1f} ms = {shown}")
    benchmark.extra_info.update({f"ratio to {name}": round(mine / value, 3) for name, value in medians.items()})


@pytest.fixture
def step():
    """Make one training step of a loss of a leaf: forward and backward, from a fresh gradient."""

    def make(loss, leaf):
        def forward_and_backward():
            leaf.grad = None
            loss(leaf).backward()

        return forward_and_backward

    return make
