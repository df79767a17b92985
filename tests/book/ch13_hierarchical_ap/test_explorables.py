"""The sliders of chapter 13: every frame renders, stays small, and tells what it shows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rankbook.ch13_hierarchical_ap import explorables as chapter
from rankbook.kit import style

ALPHAS = chapter.drag_a_ranking.controls["alpha"].stops


@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_sinking_stranger_lowers_nothing_and_ends_at_1(alpha):
    seen = [chapter.judge(rank, alpha)[0] for rank in range(1, 11)]
    for metric in chapter.METRICS:
        values = [judged[metric] for judged in seen]
        assert all(b >= a - 1e-12 for a, b in pairwise(values))
        assert values[-1] == pytest.approx(1)


def test_the_metrics_change_sides_at_different_ranks():
    def first(metric, alpha=1.0):
        ranks = range(1, 11)
        return next(r for r in ranks if chapter.judge(r, alpha)[0][metric] > chapter.judge(r, alpha)[1][metric])

    assert (first("AP"), first("ASI"), first("NDCG"), first("H-AP")) == (1, 1, 2, 4)
    assert first("H-AP", 0.125) > 4 > first("H-AP", 8.0) == first("AP")


@pytest.mark.parametrize("alpha", ALPHAS)
def test_only_h_ap_depends_on_alpha(alpha):
    one, other = chapter.judge(3, alpha), chapter.judge(3, 1.0)
    for mine, base in zip(one, other, strict=True):
        assert all(mine[metric] == base[metric] for metric in ("AP", "ASI", "NDCG"))
        assert (mine["H-AP"] == base["H-AP"]) == (alpha == 1.0)


def test_the_description_holds_the_computed_numbers():
    severe, mild = chapter.judge(5, 2.83)
    told = style.description(chapter.drag_a_ranking(rank=5, alpha=2.83))
    assert f"H-AP {severe['H-AP']:.2f} and {mild['H-AP']:.2f}, better S" in told and "at rank 5" in told
