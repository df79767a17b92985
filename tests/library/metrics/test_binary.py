"""Binary metrics against scikit-learn and torchmetrics, and what must not change them."""

import warnings
from contextlib import suppress

import pytest
import torch
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from rankedu import rank
from rankedu.metrics import (
    UndefinedMetricWarning,
    average_precision,
    map_at_r,
    precision_at_k,
    r_precision,
    recall_at_k,
    recall_share_at_k,
    reciprocal_rank,
)
from ranklab.models import load_torchvision

TIES = ["ordinal", "pessimistic", "optimistic", "expected"]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64]

items = st.lists(st.tuples(st.integers(-1, 2), st.booleans()), min_size=1, max_size=6)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (12,), (5, 12), (2, 3, 12)])
def test_average_precision_is_eq_4_where_scores_differ(ties, dtype, shape):
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(shape, generator=generator).argsort(-1).to(dtype)
    relevance = torch.rand(shape, generator=generator) < 0.5
    relevance[..., 0] = True
    values = average_precision(scores, relevance, ties=ties)
    assert values.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    rows = zip(scores.reshape(-1, shape[-1]), relevance.reshape(-1, shape[-1]), strict=True)
    expected = torch.tensor([average_precision_score(label, y.double()) for y, label in rows])
    torch.testing.assert_close(values, expected.reshape(shape[:-1]).to(values.dtype))


def test_eq_4_and_5_read_literally_give_2_where_all_scores_tie():
    y, y_star = [0.0, 0.0], [1, 1]
    rel = [i for i, label in enumerate(y_star) if label == 1]
    rk = [1 + sum(y_j > y_i for y_j in y) for y_i in y]
    prec = [sum(y[j] >= y[i] for j in rel) / rk[i] for i in rel]
    assert sum(prec) / len(rel) == 2.0
    for ties in TIES:
        assert average_precision(torch.tensor(y), torch.tensor(y_star), ties=ties) == 1.0


def retrieval_metrics():
    """Those of torchmetrics, which imports torchvision if it is there: that needs help beside a torch for the CPU."""
    with suppress(ImportError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_torchvision("torchmetrics")
    return pytest.importorskip("torchmetrics.functional.retrieval")


def test_torchmetrics_drops_positives_whose_score_is_not_positive():
    torchmetrics = retrieval_metrics()
    scores, relevance = torch.tensor([0.9, -0.1, -0.5]), torch.tensor([False, True, False])
    assert average_precision(scores, relevance) == 0.5
    assert average_precision(scores + 1, relevance) == 0.5
    assert torchmetrics.retrieval_average_precision(scores + 1, relevance) == 0.5
    assert torchmetrics.retrieval_average_precision(scores, relevance) == 0.0  # wrong, in torchmetrics 1.9


@pytest.mark.parametrize("k", [1, 2, 5, 20, 50])
def test_top_k_metrics_are_torchmetrics(k):
    torchmetrics = retrieval_metrics()
    generator = torch.Generator().manual_seed(k)
    scores = torch.rand(30, 20, generator=generator) + 0.1
    relevance = torch.rand(30, 20, generator=generator) < 0.2
    relevance[:, 7] = True
    precision = [torchmetrics.retrieval_precision(y, r, top_k=k) for y, r in zip(scores, relevance, strict=True)]
    hit = [torchmetrics.retrieval_hit_rate(y, r, top_k=k) for y, r in zip(scores, relevance, strict=True)]
    torch.testing.assert_close(precision_at_k(scores, relevance, k), torch.stack(precision))
    torch.testing.assert_close(recall_at_k(scores, relevance, k), torch.stack(hit))
    share = [torchmetrics.retrieval_recall(y, r, top_k=k) for y, r in zip(scores, relevance, strict=True)]
    torch.testing.assert_close(recall_share_at_k(scores, relevance, k), torch.stack(share))


METRICS = {
    "map_at_r": map_at_r,
    "r_precision": r_precision,
    "mrr": reciprocal_rank,
    "recall_share_at_2": lambda *a, **k: recall_share_at_k(*a, k=2, **k),
    "recall_at_2": lambda *a, **k: recall_at_k(*a, k=2, **k),
    "precision_at_2": lambda *a, **k: precision_at_k(*a, k=2, **k),
    **{f"ap_{t}": lambda *a, t=t, **k: average_precision(*a, ties=t, **k) for t in TIES},
    **{f"ap_at_2_{t}": lambda *a, t=t, **k: average_precision(*a, ties=t, k=2, **k) for t in TIES},
}


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_queries_without_positives_are_nan_and_one_warning_counts_them(metric):
    scores = torch.rand(4, 5)
    relevance = torch.zeros(4, 5, dtype=torch.bool)
    relevance[1] = True
    with pytest.warns(UndefinedMetricWarning, match="3 of 4 queries have no relevant item") as caught:
        values = metric(scores, relevance)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert values.isnan().tolist() == [True, False, True, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric(scores[1], relevance[1])


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
def test_relevance_may_be_numbers_that_are_0_or_1(dtype):
    relevance = torch.tensor([0, 1, 0, 1]).to(dtype)
    assert average_precision(torch.tensor([4.0, 3.0, 2.0, 1.0]), relevance) == 0.5


def test_a_long_list_of_ties_is_exact():
    """50,000 tied items, one in a hundred relevant: the mean AP is close to the share, not above."""
    n = 50_000
    relevance = torch.arange(n) % 100 == 0
    value = average_precision(torch.zeros(n, dtype=torch.float64), relevance, ties="expected").item()
    p, harmonic = n // 100, (1.0 / torch.arange(1, n + 1, dtype=torch.float64)).sum().item()
    expected = (harmonic + (p - 1) / (n - 1) * (n - harmonic)) / n  # the sum of the docstring, summed by hand
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_the_gpu_agrees(metric):
    scores, relevance = torch.randint(0, 9, (6, 40)).double(), torch.rand(6, 40) < 0.4
    assert rank(scores.cuda()).is_cuda
    torch.testing.assert_close(metric(scores.cuda(), relevance.cuda()).cpu(), metric(scores, relevance))
