"""One loss for every level of a hierarchy, added up."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from rankedu.labels import check_paths, check_rows
from rankedu.losses.base import eager
from rankedu.rankers.base import wide


class SumOverLevels(nn.Module):
    r"""Add a loss of flat labels over the levels of a hierarchy: the Σ baselines.

    .. math:: L = \sum_{l=1}^{L} L_l(\text{embeddings}, \text{classes of level } l)

    The class of an item at level l is its label path down to there, so that an id used under two parents names two
    classes. ``make_loss`` makes the loss of a level from the number of its classes, e.g.
    ``lambda n: ClusterLoss(n, dim=512)``. ``labels``, int of shape (N, L) or (N,), are the label paths of the training
    set (or of its classes) from root to leaf, −1 below the end of a path. An item whose path has ended takes no part in
    deeper levels. Explained in chapter 15. Raises ValueError for labels that are no paths (see
    :func:`rankedu.hierarchy.levels`); when called, for a class that is not among ``labels``; TypeError for labels that
    are not integers, or a ``make_loss`` that is not callable.
    Source: HAPPIER Tab. 1; HAPPIER Tab. 2.

    >>> from rankedu.losses import CalibrationLoss, OnEmbeddings
    >>> labels = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 0]])
    >>> loss = SumOverLevels(lambda n: OnEmbeddings(CalibrationLoss()), labels)
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [-1.0, 0.0]])
    >>> round(loss(embeddings, labels).item(), 4)  # the first two are of one class at level 1 only
    0.9
    """

    def __init__(self, make_loss: Callable[[int], nn.Module], labels: Tensor) -> None:
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
        self.losses = nn.ModuleList(make_loss(len(known)) for known in self.classes)

    def extra_repr(self) -> str:
        return f"classes={[len(known) for known in self.classes]}"

    @eager
    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Compute the loss of embeddings (batch, dim) and paths (batch, L): a Tensor of shape ()."""
        paths, levels = check_paths(labels, "labels"), len(self.classes)
        if paths.shape[1] != levels:
            raise ValueError(f"labels must have shape (batch, {levels}), got {tuple(labels.shape)}")
        check_rows(embeddings, "embeddings")
        embeddings = wide(embeddings)  # once, so that all gradients are added before they are rounded to 16 bits
        total = 0.0 * embeddings.sum()
        for level, (loss, known) in enumerate(zip(self.losses, self.classes, strict=True), start=1):
            here = (paths[:, level - 1] >= 0).to(embeddings.device)
            own = embeddings if here.all() else embeddings[here]
            prefixes = [tuple(path[:level]) for path in paths.tolist() if path[level - 1] >= 0]
            for prefix in prefixes:
                if prefix not in known:
                    raise ValueError(f"labels must be among those of the training set, got {list(prefix)}")
            if prefixes:
                total = total + loss(own, torch.tensor([known[prefix] for prefix in prefixes], device=own.device))
        return total
