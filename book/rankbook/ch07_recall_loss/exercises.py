"""Chapter 7, the recall loss: a loss from any weights, and weights from a closed form."""

import numpy as np

from rankbook.kit.check.spec import Case, Exercise
from rankedu import reference


def loss_from_weights(scores, relevance, weight):
    return reference.recall_loss(scores, relevance, lambda k: _total(weight, k))


def _total(weight, k):
    """W(k) = w_1 + … + w_k."""
    return sum(weight(i) for i in range(1, k + 1))


def _outranked(scores, relevance):
    return np.array(reference.outranking_negatives(scores, relevance))[relevance]


def one_over_K(K):
    return 1 / K


def first_three_alone(K):
    return float(K <= 3)


def steep(K):
    return 1 / (K * (K + 1))


def weights_from_W(W):
    return W[1:] - W[:-1]


def _wishes() -> list[Case]:
    rng, cases = np.random.default_rng(7), []
    weights = (one_over_K, first_three_alone, steep, one_over_K, first_three_alone, steep, one_over_K)
    for size, weight in zip((5, 3, 4, 5, 6, 8, 10), weights, strict=True):
        scores, relevance = rng.permutation(100)[:size] / 100, rng.permutation(size) < size // 2
        cases.append({"scores": scores, "relevance": relevance, "weight": weight})
    return cases


def _totals() -> list[Case]:
    r = np.arange(6.0)
    lists = ([0, 1, 1.5, 1.75], [0.0, 2.0], np.log1p(r), np.log1p(np.log1p(r)), r / (1 + r), np.sqrt(r), r**2)
    return [{"W": np.array(values, dtype=float)} for values in lists]


EXERCISES = (
    Exercise(
        "loss_from_weights(scores, relevance, weight): the recall loss of a query, Σ_K w_K L@K, in closed form; "
        "weight is a function, w_K = weight(K) for K = 1, 2, …, that you may not call at 0. No two scores are equal.",
        loss_from_weights, _wishes, [
            (lambda y, rel, w: np.mean([_total(w, r + 1) for r in _outranked(y, rel)]),
             "sums one weight too many: an item with r = 0 pays nothing, W(0) = 0"),
            (lambda y, rel, w: np.mean([_total(w, r - 1) for r in _outranked(y, rel)]),
             "stops one weight short: an item that r others outrank fails at K = r, too"),
            (lambda y, rel, w: np.mean([w(r) if r else 0.0 for r in _outranked(y, rel)]),
             "takes the one weight at K = r_i: an item fails at every K up to r_i, so sum them"),
            (lambda y, rel, w: np.mean([_total(w, r - 1) for r in np.array(reference.rank(y))[rel]]),
             "counts everybody ahead: the relevant ones among them do not outrank it, subtract their rank"),
            (lambda y, rel, w: _total(w, min(_outranked(y, rel))),
             "looks at the best relevant item alone, as r@K does: all of them count"),
            (lambda y, rel, w: loss_from_weights(-y, rel, w), "counts those behind: larger scores stand ahead"),
        ],
        arrays=("numpy",),
    ),
    Exercise(
        "weights_from_W(W): the weights w_1, …, w_n that belong to a closed form, from the array of W(0), …, W(n).",
        weights_from_W, _totals, [
            (lambda W: np.diff(W, prepend=0.0), "has a weight too many: the first weight is that of K = 1"),
            (lambda W: np.cumsum(W)[1:], "sums once more: W is the sum already, take its steps"),
            (lambda W: W[1:] / np.arange(1, len(W)), "divides W(K) by K, which gives the mean weight up to K"),
            (lambda W: W[1:], "returns W itself without W(0)"),
            (lambda W: np.gradient(W) if len(W) > 1 else W,
             "takes slopes at W(0), W(1), …: a weight is the step from one to the next"),
        ],
    ),
)  # fmt: skip
