from fractions import Fraction
from itertools import product

import pytest
import torch

from rankedu import reference
from rankedu.hierarchy import relevance
from rankedu.metrics import average_precision, average_precision_per_level, hierarchical_average_precision
from rankedu_book.ch13_hierarchical_ap import figures, study
from rankedu_book.kit import style


def test_fig_1_has_equal_ap_and_unequal_h_ap():
    query, images, listed = study.glyph_rankings()
    flat = [sorted(row.flatten(1).tolist()) for row in images]
    assert flat[0] == flat[1] and query.flatten().tolist() not in flat[0], "the same pictures, without the query"
    mild, severe = (study.measure(levels) for levels in listed)
    assert mild["AP"] == severe["AP"] and round(float(mild["AP"]), 1) == 0.9  # the printed value
    assert all(mild[name] > severe[name] for name in ("H-AP", "ASI", "NDCG"))
    told = style.description(figures.equal_ap())
    assert f"H-AP {mild['H-AP']:.2f}" in told and f"H-AP {severe['H-AP']:.2f}" in told


def test_fig_2_prefers_the_nearer_car():
    near, far = (study.measure(listed)["H-AP"].item() for listed in ([2, 3, 1, 0], [1, 3, 2, 0]))
    assert (near, far) == (pytest.approx(11 / 12), pytest.approx(7 / 9))
    assert "Lada #9, Lada #2, Prius #4, a lorry: AP 0.50 H-AP 0.92" in style.description(figures.concept_tree())


def test_fig_3_shows_the_printed_fractions():
    told = style.description(figures.two_inversions()) + style.description(figures.nested_ranks())
    assert "H-rank 1 + 2/3 = 5/3" in told and "H-rank 1 + 1/3 = 4/3" in told
    assert "B has the ranks [2, 2, 1], sum 5" in told and "E has the ranks [4, 3, 2], sum 9" in told


def test_h_ap_is_the_mean_of_aps_with_these_weights_and_an_inverted_level_has_a_negative_one():
    for counts, alpha in product([(7, 4, 2), (3, 3, 3), (2, 10)], (1, 2, 5)):
        levels = torch.tensor([level for level, count in enumerate((5, *counts)) for _ in range(count)])
        scores = torch.rand(len(levels), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        weight = study.level_weights(counts, alpha)
        assert weight.sum() == pytest.approx(1)
        assert (weight < 0).any() == bool(study.level_relevance(counts, alpha).inverted)
        if (weight >= 0).all():
            mean = average_precision_per_level(scores, levels) @ torch.from_numpy(weight)
            value = hierarchical_average_precision(scores, relevance(levels, float(alpha)))
            torch.testing.assert_close(value, mean)


def test_the_cost_of_a_swap_is_between_the_bounds_and_attains_them():
    def value(*listed):
        return reference.hierarchical_average_precision(range(len(listed), 0, -1), [Fraction(r) for r in listed])

    for i, low, high in ((2, 1, 3), (3, 1, 3), (5, 1, 3)):
        for above, gain in ((high, Fraction(high - low, i + 1)), (low, Fraction(high - low, i * (i + 1)))):
            first = [above] * (i - 1)
            found = value(*first, high, low) - value(*first, low, high)
            assert found * (sum(first) + low + high) == gain
    top = value(0, 1, 0, 1, 1) - value(0, 0, 1, 1, 1)
    assert (top, value(1, 1, 1, 0, 0) - value(1, 1, 0, 1, 0)) == (Fraction(1, 18), Fraction(1, 12))
    rel = torch.rand(500, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    scores = study.order_of(8).expand(rel.shape)
    before = hierarchical_average_precision(scores, rel) * rel.sum(1)
    for r in range(1, 8):
        swapped = rel.clone()
        swapped[:, [r - 1, r]] = rel[:, [r, r - 1]]
        gain = hierarchical_average_precision(scores, swapped) * rel.sum(1) - before
        step = rel[:, r] - rel[:, r - 1]
        low, high = step / (r * (r + 1)) - 1e-12, step / (r + 1) + 1e-12
        assert ((low <= gain) & (gain <= high))[step > 0].all()


@pytest.mark.filterwarnings("ignore:Eq. 4")
def test_swaps_of_levels_are_unseen_or_punished_where_the_relevance_does_not_rise():
    def seen(counts):
        return study.swaps(counts)["H-AP"]

    assert seen((2, 2, 2, 2)) == (0.0, 0)
    assert seen((1, 2, 2, 3))[0] > 0.2 and seen((1, 2, 2, 3))[1] == 0, "(2/3)/2 = (3/3)/3: equal, so not seen"
    assert seen((2, 1, 1, 4))[1] > 0, "inverted, so punished"


def test_what_h_ap_misses_is_a_sum_over_inversions_and_fails_for_a_negative_relevance_or_ties():
    def missed(rel, scores):
        lost = (rel[:, None] - rel).clamp_min(0) * (scores > scores[:, None])
        return (lost.sum(1) / (1 + (scores > scores[:, None]).sum(1))).sum() / rel.sum()

    generator = torch.Generator().manual_seed(0)
    for _ in range(100):
        rel = torch.rand(7, generator=generator, dtype=torch.float64).sub(0.3).clamp_min(0)
        scores = torch.rand(7, generator=generator, dtype=torch.float64)
        if rel.sum() > 0:
            torch.testing.assert_close(1 - hierarchical_average_precision(scores, rel), missed(rel, scores))
    rel, scores = torch.tensor([0.0, 1.0], dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    by_position = hierarchical_average_precision(scores, rel, ties="ordinal")
    assert 1 - by_position > 0.4 > missed(rel, scores) == 0, "a tie, broken by position"
    with pytest.raises(ValueError, match="relevance"):
        hierarchical_average_precision(study.order_of(2), torch.tensor([-1.0, 2.0]))


@pytest.mark.filterwarnings("ignore:Eq. 4")
def test_at_the_ends_of_alpha_stand_the_ap_of_the_leaves_and_shares_and_without_leaves_another_ap():
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        levels = torch.cat([torch.arange(4), torch.randint(0, 4, (8,), generator=generator)])
        scores = torch.rand(12, generator=generator, dtype=torch.float64)
        shares = (levels > 0) / levels.bincount()[levels].double()
        unshared = average_precision(scores, levels > 0).item()
        for rel, wanted in (
            (relevance(levels, 300.0), average_precision(scores, levels == 3).item()),
            (relevance(levels, 1e-9), hierarchical_average_precision(scores, shares).item()),
            ((levels.double() / 3) ** 1e-9, unshared),
        ):
            assert hierarchical_average_precision(scores, rel).item() == pytest.approx(wanted, abs=1e-6)
    levels, scores = torch.tensor([1, 2, 0, 2]), study.order_of(4)
    found = hierarchical_average_precision(scores, relevance(levels, 300.0, n_levels=3)).item()
    assert found == pytest.approx(average_precision(scores, levels == 2).item()), "no leaf occurs"
