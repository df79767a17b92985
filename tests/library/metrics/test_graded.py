"""Graded metrics, and binary ones, against scikit-learn, SciPy and ir-measures (which asks pytrec-eval)."""

import pytest
import scipy.stats
import torch
from sklearn.metrics import ndcg_score

from rankedu.metrics import ndcg, spearman


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


def test_spearman_is_scipys():
    generator = torch.Generator().manual_seed(0)
    scores, target = torch.randint(0, 6, (2, 10, 12), generator=generator).double()  # with ties
    expected = [scipy.stats.spearmanr(y, t).statistic for y, t in zip(scores, target, strict=True)]
    torch.testing.assert_close(spearman(scores, target), torch.tensor(expected).double())
