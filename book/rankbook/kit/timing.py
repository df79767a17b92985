"""How long contenders take, in turns: what else the machine does meets all of them alike."""

import statistics
import time
from collections.abc import Callable, Mapping

import torch


def in_turns(
    contenders: Mapping[str, Callable[[], object]], rounds: int, *, warm_up: int = 2, device: str = "cpu"
) -> dict[str, float]:
    """Median seconds of each contender over so many rounds, after some that warm up."""
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
