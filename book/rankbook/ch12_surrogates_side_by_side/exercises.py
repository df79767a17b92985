"""Chapter 12, surrogates side by side: equal distortion, projection and its gradient, and the error-driven update."""

import numpy as np

from rankbook.kit.check.spec import Case, Exercise
from rankedu import reference


def soft_ranks(scores, strength):
    return np.array(reference.projected_rank(scores, strength))


def projection_gradient(scores, coefficients, strength):
    """Central differences of the definition, which is exact: soft ranks are straight lines between their kinks."""
    reach = 1e-5
    moves = reach * np.eye(len(scores))
    moved = [soft_ranks(scores + move, strength) - soft_ranks(scores - move, strength) for move in moves]
    return np.array(moved) @ coefficients / (2 * reach)


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


def _step(scores, delta):
    return np.clip((scores[None, :] - scores[:, None]) / (2 * delta) + 0.5, 0, 1)  # row i, column k: y_k - y_i


def _update(scores, relevance, step, above):
    """The update of a step and of who is above each item; the mistakes have other ones."""
    error = (step / (1 + above)[:, None])[relevance][:, ~relevance] / relevance.sum()
    update = np.zeros(len(scores))
    update[relevance], update[~relevance] = -error.sum(axis=1), error.sum(axis=0)
    return update


def error_driven_update(scores, relevance, delta):
    step = _step(scores, delta)
    return _update(scores, relevance, step, step.sum(axis=1) - 0.5)  # less its own H(0)


def _hard(scores):
    return np.array(reference.rank(scores), dtype=float)


def _one_block(scores, strength):
    return (len(scores) + 1) / 2 - (scores - scores.mean()) / strength


def _near(scores, strength):
    """Averages over chains of neighbours that are nearer than the strength; nobody looks whether they now overlap."""
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
    for rows, items, share in ((6, 4, 0.1), (8, 5, 0.05), (8, 5, 0.5), (7, 6, 0.2), (5, 3, 0.3)):
        coefficients = rng.integers(-9, 10, items) / 4
        scores = rng.permutation(400)[: rows * items].reshape(rows, items) / 100 - 2
        cases.append({"scores": scores, "coefficients": coefficients, "share": share})
    return cases


def _gradient_cases() -> list[Case]:
    rng = np.random.default_rng(15)
    drawn = [(case, rng.integers(-6, 7, len(case["scores"])) / 2) for case in _projection_cases()]
    return [{"scores": case["scores"], "coefficients": c, "strength": case["strength"]} for case, c in drawn]


def _update_cases() -> list[Case]:
    rng, cases = np.random.default_rng(13), []
    drawn = ((4, 2, 0.125), (2, 1, 0.5), (5, 2, 1.0), (6, 2, 0.3), (8, 3, 1.0), (10, 1, 0.2), (12, 5, 0.5))
    for size, positives, delta in drawn:
        scores, relevance = rng.permutation(200)[:size] / 100, rng.permutation(size) < positives
        cases.append({"scores": scores, "relevance": relevance, "delta": delta})
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
             "returns the ranks in sorted order: put each back to where its item stood"),
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
    Exercise(
        "projection_gradient(scores, coefficients, strength): the gradient of coefficients · soft_ranks(scores, "
        "strength), one entry a score.",
        projection_gradient, _gradient_cases, [
            (lambda y, c, strength: -c / strength,
             "leaves out the mean: the ranks of a block keep their sum, so what one gains the others lose"),
            (lambda y, c, strength: -(c - c.mean()) / strength,
             "takes the mean over all items: only those of a block share their ranks"),
            (lambda y, c, strength: -(c - _near(y, strength) @ c) / strength,
             "joins neighbours that are nearer than the strength, once: blocks that overlap afterwards are one"),
            (lambda y, c, strength: strength * projection_gradient(y, c, strength),
             "differentiates by −y/ε: the scores themselves have the factor 1/ε more"),
            (lambda y, c, strength: projection_gradient(y, c, strength)[np.argsort(-y, kind="stable")],
             "returns it in sorted order: put each entry back to where its item stood"),
        ],
    ),
    Exercise(
        "error_driven_update(scores, relevance, delta): what the error-driven AP loss sends back to the scores of one "
        "list.",
        error_driven_update, _update_cases, [
            (lambda y, rel, d: _update(y, rel, _step(y, d), _step(y, d).sum(axis=1)),
             "counts the item as half above itself: the sum in the denominator leaves it out"),
            (lambda y, rel, d: _update(y, rel, _step(y, d), _step(y, d)[:, ~rel].sum(axis=1)),
             "counts the irrelevant items alone in the denominator: all others belong there"),
            (lambda y, rel, d: error_driven_update(y, rel, 1e-9),
             "takes the step itself, without its width: H rises from 0 at −δ to 1 at δ"),
            (lambda y, rel, d: np.where(rel, error_driven_update(y, rel, d), 0.0),
             "moves the relevant items only: each pair pushes its irrelevant item down as well"),
        ],
    ),
)  # fmt: skip
