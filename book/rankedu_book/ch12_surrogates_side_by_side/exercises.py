"""Chapter 12, surrogates side by side: soft ranks by projection, and equal distortion."""

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise, in_numpy

soft_ranks = in_numpy(reference.projected_rank)


def _measure(formula):
    """The temperature at which a formula of the soft and the true losses has a value; the mistakes have other ones."""

    def bisect(scores, coefficients, share):
        low, high = np.log(0.001), np.log(100)
        true = np.array([reference.rank(y) for y in scores.tolist()]) @ coefficients
        for _ in range(40):
            middle = (low + high) / 2
            soft = [reference.sigmoid_rank(y, np.exp(middle)) for y in scores.tolist()] @ coefficients
            low, high = (middle, high) if formula(soft, true) < share else (low, middle)
        return np.exp(middle)

    return bisect


equal_distortion = _measure(lambda soft, true: np.std(soft - true) / np.std(true))


def _hard(scores):
    return np.array(reference.rank(scores), dtype=float)


def _one_block(scores, strength):
    return (len(scores) + 1) / 2 - (scores - scores.mean()) / strength


def _near(scores, strength):
    """Average over chains of neighbours that are nearer than the strength, without a second look."""
    order = np.argsort(-scores, kind="stable")
    block = np.empty(len(scores))
    block[order] = np.cumsum(np.append(0, -np.diff(scores[order]) >= strength))
    together = block[:, None] == block
    return together / together.sum(axis=1)


def _pooled_once(scores, strength):
    mean = _near(scores, strength)
    return mean @ _hard(scores) - (scores - mean @ scores) / strength


def _projection_cases() -> list[Case]:
    rng = np.random.default_rng(12)
    cases: list[Case] = [{"scores": np.array([0.5, 0.25]), "strength": 1.0}]
    sizes, strengths = (5, 2, 3, 5, 6, 8, 10, 15, 12), (0.127, 0.127, 0.123, 0.101, 0.203, 0.071, 0.151, 0.031, 5.0)
    for size, strength in zip(sizes, strengths, strict=True):
        cases.append({"scores": rng.permutation(101)[:size] / 100, "strength": strength})
    return cases


def _distortion_cases() -> list[Case]:
    rng = np.random.default_rng(14)
    cases: list[Case] = []
    for rows, items, share in ((3, 3, 0.1), (4, 3, 0.05), (3, 3, 0.5), (2, 4, 0.2), (3, 3, 0.3)):
        coefficients = rng.integers(-9, 10, items) / 4
        scores = rng.permutation(400)[: rows * items].reshape(rows, items) / 100 - 2
        cases.append({"scores": scores, "coefficients": coefficients, "share": share})
    return cases


EXERCISES = (
    Exercise(
        "soft_ranks(scores, strength): the point of the permutahedron that is nearest to −scores/strength; a vector "
        "without ties.",
        soft_ranks, _projection_cases, [
            (lambda y, strength: _hard(y), "ranks exactly: that is what is left as the strength goes to 0"),
            (_one_block, "treats all items as one block: that is right only where the strength is large"),
            (lambda y, strength: np.clip(_one_block(y, strength), 1, len(y)),
             "clips each rank to [1, n]: the sums over the first few ranks are bounded, too"),
            (_pooled_once, "pools near neighbours once: two blocks that overlap afterwards must be pooled again"),
            (lambda y, strength: soft_ranks(-y, strength),
             "gives the smallest score rank 1: −y/ε is projected, with the places from the best score to the worst"),
            (lambda y, strength: soft_ranks(y, 1 / strength), "multiplies by the strength: the scores are divided"),
            (lambda y, strength: soft_ranks(y, strength)[np.argsort(-y, kind="stable")],
             "returns the ranks in sorted order: put each back to the place of its item"),
        ],
    ),
    Exercise(
        "equal_distortion(scores, coefficients, share): the temperature at which sigmoid ranks distort the loss "
        "coefficients · ranks by this share, over the rows of scores; from 0.001 to 100, to five digits.",
        equal_distortion, _distortion_cases, [
            (_measure(lambda soft, true: np.sqrt(np.mean((soft - true) ** 2)) / np.std(true)),
             "counts the bias as well: take the standard deviation of the difference, without its mean"),
            (_measure(lambda soft, true: np.std(soft - true) / np.std(soft)),
             "divides by the standard deviation of the surrogate: that of the true loss is the unit"),
            (_measure(lambda soft, true: np.std(soft - true)), "does not divide by the standard deviation of the loss"),
            (_measure(lambda soft, true: np.var(soft - true) / np.var(true)),
             "compares variances: the distortion is a quotient of standard deviations"),
            (lambda y, c, share: 2 * equal_distortion(y, c, share),
             "smooths with half the temperature: σ(x) is (1 + tanh(x/2))/2"),
        ],
    ),
)  # fmt: skip
