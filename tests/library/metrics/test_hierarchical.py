"""H-AP against its definition, item by item, and against AP."""

import pytest
import torch
from drawn import coin, grades, random

from rankedu import reference
from rankedu.hierarchy import relevance
from rankedu.metrics import (
    average_precision,
    average_precision_per_level,
    hierarchical_average_precision,
    hierarchical_rank,
)


def test_h_ap_is_eq_3_on_thousands_of_cases():
    """With ties, whatever the scale of relevance."""
    for n in (1, 2, 7, 8, 9, 60):
        scores, where = random(100, n).mul(n / 4).round(), coin(100, n, p=0.8)
        rel, where[:, 0] = grades(100, n), True
        rel[:, 0] = rel[:, 0].clamp(min=1 / 3)
        found = hierarchical_average_precision(scores, rel, where=where)
        ranks = hierarchical_rank(scores, rel, where=where)
        assert (ranks[~where] == 0).all()
        for row in range(100):
            y, own = scores[row][where[row]].tolist(), rel[row][where[row]].tolist()
            assert found[row].item() == pytest.approx(reference.hierarchical_average_precision(y, own), rel=1e-12), n
            assert ranks[row][where[row]].tolist() == pytest.approx(reference.h_rank(y, own), rel=1e-12, abs=1e-15), n
        for scale in (2.0**-300, 1e30, 2.0**1000):
            scaled = hierarchical_average_precision(scores, rel * scale, where=where)
            torch.testing.assert_close(scaled, found, rtol=1e-12, atol=0)


def test_fig_3_and_equal_relevance_at_two_levels_is_counted_once():
    """Relevance l/L with L = 3, that is Eq. 4 with one item a level: the item of level 3 stands second."""
    for level, h_rank in ((2, 5 / 3), (1, 4 / 3)):
        rel = torch.tensor([level / 3, 1.0], dtype=torch.float64)
        assert hierarchical_rank(torch.tensor([0.9, 0.8]), rel)[1].item() == pytest.approx(h_rank)
        torch.testing.assert_close(relevance(torch.tensor([level, 3])), rel)
    # The released evaluation sums up level by level the items with the relevance of the level: it gives 2.
    scores, rel = torch.tensor([0.9, 0.8, 0.7, 0.1], dtype=torch.float64), relevance(torch.tensor([2, 2, 1, 0]))
    assert rel.tolist() == [0.5, 0.5, 0.5, 0] and hierarchical_average_precision(scores, rel).item() == 1.0


def test_with_one_level_h_ap_is_ap():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 9, (2, 50, 12), generator=generator).double()
    level = torch.randint(0, 2, (2, 50, 12), generator=generator)
    where = torch.rand(2, 50, 12, generator=generator) < 0.8
    level[..., 0], where[..., 0] = 1, True
    expected = average_precision(scores, level, where=where)
    for rel in (level, level.bool(), relevance(level, where=where), level.half() * 1e-7):
        torch.testing.assert_close(hierarchical_average_precision(scores, rel, where=where), expected)
    torch.testing.assert_close(average_precision_per_level(scores, level, where=where).squeeze(-1), expected)
