"""Several processes, one batch: every process embeds its share, and the loss of each sees all embeddings.

Start them with ``torchrun --nproc-per-node 2 ...``; all that is here does nothing in a process that is alone.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.nn.functional import all_gather  # with its gradient

__all__ = ["gather", "joined", "own_part", "rank", "world_size"]


def world_size() -> int:
    """How many processes train together; 1 if this one is alone."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """The number of this process, from 0."""
    return dist.get_rank() if world_size() > 1 else 0


@contextmanager
def joined(device: torch.device | str = "cpu") -> Iterator[None]:
    """Join the processes that ``torchrun`` has started, and leave them at the end; without ``torchrun`` do nothing."""
    device = torch.device(device)
    if int(os.environ.get("WORLD_SIZE", 1)) == 1 or dist.is_initialized():
        yield
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def own_part(batch: Tensor) -> Tensor:
    """Take the part of a batch that this process embeds: the parts of all, in order, are the batch."""
    if len(batch) % world_size():
        raise ValueError(f"batch_size must be a multiple of the {world_size()} processes, got {len(batch)}")
    return batch.chunk(world_size())[rank()]


def gather(embeddings: Tensor, labels: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
    """Collect the shares of all processes, with their gradient: (b, dim) to (processes · b, dim), and the labels.

    ``others`` are collected as the labels are: for a loss that takes them, the numbers of the items.
    Backward, the gradients that all processes have for a share are added: if each computes the loss of the whole
    batch, the mean over processes, as DistributedDataParallel takes it, is the gradient of one with all.
    """
    if world_size() == 1:
        return embeddings, labels, *others
    sizes = [int(size) for size in all_gather(torch.tensor([len(embeddings)], device=embeddings.device))]
    if len(set(sizes)) > 1:
        raise ValueError(f"embeddings must be as many on every process, got {sizes} (share the batch out evenly)")
    return tuple(torch.cat(all_gather(each.contiguous())) for each in (embeddings, labels, *others))
