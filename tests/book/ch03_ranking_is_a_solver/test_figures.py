from itertools import combinations, pairwise

import numpy as np
import pytest
import torch

import rankedu
from rankedu.proofs.rearrangement import certificate
from rankedu_book.ch03_ranking_is_a_solver import study


def test_the_solid_is_the_permutahedron_of_four_and_edges_that_exchange_the_same_items_have_one_price():
    edges, facets, _ = study.solid()
    corners, scores = np.array(study.SOLID_RANKS), np.array(study.SOLID_SCORES, dtype=float)
    assert (len(corners), len(edges), sorted(map(len, facets))) == (24, 36, [4] * 6 + [6] * 8)
    for i, j in edges:
        assert sorted(corners[i] - corners[j]) == [-1, 0, 0, 1]
        first, second = np.flatnonzero(corners[i] != corners[j])
        assert abs((corners[i] - corners[j]) @ scores) == pytest.approx(abs(scores[first] - scores[second]))


def test_the_walk_goes_down_along_edges_to_the_ranking():
    edges = {frozenset((study.SOLID_RANKS[i], study.SOLID_RANKS[j])) for i, j in study.solid()[0]}
    lowest = tuple(rankedu.rank(torch.tensor([float(score) for score in study.SOLID_SCORES])).tolist())
    for start in study.SOLID_RANKS[::3]:
        path, costs = study.walk(certificate(study.SOLID_SCORES, start))
        assert costs == [cost(study.SOLID_SCORES, ranks) for ranks in path]
        assert all(frozenset(step) in edges for step in pairwise(path))
        assert all(before > after for before, after in pairwise(costs))
        assert (path[0], path[-1]) == (start, lowest)
    longest, costs = study.walk(certificate(study.SOLID_SCORES, (3, 1, 4, 2)))
    assert len(longest) == 7 and lowest == (2, 4, 1, 3)
    prices = [abs(one - other) for one, other in combinations(study.SOLID_SCORES, 2)]
    assert sorted(before - after for before, after in pairwise(costs)) == sorted(prices), "each of them once"


def cost(y, ranks):
    return sum(score * rank for score, rank in zip(y, ranks, strict=True))
