"""Three losses that are older than losses for NDCG, in plain Python: RankNet, ListNet and ListMLE."""

import math
from collections.abc import Sequence


def rank_net(y: Sequence[float], gains: Sequence[float]) -> float:
    """Sum log2(1 + exp(y_j - y_i)) over the pairs with G_i > G_j (Burges et al., 2005).

    >>> rank_net([0.5, 0.5], [0, 1])
    1.0
    """
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if gains[i] > gains[j]]
    return sum(math.log2(1 + math.exp(y[j] - y[i])) for i, j in pairs)


def list_net(y: Sequence[float], gains: Sequence[float]) -> float:
    """Return the cross entropy from the softmax of the gains to the softmax of the scores (Cao et al., 2007).

    >>> round(list_net([0.0, 0.0], [0, 1]), 4)
    0.6931
    """
    return -sum(math.exp(g) / sum(map(math.exp, gains)) * math.log(_share(i, y)) for i, g in enumerate(gains))


def list_mle(y: Sequence[float], best_first: Sequence[int]) -> float:
    """Return minus the logarithm of the probability of an order, drawn place by place (Xia et al., 2008).

    >>> round(list_mle([0.0, 0.0, 0.0], [2, 0, 1]), 4)  # one of six orders
    1.7918
    """
    listed = [y[item] for item in best_first]
    return -sum(math.log(_share(0, listed[place:])) for place in range(len(listed)))


def _share(i: int, y: Sequence[float]) -> float:
    return math.exp(y[i]) / sum(map(math.exp, y))
