"""Ranks against their definition: counts, one pair of items at a time."""

import math
from itertools import product

import pytest
import torch
from drawn import DEVICES, DTYPES, seeded
from hypothesis import given
from hypothesis import strategies as st

from rankedu import outranking_negatives, rank, ranks, reference

SHAPES = [(1,), (9,), (4, 9), (2, 3, 9), (0, 3), (2, 0, 3)]


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_outranking_negatives_counts_negatives(rows):
    expected = [
        sum(w and not p and (y > y_i or (y == y_i and j < i)) for j, (y, p, w) in enumerate(rows)) * (p_i and w_i)
        for i, (y_i, p_i, w_i) in enumerate(rows)
    ]
    scores, relevance, where = (torch.tensor(column) for column in zip(*rows, strict=True))
    assert outranking_negatives(scores, relevance, where=where).tolist() == expected


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ties", ["ordinal", "min", "max"])
def test_rank_is_eq_2(ties, device):
    """Those who take part are ranked as if alone; all others have 0."""
    for dtype, shape, ragged in product([*DTYPES, torch.int8, torch.int64], SHAPES, [False, True]):
        scores = torch.randint(-4, 5, shape, generator=seeded()).to(dtype)
        where = torch.rand(shape, generator=seeded()) < 0.6 if ragged else torch.ones(shape, dtype=torch.bool)
        found = rank(scores.to(device), where=where.to(device) if ragged else None, ties=ties).cpu()
        assert found.dtype == torch.int64 and found.shape == shape and not found[~where].any()
        for row, own, here in zip(*(x.reshape(-1, shape[-1]) for x in (scores, found, where)), strict=True):
            assert own[here].tolist() == reference.rank(row[here].tolist(), ties), (dtype, shape)
    zeros = torch.tensor([-0.0, 0.0, -0.0])
    assert torch.equal(rank(zeros.to(device), ties=ties).cpu(), rank(torch.zeros(3), ties=ties))


def test_packed_keys_are_the_stable_sort():
    """Those of float32 are those of float64, with an order of the tied items, too."""
    values = torch.tensor([0.0, -0.0, math.inf, -math.inf, 1e-45, -1e-45, 1.0, 1 + 2**-23])
    for shape, ragged in product(SHAPES, [False, True]):
        scores = values[torch.randint(len(values), shape, generator=seeded())]
        where = torch.rand(shape, generator=seeded()) < 0.6 if ragged else None
        expected = rank(scores.double(), where=where)
        hidden = scores if where is None else scores.masked_fill(~where, math.nan)
        assert torch.equal(rank(scores, where=where), expected)
        assert torch.equal(rank(hidden.requires_grad_(), where=where), expected)
        for last in (torch.rand(shape, generator=seeded()) < 0.5, torch.randint(4, shape).short()):
            found, wide = (ranks.Order(where, last)(x) for x in (scores, scores.double()))
            inside = torch.ones(shape, dtype=torch.bool) if where is None else where
            some = inside.gather(-1, wide)
            assert torch.equal(found[some], wide[some]) and torch.equal(some, inside.gather(-1, found))
    scores = values[torch.randint(len(values), (70_000,), generator=seeded())]  # a place takes more than 16 bits
    by_grade = ranks.Order(None, torch.randint(4, scores.shape, generator=seeded()).short())
    assert torch.equal(by_grade(scores), by_grade(scores.double()))


def test_no_order_is_lost():
    for scores in (
        torch.tensor([1.0, 1.0 + 2.0**-52], dtype=torch.float64),  # equal as float32
        torch.tensor([0.0, 5e-324], dtype=torch.float64),
        torch.tensor([2**62, 2**62 + 1], dtype=torch.int64),  # equal as float64
    ):
        assert rank(scores, ties="min").tolist() == [2, 1]
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    every = every[~every.isnan()]
    assert torch.equal(rank(every, ties="min"), rank(every.double(), ties="min"))


def test_a_view_with_the_negative_bit_is_ranked_as_its_numbers():
    scores = torch.randn(3, 7, generator=seeded())
    view = torch.complex(0 * scores, -scores).conj().imag
    assert view.is_neg() and torch.equal(rank(view), rank(scores))
