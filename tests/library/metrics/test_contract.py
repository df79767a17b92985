"""What every metric of one query keeps: dtypes, shapes, who takes part; nan, and one warning, where it is undefined."""

import warnings

import pytest
import torch
from cases import METRICS

from rankedu.metrics import hierarchical_average_precision, ndcg

LABELS = {"relevant": [0, 0, 1, 1], "gains": [0.0, 0.25, 0.5, 1.0], "levels": [0, 1, 2, 3]}
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_each_query_has_its_definitions_value_in_any_dtype_and_shape(name, device):
    metric = METRICS[name]
    generator = torch.Generator().manual_seed(0)
    kinds = torch.tensor(LABELS[metric.labels])
    for dtype in DTYPES:
        scores = torch.randint(-4, 5, (2, 4, 9), generator=generator).to(dtype)
        labels = kinds[torch.randint(0, 4, (2, 4, 9), generator=generator)]
        where = torch.rand(2, 4, 9, generator=generator) < 0.7
        given = [x.to(device) for x in (scores, labels, where)]
        found = metric.library(*given[:2], where=given[2])
        assert found.device.type == device and not found.requires_grad
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        rows = zip(*(x.flatten(0, 1) for x in (scores.double(), labels, where)), strict=True)
        expected = [metric.plain(y[here].tolist(), own[here].tolist()) for y, own, here in rows]
        expected = torch.tensor(expected, dtype=found.dtype).unflatten(0, (2, 4))
        torch.testing.assert_close(found.cpu(), expected, equal_nan=True, msg=lambda m, d=dtype: f"{name}, {d}: {m}")
        turned, turned_labels, turned_where = (x.transpose(0, 2).contiguous().transpose(0, 2) for x in given)
        assert torch.equal(metric.library(turned, turned_labels, where=turned_where).nan_to_num(), found.nan_to_num())
        assert metric.library(given[0][:0], given[1][:0]).shape == found[:0].shape
        if dtype.is_floating_point:
            assert not metric.library(given[0].requires_grad_(), given[1]).requires_grad


@pytest.mark.parametrize("name", METRICS)
def test_queries_without_a_value_are_nan_and_one_warning_counts_them(name):
    metric = METRICS[name]
    kinds = torch.tensor(LABELS[metric.labels])
    scores, labels, where = torch.rand(4, 5), kinds[:1].expand(4, 5).clone(), torch.ones(4, 5, dtype=torch.bool)
    labels[1, ::2], labels[3, 1], where[3, 1] = kinds[-1], kinds[-1], False  # the fourth query's does not take part
    with pytest.warns(UserWarning, match=metric.undefined) as caught:
        values = metric.library(scores, labels, where=where)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert [bool(value.isnan().all()) for value in values] == [True, False, True, True]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric.library(scores[1], labels[1])
    with pytest.warns(UserWarning, match="1 of 1|3 of 3"):
        assert metric.library(torch.full((5,), torch.nan), labels[1], where=where[3] & False).isnan().all()


def test_rounding_does_not_lift_a_value_above_1():
    generator = torch.Generator().manual_seed(0)
    gains = 0.1 * torch.randint(0, 4, (500, 8), generator=generator).double().clamp(min=0.1)
    close, any_gains = (torch.rand(500, 8, generator=generator, dtype=torch.float64) for _ in range(2))
    for metric, scores, ideal in (
        (ndcg, gains + close / 100, gains),
        (hierarchical_average_precision, *[any_gains] * 2),
    ):
        values = metric(scores, ideal)
        assert values.max() == 1
        torch.testing.assert_close(values, torch.ones(500, dtype=torch.float64))
