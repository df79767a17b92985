"""Lemma 1, Proposition 2 and Eq. 20, and that the certificates can fail."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, inf, isclose, log, log1p

import numpy as np
import pytest
import sympy

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
x = sympy.Symbol("x", nonnegative=True)


def some_weights(seed, n=12):
    rng = random.Random(seed)
    return [Fraction(rng.randrange(20), rng.randrange(1, 20)) for _ in range(n)]


@pytest.mark.parametrize("seed", range(50))
def test_lemma_1_on_random_fractions(seed):
    rng, w = random.Random(seed), some_weights(seed)
    r = [rng.randrange(15) for _ in range(rng.randrange(1, 9))]  # 0, and beyond the last weight
    proof = lemma_1(w, r)
    assert proof.verify()
    assert proof.by_level == sum(w[level - 1] for r_i in r for level in range(1, min(r_i, 12) + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_lemma_1_and_proposition_2_on_all_small_cases(n, seed):
    assert exhaustive(some_weights(seed, n), n) == (comb(2 * n, n), 2**n - 1)


def test_items_that_nobody_outranks_are_harmless():
    """The supplementary calls the r_i positive; with 0 among them the lemma holds, as W(0) = 0."""
    assert lemma_1([1, 1], [0, 0, 0]).by_item == 0 and lemma_1([1, 1], [0, 0, 0]).verify()
    assert lemma_1([1, 1], [0, 2]).by_item == lemma_1([1, 1], [2]).by_item


@pytest.mark.parametrize("ranking", [r for n in range(1, 7) for r in product((False, True), repeat=n) if any(r)])
def test_proposition_2_is_eq_19_with_the_printed_definitions(ranking):
    w, y = some_weights(3, len(ranking)), [Fraction(-place) for place in range(len(ranking))]
    loss = sum(weight * reference.loss_at_k(y, ranking, level) for level, weight in enumerate(w, 1))
    proof = proposition_2(w, ranking)
    assert proof.verify() and proof.by_level == loss
    assert proof.by_item == reference.recall_loss(y, ranking, weights_to_closed_form(w))


@pytest.mark.parametrize(
    "field",
    [
        {"by_level": Fraction(1)},
        {"by_item": Fraction(1)},
        {"by_level": Fraction(1), "by_item": Fraction(1)},
        {"failing": (2, 2)},
        {"outranked": (1, 1)},
        {"weights": (Fraction(1), Fraction(2))},
        {"weights": (Fraction(-1), Fraction(1))},
        {"divisor": 3},
    ],
    ids=str,
)
def test_a_false_double_sum_does_not_verify(field):
    proof = proposition_2([1, 3], [True, False, False, True])
    assert proof.verify() and not replace(proof, **field).verify()


@pytest.mark.parametrize(("weights", "W"), [("log", reference.W_log), ("loglog", reference.W_loglog)])
def test_closed_forms_of_eq_20_telescope(weights, W):
    claim = closed_form(weights)
    assert claim.verify()
    assert [float(claim.total.subs(claim.k, n)) for n in range(9)] == pytest.approx([W(n) for n in range(9)])


@pytest.mark.parametrize(
    ("weight", "total"),
    [
        (sympy.log(1 + 1 / k), sympy.log(k)),  # W(0) is not 0
        (sympy.log(1 + 1 / k), sympy.log(1 + 2 * k)),
        (sympy.log(1 + 1 / k), sympy.log(1 + sympy.log(1 + k))),
        (1 / k, sympy.log(1 + k)),
        (closed_form("loglog").weight, sympy.log(1 + k)),
        (closed_form("loglog").weight, sympy.log(1 + 2 * sympy.log(1 + k))),
        (sympy.log(1 + sympy.log(1 + 1 / k)), closed_form("loglog").total),
    ],
)
def test_a_wrong_closed_form_does_not_verify(weight, total):
    assert not Telescoping(k, weight, total).verify()


def test_other_closed_forms_verify():
    assert Telescoping(k, sympy.log(1 + 2 / k), sympy.log((k + 1) * (k + 2) / 2)).verify()


def test_bounds_of_the_weights_follow_from_those_of_the_logarithm():
    """The identity of the docstring: u/(1 + u) = log(1 + 1/K)/(1 + log(K + 1))."""
    small = sympy.log(1 + 1 / k)
    u = small / (1 + sympy.log(k))
    difference = sympy.together(u / (1 + u) - small / (1 + sympy.log(k) + small))
    assert sympy.simplify(difference) == 0
    assert sympy.expand_log(sympy.log(sympy.together(1 + 1 / k)), force=True) == sympy.log(k + 1) - sympy.log(k)


@pytest.mark.parametrize("weights", ["log", "loglog"])
def test_bounds_hold_up_to_a_million(weights):
    found = asymptotics(weights, 10**6)
    assert found.holds and found.up_to == 10**6
    assert found.last < 1


def test_the_quotients_tend_to_1():
    assert sympy.limit(k * closed_form("log").weight, k, sympy.oo) == 1
    assert isclose(asymptotics("log").last, 1, abs_tol=1e-6)
    quotients = [asymptotics("loglog", 10**p).last for p in (1, 2, 3, 4, 5, 6)]
    assert quotients == sorted(quotients)
    for p, quotient in enumerate(quotients, 1):  # between K log K times the bounds
        n = 10**p
        assert n * log(n) / ((n + 1) * (1 + log(n + 1))) < quotient < log(n) / (1 + log(n))


@pytest.mark.parametrize(
    ("weights", "wrong"),
    [
        ("log", lambda k: 1 / k),
        ("log", lambda k: 1 / k**2),
        ("log", lambda k: np.log1p(1 / k) * (1 + 1e-6)),
        ("loglog", lambda k: np.log1p(np.log1p(1 / k))),
        ("loglog", lambda k: np.log1p(1 / k)),
    ],
)
def test_weights_that_fall_otherwise_are_found_out(weights, wrong):
    assert not asymptotics(weights, 10**6, closed_form=wrong).holds


def test_first_log_log_weight_is_finite():
    """Eq. 20 writes 1/(K log K), which is infinite at K = 1."""
    first = asymptotics("loglog", 1).first
    assert isclose(first, log1p(log(2))) and round(first, 3) == 0.527
    with np.errstate(divide="ignore"):
        assert 1 / (1 * np.log(1.0)) == inf


def test_a_sequence_becomes_exact_sums_and_back():
    w = some_weights(1)
    total = weights_to_closed_form(w)
    assert [total(n) for n in range(15)] == [sum(w[:n], Fraction(0)) for n in range(15)]
    back = closed_form_to_weights(total)
    assert [back(level) for level in range(1, 15)] == [*w, 0, 0]


@pytest.mark.parametrize("weights", ["log", "loglog"])
def test_a_function_becomes_sums_and_back(weights):
    exact = closed_form(weights)
    total = weights_to_closed_form(lambda level: float(exact.weight.subs(exact.k, level)))
    for n in (0, 1, 2, 30):
        assert isclose(total(n), float(exact.total.subs(exact.k, n)), abs_tol=1e-12)
    back = closed_form_to_weights(total)
    assert isclose(back(7), float(exact.weight.subs(exact.k, 7)), abs_tol=1e-12)


@pytest.mark.parametrize("weights", ["log", "loglog"])
def test_an_expression_becomes_a_closed_form_and_back(weights):
    exact = closed_form(weights)
    assert sympy.simplify(weights_to_closed_form(exact.weight) - exact.total) == 0
    back = closed_form_to_weights(exact.total)
    assert Telescoping(exact.k, back, exact.total).verify()


def test_other_expressions():
    assert sympy.expand(weights_to_closed_form(1 / (k * (k + 1))) - k / (k + 1)).simplify() == 0
    constant = weights_to_closed_form(sympy.Integer(2))
    assert constant.subs(dict.fromkeys(constant.free_symbols, 3)) == 6
    n = sympy.Symbol("n")  # the symbol is the reader's
    assert weights_to_closed_form(sympy.log(1 + 1 / n)).free_symbols == {n}
    assert closed_form_to_weights(k**2).expand() == 2 * k - 1


BAD = {
    "negative": (lambda: lemma_1([1, -1], [2]), r"weights\[1\] must be >= 0, got -1"),
    "r": (lambda: lemma_1([1], [-1]), r"outranked\[0\] must be >= 0, got -1"),
    "none": (lambda: lemma_1([1], []), "outranked must have at least one entry, got none"),
    "no positive": (lambda: proposition_2([1], [False]), "ranking must have a relevant item"),
    "n": (lambda: exhaustive([1], 9), "n must be at most 8, got 9"),
    "word": (lambda: closed_form("sqrt"), "weights must be 'log' or 'loglog', got 'sqrt'"),
    "W(0)": (lambda: closed_form_to_weights(lambda n: n + 1), r"W\(0\) = 0, got 1"),
    "W(0) symbolic": (lambda: closed_form_to_weights(sympy.log(2 + k)), r"W\(0\) = 0, got log\(2\)"),
    "falls": (lambda: closed_form_to_weights(lambda n: n * (5 - n)), r"must not fall, got w_4 = W\(4\) - W\(3\) = -2"),
    "falls symbolically": (lambda: closed_form_to_weights(-k), r"must not fall, got w_1"),
    "falls late": (lambda: closed_form_to_weights(lambda n: min(n, 300 - n))(200), "must not fall, got w_200"),
    "level": (lambda: closed_form_to_weights(lambda n: n)(0), "K must be >= 1, got 0"),
    "negative late": (lambda: weights_to_closed_form(lambda n: 3 - n)(5), "got w_4 = -1"),
    "symbols": (lambda: weights_to_closed_form(x / k), r"weights must have one symbol, got \['k', 'x'\]"),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
