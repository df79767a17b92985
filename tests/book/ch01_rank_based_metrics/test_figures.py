import pytest
import torch

from rankbook.ch01_rank_based_metrics import figures
from rankbook.ch01_rank_based_metrics.explorables import all_metrics, drag_a_score
from rankbook.kit import style
from rankedu.metrics import average_precision


def moved(item, score):
    scores = figures.HOME.clone()
    scores[figures.NAMES.index(item)] = score
    return scores


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
