"""AP, NDCG and the metrics per level against scikit-learn and ir-measures (which asks pytrec-eval)."""

import ir_measures
import pytest
import torch
from ir_measures import AP, RR, R, Rprec, nDCG
from sklearn.metrics import average_precision_score, ndcg_score

from rankedu.hierarchy import weighted_ap_relevance
from rankedu.metrics import (
    average_precision,
    average_precision_per_level,
    hierarchical_average_precision,
    ndcg,
    r_precision,
    recall_share_at_k,
    reciprocal_rank,
)

L = 3


@pytest.fixture(scope="module")
def queries():
    """Distinct scores (the oracles break ties in their own ways) and levels 0 to 3, each of which occurs."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(25, 30, generator=generator, dtype=torch.float64).argsort(-1).double() / 30
    level = torch.randint(0, L + 1, (25, 30), generator=generator)
    level[:, :4] = torch.arange(4)
    return scores, level


def trec(measures, scores, level):
    """Each measure's value for each query, by ir-measures."""
    judged = [ir_measures.Qrel(str(q), f"d{i}", int(v)) for q, row in enumerate(level) for i, v in enumerate(row)]
    run = [ir_measures.ScoredDoc(str(q), f"d{i}", float(v)) for q, row in enumerate(scores) for i, v in enumerate(row)]
    found = {measure: [0.0] * len(scores) for measure in measures}
    for metric in ir_measures.iter_calc(measures, judged, run):
        found[metric.measure][int(metric.query_id)] = metric.value
    return [torch.tensor(found[measure], dtype=torch.float64) for measure in measures]


@pytest.mark.parametrize("level", range(1, L + 1))
def test_ap_is_scikit_learns(queries, level):
    scores, levels = queries
    expected = [average_precision_score(v >= level, y) for y, v in zip(scores, levels, strict=True)]
    torch.testing.assert_close(average_precision(scores, levels >= level), torch.tensor(expected).double())
    torch.testing.assert_close(hierarchical_average_precision(scores, levels >= level), torch.tensor(expected).double())


@pytest.mark.parametrize("k", [None, 1, 10])
def test_ndcg_is_scikit_learns(queries, k):
    scores, levels = queries
    gains = 2.0**levels - 1
    expected = [ndcg_score(g[None], y[None], k=k) for g, y in zip(gains, scores, strict=True)]
    torch.testing.assert_close(ndcg(scores, gains, k=k), torch.tensor(expected).double())


@pytest.mark.parametrize("k", [None, 1, 10])
def test_ndcg_is_ir_measures_with_the_same_gains(queries, k):
    scores, levels = queries
    gains = {v: 2**v - 1 for v in range(L + 1)}
    measure = nDCG(gains=gains) if k is None else nDCG(gains=gains) @ k
    (expected,) = trec([measure], scores, levels)
    torch.testing.assert_close(ndcg(scores, 2.0**levels - 1, k=k), expected, rtol=1e-6, atol=1e-6)


def test_metrics_per_level_are_ir_measures(queries):
    scores, levels = queries
    expected = torch.stack(trec([AP(rel=v) for v in range(1, L + 1)], scores, levels), -1)
    torch.testing.assert_close(average_precision_per_level(scores, levels), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.2, 0.3, 0.5]])
def test_h_ap_of_the_weighted_ap_relevance_is_ir_measures_weighted_ap(queries, weights):
    scores, levels = queries
    per_level = torch.stack(trec([AP(rel=v) for v in range(1, L + 1)], scores, levels), -1)
    expected = (per_level * torch.tensor(weights, dtype=torch.float64)).sum(-1) / sum(weights)
    found = hierarchical_average_precision(scores, weighted_ap_relevance(levels, weights))
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        (AP(rel=2) @ 5, lambda y, r: average_precision(y, r, k=5)),
        (R(rel=2) @ 5, lambda y, r: recall_share_at_k(y, r, 5)),
        (Rprec(rel=2), r_precision),
        (RR(rel=2), reciprocal_rank),
    ],
    ids=lambda value: None if callable(value) else str(value),
)
def test_other_metrics_of_one_level_are_ir_measures(queries, measure, metric):
    scores, levels = queries
    (expected,) = trec([measure], scores, levels)
    torch.testing.assert_close(metric(scores, levels >= 2), expected, rtol=1e-6, atol=1e-6)
