"""Weights of recall at K: all small cases, the bounds of Eq. 20, and closed forms and back."""

import random
from fractions import Fraction as F
from math import comb

import numpy as np
import pytest
import sympy
from drawn import refused

from rankbook.ch07_recall_loss.weights import asymptotics, closed_form_to_weights, exhaustive, weights_to_closed_form
from rankedu.proofs.recall_weights import Telescoping, closed_form

k, x = sympy.symbols("k x", positive=True, integer=True)
LOG, LOGLOG = closed_form("log"), closed_form("loglog")


def some_weights(seed, n=12):
    rng = random.Random(seed)
    return [F(rng.randrange(20), rng.randrange(1, 20)) for _ in range(n)]


def test_lemma_1_and_proposition_2_hold_in_all_small_cases():
    for n in range(1, 6):
        assert exhaustive(some_weights(n, n), n) == (comb(2 * n, n), 2**n - 1)


def test_bounds_hold_up_to_a_million():
    wrong = {
        "log": [lambda k: 1 / k, lambda k: 1 / k**2, lambda k: np.log1p(1 / k) * (1 + 1e-6)],
        "loglog": [lambda k: np.log1p(np.log1p(1 / k)), lambda k: np.log1p(1 / k)],
    }
    for name, others in wrong.items():
        found = asymptotics(name, 10**6)
        assert found.holds and found.up_to == 10**6 and found.last < 1
        assert not any(asymptotics(name, 10**6, closed_form=other).holds for other in others)


def test_an_expression_becomes_a_closed_form_and_back():
    """And so do a function, and a sequence."""
    for exact in (LOG, LOGLOG):
        assert sympy.simplify(weights_to_closed_form(exact.weight) - exact.total) == 0
        assert Telescoping(exact.k, closed_form_to_weights(exact.total), exact.total).verify()
        total = weights_to_closed_form(lambda level: float(exact.weight.subs(exact.k, level)))  # noqa: B023
        for n in (0, 1, 2, 30):
            assert total(n) == pytest.approx(float(exact.total.subs(exact.k, n)), abs=1e-12)
        assert closed_form_to_weights(total)(7) == pytest.approx(float(exact.weight.subs(exact.k, 7)), abs=1e-12)
    assert sympy.expand(weights_to_closed_form(1 / (k * (k + 1))) - k / (k + 1)).simplify() == 0
    constant = weights_to_closed_form(sympy.Integer(2))
    assert constant.subs(dict.fromkeys(constant.free_symbols, 3)) == 6
    n = sympy.Symbol("n")  # the symbol is the reader's
    assert weights_to_closed_form(sympy.log(1 + 1 / n)).free_symbols == {n}
    assert closed_form_to_weights(k**2).expand() == 2 * k - 1
    w = some_weights(1)
    total = weights_to_closed_form(w)
    assert [total(n) for n in range(15)] == [sum(w[:n], F(0)) for n in range(15)]
    assert [closed_form_to_weights(total)(level) for level in range(1, 15)] == [*w, 0, 0]


def test_weights_and_closed_forms_that_cannot_be_are_refused():
    refused(
        (lambda: exhaustive([1], 9), ValueError, "n must be at most 8, got 9"),
        (lambda: closed_form_to_weights(3), TypeError, "closed_form must be a callable or a SymPy expression, got 3"),
        (lambda: closed_form_to_weights(sympy.log(2 + k)), ValueError, r"W\(0\) = 0, got log\(2\)"),
        (
            lambda: closed_form_to_weights(lambda n: n * (5 - n)),
            ValueError,
            r"must not fall, got w_4 = W\(4\) - W\(3\) = -2",
        ),
        (lambda: closed_form_to_weights(lambda n: min(n, 300 - n))(200), ValueError, "must not fall, got w_200"),
        (lambda: weights_to_closed_form(lambda n: 3 - n)(5), ValueError, "got w_4 = -1"),
        (lambda: weights_to_closed_form(x / k), ValueError, r"weights must have one symbol, got \['k', 'x'\]"),
    )
