import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from rankbook.ch01_rank_based_metrics import figures
from rankbook.ch01_rank_based_metrics.explorables import all_metrics, drag_a_score
from rankbook.kit import style
from rankedu.metrics import average_precision


def moved(item, score):
    scores = figures.HOME.clone()
    scores[figures.NAMES.index(item)] = score
    return scores


def test_equal_cross_entropy_with_another_ap_and_a_lower_one_with_a_lower_ap():
    scores, relevance = figures.models()
    entropy = {m: binary_cross_entropy_with_logits(y, relevance.double()).item() for m, y in scores.items()}
    precision = {m: average_precision(y, relevance).item() for m, y in scores.items()}
    assert entropy["A"] == pytest.approx(entropy["B"], abs=1e-15)
    assert entropy["C"] < entropy["A"] - 0.02
    assert precision["A"] == 1.0
    assert precision["B"] == precision["C"] == pytest.approx((1 / 3 + 2 / 4 + 3 / 5) / 3)
    assert all(((y > 0) == relevance).sum() == 6 for y in scores.values())


def test_staircases_are_the_metrics_between_the_items():
    stairs = figures.metric_staircases().axes[0].collections[0].get_segments()
    for score in (0.02, 0.3, 0.5, 0.7, 0.9):
        drawn = [y for (a, y), (b, _) in stairs if a < score < b]
        assert drawn == pytest.approx([average_precision(moved("D", score), figures.GAINS > 0).item()])


def test_rows_of_average_precision_are_the_classes_of_eq_6():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(30, 4, generator=generator, dtype=torch.float64)  # images × classes
    labels = torch.rand(30, 4, generator=generator) < 0.3
    one_by_one = [average_precision(scores[:, c], labels[:, c]).item() for c in range(4)]
    assert average_precision(scores.T, labels.T).mean().item() == pytest.approx(sum(one_by_one) / 4)


def test_the_metrics_that_are_told_change_where_items_cross_and_nowhere_else():
    for item, score in (("D", 0.7), ("A", 0.0), ("E", 1.0)):
        text = style.description(drag_a_score(item=item, score=score))
        assert all(f"{name} {value:.2f} (" in text for name, value in all_metrics(moved(item, score)).items())
    values = drag_a_score.controls["score"].values
    assert not set(values) & set(figures.HOME.tolist()), "no tie"
    steps = {score: all_metrics(moved("D", score)) for score in (*values, 0.6, 0.7)}
    assert len({tuple(steps[score].values()) for score in values}) == 5  # below E, above E, C, B and A
    assert steps[0.6]["AP"] == steps[0.7]["AP"] and steps[0.6]["NDCG"] > steps[0.7]["NDCG"], "two relevant items cross"
