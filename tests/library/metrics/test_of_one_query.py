"""Metrics of one query: what all of them keep, and each against other libraries."""

import warnings

import pytest
import scipy.stats
import torch
from cases import METRICS, by_policy
from drawn import DEVICES, DTYPES, coin, grades, random, refused
from sklearn.metrics import average_precision_score, ndcg_score

from rankedu import metrics, reference
from rankedu.hierarchy import relevance
from rankedu.metrics import average_precision, hierarchical_average_precision, ndcg, spearman
from rankedu.metrics._ranking import TIES

LABELS = {"relevant": [0, 0, 1, 1], "gains": [0.0, 0.25, 0.5, 1.0], "levels": [0, 1, 2, 3]}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_each_query_has_its_definitions_value_in_any_dtype_and_shape(name, device):
    metric = METRICS[name]
    generator = torch.Generator().manual_seed(0)
    kinds = torch.tensor(LABELS[metric.labels])
    for dtype in (*DTYPES, torch.int64):
        scores = torch.randint(-4, 5, (2, 4, 9), generator=generator).to(dtype)
        labels = kinds[torch.randint(0, 4, (2, 4, 9), generator=generator)]
        where = torch.rand(2, 4, 9, generator=generator) < 0.7
        given = [x.to(device) for x in (scores, labels, where)]
        found = metric.under("ordinal")(*given[:2], where=given[2])
        assert found.device.type == device and not found.requires_grad
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        rows = zip(*(x.flatten(0, 1) for x in (scores.double(), labels, where)), strict=True)
        expected = [metric.plain(y[here].tolist(), own[here].tolist()) for y, own, here in rows]
        expected = torch.tensor(expected, dtype=found.dtype).unflatten(0, (2, 4))
        torch.testing.assert_close(found.cpu(), expected, equal_nan=True, msg=lambda m, d=dtype: f"{name}, {d}: {m}")
        turned, turned_labels, turned_where = (x.transpose(0, 2).contiguous().transpose(0, 2) for x in given)
        again = metric.under("ordinal")(turned, turned_labels, where=turned_where)
        assert torch.equal(again.nan_to_num(), found.nan_to_num())
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


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_every_policy_for_ties_is_that_of_all_orders_and_only_one_depends_on_the_order_of_the_items(name, ties):
    """All tied, some, or none; also infinite scores, and items that take no part."""
    metric, generator = METRICS[name], torch.Generator().manual_seed(0)
    kinds, n = torch.tensor(LABELS[metric.labels]), 6
    for several in (1, 2, 4, 9):
        scores = torch.randint(0, several, (40, n), generator=generator).double()
        scores[::7] = scores[::7].masked_fill(scores[::7] == 0, -torch.inf)
        labels, where = kinds[torch.randint(0, 4, (40, n), generator=generator)], coin(40, n, p=0.85, seed=several)
        where[:, 0] = True
        found = metric.under(ties)(scores, labels, where=where)
        rows = zip(scores, labels, where, strict=True)
        expected = [by_policy(metric.plain, y[here].tolist(), own[here].tolist(), ties) for y, own, here in rows]
        expected = torch.tensor(expected, dtype=torch.float64)
        torch.testing.assert_close(found, expected, equal_nan=True, rtol=1e-10, atol=1e-12)
        if ties == "expected":
            assert torch.equal(metric.library(scores, labels, where=where).nan_to_num(), found.nan_to_num())
        if ties != "ordinal":
            order = torch.rand(40, n, generator=generator).argsort(1)
            shuffled = [x.gather(1, order) for x in (scores, labels, where)]
            again = metric.under(ties)(*shuffled[:2], where=shuffled[2])
            torch.testing.assert_close(again, found, equal_nan=True, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_lists_of_any_lengths_may_be_given_flat_beside_the_numbers_of_their_queries(name):
    """In any order; as rows that are filled up."""
    metric, generator = METRICS[name], torch.Generator().manual_seed(0)
    for dtype in (torch.float32, torch.bfloat16, torch.uint8):
        scores = torch.randint(0, 9, (7, 30), generator=generator).to(dtype)
        labels = torch.tensor(LABELS[metric.labels])[torch.randint(0, 4, (7, 30), generator=generator)]
        where, there = coin(7, 30, p=0.8), torch.arange(30) < torch.tensor([[1], [30], [2], [0], [9], [30], [5]])
        where[4] = False
        query = 3 * torch.tensor([5, 2, 9, 0, 1, 7, 4], dtype=torch.int32)[:, None].expand(7, 30)
        order = torch.randperm(int(there.sum()), generator=generator)
        flat = [x[there][order] for x in (scores, labels, where, query)]
        for ties in TIES:
            rows = metric.under(ties)(scores, labels, where=where & there)
            given = [x[order.argsort()] for x in flat] if ties == "ordinal" else flat  # in the order of the rows
            found = metric.under(ties)(*given[:2], where=given[2], query=given[3])
            expected = rows[query[:, 0].argsort()][1:]  # the query with the number 0 has no items
            torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_tensors_without_numbers_of_their_own_are_refused_and_negative_bits_are_resolved():
    scores, labels = random(2, 5, dtype=torch.float32), torch.tensor([0, 1, 0, 1, 1]).expand(2, 5)
    twice = torch.complex(0 * scores, -scores).conj().imag  # a view with the negative bit
    assert twice.is_neg() and torch.equal(twice, scores)
    for name, metric in METRICS.items():
        assert torch.equal(*(metric.library(x, labels).nan_to_num() for x in (twice, scores))), name
        refused(
            (lambda m=metric: m.library(scores.to("meta"), labels.to("meta")), TypeError, "scores .* device 'meta'"),
            (lambda m=metric: m.library(scores, labels.to_sparse()), TypeError, "must be dense, .*to_dense"),
            (lambda m=metric: torch.vmap(m.library)(scores, labels), TypeError, "outside of torch.func.grad, vmap"),
            (lambda m=metric: torch.func.grad(m.library)(scores[0], labels[0]), TypeError, "they have no gradient"),
        )


def test_rounding_does_not_lift_a_value_above_1():
    gains, close = 0.1 * (1 + (3 * random(500, 8).abs()).round()), random(500, 8, seed=1).abs() / 100
    for metric, scores, ideal in ((ndcg, gains + close, gains), (hierarchical_average_precision, close, close)):
        values = metric(scores, ideal)
        assert values.max() == 1
        torch.testing.assert_close(values, torch.ones(500, dtype=torch.float64))


def test_average_precision_and_ndcg_are_scikit_learns_where_scores_differ_and_spearman_is_scipys():
    generator, close = torch.Generator().manual_seed(0), torch.testing.assert_close
    scores = torch.rand(25, 30, generator=generator).argsort(-1).double()
    gains = 2.0 ** torch.randint(0, 4, (25, 30), generator=generator) - 1
    gains[:, :4] = torch.tensor([0.0, 1, 3, 7])

    def theirs(metric, labels=gains):
        return torch.tensor([metric(own.numpy(), y.numpy()) for own, y in zip(labels, scores, strict=True)]).double()

    for ties in TIES:
        close(average_precision(scores, gains > 1, ties=ties), theirs(average_precision_score, gains > 1))
    for k in (None, 1, 3, 50):
        close(ndcg(scores, gains, k=k), theirs(lambda g, y, k=k: ndcg_score(g[None], y[None], k=k)))
    scores = scores // 5  # with ties
    close(spearman(scores, gains), theirs(lambda g, y: scipy.stats.spearmanr(y, g).statistic))


def test_eq_4_and_5_read_literally_give_2_where_all_scores_tie():
    y, y_star = [0.0, 0.0], [1, 1]
    rel = [i for i, label in enumerate(y_star) if label == 1]
    rk = [1 + sum(y_j > y_i for y_j in y) for y_i in y]
    prec = [sum(y[j] >= y[i] for j in rel) / rk[i] for i in rel]
    assert sum(prec) / len(rel) == 2.0
    for ties in TIES:
        assert average_precision(torch.tensor(y), torch.tensor(y_star), ties=ties) == 1.0


def test_a_long_list_of_ties_is_exact():
    """50,000 tied items, one in a hundred relevant: the mean AP is close to the share, not above."""
    n = 50_000
    value = average_precision(torch.zeros(n, dtype=torch.float64), torch.arange(n) % 100 == 0, ties="expected")
    p, harmonic = n // 100, (1.0 / torch.arange(1, n + 1, dtype=torch.float64)).sum().item()
    expected = (harmonic + (p - 1) / (n - 1) * (n - harmonic)) / n  # the sum of the docstring, summed by hand
    assert value.item() == pytest.approx(expected, rel=1e-12)


def test_the_scale_of_relevance_does_not_matter():
    for n in (1, 9, 60):
        scores, rel, where = random(100, n).mul(n / 4).round(), grades(100, n), coin(100, n, p=0.8)
        rel[:, 0], where[:, 0] = rel[:, 0].clamp(min=1 / 3), True
        found = hierarchical_average_precision(scores, rel, where=where)
        ranks = metrics.hierarchical_rank(scores, rel, where=where, ties="ordinal")
        for y, own, here, h_rank in zip(scores, rel, where, ranks, strict=True):
            expected = reference.h_rank(y[here].tolist(), own[here].tolist())
            assert h_rank[here].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-15) and not h_rank[~here].any()
        for scale in (2.0**-300, 1e30, 2.0**1000):
            scaled = hierarchical_average_precision(scores, rel * scale, where=where)
            torch.testing.assert_close(scaled, found, rtol=1e-12, atol=0)


def test_fig_3_and_equal_relevance_at_two_levels_is_counted_once():
    """Relevance l/L with L = 3, that is Eq. 4 with one item a level: the item of level 3 stands second."""
    for level, h_rank in ((2, 5 / 3), (1, 4 / 3)):
        rel = torch.tensor([level / 3, 1.0], dtype=torch.float64)
        assert metrics.hierarchical_rank(torch.tensor([0.9, 0.8]), rel)[1].item() == pytest.approx(h_rank)
        torch.testing.assert_close(relevance(torch.tensor([level, 3])), rel)
    # Given flat: one list is that of its items.
    y, own, query = random(9), grades(9), torch.tensor([0, 1, 1, 0, 1, 0, 0, 0, 1])
    ranks = metrics.hierarchical_rank(y, own, query=query)
    for number in (0, 1):
        torch.testing.assert_close(
            ranks[query == number], metrics.hierarchical_rank(*(x[query == number] for x in (y, own)))
        )
    # The released evaluation sums up level by level the items with the relevance of the level: it gives 2.
    scores, rel = torch.tensor([0.9, 0.8, 0.7, 0.1], dtype=torch.float64), relevance(torch.tensor([2, 2, 1, 0]))
    assert rel.tolist() == [0.5, 0.5, 0.5, 0] and hierarchical_average_precision(scores, rel).item() == 1.0
