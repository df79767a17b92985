"""Chapter 3's explorables: what they draw is what the solver, the gradient and the certificate say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

import rankedu
from rankbook.ch03_ranking_is_a_solver import explorables as chapter
from rankbook.ch03_ranking_is_a_solver.study import SOLID_RANKS, SOLID_SCORES, solid, walk
from rankbook.kit import style
from rankedu.blackbox import differentiate
from rankedu.proofs.rearrangement import certificate
from rankedu.solvers import ranking

BOTH = [chapter.permutahedron_hexagon, chapter.permutahedron_solid]


def test_the_lit_corner_is_the_ranking():
    for angle in chapter._angles.values:
        scores = chapter.scores_at(angle)
        best = chapter.best_ranks(scores)
        assert np.linalg.norm(scores) == pytest.approx(1, abs=1e-8)
        assert best[0] == tuple(rankedu.rank(torch.from_numpy(scores)).tolist())
        assert len(best) == (2 if angle % 60 == 0 else 1), "six walls, where two corners tie"


@pytest.mark.parametrize(
    ("angle", "lam"), [(24, 0.6), (24, 1.2), (72, 2.4), (192, 0.3), (192, 2.4), (240, 0.3), (288, 2.4)]
)
def test_the_gradient_is_algorithm_1s_and_never_leads_to_a_worse_corner(angle, lam):
    scores = torch.from_numpy(chapter.scores_at(angle)).requires_grad_()
    c = torch.from_numpy(chapter.COEFFICIENTS)
    (c @ differentiate(ranking, lam)(scores)).backward()
    told = style.description(chapter.permutahedron_hexagon(angle=angle, lam=lam))
    gradient = scores.grad.numpy()
    assert ("the gradient is 0" if not gradient.any() else chapter._vector(gradient)) in told
    assert gradient.sum() == pytest.approx(0, abs=1e-9)
    assert float(c @ scores.grad) <= 1e-9


@pytest.mark.parametrize("start", SOLID_RANKS[::3])
def test_the_walk_goes_down_along_edges_to_the_ranking(start):
    path, costs = walk(certificate(SOLID_SCORES, start))
    edges = {frozenset((SOLID_RANKS[i], SOLID_RANKS[j])) for i, j in solid()[0]}
    assert costs == [sum(score * rank for score, rank in zip(SOLID_SCORES, ranks, strict=True)) for ranks in path]
    assert all(frozenset(step) in edges for step in pairwise(path))
    assert all(before > after for before, after in pairwise(costs))
    assert path[0] == start
    assert path[-1] == tuple(rankedu.rank(torch.tensor([float(score) for score in SOLID_SCORES])).tolist())
    told = style.description(chapter.permutahedron_solid(start=start))
    assert f"cost {float(costs[-1]):.1f}" in told


def test_the_highest_corner_passes_every_price_once():
    told = style.description(chapter.permutahedron_solid())
    assert "6 edges, saving 0.2, 0.5, 0.3, 0.7, 0.5, 0.2" in told


def test_one_stop_of_the_direction_is_a_tie():
    assert [angle for angle in chapter._angles.stops if angle % 60 == 0] == [0]
