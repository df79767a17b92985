"""Metrics of one query against scikit-learn, SciPy and torchmetrics, and what must not change them."""

import warnings
from contextlib import suppress

import pytest
import scipy.stats
import torch
from sklearn.metrics import average_precision_score, ndcg_score

from rankedu.metrics import average_precision, ndcg, precision_at_k, recall_at_k, recall_share_at_k, spearman
from ranklab.models import load_torchvision

TIES = ["ordinal", "pessimistic", "optimistic", "expected"]


def test_average_precision_is_eq_4_where_scores_differ():
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(20, 12, generator=generator).argsort(-1)
    relevance = torch.rand(20, 12, generator=generator) < 0.5
    relevance[:, 0] = True
    expected = [average_precision_score(label, y) for y, label in zip(scores, relevance, strict=True)]
    for ties in TIES:
        torch.testing.assert_close(average_precision(scores, relevance, ties=ties), torch.tensor(expected).float())


def test_ndcg_is_scikit_learns_where_scores_differ():
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(25, 30, generator=generator, dtype=torch.float64).argsort(-1).double() / 30
    gains = 2.0 ** torch.randint(0, 4, (25, 30), generator=generator) - 1
    gains[:, :4] = torch.tensor([0.0, 1, 3, 7])
    for k in (None, 1, 3, 50):
        expected = [ndcg_score(g[None], y[None], k=k) for g, y in zip(gains, scores, strict=True)]
        torch.testing.assert_close(ndcg(scores, gains, k=k), torch.tensor(expected).double())


def test_spearman_is_scipys():
    generator = torch.Generator().manual_seed(0)
    scores, target = torch.randint(0, 6, (2, 10, 12), generator=generator).double()  # with ties
    expected = [scipy.stats.spearmanr(y, t).statistic for y, t in zip(scores, target, strict=True)]
    torch.testing.assert_close(spearman(scores, target), torch.tensor(expected).double())


def test_eq_4_and_5_read_literally_give_2_where_all_scores_tie():
    y, y_star = [0.0, 0.0], [1, 1]
    rel = [i for i, label in enumerate(y_star) if label == 1]
    rk = [1 + sum(y_j > y_i for y_j in y) for y_i in y]
    prec = [sum(y[j] >= y[i] for j in rel) / rk[i] for i in rel]
    assert sum(prec) / len(rel) == 2.0
    for ties in TIES:
        assert average_precision(torch.tensor(y), torch.tensor(y_star), ties=ties) == 1.0


@pytest.fixture(scope="module")
def torchmetrics():
    """Its metrics of retrieval: it imports torchvision if it is there, which needs help beside a torch for the CPU."""
    with suppress(ImportError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_torchvision("torchmetrics")
    return pytest.importorskip("torchmetrics.functional.retrieval")


def test_top_k_metrics_are_torchmetrics(torchmetrics):
    pairs = {
        precision_at_k: torchmetrics.retrieval_precision,
        recall_at_k: torchmetrics.retrieval_hit_rate,
        recall_share_at_k: torchmetrics.retrieval_recall,
    }
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(30, 20, generator=generator) + 0.1
    relevance = torch.rand(30, 20, generator=generator) < 0.2
    relevance[:, 7] = True
    for k in (1, 2, 5, 20, 50):
        for ours, theirs in pairs.items():
            expected = [theirs(y, r, top_k=k) for y, r in zip(scores, relevance, strict=True)]
            torch.testing.assert_close(ours(scores, relevance, k), torch.stack(expected))


def test_a_long_list_of_ties_is_exact():
    """50,000 tied items, one in a hundred relevant: the mean AP is close to the share, not above."""
    n = 50_000
    value = average_precision(torch.zeros(n, dtype=torch.float64), torch.arange(n) % 100 == 0, ties="expected")
    p, harmonic = n // 100, (1.0 / torch.arange(1, n + 1, dtype=torch.float64)).sum().item()
    expected = (harmonic + (p - 1) / (n - 1) * (n - harmonic)) / n  # the sum of the docstring, summed by hand
    assert value.item() == pytest.approx(expected, rel=1e-12)
