from itertools import pairwise, permutations
from random import Random

import numpy as np
import pytest
import torch

import rankedu
from rankbook.ch03_ranking_is_a_solver import explorables, study
from rankbook.kit import style
from rankedu.proofs.rearrangement import certificate


def test_the_two_sums_agree_and_the_two_vectors_do_not():
    y = torch.tensor([float(score) for score in study.SCORES], dtype=torch.float64)
    ranks, order = rankedu.rank(y), y.argsort(descending=True)
    eq_12, eq_13 = (y * ranks).sum(), (y[order] * torch.arange(1, 6)).sum()
    assert eq_12.item() == pytest.approx(eq_13.item(), abs=1e-12)
    assert (y * (order + 1)).sum() > eq_12 + 1, "argsort is not the rank"


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
    told = style.description(explorables.permutahedron_solid())
    assert "6 edges, saving 0.2, 0.5, 0.3, 0.7, 0.5, 0.2" in told, "the highest corner passes every price once"


def cost(y, ranks):
    return sum(score * rank for score, rank in zip(y, ranks, strict=True))


def test_the_price_holds_for_any_permutation_that_sorts_and_at_ties_for_no_other_ranks():
    draw = Random(0)
    for n in (1, 2, 3, 4, 5, 5, 5):
        y, every = [draw.randint(-3, 3) for _ in range(n)], [*permutations(range(1, n + 1))]
        wrong = {p: [(i, j) for i, j in permutations(range(n), 2) if y[i] > y[j] and p[i] > p[j]] for p in every}
        least = [p for p in every if not wrong[p]]  # these sort
        assert all(cost(y, p) - cost(y, q) == sum(y[i] - y[j] for i, j in wrong[p]) for p in every for q in least)
    assert cost([1, 1], [1, 2]) > cost([1, 1], rankedu.rank(torch.tensor([1, 1]), ties="min").tolist())


def test_the_lemma_needs_neighbours_and_the_theorem_sorted_numbers_and_a_permutation():
    assert cost([2, 7], [1, 2]) - cost([2, 7], [2, 1]) == 5 != cost([2, 0, 7], [1, 2, 3]) - cost([2, 0, 7], [3, 2, 1])
    assert cost([5, 2, 7], [1, 2, 3]) > cost([5, 2, 7], [2, 3, 1]), "not sorted: the identity is not the least"
    assert cost([2, 1], [1, 1]) < cost([2, 1], [1, 2]), "no permutation: less than the least"
