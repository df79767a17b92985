"""Normalised discounted cumulative gain as a loss of any ranker: for documents with grades."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import as_graded, check_choice, check_floating, check_k, check_values
from rankedu.losses.base import RankLoss, most_relevant
from rankedu.losses.hierarchical import graded_items
from rankedu.ranks import Relevant

_GAINS: dict[str, Callable[[Tensor], Tensor]] = {"exponential": lambda x: x.exp2() - 1, "linear": lambda x: x}


class NDCGLoss(RankLoss):
    r"""One minus normalised discounted cumulative gain, of any ranker. Explained in chapter 1.

    .. math:: L = 1 - \frac{1}{\mathrm{IDCG}} \sum_i \frac{g_i}{\log_2(1 + \mathbf{rk}(\mathbf{y})_i)}

    with the gain :math:`g_i` of item i, and IDCG, the sum that the best order has. The slope of a rank falls from 0.72
    at rank 1 to 0.011 at rank 10 and 0.0003 at rank 100, times the share of the gain: the first places matter. Of two
    items with gain Algorithm 1 lets the lower one pass the upper one only if its slope is the larger.

    With exact ranks ties are broken against the item with the larger gain. With a `SupremumRanker`, whose step then
    counts all items, L is at least the true loss. From label paths :class:`OnEmbeddings` takes levels as grades, as
    :func:`~rankedu.metrics.evaluate_retrieval` does. O(n log n) with a blackbox ranker, O(p n) with a pairwise one for
    p items with gain.

    Parameters
    ----------
    ranker, reduction : as in :class:`APLoss`
    margin : float
        α ≥ 0: before they are ranked, scores are shifted by equal steps per grade, from α/2 upwards at the least gain
        of the query to α/2 downwards at the largest.
    gains : {"exponential", "linear"} or callable, Tensor (..., n) -> Tensor (..., n)
        The worth of a grade: 2^grade − 1, the grade itself, or any function of grades that is ≥ 0.
    k : int, optional
        NDCG@k: only ranks up to k count, and soft ranks below k + ½. Beyond, no gradient pulls an item up: train
        without k, and evaluate by :func:`rankedu.metrics.ndcg` with it. By default, and for any k ≥ n, all ranks count.

    Raises
    ------
    ValueError, TypeError
        As :class:`APLoss`, and for k < 1, or gains that are no known word, no function, or not finite and ≥ 0.

    References
    ----------
    HAPPIER Sec. 4.1

    Examples
    --------
    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.1], requires_grad=True)
    >>> loss = NDCGLoss(BlackboxRanker(lam=4.0))(scores, torch.tensor([0, 2, 0, 1]))
    >>> loss.backward()  # the second should pass the first
    >>> loss.detach(), scores.grad  # 1 − (3/log₂ 3 + 1/log₂ 5) / (3 + 1/log₂ 3)
    (tensor(0.3601), tensor([ 0.2500, -0.2500,  0.0000,  0.0000]))
    """

    def __init__(
        self,
        ranker: Any,
        margin: float = 0.0,
        gains: str | Callable[[Tensor], Tensor] = "exponential",
        k: int | None = None,
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__(ranker, margin, reduction=reduction)
        self.within_grad = None  # only the ranks among all items are needed
        if isinstance(gains, str):
            check_choice(gains, tuple(_GAINS), name="gains")
        elif not callable(gains):
            raise TypeError(f"gains must be 'exponential', 'linear' or a function of grades, got {gains!r}")
        self.gains = gains
        self.k = None if k is None else check_k(k)

    def extra_repr(self) -> str:
        return f"margin={self.margin:g}, gains={self.gains!r}, k={self.k}"

    @staticmethod
    def graded(levels: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Return the grades that `OnEmbeddings` makes from the levels of paths."""
        return levels

    def check(self, scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, int]:
        check_values(scores)
        check_floating(scores)
        gain = self._gain(as_graded(relevance, scores, where, hint="0 is irrelevant"))
        gain = as_graded(gain, scores, where, name="gains", hint="for grades as large as 128 use gains='linear'")
        count = (gain > 0).sum(-1)
        return self._share(gain), count, most_relevant(scores, count, where)

    def relevant(self, relevance: Tensor, most: int, dtype: torch.dtype) -> Relevant:
        return graded_items(relevance, most, dtype)

    def formula(self, ranks: Tensor, within: Tensor) -> Tensor:
        """The discount of a rank."""
        discount = 1 / torch.log2(1 + ranks)
        return discount if self.k is None else torch.where(ranks < self.k + 0.5, discount, 0.0)

    def of_query(self, ranks: Tensor, within: Tensor, relevant: Relevant) -> Tensor:
        return 1 - super().of_query(ranks, within, relevant)

    def _gain(self, grades: Tensor) -> Tensor:
        gain = _GAINS[self.gains](grades) if isinstance(self.gains, str) else self.gains(grades)
        if not isinstance(gain, Tensor) or gain.shape != grades.shape:
            came = tuple(gain.shape) if isinstance(gain, Tensor) else type(gain).__name__
            raise TypeError(f"gains must map a Tensor of shape {tuple(grades.shape)} to one of the same, got {came}")
        return gain

    def _share(self, gain: Tensor) -> Tensor:
        """Each gain over the IDCG of its query."""
        gain = gain / gain.amax(-1, keepdim=True).clamp(min=torch.finfo(gain.dtype).tiny)
        places = torch.arange(1, gain.shape[-1] + 1, dtype=gain.dtype, device=gain.device)
        best = (gain.sort(-1, descending=True).values * self.formula(places, places)).sum(-1, keepdim=True)
        return torch.where(best > 0, gain / best, 0.0)
