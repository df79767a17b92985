"""Chapter 7, the recall loss: a loss from any weights."""

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise, plain


def loss_from_weights(scores, relevance, weight):
    return reference.recall_loss(scores, relevance, lambda k: _total(weight, k))


def _total(weight, k):
    """W(k) = w_1 + … + w_k."""
    return sum(weight(i) for i in range(1, k + 1))


def _outranked(scores, relevance):
    return np.array(reference.outranking_negatives(scores, relevance))[relevance]


@plain
def one_over_K(K):
    return 1 / K


@plain
def first_three_alone(K):
    return float(K <= 3)


@plain
def steep(K):
    return 1 / (K * (K + 1))


def _wishes() -> list[Case]:
    rng, cases = np.random.default_rng(7), []
    weights = (one_over_K, first_three_alone, steep, one_over_K, first_three_alone, steep, one_over_K)
    for size, weight in zip((5, 3, 4, 5, 6, 8, 10), weights, strict=True):
        scores, relevance = rng.permutation(100)[:size] / 100, rng.permutation(size) < size // 2
        cases.append({"scores": scores, "relevance": relevance, "weight": weight})
    return cases


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
)  # fmt: skip
