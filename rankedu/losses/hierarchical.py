"""Hierarchical average precision as a loss of any ranker; and HAPPIER, which adds proxies to it."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from rankedu import hierarchy
from rankedu._fast import engine
from rankedu._fast.engine import eager
from rankedu._fast.hierarchical_tiles import loss_of_grades
from rankedu.checks import as_graded, check_finite, check_flag, check_floating, check_number, check_values
from rankedu.losses.base import ScoreLoss, check_ranker, is_any, no_positives
from rankedu.losses.clustering import ClusterLoss
from rankedu.losses.margin import check_margin
from rankedu.losses.on_embeddings import OnEmbeddings, check_embeddings
from rankedu.rankers import SupremumRanker
from rankedu.rankers._pairwise import bounded
from rankedu.rankers.base import wide


class HAPLoss(ScoreLoss):
    r"""One minus hierarchical average precision, of any ranker.

    .. math:: L = 1 - \frac{1}{\sum_k \mathrm{rel}(k)} \sum_{k:\ \mathrm{rel}(k) > 0}
              \frac{\mathcal{H}\text{-}\mathrm{rank}(k)}{\mathrm{rank}(k)}

    With the distinct relevances :math:`0 = r_0 < r_1 < \dots < r_T` of a query, H-rank is a weighted sum of ordinary
    ranks within nested sets,

    .. math:: \mathcal{H}\text{-}\mathrm{rank}(k) = \sum_{t:\ r_t \le \mathrm{rel}(k)} (r_t - r_{t-1})\,
              \mathbf{rk}(\{j : \mathrm{rel}(j) \ge r_t\})_k ,

    which any ranker can compute: ``HAPLoss(BlackboxRanker("auto"), margin=0.1)`` is blackbox H-AP, which wants a
    margin. With a :class:`~rankedu.rankers.SupremumRanker`, the default, this is HAPPIER: all are counted
    hard, without a gradient, but in the denominator each item of strictly lower relevance counts with the ranker's
    step. It needs no margin, and is the one to begin with.

    Parameters
    ----------
    ranker : Ranker, optional
        Maps scores to ranks, also among some of the items. Default: ``SupremumRanker()``.
    margin : float
        α ≥ 0: scores are shifted before they are ranked, by α/2 upwards at relevance 0, by α/2 downwards at the largest
        relevance of the query, and by equal steps in between. For one grade this is Eq. 14 of RaMBO.
    within_grad : bool
        Let the gradient flow through H-rank too. Soft rankers usually want True; not for a `SupremumRanker`.
    lower : callable, optional
        For a `SupremumRanker` only: a step below the Heaviside function, with its derivative ``slope``, for the
        items of strictly higher relevance in H-rank; ``InfimumStep()`` in the paper. Default: they are counted.
    reduction : {"mean", "sum", "none"}
        As in :class:`APLoss`.

    Notes
    -----
    Only the ratios of the relevances within a query matter, not their scale. Paths of words are numbered by
    :func:`rankedu.files.number_labels`. With a `SupremumRanker` or a
    `SigmoidRanker` O(positives · n) time for each query, and O(queries · n) memory; else T + 1 calls of the ranker,
    that is O(T n log n) for the blackbox one, where one list of float32 scores on a CPU may have 10⁸.

    Ties are as the ranker has them. With a `SupremumRanker` tied items of equal relevance count each other, H(0) = 1,
    and of two different ones the more relevant stands above; in the released code it counts as 1 in the numerator but
    as 1/2 in the denominator. Infinite scores have no gradient. The gradient is as :class:`APLoss` makes it.
    Explained in chapter 14. Raises ValueError for a margin that is not a finite number ≥ 0, ``within_grad`` with a
    `SupremumRanker`, ``lower`` without, or infinite scores with ``lower``; TypeError for what is no ranker or no step.
    Source: HAPPIER Eq. 2; HAPPIER Eq. 3; HAPPIER Eq. 5.

    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.1], requires_grad=True)
    >>> relevance = torch.tensor([0.5, 0.0, 1.0, 0.0])
    >>> hard = HAPLoss(BlackboxRanker(lam=2.0))(scores, relevance)  # 1 − (0.5/1 + 1.5/3) / 1.5
    >>> round(hard.item(), 4)
    0.3333
    >>> soft = HAPLoss()(scores, relevance)
    >>> round(soft.item(), 4)
    0.625
    >>> soft.backward()  # the third item should pass the first two
    >>> scores.grad.sign()
    tensor([ 1.,  1., -1.,  0.])
    """

    graded = True  # of label paths OnEmbeddings makes the relevance of Eq. 4

    def __init__(
        self,
        ranker: Any = None,
        margin: float = 0.0,
        within_grad: bool = False,
        lower: Any = None,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        self.ranker: Any = SupremumRanker() if ranker is None else check_ranker(ranker)
        self.margin = check_margin(margin)
        self.within_grad = check_flag(within_grad, "within_grad")
        self.lower: Any = lower
        pairwise = isinstance(self.ranker, SupremumRanker)
        if pairwise and self.within_grad:
            raise ValueError(
                "within_grad must be False for a SupremumRanker, whose ranks within a set have no gradient, got True "
                "(for a gradient through H-rank use lower=InfimumStep())"
            )
        if lower is not None and not pairwise:
            raise ValueError(
                f"lower must be None unless the ranker is a SupremumRanker, got {lower!r} with "
                f"{type(self.ranker).__name__} (for a gradient through H-rank use within_grad=True)"
            )
        if lower is not None and not (callable(lower) and callable(getattr(lower, "slope", None))):
            raise TypeError(f"lower must be a step with a slope, got {lower!r} (e.g. InfimumStep())")

    def extra_repr(self) -> str:
        lower = "" if self.lower is None else f", lower={self.lower!r}"
        return f"margin={self.margin:g}, within_grad={self.within_grad}{lower}"

    @eager
    def forward(self, scores: Tensor, relevance: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Compute the loss of a batch of queries, as :meth:`APLoss.forward`, but of graded relevance.

        It is finite and ≥ 0, of any dtype, 0 for irrelevant; each row may have its own grades, and any number of them.
        """
        check_values(scores)
        check_floating(scores)
        value = as_graded(relevance, scores, where)
        some = is_any(value > 0, scores, where)
        if self.lower is not None:
            check_finite(scores, where, "lower falls without bound, and the loss would be infinite: clamp them")
        if not some:
            return no_positives(scores, self.reduction)
        return self.reduced(scores, shares(value), where)

    def one_of(self, queries: int, scores: Tensor, positive: Tensor, where: Tensor | None) -> Tensor:
        return queries * self.mean(scores, positive, where, weight=1 / queries)

    def mean(self, scores: Tensor, positive: Tensor, where: Tensor | None, *, weight: float = 1.0) -> Tensor:
        """Compute the loss, times a weight, of each item's share of the relevance of its query."""
        share = positive
        scores, (group, drop) = wide(scores), grade(share)
        if engine.in_tiles(self.ranker):
            shifted, lower = shift_by_grade(scores.detach(), group, drop, self.margin), self.lower
            return weight * loss_of_grades(self.ranker, scores, shifted, group, drop, where, self.within_grad, lower)

        def loss(scores: Tensor) -> Tensor:
            shifted = shift_by_grade(scores, group, drop, self.margin)
            if isinstance(self.ranker, SupremumRanker):
                return weight * self._by_pairs(shifted, share, where)
            return weight * self._nested(shifted, share, group, drop, where)

        return engine.by_definition(self.ranker, loss, scores, where)

    def _by_pairs(self, scores: Tensor, share: Tensor, where: Tensor | None) -> Tensor:
        """Count everybody: hard, but those of lower relevance by the step, and in H-rank those of higher by `lower`."""
        here = torch.ones_like(scores, dtype=torch.bool) if where is None else where
        finite, share = bounded(scores.masked_fill(~here, 0.0)), share.to(scores)
        difference = finite.unsqueeze(-2) - finite.unsqueeze(-1)  # (..., k, j): y_j − y_k
        own, other = share.unsqueeze(-1), share.unsqueeze(-2)
        counted = here.unsqueeze(-2) & ~torch.eye(scores.shape[-1], dtype=torch.bool, device=scores.device)
        hard = torch.where(other < own, difference > 0, difference >= 0).to(scores)
        above = torch.where(other < own, self.ranker.step(difference), hard)
        in_h_rank = hard if self.lower is None else torch.where(other > own, self.lower(difference), hard)
        rank = 1 + above.masked_fill(~counted, 0.0).sum(-1)
        h_rank = share + (torch.minimum(own, other) * in_h_rank).masked_fill(~counted, 0.0).sum(-1)
        lost = (share - h_rank / rank)[share > 0]
        return lost.sum() / (share > 0).any(-1).sum()

    def _nested(self, scores: Tensor, share: Tensor, group: Tensor, drop: Tensor, where: Tensor | None) -> Tensor:
        """H-rank as the weighted sum of ranks within nested sets, from the smallest set to the largest."""
        within, positive = scores if self.within_grad else scores.detach(), share > 0
        h_rank = torch.zeros_like(scores)
        for g in range(drop.shape[-1]):
            members = positive & (group <= g)
            h_rank = h_rank + drop[..., g, None].to(scores) * self.ranker.among(within, members, where=where)
        ranks = self.ranker(scores, where=where)
        lost: Tensor = share.to(scores)[positive] - h_rank[positive] / ranks[positive]
        return lost.sum() / positive.any(-1).sum()


def shift_by_grade(scores: Tensor, group: Tensor, drop: Tensor, margin: float) -> Tensor:
    """Spread the margin evenly over the grades of each query."""
    if margin == 0:
        return scores
    count = (drop > 0).sum(-1, keepdim=True)
    level = (count - group).clamp(min=0) / count.clamp(min=1)  # 1 for the most relevant, 0 for the irrelevant
    return scores + margin * (0.5 - level).to(scores)


def shares(value: Tensor) -> Tensor:
    """Checked relevance, which is overwritten, with a sum of 1 in each row that has any."""
    largest = value.amax(-1, keepdim=True)
    value /= largest.masked_fill_(largest == 0, 1.0)
    value /= value.sum(-1, keepdim=True).clamp(min=1.0)
    return value


def grade(share: Tensor) -> tuple[Tensor, Tensor]:
    """Number the distinct relevances of each row of shares ≥ 0, (..., n), one of which is positive.

    The group of an item, (..., n) integers: 0 for the largest relevance of its row, 1 for the next, …; G, the largest
    number of grades in a row, for 0. And by how much the relevance falls from each group to the next, (..., G).
    """
    rows = share if share.numel() > share.shape[-1] else share[share > 0]  # one list may be long: no zeros are sorted
    ordered = rows.sort(dim=-1, descending=True).values
    place = torch.zeros_like(ordered, dtype=torch.int64)
    torch.cumsum(ordered[..., 1:] != ordered[..., :-1], dim=-1, out=place[..., 1:])
    groups = 1 + int(place.masked_fill(ordered == 0, -1).max())
    value = share.new_zeros(*rows.shape[:-1], groups + 1).scatter_(-1, place, ordered)
    group = torch.searchsorted(value.flip(-1), share.contiguous(), out_int32=True).neg_().add_(groups)
    small = group.short() if groups < torch.iinfo(torch.int16).max else group
    return small, (value[..., :-1] - value[..., 1:]).view(*share.shape[:-1], groups)


class HAPPIERLoss(nn.Module):
    r"""Hierarchical AP on embeddings, mixed with the clustering loss.

    .. math:: L = (1 - \lambda)\, L_{\mathcal{H}\text{-}AP} + \lambda\, L_{clust.}

    Parameters
    ----------
    n_classes, dim, temperature
        As in :class:`ClusterLoss`: the leaves of all paths are numbered through, from 0 to n_classes − 1.
    weight : float
        λ in [0, 1], the share of the clustering. The paper finds H-AP to rise up to 0.5, and has 0.1.
    alpha, monotone
        Of :func:`rankedu.hierarchy.relevance`. HAPPIER has α = 1; HAPPIER_F, for the fine level, 5 on Online Products
        and 3 on iNaturalist.
    ranker, margin, within_grad, lower
        As in :class:`HAPLoss`. Default: ``SupremumRanker()``, whose setting keeps the bound; the released one is
        ``SupremumRanker.preset("happier")``.
    exclude_self, memory
        As in :class:`OnEmbeddings`. The released code has ``exclude_self=False``.

    Notes
    -----
    The gradient is the weighted sum of those of the two losses, with a blackbox ranker too. The proxies are
    parameters: give ``loss.parameters()`` to an optimiser. Explained in chapter 14.
    Raises ValueError for a weight outside [0, 1]; else as :class:`HAPLoss` and :class:`ClusterLoss`.
    Source: HAPPIER Eq. 7.

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
    ) -> Tensor:
        """As :meth:`OnEmbeddings.forward` and :meth:`ClusterLoss.forward`; references are ranked and not clustered."""
        check_embeddings(embeddings, labels, paths=True)
        own = wide(embeddings)  # once, so that both gradients are added before they are rounded to 16 bits
        cluster = self.cluster(own, labels)
        refs = own if ref_emb is embeddings else ref_emb
        ranking = self.average_precision(own, labels, indices_tuple, refs, ref_labels)
        return torch.lerp(ranking, cluster, self.weight)
