"""Ranks against their definition: counts, one pair of items at a time."""

import math
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankedu import outranking_negatives, rank, ranks, reference

settings.register_profile("no deadline", deadline=None)  # a shared machine may be slow
settings.load_profile("no deadline")

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64]
POLICIES = ["ordinal", "min", "max"]

few_values = st.lists(st.integers(-3, 3), min_size=1, max_size=12)  # many ties


def by_definition(scores, where, ties):
    """Those who take part are ranked as if alone; all others have 0."""
    alone = iter(reference.rank([y for y, here in zip(scores, where, strict=True) if here], ties))
    return [next(alone) if here else 0 for here in where]


items = st.tuples(st.integers(-2, 2), st.booleans(), st.booleans())


@given(st.lists(items, min_size=1, max_size=12))
def test_outranking_negatives_counts_negatives(rows):
    expected = [
        sum(w and not p and (y > y_i or (y == y_i and j < i)) for j, (y, p, w) in enumerate(rows)) * (p_i and w_i)
        for i, (y_i, p_i, w_i) in enumerate(rows)
    ]
    scores, relevance, where = (torch.tensor(column) for column in zip(*rows, strict=True))
    assert outranking_negatives(scores, relevance, where=where).tolist() == expected


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (9,), (4, 9), (2, 3, 9)])
@pytest.mark.parametrize("ragged", [False, True])
def test_rank_is_eq_2(ties, dtype, shape, ragged):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(-4, 5, shape, generator=generator).to(dtype)
    where = torch.rand(shape, generator=generator) < 0.6 if ragged else None
    ranks = rank(scores, where=where, ties=ties)
    assert ranks.dtype == torch.int64
    rows = scores.reshape(-1, shape[-1]).tolist()
    masks = (torch.ones(shape) if where is None else where).reshape(-1, shape[-1]).tolist()
    expected = [by_definition(row, mask, ties) for row, mask in zip(rows, masks, strict=True)]
    assert ranks.reshape(-1, shape[-1]).tolist() == expected


@pytest.mark.parametrize("shape", [(1,), (9,), (4, 9), (2, 3, 9), (0, 3)])
@pytest.mark.parametrize("ragged", [False, True])
def test_packed_keys_are_the_stable_sort(monkeypatch, shape, ragged):
    generator = torch.Generator().manual_seed(0)
    values = torch.tensor([0.0, -0.0, math.inf, -math.inf, 1e-45, -1e-45, 1.0, 1 + 2**-23])
    scores = values[torch.randint(len(values), shape, generator=generator)]
    where = torch.rand(shape, generator=generator) < 0.6 if ragged else None
    expected = rank(scores, where=where)
    monkeypatch.setattr(ranks, "MANY", 0)
    assert torch.equal(rank(scores, where=where), expected)
    hidden = scores if where is None else scores.masked_fill(~where, math.nan)
    assert torch.equal(rank(hidden.requires_grad_(), where=where), expected)


def test_a_long_row_is_the_stable_sort():
    scores = (100 * torch.randn(2, 70_000, generator=torch.Generator().manual_seed(0))).round()
    expected = torch.empty(2, 70_000, dtype=torch.int64)
    expected.scatter_(1, scores.sort(descending=True, stable=True).indices, torch.arange(1, 70_001).expand(2, -1))
    assert torch.equal(rank(scores), expected)


@pytest.mark.parametrize(
    ("scores", "ties", "expected"),
    [
        ([0.5, 0.9, 0.1], "ordinal", [2, 1, 3]),
        ([1.0, 1.0, 1.0], "ordinal", [1, 2, 3]),
        ([1.0, 1.0, 1.0], "min", [1, 1, 1]),
        ([1.0, 1.0, 1.0], "max", [3, 3, 3]),
        ([-0.0, 0.0, -0.0], "ordinal", [1, 2, 3]),
        ([-0.0, 0.0, -0.0], "min", [1, 1, 1]),
        ([0.0, -0.0, 1.0], "max", [3, 3, 1]),
        ([math.inf, -math.inf, 0.0, math.inf], "min", [1, 4, 3, 1]),
        ([-math.inf, -math.inf], "max", [2, 2]),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_special_values(scores, ties, expected, dtype):
    assert rank(torch.tensor(scores, dtype=dtype), ties=ties).tolist() == expected


@pytest.mark.parametrize(
    "scores",
    [
        torch.tensor([1.0, 1.0 + 2.0**-52], dtype=torch.float64),  # equal as float32
        torch.tensor([0.0, 5e-324], dtype=torch.float64),
        torch.tensor([2**62, 2**62 + 1], dtype=torch.int64),  # equal as float64
    ],
)
def test_no_order_is_lost(scores):
    assert rank(scores, ties="min").tolist() == [2, 1]


def test_every_float16_is_told_apart():
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    scores = bits.view(torch.float16)
    scores = scores[~scores.isnan()]
    assert torch.equal(rank(scores, ties="min"), rank(scores.double(), ties="min"))


def test_what_stands_outside_where_does_not_matter():
    where = torch.tensor([True, False, True, False])
    for filler in (math.nan, math.inf, -math.inf, 0.5):
        scores = torch.tensor([0.2, filler, 0.5, filler])
        for ties in POLICIES:
            assert rank(scores, where=where, ties=ties).tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 3)])
def test_no_rows_no_ranks(shape):
    assert rank(torch.zeros(shape)).shape == shape


@given(few_values)
def test_ordinal_ranks_are_a_permutation_that_sorts(values):
    scores = torch.tensor(values)
    ranks = rank(scores)
    assert sorted(ranks.tolist()) == list(range(1, len(values) + 1))  # Eq. 1: y at the inverse never increases
    assert scores[ranks.argsort()].tolist() == sorted(values, reverse=True)


def test_ranks_do_not_touch_their_input():
    scores, where = torch.tensor([0.3, -0.0, 0.1], requires_grad=True), torch.tensor([True, False, True])
    before = scores.detach().clone()
    ranks = rank(scores, where=where)
    assert not ranks.requires_grad and torch.equal(scores.detach(), before)


def test_ten_million_scores_take_seconds():
    n = 10**7
    scores = torch.arange(n).flip(0).float()  # float32 counts this far
    start = time.perf_counter()
    ranks = rank(scores)
    assert time.perf_counter() - start < 30
    assert ranks[0] == 1 and ranks[-1] == n


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ties", POLICIES)
def test_the_gpu_agrees(dtype, ties):
    scores = torch.randint(-9, 10, (5, 300)).to(dtype)
    where = torch.rand(5, 300) < 0.8
    assert torch.equal(rank(scores.cuda(), where=where.cuda(), ties=ties).cpu(), rank(scores, where=where, ties=ties))
    zeros = torch.tensor([-0.0, 0.0, -0.0])
    assert torch.equal(rank(zeros.cuda(), ties=ties).cpu(), rank(zeros, ties=ties))
