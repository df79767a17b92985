"""AP-SVM: a convex upper bound of one minus average precision, and two ways to find the ranking that attains it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_finite
from rankedu.losses.base import ScoreLoss, check_lists, with_gradient

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Pairs compared at a time.
TILE = 1 << 16
LEAVE_OUT = "differences of infinite ones are no scores: leave them out with where=scores.isfinite()"


class APSVMLoss(ScoreLoss):
    r"""The structured hinge of average precision (Yue et al. 2007).

    A ranking R swaps a pair if it puts the irrelevant j above the relevant i. The maximum is over all rankings: of what
    they lose, and by how much the scores agree with what they swap.

    .. math:: L = \max_R \Big[ \big(1 - \mathrm{AP}(R)\big)
              + \frac{2}{|P||N|} \sum_{(i, j)\ \text{swapped by}\ R} (y_j - y_i) \Big]

    ``inference``, "mohapatra" or "yue", finds the best R (see :func:`most_violated_ranking`). ``reduction`` is as in
    :class:`~rankedu.losses.APLoss`.

    Notes
    -----
    L ≥ 1 − AP, however ties are ordered, and L = 0 once every pair is :math:`\frac{|N|}{2|P|} \big(\frac{1}{2} + \dots
    + \frac{1}{|P| + 1}\big)` apart: this margin grows with the list, so in a long one cosines can never satisfy it. L
    is convex; an irrelevant item that R puts above s relevant ones gets the gradient :math:`2s/(|P||N|)`. Computed by
    NumPy in float64 on the CPU, query by query. Explained in chapter 12.
    Raises ValueError for an unknown ``inference``; when called, also for scores that are not finite.
    Source: RaMBO Tab. 1.

    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.1], requires_grad=True)
    >>> relevance = torch.tensor([False, True, True, False])
    >>> loss = APSVMLoss()(scores, relevance)
    >>> round(loss.item(), 4)  # the first item above both others: 1 - (1/2 + 2/3)/2, plus (0.1 + 0.2)/2
    0.5667
    >>> loss.backward()
    >>> scores.grad
    tensor([ 1.0000, -0.5000, -0.5000,  0.0000])
    """

    def __init__(self, inference: str = "mohapatra", *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        check_choice(inference, tuple(INFERENCE), name="inference")
        self.inference = inference

    def extra_repr(self) -> str:
        return f"inference={self.inference!r}"

    def check(self, scores: Tensor, relevance: Tensor, where: Tensor | None) -> tuple[Tensor, Tensor, int]:
        found = check_lists(scores, relevance, where)
        check_finite(scores, where, LEAVE_OUT)
        return found

    def values(self, scores: Tensor, relevance: Tensor, where: Tensor | None, most: int, queries: Tensor) -> Tensor:
        y, relevant, here = _rows(scores, relevance, where)
        slope, values = np.zeros_like(y), np.zeros(len(y))
        for q in np.flatnonzero(relevant.any(1) & (here & ~relevant).any(1)):
            i, j, passes, outranked = _search(y[q], relevant[q], here[q], self.inference)
            scale = 2 / (len(i) * len(j))
            slope[q, i], slope[q, j] = -scale * outranked, scale * passes
            place = np.arange(1, len(i) + 1)
            values[q] = (outranked / (place + outranked)).mean() + slope[q, i] @ y[q, i] + slope[q, j] @ y[q, j]
        return with_gradient(torch.from_numpy(values).to(scores), scores, torch.from_numpy(slope).to(scores), where)


def most_violated_ranking(
    scores: Tensor, relevance: Tensor, *, where: Tensor | None = None, inference: str = "mohapatra"
) -> Tensor:
    r"""Rank so that the loss of the ranking plus its agreement with the scores is greatest.

    Arguments are those of :meth:`APSVMLoss.forward`; ranks, int64 of shape (..., n), begin at 1 and are 0 outside
    ``where``. Of several best rankings, the one with the fewest swaps.

    Notes
    -----
    The bracket in :class:`APSVMLoss` is to be maximised. Let the relevant and the irrelevant items go by their scores
    among themselves: AP stays the same, and the rest only gains. Then R is given by how many relevant items each
    irrelevant one passes. Let the j-th irrelevant item pass those from place k + 1 to the last. The bracket, times
    :math:`|P||N|`, is a sum over j of

    .. math:: f_j(k) = \sum_{i=k+1}^{|P|} \Big[ \frac{|N|\, i}{(i + j - 1)(i + j)} + 2 (y_j - y_i) \Big].

    Each bracket falls strictly from j to j + 1, so whatever maximises f_{j+1} is at or below whatever maximises f_j:
    each f_j may be maximised alone, and the order is kept.

    "yue" (Yue et al. 2007) does that in O(n log n + np). "mohapatra" (Mohapatra et al. 2018) uses the order: once the
    place of one irrelevant item is known, better ones need to be tried only from there up, others from there down; as
    in quicksort a random item divides the rest: O(n log p) on average. Explained in chapter 12.
    Source: RaMBO Tab. 1.

    >>> scores = torch.tensor([0.9, 0.5, 0.4, 0.1])
    >>> most_violated_ranking(scores, torch.tensor([True, False, True, False]))
    tensor([2, 1, 3, 4])
    >>> most_violated_ranking(10 * scores, torch.tensor([True, False, True, False]))
    tensor([1, 2, 3, 4])
    """
    check_choice(inference, tuple(INFERENCE), name="inference")
    positive = check_lists(scores, relevance, where)[0]
    check_finite(scores, where, LEAVE_OUT)
    y, relevant, here = _rows(scores, positive, where)
    ranks = np.zeros(y.shape, dtype=np.int64)
    for q in range(len(y)):
        i, j, passes, outranked = _search(y[q], relevant[q], here[q], inference)
        best_first = np.argsort(-y[q, j], kind="stable")
        ranks[q, i] = np.arange(1, len(i) + 1) + outranked
        ranks[q, j[best_first]] = np.arange(1, len(j) + 1) + len(i) - passes[best_first]
    return torch.from_numpy(ranks).reshape(scores.shape).to(scores.device)


def _rows(scores: Tensor, positive: Tensor, where: Tensor | None) -> tuple[Floats, Bools, Bools]:
    """One row a query, in float64 on the CPU."""
    n = scores.shape[-1]
    here = torch.ones_like(positive) if where is None else where
    y, relevant, takes_part = (x.detach().cpu().reshape(-1, n).numpy() for x in (scores.double(), positive, here))
    return y, relevant, takes_part


def _search(y: Floats, relevant: Bools, here: Bools, inference: str) -> tuple[Ints, Ints, Ints, Ints]:
    """The positives, best first, and the negatives; how many of those each of these passes, and the other way round."""
    i, j = np.flatnonzero(relevant), np.flatnonzero(here & ~relevant)
    i = i[np.argsort(-y[i], kind="stable")]
    passes = INFERENCE[inference](y[i[::-1]], y[j])
    outranked = np.bincount(len(i) - passes, minlength=len(i) + 1)[:-1].cumsum()
    return i, j, passes, outranked


class Part(NamedTuple):
    """Some negatives, in ascending order, and what is known of them."""

    items: Ints
    ahead: int  #: negatives that are better than all of these
    low: int  #: each passes as many positives or more
    high: int  #: and as many or fewer


def yue(positives: Floats, negatives: Floats) -> Ints:
    """Return how many positives, the worst first, each negative passes: maximise every f_j over all places."""
    passes = np.zeros(len(negatives), dtype=np.int64)
    _try_all(positives, negatives, Part(np.arange(len(negatives)), 0, 0, len(positives)), passes)
    return passes


def mohapatra(positives: Floats, negatives: Floats) -> Ints:
    """Return the same by divide and conquer, as in quicksort: no negative passes more positives than a better one."""
    random = np.random.default_rng(0)
    passes = np.zeros(len(negatives), dtype=np.int64)
    parts = [Part(np.arange(len(negatives)), 0, 0, len(positives))]
    while parts:
        items, ahead, low, high = part = parts.pop()
        if len(items) * (high - low) <= TILE:
            _try_all(positives, negatives, part, passes)
            continue
        pivot = items[random.integers(len(items))]
        better = (negatives[items] > negatives[pivot]) | ((negatives[items] == negatives[pivot]) & (items < pivot))
        place = ahead + int(better.sum())
        _try_all(positives, negatives, Part(items[items == pivot], place, low, high), passes)
        best = int(passes[pivot])
        parts.append(Part(items[better], ahead, best, high))
        parts.append(Part(items[~better & (items != pivot)], place + 1, low, best))
    return passes


def _try_all(positives: Floats, negatives: Floats, part: Part, passes: Ints) -> None:
    """Maximise f_j at all places within the bounds for the negatives of a part; the first of equal places counts."""
    n, size = len(negatives), max(1, TILE // max(part.high - part.low, 1))
    i = len(positives) - np.arange(part.low, part.high, dtype=np.float64)
    best_first = part.items[np.argsort(-negatives[part.items], kind="stable")]
    for start in range(0, len(best_first), size):
        here = best_first[start : start + size]
        j = part.ahead + np.arange(start + 1.0, start + len(here) + 1)[:, None]
        gains = n * i / ((i + j - 1) * (i + j)) + 2 * (negatives[here, None] - positives[part.low : part.high])
        f = np.zeros((len(here), len(i) + 1))
        np.cumsum(gains, axis=1, out=f[:, 1:])
        passes[here] = part.low + f.argmax(1)


INFERENCE: dict[str, Callable[[Floats, Floats], Ints]] = {"mohapatra": mohapatra, "yue": yue}
