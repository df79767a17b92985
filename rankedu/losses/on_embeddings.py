"""From embeddings and labels to scores and relevance: every item of a batch is a query."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rankedu import hierarchy
from rankedu.checks import check_choice, check_flag, warn_caller
from rankedu.labels import SHORTEST, check_ids, check_labels, check_rows, matches, same_items
from rankedu.losses.base import eager

SIMILARITIES = ("cosine", "dot", "euclidean")


class OnEmbeddings(nn.Module):
    """Rank by similarity: each embedding is a query, those with its label are relevant. Explained in chapter 7.

    Labels may be paths from root to leaf. Then those with the same leaf are relevant, or, to a loss of graded relevance
    such as :class:`HAPLoss`, all by the levels that they share with the query. The call is the one of
    pytorch-metric-learning's losses. For cosines the embeddings are normalised here, so a linear last layer is enough.
    Scores are computed in float32 at least, also under autocast, because 16 bits would tie many of them.

    Parameters
    ----------
    loss : Module
        Called as ``loss(scores, relevance, where=where)``, for instance ``RecallLoss(BlackboxRanker(lam=4.0))``.
    exclude_self : bool
        Leave the query out of the list that it ranks. With False each query finds itself, and the loss is smaller.
    memory : EmbeddingMemory, optional
        Extends the list by the embeddings of earlier batches.
    relevance : callable, optional
        ``relevance(levels, where=where)`` makes relevance from the levels, 0 … L, that items share with queries; e.g.
        ``partial(hierarchy.relevance, alpha=5.0)``, or ``lambda levels, where: levels >= 2``. By default, for a graded
        loss and paths, :func:`rankedu.hierarchy.relevance` with α = 1, or the method ``graded`` of the loss; otherwise
        the same leaf.
    similarity : {"cosine", "dot", "euclidean"}
        The score is the cosine, the dot product, or minus the distance; evaluate with the same one.

    Raises
    ------
    ValueError, TypeError
        For an unknown similarity, a loss or a relevance that is not callable, or a memory that is no `EmbeddingMemory`.

    Warns
    -----
    InvertedRelevanceWarning, FlatHierarchyWarning
        Once, if Eq. 4 inverts the order of two levels, or if no pair of a batch has some but not all levels in common.

    References
    ----------
    RaMBO Sec. 5.1; HAPPIER Sec. 3.1; HAPPIER Fn. 1

    Examples
    --------
    >>> from rankedu.losses import RecallLoss
    >>> from rankedu.rankers import BlackboxRanker
    >>> loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam=4.0), margin=0.02))
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.5, 0.5]])
    >>> loss(embeddings, torch.tensor([0, 0, 1, 1]))  # two outrank the partner of the last item: log(3)/4
    tensor(0.2747)
    """

    def __init__(
        self,
        loss: nn.Module,
        exclude_self: bool = True,
        memory: nn.Module | None = None,
        relevance: Callable[..., Tensor] | None = None,
        *,
        similarity: str = "cosine",
    ) -> None:
        super().__init__()
        check_choice(similarity, SIMILARITIES, name="similarity")
        if not callable(loss) or isinstance(loss, type):
            raise TypeError(f"loss must be a loss of scores and relevance, got {loss!r} (e.g. RecallLoss(ranker))")
        if memory is not None and getattr(memory, "holds", None) != "embeddings":
            raise TypeError(f"memory must be an EmbeddingMemory, got {memory!r} (e.g. EmbeddingMemory(length=3))")
        if relevance is not None and not callable(relevance):
            raise TypeError(
                f"relevance must be a function of levels, got {relevance!r} (e.g. rankedu.hierarchy.relevance)"
            )
        self.loss = loss
        self.relevance = relevance
        self._warned = self._warned_flat = False
        self.exclude_self = check_flag(exclude_self, "exclude_self", hint="a margin goes to the loss itself")
        self.similarity = similarity
        self.memory: Any = memory

    def extra_repr(self) -> str:
        return f"exclude_self={self.exclude_self}, similarity={self.similarity!r}"

    @eager
    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        indices_tuple: tuple[Tensor, ...] | None = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
        *,
        ref_embeddings: Tensor | None = None,
        ids: Tensor | None = None,
        ref_ids: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor, shape (batch, dim)
            Floating point, of any length from 1e-12 to 1e18; the cosines of a row of zeros have no gradient.
        labels : Tensor of int, shape (batch,) or (batch, L)
            Classes, or paths from root to leaf, −1 below the end of a path. −1 is no label: it matches nothing.
        indices_tuple : tuple of Tensor of int64, optional
            The result of a miner of pytorch-metric-learning: three tensors (queries, their positives, their negatives)
            or four. An item that is in no pair with a query takes no part in its list, except for items in the memory.
        ref_emb, ref_labels : Tensor, shape (refs, dim), and as labels, optional
            The items to be ranked; ``ref_embeddings`` is another name. By default, the batch and the items in the
            memory. Equal embeddings and labels mean the batch itself. Beside a memory, the memory stores these, such as
            the keys of a momentum encoder.
        ids, ref_ids : Tensor of int, shape (batch,) and (refs,), optional
            The identity of each item, such as its index in the data set. An item is never its own partner: the list of
            a query leaves out all candidates with its id, older copies in the memory among them.

        Returns
        -------
        Tensor, shape (), or (batch,) from a loss with ``reduction="none"``
            Gradients flow to the queries and to the references, not to the memory.

        Raises
        ------
        ValueError, TypeError
            For NaN, other shapes or dtypes, a part of the references without the other, labels below −1, or other
            indices.
        """
        check_rows(embeddings, "embeddings")
        labels = check_labels(labels, embeddings)
        if indices_tuple is not None and not (
            isinstance(indices_tuple, (tuple, list)) and len(indices_tuple) in (3, 4)
        ):
            raise TypeError(
                f"indices_tuple must be three or four tensors, as a miner returns, got {type(indices_tuple).__name__} "
                "(references are named: ref_emb=..., ref_labels=...)"
            )
        ref_emb = ref_embeddings if ref_emb is None else ref_emb
        if ids is not None or ref_ids is not None:
            check_ids(ids, ref_ids, embeddings, ref_emb)
        if ref_emb is None and ref_labels is not None:
            raise ValueError("ref_emb must be given with ref_labels, got None (or leave out both)")
        own = ref_emb is None or ref_emb is embeddings
        if not own:
            ref_labels = check_references(ref_emb, ref_labels, embeddings, labels)  # type: ignore[arg-type]
            own = same_items(embeddings, labels, ref_emb, ref_labels)  # type: ignore[arg-type]
        if own:
            ref_emb, ref_labels, ref_ids = embeddings, labels, ids
        current = len(ref_emb)  # type: ignore[arg-type]
        if self.memory is not None:
            ref_emb, ref_labels, ref_ids = self.memory.extend(ref_emb, ref_labels, ids=ref_ids)
        assert ref_emb is not None and ref_labels is not None
        shape, device = (len(embeddings), len(ref_emb)), embeddings.device
        where = None if indices_tuple is None else mined(indices_tuple, shape, device, current)
        if ids is not None and ref_ids is not None:
            other = ids.unsqueeze(1) != ref_ids
            where = other if where is None else where & other
        if own and self.exclude_self:
            where = torch.ones(shape, dtype=torch.bool, device=device) if where is None else where
            where.diagonal().fill_(False)
        if self.relevance is None and (labels.ndim == 1 or not getattr(self.loss, "graded", False)):
            relevance = matches(labels, ref_labels)
        else:
            relevance = self._of_levels(labels, ref_labels, where)
        scores = similarities(embeddings, ref_emb, self.similarity)
        loss: Tensor = self.loss(scores, relevance, where=where)
        return loss

    def _of_levels(self, labels: Tensor, ref_labels: Tensor, where: Tensor | None) -> Tensor:
        """The relevance of paths, and the warnings about them."""
        levels = hierarchy.levels(labels, None if ref_labels is labels else ref_labels)
        graded: Any = getattr(self.loss, "graded", False)
        of_levels = self.relevance or (graded if callable(graded) else hierarchy.relevance)
        deepest = 1 if labels.ndim == 1 else labels.shape[1]
        if not (deepest == 1 or self._warned_flat or ((levels > 0) & (levels < deepest)).any()):
            self._warned_flat = True
            warn_caller(
                f"All pairs of the batch have nothing or all {deepest} columns in common, so the loss uses one level. "
                "labels must run from root to leaf: if the leaf comes before its parent, use labels.flip(1). Or the "
                "batch has no two classes of one parent.",
                hierarchy.FlatHierarchyWarning,
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = of_levels(levels, where=where)
        for warning in caught:  # an inverted order is reported once, not for every batch
            inverted = issubclass(warning.category, hierarchy.InvertedRelevanceWarning)
            if not (inverted and self._warned):
                warnings.warn(warning.message, warning.category, stacklevel=5)
            self._warned |= inverted
        return found


def check_references(ref_emb: Tensor, ref_labels: Tensor | None, embeddings: Tensor, labels: Tensor) -> Tensor:
    """References as wide as the embeddings, with labels of the same kind, which are returned."""
    if ref_labels is None:
        raise ValueError("ref_labels must be given with ref_emb, got None (one label for each reference)")
    check_rows(ref_emb, "ref_emb")
    if ref_emb.shape[1] != embeddings.shape[1]:
        raise ValueError(
            f"ref_emb must have shape (refs, {embeddings.shape[1]}), got {tuple(ref_emb.shape)} "
            "(embeddings and references are compared, so they have one width)"
        )
    return check_labels(ref_labels, ref_emb, name="ref_labels", beside="ref_emb", like=labels)


def mined(indices: Any, shape: tuple[int, int], device: torch.device, current: int) -> Tensor:
    """Mark the items that a miner left in the list of each query, and the memory, which follows the current items."""
    anchor, positive, other, negative = indices if len(indices) == 4 else (*indices[:2], indices[0], indices[2])
    where = torch.zeros(shape, dtype=torch.bool, device=device)
    where[anchor, positive] = True
    where[other, negative] = True
    where[:, current:] = True
    return where


def similarities(embeddings: Tensor, ref_emb: Tensor, kind: str = "cosine") -> Tensor:
    r"""Cosines, dot products or minus distances, (q, dim) and (g, dim) to (q, g), in float32 at least.

    If the references are the very tensor ``embeddings``, then with the gradient G of the cosines and unit vectors U the
    gradient of U is :math:`(G + G^\top) U`: one product, where G U and :math:`G^\top U` are two. A distance is computed
    from differences, which keeps its digits far from the origin; at 0 it has no gradient.
    """
    with torch.autocast(embeddings.device.type, enabled=False):
        dtype = torch.promote_types(embeddings.dtype, torch.float32)
        queries, items = embeddings.to(dtype), ref_emb.to(dtype)
        if kind == "dot":
            return queries @ items.T
        if kind == "euclidean":
            return -torch.cdist(queries, items, compute_mode="donot_use_mm_for_euclid_dist")
        if ref_emb is embeddings:
            cosines: Tensor = _Own.apply(queries)
            return cosines
        return unit(queries)[0] @ unit(items)[0].T


def unit(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of length 1, and their lengths: infinite for a row of zeros, which stays, and has no gradient."""
    length = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    length = length.masked_fill(length < SHORTEST, math.inf)
    return vectors / length, length


def with_copies(similarities: Tensor, rows: Tensor) -> Tensor:
    """Give copies of a row the same similarities: a product on a CPU may round them differently, by their position."""
    sums = rows.sum(1).numpy()
    if len(np.unique(sums)) == len(sums):
        return similarities
    _, first, number = np.unique(rows.numpy(), axis=0, return_index=True, return_inverse=True)
    same = torch.from_numpy(first[number.reshape(-1)])
    return similarities[same][:, same]


class _Own(torch.autograd.Function):
    """Cosines of all pairs of a batch."""

    @staticmethod
    def forward(ctx: Any, embeddings: Tensor) -> Tensor:
        rows, length = unit(embeddings)
        ctx.save_for_backward(embeddings, rows, length)
        similarities: Tensor = rows @ rows.T
        return similarities if rows.device.type != "cpu" else with_copies(similarities, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        embeddings, rows, length = ctx.saved_tensors
        if torch.is_grad_enabled():  # a graph of the gradient is wanted
            rows, length = unit(embeddings)
        with torch.autocast(gradient.device.type, enabled=False):
            pulled = gradient.T.contiguous().add_(gradient) @ rows  # a sum that reads columns is six times as slow
        along = (pulled * rows).sum(1, keepdim=True)
        pulled_embeddings: Tensor = (pulled - along * rows) / length
        return pulled_embeddings
