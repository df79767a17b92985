"""Embed a batch in chunks, so that the graph of one chunk at a time is kept: batch 4096 on a small device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from ranklab.training.device import random_state, set_random_state

__all__ = ["autocast", "embed_for_gradient"]


def embed_for_gradient(
    net: nn.Module, images: Tensor, *, chunk: int | None = None, amp: bool = False
) -> tuple[Tensor, Callable[[Tensor], None]]:
    """Embed a batch now, and say how the gradient of the embeddings is carried into the network later.

    Parameters
    ----------
    net : Module
        Images (B, ...) to embeddings (B, dim).
    images : Tensor, shape (B, ...)
        On the network's device.
    chunk : int, optional
        With it, the images are embedded so many at a time, without a graph. The second time, when the gradient is
        known, each chunk is embedded again with its graph, which is used and given up at once. Default: once, all
        together.
    amp : bool
        Embed under autocast: bfloat16 on a CPU, float16 on CUDA.

    Returns
    -------
    embeddings : Tensor, shape (B, dim)
        Without a graph; float32 or float64.
    backward : callable
        ``backward(gradient)``, with the gradient of a loss with respect to the embeddings, adds to the gradients of the
        parameters what ``loss.backward()`` would have added. To be called once.

    Notes
    -----
    Between the two calls stands ``loss(embeddings.requires_grad_(), labels).backward()``, so that what the loss itself
    has to learn, such as proxies, gets its gradient too; ``torch.autograd.grad(value, embeddings)`` would leave it out.

    In chunks, a batch costs one forward pass more, and memory for the graph of a chunk, and for B · dim numbers. The
    second pass draws the random numbers (of dropout) that the first one drew, and leaves the buffers (the running
    statistics of batch norm) as if there had been one pass. The gradient is the direct one, but for rounding, for a
    network that embeds each image by itself. Batch norm in training does not: its mean and variance are then those of
    a chunk instead of those of the batch. The gradient is exact for that network, which is the one that several
    processes train too, but it is another network; with frozen statistics (``net.eval()``) there is no difference.

    Examples
    --------
    >>> net, images = nn.Linear(3, 2), torch.ones(4, 3)
    >>> embeddings, backward = embed_for_gradient(net, images, chunk=2)
    >>> embeddings.requires_grad_().sum().backward()  # a loss
    >>> backward(embeddings.grad)
    >>> net.bias.grad
    tensor([4., 4.])
    """
    if chunk is None or chunk >= len(images):
        with autocast(images.device, amp):
            embeddings = _wide(net(images))
        return embeddings.detach(), lambda gradient: _backward(embeddings, gradient)
    chunks, states, before = images.split(chunk), [], [buffer.clone() for buffer in net.buffers()]
    embedded = []
    for part in chunks:
        states.append(random_state(images.device))
        with torch.no_grad(), autocast(images.device, amp):
            embedded.append(_wide(net(part)))
    with torch.no_grad():
        for buffer, old in zip(net.buffers(), before, strict=True):
            buffer.copy_(old)

    def backward(gradient: Tensor) -> None:
        now = random_state(images.device)
        for part, state, own in zip(chunks, states, gradient.split(chunk), strict=True):
            set_random_state(state, images.device)
            with autocast(images.device, amp):
                again = _wide(net(part))
            _backward(again, own)
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


def _wide(embeddings: Tensor) -> Tensor:
    """To 32 bits, if they have fewer: in 16 bits many similarities would tie."""
    return embeddings.to(torch.promote_types(embeddings.dtype, torch.float32))
