"""Which device a run is on, by name, and the random numbers that are drawn there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def pick_device(name: str = "auto") -> torch.device:
    """Find a device, "auto", "cpu", "cuda" or "cuda:1"; under ``torchrun`` a GPU is this process's own."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "cpu" or (name == "auto" and count == 0):
        return torch.device("cpu")
    kind, colon, number = name.partition(":")
    if kind not in ("auto", "cuda") or (kind == "auto" and colon) or (colon and not number.isdigit()):
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:0', 'cuda:1', ..., got {name!r}")
    index = int(number) if colon else int(os.environ.get("LOCAL_RANK", 0))
    if index >= count:
        there = f"those there are 0 to {count - 1}" if count else "torch finds none on this machine"
        raise ValueError(
            f"device must be available, got {name!r}: no GPU number {index}, {there} (use 'cpu' or 'auto')"
        )
    return torch.device("cuda", index)


def random_state(device: torch.device) -> list[Tensor]:
    """Read the global generators from which dropout and some losses draw: that of the CPU, and that of the device."""
    return [torch.get_rng_state(), *([torch.cuda.get_rng_state(device)] if device.type == "cuda" else [])]


def set_random_state(state: list[Tensor], device: torch.device) -> None:
    """Put back what :func:`random_state` has read; a state of a GPU is passed over on a CPU."""
    torch.set_rng_state(state[0])
    if device.type == "cuda" and len(state) > 1:
        torch.cuda.set_rng_state(state[1], device)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed the generators of :func:`random_state`, and put them back at the end."""
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        torch.default_generator.manual_seed(seed)
        for gpu in gpus:
            with torch.cuda.device(gpu):
                torch.cuda.manual_seed(seed)
        yield
