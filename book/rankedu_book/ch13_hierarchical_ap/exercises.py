"""Chapter 13, hierarchical average precision: levels, relevance, and H-AP by nested rankings."""

import functools
from functools import partial

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.compare import numbers
from rankedu_book.kit.check.spec import Case, Exercise, in_numpy, plain


def levels_by_prefix(query, paths):
    paths = np.where(paths < 0, -2, paths)  # an unknown class equals nothing, not even another one
    return np.array([reference.level(path, query) for path in paths])


relevance_eq4 = in_numpy(reference.relevance)


@plain
def _without_scores(answer, scores, relevance):
    """Let the answer rank within sets, no more often than it has to."""
    left = [1 + len({one for one in relevance if one > 0})]

    def rank_among(members):
        left[0] -= 1
        if left[0] < 0:
            raise ValueError("rank_among is called too often: once for each distinct relevance and once more is enough")
        return reference.rank_among(scores, numbers(members))

    return answer(rank_among, relevance)


@functools.wraps(_without_scores)
def _on_arrays(answer, scores, relevance):
    def with_arrays(rank_among, relevance):
        return answer(lambda members: np.array(rank_among(members)), np.array(relevance))

    return _without_scores(with_arrays, scores.tolist(), relevance.tolist())


def _nested(among, rel, step=np.subtract, within=np.greater_equal, over=np.sum, everybody=lambda rel: rel >= 0):
    """H-AP by nested sets; the options make the mistakes."""
    h_rank, below = np.zeros(len(rel)), 0.0
    for grade in np.unique(rel[rel > 0]):
        h_rank, below = h_rank + step(grade, below) * among(within(rel, grade)), grade
    ranks = among(everybody(rel))
    return (h_rank[rel > 0] / ranks[rel > 0]).sum() / over(rel)


def _path_cases() -> list[Case]:
    rng = np.random.default_rng(13)
    cases = [
        ([0, 1, 2], [[0, 1, 2], [0, 1, 5], [0, 3, 2], [4, 1, 2]]),
        ([0, 1, -1], [[0, 1, -1], [0, 1, 3], [0, -1, -1], [2, 1, -1]]),
        ([7], [[7], [3], [7]]),
    ]
    for n, depth in ((6, 3), (9, 2), (12, 4), (20, 3)):
        paths = rng.integers(0, 2, (n, depth)).tolist()
        cases.append((paths[0], paths[1:]))
    return [{"query": np.array(query), "paths": np.array(paths)} for query, paths in cases]


def _level_cases() -> list[Case]:
    rng = np.random.default_rng(14)
    cases: list[Case] = [{"levels": np.array([2, 1, 1, 0]), "alpha": 1.0}]
    for n, depth, alpha in ((4, 2, 1.0), (6, 3, 2.0), (6, 3, 0.5), (8, 2, 1.0), (12, 3, 3.0), (20, 4, 1.5)):
        listed = np.append(np.arange(depth + 1), rng.integers(0, depth + 1, n - depth - 1))
        cases.append({"levels": rng.permutation(listed), "alpha": alpha})
    return cases


def _ranking_cases() -> list[Case]:
    rng = np.random.default_rng(15)
    first = np.array([0.9, 0.8, 0.5, 0.4, 0.1]), np.array([2.0, 3.0, 0.0, 1.0, 3.0])
    cases: list[Case] = [{"scores": first[0], "relevance": first[1]}]
    for n, values, step in ((3, 4, 1.0), (4, 3, 0.25), (6, 4, 1.0), (9, 3, 1.0), (15, 5, 1.0)):
        cases.append({"scores": rng.permutation(n) / 100, "relevance": step * rng.integers(0, values, n)})
    return cases


EXERCISES = (
    Exercise(
        "levels_by_prefix(query, paths): for each row of paths, how many classes it shares with the query going down "
        "from the root; −1 fills up a path that ends early, and equals nothing.",
        levels_by_prefix, _path_cases, [
            (lambda query, paths: ((paths == query) & (paths >= 0)).sum(axis=1),
             "counts every class that agrees: below the first difference nothing is shared, whatever the ids say"),
            (lambda query, paths: (paths == query).sum(axis=1),
             "counts every entry that agrees: below the first difference nothing is shared, and −1 equals nothing"),
            (lambda query, paths: np.cumprod(paths == query, axis=1).sum(axis=1),
             "lets −1 equal −1: it stands for no class, and two unknown classes are not the same one"),
            (lambda query, paths: np.cumprod((paths == query)[:, ::-1], axis=1).sum(axis=1),
             "starts at the leaf: paths run from the root to the leaf"),
            (lambda query, paths: len(query) - levels_by_prefix(query, paths),
             "counts the classes that differ: level 0 is nothing in common"),
            (lambda query, paths: ((paths == query) & (paths >= 0)).all(axis=1),
             "only tests whether the whole path agrees: this is the binary label"),
        ],
    ),
    Exercise(
        "relevance_eq4(levels, alpha): the relevance of each item by HAPPIER's Eq. 4, with L the largest level and "
        "every item of levels counted.",
        relevance_eq4, _level_cases, [
            (lambda v, a: (v / v.max()) ** a, "gives each item the weight of its level: the items of a level share it"),
            (lambda levels, alpha: (levels / levels.max()) ** alpha / np.bincount(levels)[::-1].cumsum()[::-1][levels],
             "divides by the number of items of this level or finer: that is the monotone variant"),
            (lambda levels, alpha: (levels / (levels.max() - 1)) ** alpha / np.bincount(levels)[levels],
             "divides the level by L − 1, as the released code does: the paper divides by L"),
            (lambda v, a: (v / v.max() / np.bincount(v)[v]) ** a, "raises the count to the power of β as well"),
            (lambda levels, alpha: (levels / levels.max()) / np.bincount(levels)[levels], "leaves the exponent out"),
            (lambda levels, alpha: (levels / levels.max()) ** alpha / len(levels),
             "divides by the number of all items: each level is counted by itself"),
        ],
    ),
    Exercise(
        "h_ap_from_rankings(rank_among, relevance): H-AP of one query in O(L n log n). You do not see the scores: "
        "rank_among(members), with True for each item of a set, returns their ranks among themselves and 0 for all "
        "others, and may be called once for each distinct relevance above 0 and once more; relevances are ≥ 0.",
        reference.hierarchical_average_precision, _ranking_cases, [
            (partial(_nested, step=lambda grade, below: grade),
             "weighs each set by its relevance: it weighs by how much that is above the one before"),
            (partial(_nested, step=lambda grade, below: 1.0),
             "adds up the ranks as they are: each set weighs by the step from the relevance before to its own"),
            (partial(_nested, within=np.equal),
             "ranks each relevance by itself: a set holds everything that is at least as relevant"),
            (lambda among, rel: _nested(among, rel, over=lambda rel: (rel > 0).sum()),
             "divides by the number of relevant items: it is the sum of their relevances"),
            (lambda among, rel: rel @ (among(rel > 0) / among(rel >= 0)) / rel.sum(),
             "takes the rank among all relevant items, as AP does: the numerator is H-rank"),
            (lambda among, rel: _nested(among, rel, everybody=lambda rel: rel > 0),
             "leaves the irrelevant items out of the denominator: it is the rank among all"),
        ],
        use=_on_arrays, arrays=("numpy",),
    ),
)  # fmt: skip
