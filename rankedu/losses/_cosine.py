"""Similarities; the cosine with a gradient that needs one product less where the queries are the candidates."""

import math
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import SHORTEST

SIMILARITIES = ("cosine", "dot", "euclidean")


def similarities(embeddings: Tensor, ref_emb: Tensor, kind: str) -> Tensor:
    """Cosines, dot products or minus distances, (q, dim) and (g, dim) to (q, g), in float32 at least.

    A distance is a small difference of large numbers: float64. Where it is 0 it has no gradient.
    """
    if kind == "cosine":
        return cosine(embeddings, ref_emb)
    with torch.autocast(embeddings.device.type, enabled=False):
        dtype = torch.promote_types(embeddings.dtype, torch.float32)
        if kind == "dot":
            return embeddings.to(dtype) @ ref_emb.to(dtype).T
        queries, items = embeddings.double(), ref_emb.double()
        squared = queries.square().sum(1, keepdim=True) + items.square().sum(1) - 2 * queries @ items.T
        return -squared.clamp_min(SHORTEST**2).sqrt().to(dtype)


def cosine(embeddings: Tensor, ref_emb: Tensor) -> Tensor:
    r"""Similarities (q, g) in float32, or float64 if the embeddings are; under autocast too, as 16 bits would tie many.

    If the references are the very tensor ``embeddings``, then with the gradient G of the similarities and unit vectors
    U that of U is :math:`(G + G^\top) U`: one product, where G U and :math:`G^\top U` are two.
    """
    with torch.autocast(embeddings.device.type, enabled=False):
        queries = embeddings.to(torch.promote_types(embeddings.dtype, torch.float32))
        if ref_emb is embeddings:
            similarities: Tensor = _Own.apply(queries)
            return similarities
        return _unit(queries)[0] @ _unit(ref_emb.to(queries.dtype))[0].T


def _unit(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of length 1, and their lengths: infinite for a row of zeros, which stays, and has no gradient."""
    length = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    length = length.masked_fill(length < SHORTEST, math.inf)
    return vectors / length, length


class _Own(torch.autograd.Function):
    """Cosines of all pairs of a batch."""

    @staticmethod
    def forward(ctx: Any, embeddings: Tensor) -> Tensor:
        unit, length = _unit(embeddings)
        ctx.save_for_backward(embeddings, unit, length)
        similarities: Tensor = unit @ unit.T
        return similarities

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        embeddings, unit, length = ctx.saved_tensors
        if torch.is_grad_enabled():  # a graph of the gradient is wanted
            unit, length = _unit(embeddings)
        with torch.autocast(gradient.device.type, enabled=False):
            pulled = gradient.T.contiguous().add_(gradient) @ unit  # a sum that reads columns is six times as slow
        along = (pulled * unit).sum(1, keepdim=True)
        pulled_embeddings: Tensor = (pulled - along * unit) / length
        return pulled_embeddings
