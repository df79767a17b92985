"""HAPPIER: hierarchical AP on embeddings, mixed with the clustering loss."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from rankedu import hierarchy
from rankedu.checks import check_flag, check_number
from rankedu.losses.base import eager
from rankedu.losses.clustering import ClusterLoss
from rankedu.losses.hierarchical import HAPLoss
from rankedu.losses.on_embeddings import OnEmbeddings
from rankedu.rankers.base import wide


class HAPPIERLoss(nn.Module):
    r"""Hierarchical AP on embeddings, mixed with the clustering loss. Explained in chapter 14.

    .. math:: L = (1 - \lambda)\, L_{\mathcal{H}\text{-}AP} + \lambda\, L_{clust.}

    The proxies are parameters: give ``loss.parameters()`` to an optimiser. Items are compared by their relevance, as in
    Eq. 5; the released code compares levels, which differs where Eq. 4 inverts two levels.

    Parameters
    ----------
    n_classes, dim, temperature : as in :class:`ClusterLoss`
        The leaves of all paths are numbered through, from 0 to n_classes − 1.
    weight : float
        λ in [0, 1], the share of the clustering. The paper uses 0.1; in its Fig. 4 H-AP is above its value at λ = 0 for
        0 < λ < 0.5.
    alpha, monotone : as for :func:`rankedu.hierarchy.relevance`
        HAPPIER has α = 1; HAPPIER_F, for the fine level, 5 on Online Products and 3 on iNaturalist.
    ranker, margin, within_grad, lower : as in :class:`HAPLoss`
        By default, ``SupremumRanker()``, whose setting keeps the bound; ``SupremumRanker.preset("happier")`` is
        released.
    exclude_self, memory : as in :class:`OnEmbeddings`
        The released code has ``exclude_self=False``.

    Raises
    ------
    ValueError
        For a weight outside [0, 1]; otherwise as :class:`HAPLoss` and :class:`ClusterLoss`.

    References
    ----------
    HAPPIER Eq. 7

    Examples
    --------
    >>> loss = HAPPIERLoss(n_classes=3, dim=2)
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.5, 0.5]], requires_grad=True)
    >>> labels = torch.tensor([[0, 0], [0, 0], [1, 1], [0, 2]])  # super-class and class
    >>> loss(embeddings, labels).backward()
    >>> embeddings.grad.shape, loss.cluster.proxies.grad.shape
    (torch.Size([4, 2]), torch.Size([3, 2]))
    """

    def __init__(
        self,
        n_classes: int,
        dim: int,
        weight: float = 0.1,
        alpha: float = 1.0,
        *,
        monotone: bool = False,
        temperature: float = 0.05,
        ranker: Any = None,
        margin: float = 0.0,
        within_grad: bool = False,
        lower: Any = None,
        exclude_self: bool = True,
        memory: nn.Module | None = None,
    ) -> None:
        super().__init__()
        hint = "the share of the clustering; 0.1 is published"
        self.weight = check_number(weight, "weight", least=0, most=1, hint=hint)
        hierarchy.relevance(torch.zeros(1, dtype=torch.int64), alpha)  # refuses an alpha that is none
        self.alpha, self.monotone = float(alpha), check_flag(monotone, "monotone")
        relevance = partial(hierarchy.relevance, alpha=self.alpha, monotone=self.monotone)
        self.average_precision = OnEmbeddings(
            HAPLoss(ranker, margin, within_grad, lower), exclude_self, memory, relevance=relevance
        )
        self.cluster = ClusterLoss(n_classes, dim, temperature)

    def extra_repr(self) -> str:
        return f"weight={self.weight:g}, alpha={self.alpha:g}, monotone={self.monotone}"

    @eager
    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        indices_tuple: tuple[Tensor, ...] | None = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
        **options: Any,
    ) -> Tensor:
        """As :meth:`OnEmbeddings.forward` and :meth:`ClusterLoss.forward`; references are ranked and not clustered."""
        own = wide(embeddings)  # once, so that both gradients are added before they are rounded to 16 bits
        cluster = self.cluster(own, labels)
        refs = own if ref_emb is embeddings else ref_emb
        ranking = self.average_precision(own, labels, indices_tuple, refs, ref_labels, **options)
        return torch.lerp(ranking, cluster, self.weight)
