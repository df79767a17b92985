"""Graded metrics, and binary ones, against scikit-learn, SciPy and ir-measures (which asks pytrec-eval)."""

import ir_measures
import pytest
import scipy.stats
import torch
from ir_measures import AP, RR, R, Rprec, nDCG
from sklearn.metrics import ndcg_score

from rankedu import metrics
from rankedu.metrics import average_precision, ndcg, spearman


@pytest.fixture(scope="module")
def queries():
    """Distinct scores (the oracles break ties in their own ways) and levels 0 to 3, each of which occurs."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(25, 30, generator=generator, dtype=torch.float64).argsort(-1).double() / 30
    level = torch.randint(0, 4, (25, 30), generator=generator)
    level[:, :4] = torch.arange(4)
    return scores, level


@pytest.mark.parametrize("k", [None, 1, 3, 50])
def test_ndcg_is_scikit_learns_where_scores_differ(queries, k):
    scores, gains = queries[0], 2.0 ** queries[1] - 1
    expected = [ndcg_score(g[None], y[None], k=k) for g, y in zip(gains, scores, strict=True)]
    torch.testing.assert_close(ndcg(scores, gains, k=k), torch.tensor(expected).double())


def test_ndcg_of_the_ideal_order_is_1():
    gains = torch.tensor([[7.0, 3.0, 3.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1e-9]])
    torch.testing.assert_close(ndcg(gains, gains), torch.ones(2))


def test_spearman_is_scipys():
    generator = torch.Generator().manual_seed(0)
    scores, target = torch.randint(0, 6, (2, 10, 12), generator=generator).double()  # with ties
    expected = [scipy.stats.spearmanr(y, t).statistic for y, t in zip(scores, target, strict=True)]
    torch.testing.assert_close(spearman(scores, target), torch.tensor(expected).double())


def trec(measure, scores, level):
    """A measure's value for each query, by ir-measures."""
    judged = [ir_measures.Qrel(str(q), f"d{i}", int(v)) for q, row in enumerate(level) for i, v in enumerate(row)]
    run = [ir_measures.ScoredDoc(str(q), f"d{i}", float(v)) for q, row in enumerate(scores) for i, v in enumerate(row)]
    found = torch.zeros(len(scores), dtype=torch.float64)
    for metric in ir_measures.iter_calc([measure], judged, run):
        found[int(metric.query_id)] = metric.value
    return found


GAINS = {level: 2**level - 1 for level in range(4)}


@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        (AP(rel=2), lambda y, v: average_precision(y, v >= 2)),
        (AP(rel=2), lambda y, v: metrics.hierarchical_average_precision(y, v >= 2)),
        (AP(rel=2) @ 5, lambda y, v: average_precision(y, v >= 2, k=5)),
        (R(rel=2) @ 5, lambda y, v: metrics.recall_share_at_k(y, v >= 2, 5)),
        (Rprec(rel=2), lambda y, v: metrics.r_precision(y, v >= 2)),
        (RR(rel=2), lambda y, v: metrics.reciprocal_rank(y, v >= 2)),
        (nDCG(gains=GAINS), lambda y, v: ndcg(y, 2.0**v - 1)),
        (nDCG(gains=GAINS) @ 10, lambda y, v: ndcg(y, 2.0**v - 1, k=10)),
    ],
    ids=lambda value: None if callable(value) else str(value),
)
def test_metrics_are_ir_measures(queries, measure, metric):
    torch.testing.assert_close(metric(*queries), trec(measure, *queries), rtol=1e-6, atol=1e-6)
