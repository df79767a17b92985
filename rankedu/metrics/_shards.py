"""Several processes: what each holds, joined in the order of their ranks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["check_shard", "join", "process"]


def check_shard(shard: Any) -> tuple[int, int]:
    """A pair (i, n) with 0 <= i < n."""
    try:
        i, n = shard
        valid = isinstance(i, int) and isinstance(n, int) and 0 <= i < n
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(f"shard must be a pair (i, n) of int with 0 <= i < n, got {shard!r} (e.g. (0, 4) to (3, 4))")
    return i, n


def process() -> tuple[int, int]:
    """This process's rank, and how many there are."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        raise RuntimeError(
            "distributed must be False where there is no process group, got True "
            "(call torch.distributed.init_process_group first)"
        )
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def join(part: Tensor, *, name: str) -> Tensor:
    """Concatenate the parts of all processes; every process gets the whole."""
    part = part.detach().contiguous()
    kinds: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(kinds, (part.shape, part.dtype))
    if len({(tuple(shape[1:]), dtype) for shape, dtype in kinds}) > 1:
        told = ", ".join(f"{tuple(shape)} {dtype}" for shape, dtype in kinds)
        raise ValueError(f"{name} must differ between processes in the number of rows alone, got {told}")
    rows = [shape[0] for shape, _ in kinds]
    room = part.new_zeros(max(rows), *part.shape[1:])
    room[: len(part)] = part
    parts = [torch.empty_like(room) for _ in rows]
    # as bytes, since not every back end knows every dtype
    torch.distributed.all_gather([p.view(torch.uint8) for p in parts], room.view(torch.uint8))
    return torch.cat([p[:n] for p, n in zip(parts, rows, strict=True)])
