import numpy as np
import pytest

from rankedu_book.ch03_ranking_is_a_solver import study


def test_the_solid_is_the_permutahedron_of_four_and_edges_that_exchange_the_same_items_have_one_price():
    edges, facets, _ = study.solid()
    corners, scores = np.array(study.SOLID_RANKS), np.array(study.SOLID_SCORES, dtype=float)
    assert (len(corners), len(edges), sorted(map(len, facets))) == (24, 36, [4] * 6 + [6] * 8)
    for i, j in edges:
        assert sorted(corners[i] - corners[j]) == [-1, 0, 0, 1]
        first, second = np.flatnonzero(corners[i] != corners[j])
        assert abs((corners[i] - corners[j]) @ scores) == pytest.approx(abs(scores[first] - scores[second]))
