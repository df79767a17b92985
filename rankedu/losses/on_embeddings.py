"""From embeddings and labels to scores and relevance: every item of a batch is a query."""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from rankedu import hierarchy
from rankedu._fast.engine import eager
from rankedu.checks import check_choice, check_flag, check_integers, check_like, check_not_nan, check_rows, warn_caller
from rankedu.losses._cosine import SIMILARITIES, similarities


class OnEmbeddings(nn.Module):
    r"""Rank by similarity: each embedding is a query, those with its label are relevant.

    Labels may be paths from root to leaf. Then those with the same leaf are relevant, or, to a loss of graded
    relevance such as :class:`HAPLoss`, all by the levels that they share with the query.

    Parameters
    ----------
    loss : Module
        Called as ``loss(scores, relevance, where=where)``, for instance ``RecallLoss(BlackboxRanker(lam=4.0))``.
    exclude_self : bool
        Leave the query out of the list that it ranks. With False each query finds itself, which is always right, and
        the loss is smaller.
    memory : EmbeddingMemory, optional
        Extends the list by the embeddings of earlier batches.
    relevance : callable, optional
        ``relevance(levels, where=where)`` makes relevance of the levels, 0 … L, that items share with queries; e.g.
        ``partial(hierarchy.relevance, alpha=5.0)``, or ``lambda levels, where: levels >= 2``. Default: for a graded
        loss and paths :func:`rankedu.hierarchy.relevance` with α = 1, or what its ``graded`` says, else the same leaf.
    similarity : {"cosine", "dot", "euclidean"}
        The score is the cosine, the dot product, or minus the distance; evaluate by the same one.

    Notes
    -----
    The call is that of pytorch-metric-learning's losses. For cosines the embeddings are brought to length 1 here, so a
    linear last layer will do. Scores are computed in float32 at least, also under autocast, as 16 bits would tie many
    of them. That Eq. 4 inverts the order of two levels is said once, by `InvertedRelevanceWarning`, and so is, by
    `FlatHierarchyWarning`, that no pair of a batch has some and not all levels in common. O(queries · candidates · (dim
    + log candidates)). Explained in chapter 7.
    Raises ValueError for an unknown similarity; TypeError for a loss or a relevance that is not callable, or a memory
    that is none.
    Source: RaMBO Sec. 5.1; HAPPIER Sec. 3.1; HAPPIER Fn. 1.

    >>> from rankedu.losses import RecallLoss
    >>> from rankedu.rankers import BlackboxRanker
    >>> loss = OnEmbeddings(RecallLoss(BlackboxRanker(lam=4.0), margin=0.02))
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.5, 0.5]], requires_grad=True)
    >>> labels = torch.tensor([0, 0, 1, 1])
    >>> round(loss(embeddings, labels).item(), 4)  # two outrank the partner of the last item: log(3)/4
    0.2747
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
        if memory is not None and (not isinstance(memory, nn.Module) or hasattr(memory, "extend")):  # a ScoreMemory
            raise TypeError(f"memory must be an EmbeddingMemory, got {memory!r} (e.g. EmbeddingMemory(length=3))")
        if relevance is not None and not callable(relevance):
            raise TypeError(
                f"relevance must be a function of levels, got {relevance!r} (e.g. rankedu.hierarchy.relevance)"
            )
        self.loss = loss
        self.relevance = relevance
        self._warned = self._told_flat = False
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
    ) -> Tensor:
        """Compute the loss of a batch.

        Raises ValueError for NaN, other shapes, one of the two references without the other, or references beside a
        memory; TypeError for embeddings that are not floating point, paths that are not integers, or other indices.

        Parameters
        ----------
        embeddings : Tensor, shape (batch, dim)
            Floating point, of any length from 1e-12 to 1e18; a row of zeros has no gradient of its cosines.
        labels : Tensor, shape (batch,) or (batch, L)
            Classes, of any real dtype: equal ones match, two −1 too. Or integer paths from root to leaf, −1 below
            the end of a path, which matches nothing.
        indices_tuple : tuple of Tensor of int64, optional
            What a miner of pytorch-metric-learning returns: three tensors (queries, their positives, their negatives)
            or four. Who is in no pair with a query takes no part in its list, but for what the memory holds, which
            miners do not see. Ranks need no miner. Default: all.
        ref_emb : Tensor, shape (refs, dim), optional
            The items to be ranked, ``ref_embeddings`` by another name. Default: the batch, and what the memory holds;
            the very tensor ``embeddings`` means that too. Else no item is taken for the query itself.
        ref_labels : Tensor, shape (refs,) or (refs, L), optional
            Goes with ``ref_emb``.

        Returns
        -------
        Tensor, shape (), or (batch,) from a loss with ``reduction="none"``
            What the loss returns. Gradients flow to the queries and to the references, not to the memory.
        """
        check_embeddings(embeddings, labels, paths=True)
        if indices_tuple is not None:
            check_indices(indices_tuple)
        ref_emb = ref_embeddings if ref_emb is None else ref_emb
        own = ref_emb is None or ref_emb is embeddings
        if own:
            if ref_labels is not None and ref_emb is None:
                raise ValueError("ref_emb must be given with ref_labels, got None (or leave out both)")
            ref_emb, ref_labels = embeddings, labels
            if self.memory is not None:
                ref_emb, ref_labels = self.memory(embeddings, labels)
        else:
            self._check_references(embeddings, labels, ref_emb, ref_labels)
        assert ref_emb is not None and ref_labels is not None
        scores = similarities(embeddings, ref_emb, self.similarity)
        where = None if indices_tuple is None else mined(indices_tuple, scores)
        if where is not None and own:
            where[:, len(labels) :] = True  # the memory's
        if own and self.exclude_self:
            where = torch.ones_like(scores, dtype=torch.bool) if where is None else where
            where.diagonal().fill_(False)
        flat = labels.ndim == 1 and self.relevance is None
        relevance = labels.unsqueeze(1) == ref_labels if flat else self._relevance(labels, ref_labels, where)
        loss: Tensor = self.loss(scores, relevance, where=where)
        return loss

    def _relevance(self, labels: Tensor, ref_labels: Tensor, where: Tensor | None) -> Tensor:
        refs = None if ref_labels is labels else hierarchy.check_paths(ref_labels, "ref_labels")
        levels = hierarchy.levels(labels, refs)
        graded: Any = getattr(self.loss, "graded", False)
        of_levels = self.relevance or (graded if callable(graded) else hierarchy.relevance)
        if self.relevance is None and not graded:
            return levels == labels.shape[1]
        deepest = 1 if labels.ndim == 1 else labels.shape[1]
        if not (deepest == 1 or self._told_flat or ((levels > 0) & (levels < deepest)).any()):
            self._told_flat = True
            warn_caller(
                f"labels must run from root to leaf, got pairs with nothing or all {deepest} columns in common: the "
                "loss is that of one level (stands the leaf before its parent? labels.flip(1). Or are there no two "
                "classes of one parent in the batch?)",
                hierarchy.FlatHierarchyWarning,
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = of_levels(levels, where=where)
        for warning in caught:  # an inverted order would else be told at every batch
            inverted = issubclass(warning.category, hierarchy.InvertedRelevanceWarning)
            if not (inverted and self._warned):
                warnings.warn(warning.message, warning.category, stacklevel=5)
            self._warned |= inverted
        return found

    def _check_references(
        self, embeddings: Tensor, labels: Tensor, ref_emb: Tensor | None, ref_labels: Tensor | None
    ) -> None:
        if ref_labels is None or ref_emb is None:
            raise ValueError("ref_labels must be given with ref_emb, got None (one label for each reference)")
        if self.memory is not None:
            raise ValueError(
                "ref_emb must be None where there is a memory, got a Tensor "
                "(the memory provides the references; use another OnEmbeddings without one)"
            )
        check_embeddings(ref_emb, ref_labels, prefix="ref_", paths=True, like=embeddings)
        if ref_labels.shape[1:] != labels.shape[1:]:
            shape = "(refs,)" if labels.ndim == 1 else f"(refs, {labels.shape[1]})"
            raise ValueError(
                f"ref_labels must have shape {shape} as labels do, got {tuple(ref_labels.shape)} "
                "(both are classes, or both are paths of as many levels)"
            )


def check_embeddings(
    embeddings: Tensor, labels: Tensor, *, prefix: str = "", paths: bool = False, like: Tensor | None = None
) -> None:
    """Check a matrix of embeddings, as wide as another, and one label, or path if these may be, for each row."""
    name = f"{prefix}embeddings"
    check_rows(embeddings, name)
    if like is not None and embeddings.shape[1] != like.shape[1]:
        shape = tuple(embeddings.shape)
        raise ValueError(f"{name} must have shape (batch, {like.shape[1]}), got {shape} (what is compared is as wide)")
    one_level = paths and isinstance(labels, Tensor) and labels.ndim == 2 and labels.shape[1] > 0
    what, rows = (f"{prefix}labels[:, 0]", labels[:, 0]) if one_level else (f"{prefix}labels", labels)
    check_like(rows, embeddings[:, 0], name=what, other=f"{name}[:, 0]")
    hint = "number the classes from 0"
    if one_level or rows.is_complex():
        check_integers(labels, f"{prefix}labels", hint)
    check_not_nan(rows, None, name=what, hint=hint)


def check_indices(indices: Any) -> None:
    """What a miner returns."""
    if not (isinstance(indices, (tuple, list)) and len(indices) in (3, 4)):
        raise TypeError(
            f"indices_tuple must be three or four tensors, as a miner returns, got {type(indices).__name__} "
            "(references are named: ref_emb=..., ref_labels=...)"
        )


def mined(indices: Any, scores: Tensor) -> Tensor:
    """Which items a miner left in the list of each query, bool of the scores' shape."""
    anchor, positive, other, negative = indices if len(indices) == 4 else (*indices[:2], indices[0], indices[2])
    where = torch.zeros_like(scores, dtype=torch.bool)
    where[anchor, positive] = True
    where[other, negative] = True
    return where
