"""How long contenders take, and how that grows with the length of a list."""

import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np
import torch


def in_turns(
    contenders: Mapping[str, Callable[[], object]], rounds: int, *, warm_up: int = 2, device: str = "cpu"
) -> dict[str, float]:
    """Median seconds of each contender over so many rounds, in turns: what the machine does meets all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    wait = torch.cuda.synchronize if device != "cpu" else lambda: None
    for _ in range(warm_up + rounds):
        for name, run in contenders.items():
            wait()
            start = time.perf_counter()
            run()
            wait()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken[warm_up:]) for name, taken in seconds.items()}


def fitted_exponent(seconds: dict[int, float]) -> tuple[float, float]:
    """Fit seconds ∝ n^k, length → seconds; the 95 % interval is k ± margin.

    Source: RaMBO Tab. 1.

    >>> k, margin = fitted_exponent({10: 1.0, 100: 100.0, 1000: 10_000.0})
    >>> round(k, 6), round(margin, 6)
    (2.0, 0.0)
    """
    from scipy import stats

    line = stats.linregress(np.log(list(seconds)), np.log(list(seconds.values())))
    return float(line.slope), float(stats.t.ppf(0.975, len(seconds) - 2) * line.stderr)
