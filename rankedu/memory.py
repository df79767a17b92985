"""Memories: what earlier batches left, as further candidates in the lists that are ranked now."""

from collections import deque
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.checks import as_relevance, check_count, check_floating, check_not_nan, check_values
from rankedu.labels import check_labels, check_rows
from rankedu.losses.base import eager

__all__ = ["EmbeddingMemory", "ScoreMemory"]


class _Memory(nn.Module):
    """The last ``length`` batches, newest first; a batch is a tuple of tensors with one row per item."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = check_count(length, "length", least=0, hint="it counts batches; 0 remembers nothing")
        self._batches: deque[tuple[Tensor, ...]] = deque(maxlen=length)

    def extra_repr(self) -> str:
        return f"length={self.length}"

    def __len__(self) -> int:
        """Count the items that are remembered."""
        return sum(len(batch[0]) for batch in self._batches)

    def __bool__(self) -> bool:
        return True  # a memory that is still empty is a memory all the same

    def reset(self) -> None:
        """Forget all batches, for instance where an epoch or another data set begins."""
        self._batches.clear()

    def _extend(self, current: tuple[Tensor, ...], *, unit: str) -> tuple[Tensor, ...]:
        """Put the remembered items after the current ones; then remember the current ones, without their graph."""
        if self._batches and self._batches[0][0].shape[1] != current[0].shape[1]:
            raise ValueError(
                f"memory holds batches of {self._batches[0][0].shape[1]} {unit}, got one of {current[0].shape[1]} "
                "(use another memory for other data, or call memory.reset() first)"
            )
        columns = zip(current, *self._batches, strict=True)
        extended = tuple(torch.cat([now, *(past.to(now) for past in column)]) for now, *column in columns)
        if self.training and torch.is_grad_enabled():  # a validation leaves no trace
            self._batches.appendleft(tuple(part.detach().clone() for part in current))
        return extended

    def get_extra_state(self) -> dict[str, Any]:
        """Batches may differ in size, so they are no buffers."""
        return {"batches": [list(batch) for batch in self._batches]}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Take over what was saved: from a longer memory its newest batches."""
        newest_first = [tuple(part.clone() for part in batch) for batch in state["batches"][: self.length]]
        self._batches = deque(newest_first, maxlen=self.length)


class ScoreMemory(_Memory):
    """Remember the class scores of the last batches, and rank the current ones among them. Explained in chapter 5.

    The *list* grows, along the batch axis: each class ranks (1 + τ) · batch items. The remembered scores have no
    gradient, and a batch never meets its own copy. Nothing is stored in eval mode, nor where gradients are off. Batches
    may differ in size, dtype and device; the current batch's are used. O(τ · batch · classes) memory.

    Parameters
    ----------
    length : int
        τ ≥ 0, in batches.

    Raises
    ------
    ValueError, TypeError
        For a length that is not an int ≥ 0.

    References
    ----------
    RaMBO Sec. 4.3

    Examples
    --------
    >>> memory = ScoreMemory(length=1)
    >>> _ = memory(torch.tensor([[0.1, 0.2]]), torch.tensor([[True, False]]))
    >>> memory(torch.tensor([[0.3, 0.4]]), torch.tensor([[False, True]]))[0]
    tensor([[0.3000, 0.4000],
            [0.1000, 0.2000]])
    """

    holds = "scores"

    @eager
    def forward(self, scores: Tensor, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """Extend a batch by the remembered ones, then remember it: :meth:`extend` without ``where``."""
        return self.extend(scores, relevance)[:2]

    @eager
    def extend(
        self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Extend a batch by the remembered ones, then remember it.

        Parameters
        ----------
        scores : Tensor, shape (batch, classes)
            Floating point.
        relevance : Tensor of bool, or of 0 and 1, shape (batch, classes)
        where : Tensor of bool, shape (batch, classes), optional
            Items that take part, now and later, by default all.

        Returns
        -------
        tuple of Tensor, shape (batch + remembered, classes) each
            Scores, relevance and where: the current batch first, with its graph, then the others, newest first.

        Raises
        ------
        ValueError, TypeError
            For NaN, or another shape or dtype.
        """
        check_values(scores)
        check_floating(scores)
        if scores.ndim != 2:
            raise ValueError(f"scores must have shape (batch, classes) to be remembered, got {tuple(scores.shape)}")
        positive = as_relevance(relevance, scores, where)
        if where is None:
            where = torch.ones_like(positive)
        check_not_nan(scores, where)
        all_scores, all_relevance, everywhere = self._extend((scores, positive, where), unit="classes")
        return all_scores, all_relevance, everywhere


class EmbeddingMemory(_Memory):
    """Remember the embeddings and labels of the last batches, as further items to be retrieved. Explained in chapter 5.

    They were made by the network of some steps ago; otherwise as :class:`ScoreMemory`, but with O(τ · batch · dim)
    memory. ``OnEmbeddings(loss, memory=EmbeddingMemory(3))`` does the rest.

    Parameters
    ----------
    length : int
        τ ≥ 0, in batches.

    Raises
    ------
    ValueError, TypeError
        For a length that is not an int ≥ 0.

    References
    ----------
    RaMBO Sec. 4.3

    Examples
    --------
    >>> memory = EmbeddingMemory(length=3)
    >>> _ = memory(torch.tensor([[1.0, 0.0]]), torch.tensor([5]))
    >>> memory(torch.tensor([[0.0, 1.0], [0.6, 0.8]]), torch.tensor([7, 7]))[1]
    tensor([7, 7, 5])
    """

    holds = "embeddings"

    @eager
    def forward(self, embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Extend a batch by the remembered ones, then remember it: :meth:`extend` without ids."""
        return self.extend(embeddings, labels)[:2]

    @eager
    def extend(
        self, embeddings: Tensor, labels: Tensor, *, ids: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Extend a batch by the remembered ones, then remember it.

        Parameters
        ----------
        embeddings : Tensor, shape (batch, dim)
            Floating point.
        labels : Tensor of int, shape (batch,) or (batch, L)
            Classes, or paths from root to leaf.
        ids : Tensor of int, shape (batch,), optional
            The identity of each item, so that a loss can leave out its older copies.

        Returns
        -------
        tuple of Tensor, with batch + remembered rows each
            Embeddings, labels and ids (None without ids): the current batch first, with its graph.

        Raises
        ------
        ValueError, TypeError
            For NaN, another shape, dtype or width, or ids in some batches only.
        """
        check_rows(embeddings, "embeddings")
        labels = check_labels(labels, embeddings)
        current = (embeddings, labels) if ids is None else (embeddings, labels, ids)
        if self._batches and self._batches[0][1].shape[1:] != labels.shape[1:]:
            raise ValueError(
                f"memory holds labels of shape {tuple(self._batches[0][1].shape)}, got {tuple(labels.shape)} "
                "(use another memory for paths of another depth, or call memory.reset() first)"
            )
        if self._batches and len(self._batches[0]) != len(current):
            got, held = ("none", "some") if ids is None else ("some", "none")
            raise ValueError(f"ids must be given for all batches or none, got {got} where the memory holds {held}")
        found = self._extend(current, unit="dimensions")
        return (found[0], found[1], None) if ids is None else (found[0], found[1], found[2])
