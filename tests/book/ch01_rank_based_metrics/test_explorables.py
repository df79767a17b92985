"""Chapter 1's explorable: what its description says is what the metrics say."""

from __future__ import annotations

import pytest

from rankbook.ch01_rank_based_metrics.explorables import all_metrics, drag_a_score
from rankbook.ch01_rank_based_metrics.figures import HOME, NAMES
from rankbook.kit import style


def moved(item: str, score: float) -> dict[str, float]:
    scores = HOME.clone()
    scores[NAMES.index(item)] = score
    return all_metrics(scores)


@pytest.mark.parametrize(("item", "score"), [("D", 0.7), ("A", 0.0), ("E", 1.0)])
def test_the_description_holds_the_computed_numbers(item, score):
    text = style.description(drag_a_score(item=item, score=score))
    assert all(f"{name} {value:.2f} (" in text for name, value in moved(item, score).items())


def test_metrics_change_where_items_cross_and_nowhere_else():
    steps = [moved("D", score) for score in drag_a_score.controls["score"].values]
    assert len({tuple(values.values()) for values in steps}) == 5  # below E, above E, C, B and A
    assert moved("D", 0.6)["AP"] == moved("D", 0.7)["AP"]  # two relevant items change places
    assert moved("D", 0.6)["NDCG"] > moved("D", 0.7)["NDCG"]


def test_no_value_of_the_sliders_is_a_tie():
    assert not set(drag_a_score.controls["score"].values) & set(HOME.tolist())
