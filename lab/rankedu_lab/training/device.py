"""Which device a run is on, by name, and the random numbers that are drawn there."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from rankedu.checks import check_choice


def pick_device(name: str = "auto") -> torch.device:
    """Find a device of this machine, "cpu", "cuda" or "cuda:1"; "auto" is the first GPU, if there is one."""
    found = [f"cuda:{number}" for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    if name == "cuda" and not found:
        raise ValueError("device must be 'auto' or 'cpu' here, got 'cuda' (torch finds no GPU on this machine)")
    check_choice(name, ["auto", "cpu", *found, *(["cuda"] if found else [])], name="device")
    return torch.device([*found, "cpu"][0] if name in ("auto", "cuda") else name)


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
