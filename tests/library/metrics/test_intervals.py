"""Intervals of means: how often they contain the truth, also at the edge, and that classes count, not queries."""

import numpy as np
import pytest
import torch
from drawn import random

from rankedu.metrics import evaluate_retrieval
from rankedu.metrics._intervals import mean_interval


@pytest.mark.parametrize(
    ("classes", "draw"),
    [
        (30, lambda generator, n: generator.random((n, 1)) < 0.98),  # hits, nearly always
        (30, lambda generator, n: generator.random((n, 1)) < 0.4),
        (60, lambda generator, n: generator.beta(2, 5, (n, 1))),  # values of AP
        (60, lambda generator, n: generator.beta(2, 5, (n, 1)) > generator.random((n, 5))),  # classes unlike each other
    ],
)
def test_the_interval_contains_the_mean_in_about_95_of_100_cases(classes, draw):
    generator = np.random.default_rng(0)
    truth, inside, trials = draw(generator, 10**6).mean(), 0, 300
    for _ in range(trials):
        values = np.broadcast_to(draw(generator, classes), (classes, 5)).astype(float)
        low, high = mean_interval(values.ravel(), np.repeat(np.arange(classes), 5), 0.95)
        inside += low <= truth <= high
    assert inside / trials > 0.91


def test_at_the_edge_it_has_a_width_that_falls_with_the_number_of_classes():
    for n in (10, 100, 1000):
        low, high = mean_interval(np.ones(n), np.arange(n), 0.95)
        assert high == 1 and 1 - 5 / n < low < 1 - 2 / n
        assert mean_interval(np.zeros(n), np.arange(n), 0.95) == pytest.approx((0, 1 - low))
        assert mean_interval(np.ones(n), np.arange(n) // 10, 0.95)[0] < low
    low, high = mean_interval(np.full(50, 0.5), np.arange(50), 0.95)
    assert 0.3 < low < 0.5 < high < 0.7
    assert np.isnan(mean_interval(np.full(5, np.nan), np.arange(5), 0.95)).all()


def test_an_evaluation_reports_it_over_classes_or_over_queries_with_tags():
    x, y = random(120, 8), torch.arange(120) // 6
    paths = torch.stack([y // 4, y], 1)
    found = evaluate_retrieval(x, paths, metrics=("r@5", "h_ap"), interval=0.9)
    values = {name: v.numpy() for name, v in found["per_query"].items()}
    assert found["interval"]["h_ap"] == mean_interval(values["h_ap"], y.numpy(), 0.9)
    assert found["interval"]["r@5"] == mean_interval(values["r@5"][:, 1], y.numpy(), 0.9)
    assert found["levels"][1]["interval"]["r@5"] == mean_interval(values["r@5"][:, 0], y.numpy(), 0.9)
    tags = evaluate_retrieval(x, torch.nn.functional.one_hot(y).bool(), metrics=("r@5",), interval=0.9)
    alone = mean_interval(values["r@5"][:, 1], np.arange(120), 0.9)
    assert tags["interval"]["r@5"] == pytest.approx(alone)
    assert "interval" not in evaluate_retrieval(x, y)
