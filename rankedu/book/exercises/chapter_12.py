"""Chapter 12, surrogates side by side: projection onto the permutahedron, and the error-driven update."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np

from rankedu import reference
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def soft_ranks(scores, strength):
    return np.array(reference.projected_rank(scores, strength))


def error_driven_update(scores, relevance, delta):
    difference = scores[None, :] - scores[:, None]  # row i, column k: y_k - y_i
    step = np.clip(difference / (2 * delta) + 0.5, 0, 1)
    above = step.sum(axis=1) - 0.5  # less its own H(0)
    error = step / (1 + above)[:, None]
    error = error[relevance][:, ~relevance] / relevance.sum()
    update = np.zeros(len(scores))
    update[relevance], update[~relevance] = -error.sum(axis=1), error.sum(axis=0)
    return update


def _hard(scores):
    return np.array(reference.rank(scores), dtype=float)


def _one_block(scores, strength):
    return (len(scores) + 1) / 2 - (scores - scores.mean()) / strength


def _clipped(scores, strength):
    return np.clip(_one_block(scores, strength), 1, len(scores))


def _pooled_once(scores, strength):
    """Neighbours that are nearer than the strength are pooled, and nobody looks whether the blocks now overlap."""
    order = np.argsort(-scores, kind="stable")
    block = np.cumsum(np.append(0, -np.diff(scores[order]) >= strength))
    ranks = np.empty(len(scores))
    for one in range(block[-1] + 1):
        here = order[block == one]
        ranks[here] = 1 + np.flatnonzero(block == one).mean() - (scores[here] - scores[here].mean()) / strength
    return ranks


def _projection_cases() -> list[Case]:
    rng = np.random.default_rng(12)
    cases: list[tuple[list[float], float]] = [
        ([0.5, 0.25], 1.0),
        ([0.25, 0.5], 0.125),
        ([0.9, 0.7, 0.6, 0.4, 0.3], 0.125),
        ([0.5, 0.42, 0.1], 0.12),
        ([0.0, 0.3, 0.32, 0.34, 1.0], 0.1),
    ]
    for size, strength in ((6, 0.2), (8, 0.07), (10, 0.15), (15, 0.03), (12, 5.0)):
        cases.append(((rng.permutation(101)[:size] / 100).tolist(), strength))
    return [{"scores": np.array(y), "strength": strength} for y, strength in cases]


def _step(scores, delta):
    return np.clip((scores[None, :] - scores[:, None]) / (2 * delta) + 0.5, 0, 1)


def _update(scores, relevance, error):
    error = error[relevance][:, ~relevance] / relevance.sum()
    update = np.zeros(len(scores))
    update[relevance], update[~relevance] = -error.sum(axis=1), error.sum(axis=0)
    return update


def _with_itself(scores, relevance, delta):
    step = _step(scores, delta)
    return _update(scores, relevance, step / (1 + step.sum(axis=1))[:, None])


def _negatives_alone(scores, relevance, delta):
    step = _step(scores, delta)
    return _update(scores, relevance, step / (1 + step[:, ~relevance].sum(axis=1))[:, None])


def _hard_step(scores, relevance, delta):
    step = (scores[None, :] > scores[:, None]).astype(float)
    return _update(scores, relevance, step / (1 + step.sum(axis=1))[:, None])


def _update_cases() -> list[Case]:
    rng = np.random.default_rng(13)
    cases: list[tuple[list[float], list[int], float]] = [
        ([0.5, 0.25], [0, 1], 0.5),
        ([0.9, 0.8, 0.7, 0.1], [0, 1, 1, 0], 0.125),
        ([1.0, -0.5, 0.25, 2.0, 0.0], [1, 0, 0, 0, 1], 1.0),
    ]
    for size, positives, delta in ((6, 2, 0.3), (8, 3, 1.0), (10, 1, 0.2), (12, 5, 0.5)):
        scores = rng.permutation(200)[:size] / 100
        relevance = np.zeros(size, dtype=int)
        relevance[rng.permutation(size)[:positives]] = 1
        cases.append((scores.tolist(), relevance.tolist(), delta))
    return [{"scores": np.array(y), "relevance": np.array(rel, dtype=bool), "delta": d} for y, rel, d in cases]


EXERCISES = (
    Exercise(
        "soft_ranks",
        "soft_ranks(scores, strength): the point of the permutahedron that is nearest to −scores/strength; a vector "
        "without ties.",
        soft_ranks,
        _projection_cases,
        [
            Mistake(lambda y, strength: _hard(y), "ranks exactly: that is what is left as the strength goes to 0"),
            Mistake(_one_block, "treats all items as one block: that is right only where the strength is large"),
            Mistake(_clipped, "clips each rank to [1, n]: the sums over the first few ranks are bounded, too"),
            Mistake(
                _pooled_once, "pools near neighbours once: two blocks that overlap afterwards must be pooled again"
            ),
            Mistake(lambda y, strength: soft_ranks(-y, strength), "gives the smallest score rank 1"),
            Mistake(
                lambda y, strength: soft_ranks(y, 1 / strength), "multiplies by the strength: the scores are divided"
            ),
            Mistake(
                lambda y, strength: soft_ranks(y, strength)[np.argsort(-y, kind="stable")],
                "returns the ranks in sorted order: put each back to where its item stood",
            ),
        ],
    ),
    Exercise(
        "error_driven_update",
        "error_driven_update(scores, relevance, delta): what the error-driven AP loss sends back to the scores of one "
        "list.",
        error_driven_update,
        _update_cases,
        [
            Mistake(
                lambda y, rel, d: -error_driven_update(y, rel, d), "has the sign that is added: descent subtracts it"
            ),
            Mistake(
                lambda y, rel, d: rel.sum() * error_driven_update(y, rel, d), "forgets the mean over the relevant items"
            ),
            Mistake(_with_itself, "counts the item as half above itself: the sum in the denominator leaves it out"),
            Mistake(_negatives_alone, "counts the irrelevant items alone in the denominator: all others belong there"),
            Mistake(_hard_step, "takes the step itself, without its width: H rises from 0 at −δ to 1 at δ"),
            Mistake(
                lambda y, rel, d: np.where(rel, error_driven_update(y, rel, d), 0.0),
                "moves the relevant items only: each pair pushes its irrelevant item down as well",
            ),
        ],
    ),
)
