"""Several processes: what each holds, joined in the order of their ranks."""

from itertools import combinations
from typing import Any

import torch
from torch import Tensor


def check_process_group() -> None:
    """Whether there are other processes to talk to."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        raise RuntimeError(
            "distributed must be False where there is no process group, got True "
            "(call torch.distributed.init_process_group first)"
        )


def gather(part: Tensor, *, name: str) -> list[Tensor]:
    """The parts of all processes; every process gets them all."""
    part = part.detach().contiguous()
    kinds: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(kinds, (part.shape, part.dtype))
    if len({(tuple(shape[1:]), dtype) for shape, dtype in kinds}) > 1:
        shapes = ", ".join(f"{tuple(shape)} {dtype}" for shape, dtype in kinds)
        raise ValueError(f"{name} must differ between processes in the number of rows alone, got {shapes}")
    rows = [shape[0] for shape, _ in kinds]
    room = part.new_zeros(max(rows), *part.shape[1:])
    room[: len(part)] = part
    parts = [torch.empty_like(room) for _ in rows]
    # as bytes, since not every back end knows every dtype
    torch.distributed.all_gather([p.view(torch.uint8) for p in parts], room.view(torch.uint8))
    return [p[:n] for p, n in zip(parts, rows, strict=True)]


def refuse_copies(embeddings: list[Tensor], labels: list[Tensor], *, name: str) -> None:
    """Each process must hold another part: where all hold the whole, every item would find its copies first."""
    for i, j in combinations(range(len(embeddings)), 2):
        if len(embeddings[i]) and torch.equal(embeddings[i], embeddings[j]) and torch.equal(labels[i], labels[j]):
            raise ValueError(
                f"{name} must be another part of the whole in each process, got the same {len(embeddings[i])} rows and "
                f"labels in processes {i} and {j} (if each process has the whole, leave out distributed=True)"
            )
