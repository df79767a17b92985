"""Embed a batch in chunks, so that the graph of one chunk at a time is kept: batch 4096 on a small device."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from rankedu_lab.training.device import random_state, set_random_state

__all__ = ["autocast", "embed_for_gradient"]


def embed_for_gradient(
    net: nn.Module, images: Tensor, *, chunk: int | None = None, amp: bool = False
) -> tuple[Tensor, Callable[[Tensor], None]]:
    """Embed a batch (B, ...) now, and say how the gradient of the embeddings (B, dim) is carried into the net later.

    Between the two comes ``loss(embeddings.requires_grad_(), labels).backward()``, so that parameters of the loss get
    their gradient, too. With ``chunk``, that many images at a time are embedded without a graph, and again when
    the gradient is known, with the same dropout and the buffers of one pass. That is the direct gradient, but for batch
    norm in training, which then takes the statistics of a chunk. With ``amp`` it is under :func:`autocast`.

    >>> net, images = nn.Linear(3, 2), torch.ones(4, 3)
    >>> embeddings, backward = embed_for_gradient(net, images, chunk=2)
    >>> embeddings.requires_grad_().sum().backward()  # a loss
    >>> backward(embeddings.grad)
    >>> net.bias.grad
    tensor([4., 4.])
    """

    def wide(part: Tensor) -> Tensor:
        """Embeddings of at least 32 bits: in 16 bits many similarities would tie."""
        with autocast(images.device, amp):
            made: Tensor = net(part)
            return made.to(torch.promote_types(made.dtype, torch.float32))

    if chunk is None or chunk >= len(images):
        embeddings = wide(images)
        return embeddings.detach(), lambda gradient: _backward(embeddings, gradient)
    chunks, states, before = images.split(chunk), [], [buffer.clone() for buffer in net.buffers()]
    embedded = []
    with torch.no_grad():
        for part in chunks:
            states.append(random_state(images.device))
            embedded.append(wide(part))
        for buffer, old in zip(net.buffers(), before, strict=True):
            buffer.copy_(old)

    def backward(gradient: Tensor) -> None:
        now = random_state(images.device)
        for part, state, own in zip(chunks, states, gradient.split(chunk), strict=True):
            set_random_state(state, images.device)
            _backward(wide(part), own)
        set_random_state(now, images.device)

    return torch.cat(embedded), backward


def autocast(device: torch.device, amp: bool) -> AbstractContextManager[Any]:
    """Compute in 16 bits where that is safe, if ``amp``: bfloat16 on a CPU, float16 on CUDA."""
    if not amp:
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.float16 if device.type == "cuda" else torch.bfloat16)


def _backward(embeddings: Tensor, gradient: Tensor) -> None:
    """Through the network, if it has something that is trained."""
    if embeddings.requires_grad:
        torch.autograd.backward(embeddings, gradient)
