"""Intervals of means: how often they contain the truth, also at the edge, and that classes count, not queries."""

import numpy as np
import pytest
import scipy.stats
import torch
from drawn import random

from rankedu.metrics import evaluate_retrieval
from rankedu.metrics.intervals import mean_interval, student

#: What the queries of some classes of these sizes get, (queries,), and the mean of it.
DRAWS = {
    "hits, nearly always": (lambda g, size: np.repeat(g.random(len(size)) < 0.98, size), 0.98),
    "hits of classes": (lambda g, size: np.repeat(g.random(len(size)) < 0.4, size), 0.4),
    "hits of queries": (lambda g, size: g.random(size.sum()) < 0.4, 0.4),
    "AP of classes": (lambda g, size: np.repeat(g.beta(2, 5, len(size)), size), 2 / 7),
    "AP of queries": (lambda g, size: g.beta(8, 2, size.sum()), 0.8),
    "hits in classes unlike each other": (
        lambda g, size: np.repeat(g.beta(2, 5, len(size)), size) > g.random(size.sum()),
        2 / 7,
    ),
}


@pytest.mark.parametrize("classes", [2, 3, 10, 50])
@pytest.mark.parametrize("name", DRAWS)
def test_the_interval_contains_the_mean_in_about_95_of_100_cases(name, classes):
    (draw, truth), generator, inside, trials = DRAWS[name], np.random.default_rng(0), 0, 400
    for trial in range(trials):
        size = generator.integers(1, 12, classes) if trial % 2 else np.full(classes, 5)
        values = draw(generator, size).astype(float)
        low, high = mean_interval(values, np.repeat(np.arange(classes), size), 0.95)
        assert 0 <= low <= high <= 1
        inside += low <= truth <= high
    assert inside / trials > 0.91


def test_the_quantile_is_students():
    for level in (0.5, 0.9, 0.95, 0.999):
        for freedom in (1.0, 1.5, 2.0, 7.3, 30.0, 57.0, 59.0, 1e3, 1e6):
            assert student(level, freedom) == pytest.approx(scipy.stats.t.isf((1 - level) / 2, freedom), rel=1e-3)


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
