"""Chapter 3's figures claim numbers: these are the definitions behind them."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import rankedu
from rankbook.ch03_ranking_is_a_solver import figures, study
from rankbook.kit import style
from rankedu.landscapes import random_coefficients
from rankedu.proofs.rearrangement import certificate, exhaustive


def test_the_two_sums_agree_and_the_two_vectors_do_not():
    y = torch.tensor([float(score) for score in study.SCORES], dtype=torch.float64)
    ranks = rankedu.rank(y)
    order = y.argsort(descending=True)
    eq_12, eq_13 = (y * ranks).sum(), (y[order] * torch.arange(1, 6)).sum()
    assert eq_12.item() == pytest.approx(eq_13.item(), abs=1e-12)
    assert (y * (order + 1)).sum() > eq_12 + 1, "argsort is not the rank"
    told = style.description(figures.rank_and_order())
    for vector in (ranks, order + 1):
        assert ", ".join(map(str, vector.tolist())) in told


def test_the_lever_shows_the_least_moment():
    least = exhaustive(5, study.SCORES)
    value = sum(w * peg for w, peg in zip(study.SCORES, least.minimisers[0], strict=True))
    assert f"least moment, {figures.decimal(value)}" in style.description(figures.lever())


@pytest.mark.parametrize("start", [(1, 2, 3, 4, 5), (4, 1, 5, 2, 3), (2, 5, 1, 4, 3)])
def test_the_price_tags_add_up(start):
    proof = certificate(study.SCORES, start)
    told = style.description(figures.swap_path(start))
    assert f"cross {len(proof.swaps)} times" in told
    tags = re.search(r"what it saves: ([\d., ]*)\. Below", told)
    assert tags
    total = sum(float(tag) for tag in tags[1].split(", ") if tag)
    assert total == pytest.approx(float(proof.total_gain), abs=1e-9)


def test_the_solid_is_the_permutahedron_of_four():
    edges, facets, normals = study.solid()
    corners = np.array(study.SOLID_RANKS)
    assert (len(corners), len(edges), len(facets)) == (24, 36, 14)
    assert len(corners) - len(edges) + len(facets) == 2
    assert sorted(map(len, facets)) == [4] * 6 + [6] * 8
    assert np.bincount(np.array(edges).ravel()).tolist() == [3] * 24
    for i, j in edges:
        assert sorted(corners[i] - corners[j]) == [-1, 0, 0, 1]
    for facet, normal in zip(facets, normals, strict=True):  # nobody lies further out
        height = corners @ normal
        assert np.flatnonzero(height > height.max() - 1e-9).tolist() == facet


def test_edges_that_exchange_the_same_two_items_have_one_price():
    corners = np.array(study.SOLID_RANKS)
    scores = np.array(study.SOLID_SCORES, dtype=float)
    for i, j in study.solid()[0]:
        first, second = np.flatnonzero(corners[i] != corners[j])
        drop = abs((corners[i] - corners[j]) @ scores)
        assert drop == pytest.approx(abs(scores[first] - scores[second]))


@pytest.mark.parametrize("ranks", study.HEXAGON_RANKS)
def test_the_cone_around_minus_pi_holds_the_scores_with_ranks_pi(ranks):
    drawn = np.linalg.lstsq(study.plane(np.eye(3)).T, -study.plane(ranks), rcond=None)[0]
    assert rankedu.rank(torch.from_numpy(drawn)).tolist() == list(ranks)


def test_a_wall_has_the_same_jump_everywhere():
    _, values, pairs = study.section_of_five()
    c = random_coefficients(5, seed=10)
    allowed = {round(abs(c[i] - c[j]), 6) for i in range(5) for j in range(i)}
    jumps = np.abs(np.diff(values, axis=1))
    jumps = jumps[jumps > 1e-9].round(6)
    single = np.isin(jumps, list(allowed))
    assert len(pairs) == 10
    assert single.mean() > 0.97, "the rest are pixels in which two walls are crossed at once"
    assert set(jumps[single]) == allowed
