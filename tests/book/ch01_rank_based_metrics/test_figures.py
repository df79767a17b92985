"""Chapter 1's figures claim numbers: these are the definitions behind them."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from rankbook.ch01_rank_based_metrics import figures
from rankedu.metrics import average_precision


def test_equal_cross_entropy_with_another_ap_and_a_lower_one_with_a_lower_ap():
    scores, relevance = figures.models()
    entropy = {m: binary_cross_entropy_with_logits(y, relevance.double()).item() for m, y in scores.items()}
    precision = {m: average_precision(y, relevance).item() for m, y in scores.items()}
    assert sorted(figures.MARGINS["A"]) == sorted(figures.MARGINS["B"])
    assert entropy["A"] == pytest.approx(entropy["B"], abs=1e-15)
    assert entropy["C"] < entropy["A"] - 0.02
    assert precision["A"] == 1.0
    assert precision["B"] == precision["C"] == pytest.approx((1 / 3 + 2 / 4 + 3 / 5) / 3)
    assert all(((y > 0) == relevance).sum() == 6 for y in scores.values())


def test_the_shaded_area_is_average_precision():
    made = figures.precision_recall_staircase()
    bars = made.axes[1].patches
    assert sum(-bar.get_width() * bar.get_height() for bar in bars) == pytest.approx(
        (1 / 2 + 2 / 3 + 3 / 5 + 4 / 8) / 4
    )


def test_the_expected_value_is_the_mean_of_the_orders_drawn():
    made = figures.tied_orders()
    dots, expected = made.axes[1].lines[0], made.axes[1].lines[2]
    assert expected.get_label().startswith("expected")
    assert expected.get_xdata()[0] == pytest.approx(dots.get_xdata().mean(), abs=1e-6)
    assert len(dots.get_xdata()) == len(set(permutations((1, 1, 0, 0))))


def test_staircases_are_the_metrics_between_the_items():
    made = figures.metric_staircases()
    for score in (0.02, 0.3, 0.5, 0.7, 0.9):
        scores = figures.HOME.clone()
        scores[3] = score
        drawn = [y for (a, y), (b, _) in made.axes[0].collections[0].get_segments() if a < score < b]
        assert drawn == pytest.approx([average_precision(scores, figures.GAINS > 0).item()])


def test_rows_of_average_precision_are_the_classes_of_eq_6():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(30, 4, generator=generator, dtype=torch.float64)  # images × classes
    labels = torch.rand(30, 4, generator=generator) < 0.3
    one_by_one = [average_precision(scores[:, c], labels[:, c]).item() for c in range(4)]
    assert average_precision(scores.T, labels.T).mean().item() == pytest.approx(sum(one_by_one) / 4)
