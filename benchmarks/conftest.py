"""What the benchmarks share: one thread, and contenders timed in turn, so that ratios survive a noisy machine."""

import statistics
import time

import pytest
import torch

#: Seconds that the processor worked for this process: others on the machine do not count.
CLOCK = time.process_time


def pytest_collection_modifyitems(items):
    """What is interleaved is timed by the processor's clock."""
    for item in items:
        if "interleaved" in item.fixturenames:
            item.add_marker(pytest.mark.benchmark(timer=CLOCK))


@pytest.fixture(autouse=True)
def one_thread():
    """As in a training run: on one thread here, and with an allocator that has given back something large before."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.zeros(31 << 18)  # after that glibc keeps freed blocks of up to 31 MB, instead of asking for them each time
    yield
    torch.set_num_threads(before)


@pytest.fixture
def interleaved(benchmark, keep):
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
                start = CLOCK()
                contender()
                times[name].append(CLOCK() - start)

        benchmark.pedantic(ours, setup=others_first, rounds=rounds, warmup_rounds=1)
        mine = benchmark.stats.stats.median
        keep(mine, {name: statistics.median(values) for name, values in times.items()})
        return mine

    return run


@pytest.fixture
def keep(benchmark):
    """Print the ratios of the seconds of ours to those of others; put them into what ``--benchmark-json`` writes."""

    def into(mine, others):
        shown = "; ".join(f"{mine / value:.3g} x {name} ({1e3 * value:.3g} ms)" for name, value in others.items())
        print(f"\n{benchmark.name}: {1e3 * mine:.3g} ms = {shown}")
        benchmark.extra_info.update({f"ratio to {name}": round(mine / value, 4) for name, value in others.items()})

    return into


@pytest.fixture
def step():
    """Make one training step of a loss of a leaf: forward and backward, from a fresh gradient."""

    def make(loss, leaf):
        def forward_and_backward():
            leaf.grad = None
            loss(leaf).backward()

        return forward_and_backward

    return make
