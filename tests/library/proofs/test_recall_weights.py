"""Lemma 1, Proposition 2 and Eq. 20."""

import random
from fractions import Fraction
from itertools import product
from math import comb, isclose

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from rankedu import reference
from rankedu.proofs.recall_weights import (
    Telescoping,
    asymptotics,
    closed_form,
    closed_form_to_weights,
    exhaustive,
    lemma_1,
    proposition_2,
    weights_to_closed_form,
)

k = sympy.Symbol("k", positive=True, integer=True)
LOG, LOGLOG = closed_form("log"), closed_form("loglog")


def some_weights(seed, n=12):
    rng = random.Random(seed)
    return [Fraction(rng.randrange(20), rng.randrange(1, 20)) for _ in range(n)]


weights = st.fractions(0, 20, max_denominator=20)


@given(st.lists(weights, min_size=12, max_size=12), st.lists(st.integers(0, 14), min_size=1, max_size=8))
def test_lemma_1_on_random_fractions(w, r):
    """The r_i may be 0, where the supplementary calls them positive, and beyond the last weight."""
    proof = lemma_1(w, r)
    assert proof.verify()
    assert proof.by_level == sum(w[level - 1] for r_i in r for level in range(1, min(r_i, 12) + 1))
    assert lemma_1(w, [0, *r]).by_item == proof.by_item


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_lemma_1_and_proposition_2_on_all_small_cases(n):
    assert exhaustive(some_weights(n, n), n) == (comb(2 * n, n), 2**n - 1)


def test_proposition_2_is_eq_19_with_the_printed_definitions():
    for ranking in (r for n in range(1, 7) for r in product((False, True), repeat=n) if any(r)):
        w, y = some_weights(3, len(ranking)), [Fraction(-place) for place in range(len(ranking))]
        loss = sum(weight * reference.loss_at_k(y, ranking, level) for level, weight in enumerate(w, 1))
        proof = proposition_2(w, ranking)
        assert proof.verify() and proof.by_level == loss
        assert proof.by_item == reference.recall_loss(y, ranking, weights_to_closed_form(w))


@pytest.mark.parametrize(("claim", "W"), [(LOG, reference.W_log), (LOGLOG, reference.W_loglog)], ids=["log", "loglog"])
def test_closed_forms_of_eq_20_telescope(claim, W):
    assert claim.verify()
    assert [float(claim.total.subs(claim.k, n)) for n in range(9)] == pytest.approx([W(n) for n in range(9)])


def test_a_wrong_closed_form_does_not_verify():
    for weight, total in [
        (LOG.weight, sympy.log(k)),  # W(0) is not 0
        (LOG.weight, sympy.log(1 + 2 * k)),
        (LOG.weight, LOGLOG.total),
        (1 / k, sympy.log(1 + k)),
        (LOGLOG.weight, LOG.total),
        (LOGLOG.weight, sympy.log(1 + 2 * sympy.log(1 + k))),
        (sympy.log(1 + sympy.log(1 + 1 / k)), LOGLOG.total),
    ]:
        assert not Telescoping(k, weight, total).verify(), total
    assert Telescoping(k, sympy.log(1 + 2 / k), sympy.log((k + 1) * (k + 2) / 2)).verify()


@pytest.mark.parametrize(
    ("weights", "wrong"),
    [
        ("log", [lambda k: 1 / k, lambda k: 1 / k**2, lambda k: np.log1p(1 / k) * (1 + 1e-6)]),
        ("loglog", [lambda k: np.log1p(np.log1p(1 / k)), lambda k: np.log1p(1 / k)]),
    ],
)
def test_bounds_hold_up_to_a_million(weights, wrong):
    found = asymptotics(weights, 10**6)
    assert found.holds and found.up_to == 10**6
    assert found.last < 1
    for other in wrong:
        assert not asymptotics(weights, 10**6, closed_form=other).holds


def test_a_sequence_becomes_exact_sums_and_back():
    w = some_weights(1)
    total = weights_to_closed_form(w)
    assert [total(n) for n in range(15)] == [sum(w[:n], Fraction(0)) for n in range(15)]
    back = closed_form_to_weights(total)
    assert [back(level) for level in range(1, 15)] == [*w, 0, 0]


@pytest.mark.parametrize("exact", [LOG, LOGLOG], ids=["log", "loglog"])
def test_an_expression_becomes_a_closed_form_and_back(exact):
    """And so does a function."""
    assert sympy.simplify(weights_to_closed_form(exact.weight) - exact.total) == 0
    assert Telescoping(exact.k, closed_form_to_weights(exact.total), exact.total).verify()
    total = weights_to_closed_form(lambda level: float(exact.weight.subs(exact.k, level)))
    for n in (0, 1, 2, 30):
        assert isclose(total(n), float(exact.total.subs(exact.k, n)), abs_tol=1e-12)
    assert isclose(closed_form_to_weights(total)(7), float(exact.weight.subs(exact.k, 7)), abs_tol=1e-12)


def test_other_expressions():
    assert sympy.expand(weights_to_closed_form(1 / (k * (k + 1))) - k / (k + 1)).simplify() == 0
    constant = weights_to_closed_form(sympy.Integer(2))
    assert constant.subs(dict.fromkeys(constant.free_symbols, 3)) == 6
    n = sympy.Symbol("n")  # the symbol is the reader's
    assert weights_to_closed_form(sympy.log(1 + 1 / n)).free_symbols == {n}
    assert closed_form_to_weights(k**2).expand() == 2 * k - 1
