from itertools import pairwise

import numpy as np
import pytest
import torch

import rankedu
from rankbook.ch03_ranking_is_a_solver import explorables, figures, study
from rankbook.kit import style
from rankedu.blackbox import differentiate
from rankedu.proofs.rearrangement import certificate
from rankedu.solvers import ranking


def test_the_two_sums_agree_and_the_two_vectors_do_not():
    y = torch.tensor([float(score) for score in study.SCORES], dtype=torch.float64)
    ranks, order = rankedu.rank(y), y.argsort(descending=True)
    eq_12, eq_13 = (y * ranks).sum(), (y[order] * torch.arange(1, 6)).sum()
    assert eq_12.item() == pytest.approx(eq_13.item(), abs=1e-12)
    assert (y * (order + 1)).sum() > eq_12 + 1, "argsort is not the rank"
    told = style.description(figures.rank_and_order())
    assert all(", ".join(map(str, vector.tolist())) in told for vector in (ranks, order + 1))


def test_the_solid_is_the_permutahedron_of_four_and_edges_that_exchange_the_same_items_have_one_price():
    edges, facets, normals = study.solid()
    corners, scores = np.array(study.SOLID_RANKS), np.array(study.SOLID_SCORES, dtype=float)
    assert (len(corners), len(edges), sorted(map(len, facets))) == (24, 36, [4] * 6 + [6] * 8)
    assert np.bincount(np.array(edges).ravel()).tolist() == [3] * 24
    for i, j in edges:
        assert sorted(corners[i] - corners[j]) == [-1, 0, 0, 1]
        first, second = np.flatnonzero(corners[i] != corners[j])
        assert abs((corners[i] - corners[j]) @ scores) == pytest.approx(abs(scores[first] - scores[second]))
    for facet, normal in zip(facets, normals, strict=True):  # nobody lies further out
        height = corners @ normal
        assert np.flatnonzero(height > height.max() - 1e-9).tolist() == facet


def test_the_cone_around_minus_pi_holds_the_scores_with_ranks_pi():
    for ranks in study.HEXAGON_RANKS:
        drawn = np.linalg.lstsq(study.plane(np.eye(3)).T, -study.plane(ranks), rcond=None)[0]
        assert rankedu.rank(torch.from_numpy(drawn)).tolist() == list(ranks)


@pytest.mark.parametrize(("angle", "lam"), [(24, 0.6), (72, 2.4), (192, 0.3), (288, 2.4)])
def test_the_lit_corner_is_the_ranking_and_the_gradient_algorithm_1s_never_leads_to_a_worse_one(angle, lam):
    scores = torch.from_numpy(explorables.scores_at(angle)).requires_grad_()
    assert explorables.best_ranks(scores.detach().numpy()) == [tuple(rankedu.rank(scores).tolist())]
    c = torch.from_numpy(explorables.COEFFICIENTS)
    (c @ differentiate(ranking, lam)(scores)).backward()
    told = style.description(explorables.permutahedron_hexagon(angle=angle, lam=lam))
    gradient = scores.grad.numpy()
    assert ("the gradient is 0" if not gradient.any() else explorables._vector(gradient)) in told
    assert gradient.sum() == pytest.approx(0, abs=1e-9) and float(c @ scores.grad) <= 1e-9


def test_the_walk_goes_down_along_edges_to_the_ranking():
    edges = {frozenset((study.SOLID_RANKS[i], study.SOLID_RANKS[j])) for i, j in study.solid()[0]}
    lowest = tuple(rankedu.rank(torch.tensor([float(score) for score in study.SOLID_SCORES])).tolist())
    for start in study.SOLID_RANKS[::3]:
        path, costs = study.walk(certificate(study.SOLID_SCORES, start))
        assert costs == [sum(s * rank for s, rank in zip(study.SOLID_SCORES, ranks, strict=True)) for ranks in path]
        assert all(frozenset(step) in edges for step in pairwise(path))
        assert all(before > after for before, after in pairwise(costs))
        assert (path[0], path[-1]) == (start, lowest)
    told = style.description(explorables.permutahedron_solid())
    assert "6 edges, saving 0.2, 0.5, 0.3, 0.7, 0.5, 0.2" in told, "the highest corner passes every price once"
