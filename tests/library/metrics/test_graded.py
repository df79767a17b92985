"""Graded metrics against their definition, scikit-learn and SciPy."""

import pytest
import scipy.stats
import torch
from sklearn.metrics import ndcg_score

from rankedu.metrics import UndefinedMetricWarning, ndcg, spearman

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [None, 1, 3, 50])
def test_ndcg_is_scikit_learns_where_scores_differ(dtype, k):
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(8, 15, generator=generator).argsort(-1).to(dtype)
    gains = 2.0 ** torch.randint(0, 4, (8, 15), generator=generator) - 1
    values = ndcg(scores, gains, k=k)
    assert values.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    expected = [ndcg_score(g[None], y[None].double(), k=k) for g, y in zip(gains, scores, strict=True)]
    torch.testing.assert_close(values.double(), torch.tensor(expected).double(), rtol=1e-6, atol=1e-6)


def test_ndcg_of_the_ideal_order_is_1():
    gains = torch.tensor([[7.0, 3.0, 3.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1e-9]])
    torch.testing.assert_close(ndcg(gains, gains), torch.ones(2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_spearman_is_scipys(dtype):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(0, 6, (10, 12), generator=generator).to(dtype)  # with ties
    target = torch.randint(0, 6, (10, 12), generator=generator)
    values = spearman(scores, target)
    assert values.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    expected = [scipy.stats.spearmanr(y.double(), t.double()).statistic for y, t in zip(scores, target, strict=True)]
    torch.testing.assert_close(values.double(), torch.tensor(expected).double(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("metric", "second", "why"),
    [
        (ndcg, torch.tensor([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), "1 of 2 queries have no gain above 0"),
        (spearman, torch.tensor([[2.0, 2.0, 2.0], [0.0, 1.0, 0.0]]), "1 of 2 queries have fewer than two"),
    ],
)
def test_undefined_queries_are_nan_and_counted(metric, second, why):
    with pytest.warns(UndefinedMetricWarning, match=why) as caught:
        values = metric(torch.tensor([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]), second)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert values.isnan().tolist() == [True, False]
