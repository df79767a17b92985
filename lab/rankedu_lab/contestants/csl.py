"""The loss of DyML, to which HAPPIER compares itself: proxies of the fine classes, margins for every level."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, softplus

from rankedu.checks import check_number
from rankedu.hierarchy import levels as common_levels
from rankedu.labels import check_paths, check_rows
from rankedu.losses.base import eager
from rankedu.losses.clustering import new_proxies
from rankedu.rankers.base import wide


class CSLLoss(nn.Module):
    r"""Cross-scale learning: at each level the proxy of the own *fine* class must win against all of other classes.

    .. math:: L = \sum_{l=1}^{L} \log\Bigl(1 + \sum_{n:\ \mathrm{level}(n) < l} \sum_p e^{s\,(s_n - s_p + m_l)}\Bigr)

    There is one proxy per fine class. For an item, p is the proxy of its own fine class, at every level. At level l the
    negatives n are the proxies of all other classes of that level. So the proxies of cousins push at the fine level
    only, and those of strangers at all levels.

    Parameters
    ----------
    class_labels : Tensor of int, shape (n_classes, L)
        The path of each fine class from root to leaf, e.g. ``train_labels.unique(dim=0)``.
    dim : int
        Dimension of the embeddings.
    margins : sequence of float, length L, optional
        m ≥ 0 from the coarsest level to the leaves. By default they go evenly from 0.45 to 0.25 (0.25 for one level).
    scale : float
        s > 0.

    Notes
    -----
    With one level this is the softmax with an additive margin (CosFace). Embeddings and proxies are brought to length 1
    here; the proxies are parameters. O(batch · n_classes · (dim + L)). Explained in chapter 15.
    Raises ValueError for class labels of other shapes, twice the same class, or one that ends early, for margins that
    are not L finite numbers ≥ 0, a bad scale or ``dim``; TypeError for class labels that are not integers.
    The loss is that of Sun et al. (2021); HAPPIER only names it.

    >>> loss = CSLLoss(torch.tensor([[0, 0], [0, 1], [1, 2]]), dim=3, scale=1.0)
    >>> _ = loss.proxies.data.copy_(torch.eye(3))
    >>> value = loss(torch.tensor([[2.0, 0.0, 0.0]]), torch.tensor([[0, 0]]))
    >>> round(value.item(), 4)  # log(1 + 2 exp(0 − 1 + 0.25)) + log(1 + exp(0 − 1 + 0.45))
    1.1206
    """

    class_labels: Tensor

    def __init__(
        self, class_labels: Tensor, dim: int, margins: Sequence[float] | None = None, scale: float = 32.0
    ) -> None:
        super().__init__()
        paths = check_paths(class_labels, "class_labels")
        if (short := (paths < 0).any(1)).any():
            first = int(short.nonzero()[0])
            raise ValueError(
                f"class_labels must have a leaf in every row, got {paths[first].tolist()} at index {first}"
            )
        if (classes := len(paths.unique(dim=0))) < len(paths):
            hint = "use class_labels.unique(dim=0)"
            raise ValueError(f"class_labels must name each class once, got {len(paths)} rows of {classes} ({hint})")
        n = paths.shape[1]
        usual = [0.25 + 0.2 * (n - level) / max(1, n - 1) for level in range(1, n + 1)]
        self.margins = tuple(float(margin) for margin in (usual if margins is None else margins))
        if len(self.margins) != n or not all(0 <= margin < math.inf for margin in self.margins):
            raise ValueError(f"margins must be {n} finite numbers >= 0, one per level, got {list(self.margins)}")
        self.scale = check_number(scale, "scale", above=0, hint="32 is published")
        self.register_buffer("class_labels", paths.clone())
        self.proxies = new_proxies(len(paths), dim)

    def extra_repr(self) -> str:
        margins = ", ".join(f"{margin:g}" for margin in self.margins)
        n_classes, dim = self.proxies.shape
        return f"n_classes={n_classes}, dim={dim}, margins=({margins}), scale={self.scale:g}"

    @eager
    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Compute the mean loss of a batch, as :meth:`rankedu.losses.ClusterLoss.forward`.

        Each path must be among ``class_labels``. A level at which an item has no negatives adds 0.
        """
        check_rows(embeddings, "embeddings")
        paths = check_paths(labels, "labels").to(embeddings.device)
        if embeddings.shape[1] != self.proxies.shape[1]:
            raise ValueError(
                f"embeddings must have shape (batch, {self.proxies.shape[1]}), got {tuple(embeddings.shape)} "
                "(embeddings and proxies are compared, so they have one width)"
            )
        n_levels = self.class_labels.shape[1]
        if paths.shape != (len(embeddings), n_levels):
            raise ValueError(f"labels must have shape (batch, {n_levels}) as class_labels, got {tuple(labels.shape)}")
        common = common_levels(paths, self.class_labels)
        own = common == n_levels
        if not own.any(1).all():
            first = int((~own.any(1)).nonzero()[0])
            raise ValueError(
                f"labels must be among class_labels, got {paths[first].tolist()} at index {first} "
                "(class_labels are all paths of the training set: train_labels.unique(dim=0))"
            )
        with torch.autocast(embeddings.device.type, enabled=False):
            unit = normalize(wide(embeddings), dim=1)
            logits = self.scale * unit @ normalize(self.proxies.to(unit.dtype), dim=1).T
        positive = logits[own]
        total = torch.zeros_like(positive)
        for level, margin in enumerate(self.margins, start=1):
            negative = common < level
            some = negative.any(1)
            strongest = logits.masked_fill(~negative & some.unsqueeze(1), -math.inf).logsumexp(1)
            total = total + softplus(strongest - positive + self.scale * margin) * some
        return total.mean()
