"""One loss for every level of a hierarchy, added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from rankedu.hierarchy import check_paths, check_per_level
from rankedu.losses.base import eager
from rankedu.losses.on_embeddings import check_embeddings
from rankedu.rankers.base import wide

__all__ = ["SumOverLevels"]


class SumOverLevels(nn.Module):
    r"""Add a loss of flat labels over the levels of a hierarchy: the Σ baselines.

    .. math:: L = \sum_{l=1}^{L} w_l\, L_l(\text{embeddings}, \text{classes of level } l)

    The class of an item at level l is its label path down to there, so that an id used under two parents names two
    classes.

    Parameters
    ----------
    make_loss : callable, int -> Module
        Makes the loss of a level from the number of its classes, e.g.
        ``lambda n: ClusterLoss(n, dim=512)`` or ``lambda n: OnEmbeddings(SmoothAPLoss())``.
    labels : Tensor of int, shape (N, L) or (N,)
        Label paths from root to leaf of the training set (or of its classes), −1 below the end of a path. They number
        the classes of every level, the same for every batch.
    level_weights : sequence of float, length L, optional
        w ≥ 0, from root to leaf. Default: 1 each, the sum; for the mean, 1/L each.

    Notes
    -----
    Costs what its L losses cost. An item whose path has ended takes no part in deeper levels. Classes that were not
    among ``labels`` count on from n: losses that compare items take them, those that have learnt proxies say that they
    have none. Explained in chapter 15.
    Raises ValueError for labels that are no paths (see :func:`rankedu.hierarchy.levels`), or other than L finite
    weights ≥ 0; TypeError for labels that are not integers, or a ``make_loss`` that is not callable.
    Source: HAPPIER Tab. 1; HAPPIER Tab. 2.

    >>> from rankedu.losses import CalibrationLoss, OnEmbeddings
    >>> labels = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 0]])
    >>> loss = SumOverLevels(lambda n: OnEmbeddings(CalibrationLoss()), labels)
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-1.0, 0.0]])
    >>> round(loss(embeddings, labels).item(), 4)  # the first two are of one class at level 1 only
    0.9
    """

    def __init__(
        self, make_loss: Callable[[int], nn.Module], labels: Tensor, level_weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        if not callable(make_loss) or isinstance(make_loss, nn.Module):
            raise TypeError(
                f"make_loss must make the loss of a level, got {make_loss!r} (e.g. lambda n: ClusterLoss(n, dim=512))"
            )
        paths = check_paths(labels, "labels")
        if not len(paths):
            raise ValueError(f"labels must have shape (n,) or (n, L) with n, L >= 1, got {tuple(labels.shape)}")
        self.classes: list[dict[tuple[int, ...], int]] = []
        for level in range(1, paths.shape[1] + 1):
            known = sorted({tuple(path[:level]) for path in paths.tolist() if path[level - 1] >= 0})
            self.classes.append({prefix: number for number, prefix in enumerate(known)})
        weights = (1.0,) * len(self.classes) if level_weights is None else level_weights
        self.level_weights = check_per_level(weights, len(self.classes), "level_weights")
        self.losses = nn.ModuleList(make_loss(len(known)) for known in self.classes)

    def extra_repr(self) -> str:
        return f"classes={[len(known) for known in self.classes]}, level_weights={self.level_weights}"

    @eager
    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        indices_tuple: None = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of paths of L levels, as :meth:`~rankedu.losses.OnEmbeddings.forward`, without a miner."""
        if indices_tuple is not None:
            raise ValueError("indices_tuple must be None, got one (mine in the loss of each level)")
        if ref_emb is embeddings and ref_labels is labels:
            ref_emb = ref_labels = None
        if (ref_emb is None) != (ref_labels is None):
            raise ValueError("ref_emb and ref_labels must be given together, got one of the two")
        paths = [self._batch_paths(embeddings, labels, "")]
        if ref_emb is not None and ref_labels is not None:
            paths.append(self._batch_paths(ref_emb, ref_labels, "ref_"))
        embeddings = wide(embeddings)  # once, so that all gradients are added before they are rounded to 16 bits
        total = 0.0 * embeddings.sum()
        for level, (loss, weight) in enumerate(zip(self.losses, self.level_weights, strict=True), start=1):
            arguments: list[Tensor] = []
            for vectors, numbers in zip((embeddings, ref_emb), self._numbers(paths, level), strict=False):
                assert vectors is not None
                here = numbers.to(vectors.device)
                arguments += [vectors[here >= 0], here[here >= 0]] if (numbers < 0).any() else [vectors, here]
            if weight and all(len(argument) for argument in arguments):
                references = dict(zip(("ref_emb", "ref_labels"), arguments[2:], strict=False))
                total = total + weight * loss(*arguments[:2], **references)
        return total

    def _batch_paths(self, embeddings: Tensor, labels: Tensor, prefix: str) -> list[list[int]]:
        paths, levels = check_paths(labels, f"{prefix}labels"), len(self.classes)
        if paths.shape[1] != levels:
            raise ValueError(f"{prefix}labels must have shape (batch, {levels}), got {tuple(labels.shape)}")
        check_embeddings(embeddings, paths[:, 0], prefix=prefix)
        found: list[list[int]] = paths.tolist()
        return found

    def _numbers(self, batches: list[list[list[int]]], level: int) -> list[Tensor]:
        """The class of every item at a level; −1 where its path has ended."""
        known, numbers = self.classes[level - 1], []
        fresh: dict[tuple[int, ...], int] = {}
        for paths in batches:
            prefixes = [tuple(path[:level]) for path in paths]
            for prefix in prefixes:
                if prefix[-1] >= 0 and prefix not in known:
                    fresh.setdefault(prefix, len(known) + len(fresh))
            numbers.append(torch.tensor([known.get(prefix, fresh.get(prefix, -1)) for prefix in prefixes]))
        return numbers
