"""The certificates hold for solvers that minimise, and fail for everything else."""

import dataclasses
from itertools import permutations

import numpy as np
import pytest

from rankbook.ch02_blackbox_differentiation import interpolation_proofs as ip


def ranking(y):
    return 1.0 + np.argsort(np.argsort(-y, kind="stable"))


def cheapest(y):
    return np.eye(len(y))[np.argmin(y)]


def two_cheapest(y):
    return (ranking(-y) <= 2).astype(int)


PATHS = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 0, 0, 1, 1]])


def shortest_path(y):
    return PATHS[np.argmin(PATHS @ y)]


def table(n, size, seed):
    """A solver over arbitrary vectors, negative and fractional ones included."""
    rows = np.random.default_rng(seed).normal(size=(size, n))
    return lambda y: rows[np.argmin(rows @ y)]


SOLVERS = {
    "ranking": ranking,
    "cheapest": cheapest,
    "two cheapest": two_cheapest,
    "shortest path": shortest_path,
    "table": table(5, 30, 0),
    "one element": lambda y: np.ones(len(y)),
}


def noise(y):
    return np.random.default_rng(int(abs(y.sum()) * 1e6)).permutation(len(y)) + 1.0


def rarely_wrong(y):
    return ranking(y)[::-1].copy() if y[0] > 0 else ranking(y)


WRONG = {
    "maximises": lambda y: ranking(-y),
    "by position": lambda y: 1.0 + np.argsort(-y, kind="stable"),  # the order, not the ranks
    "noise": noise,
    "wrong in a corner": rarely_wrong,
    "rounded scores": lambda y: ranking(np.round(y)),
    "infinitely many": lambda y: y / np.linalg.norm(y),
}


def draw(seed, n=5, m=None):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)) if m else rng.normal(size=n)


def examine(kind, solver, lam, seed=0):
    c, start, end, points = draw(seed), 2 * draw(seed + 1), 2 * draw(seed + 2), 2 * draw(seed + 3, m=20)
    if kind in ("continuity", "piecewise_affine"):
        return getattr(ip, kind)(solver, c, lam, start, end)
    if kind == "agreement_region":
        return ip.agreement_region(solver, c, [lam, lam / 10, lam / 100, lam / 1000], points)
    return getattr(ip, kind)(solver, c, lam, points)


KINDS = ["continuity", "piecewise_affine", "gradient", "bracket", "agreement_region"]


@pytest.mark.parametrize("lam", [1e-3, 0.2, 3.0, 1e3])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_holds_for_a_minimiser(kind, solver, lam):
    for seed in (0, 10):
        finding = examine(kind, SOLVERS[solver], lam, seed)
        assert finding.holds, finding
        assert finding.verify()


@pytest.mark.parametrize("solver", WRONG)
@pytest.mark.parametrize("kind", KINDS)
def test_fails_for_a_solver_that_does_not_minimise(kind, solver):
    finding = examine(kind, WRONG[solver], 2.0)
    assert not finding.holds
    assert not finding.verify()


def test_a_wrong_solver_jumps():
    finding = ip.continuity(WRONG["rounded scores"], draw(0), 2.0, 2 * draw(1), 2 * draw(2))
    assert finding.worst > finding.allowed


def test_a_maximiser_looks_smooth_and_is_found_out_all_the_same():
    finding = ip.continuity(WRONG["maximises"], draw(0), 2.0, 2 * draw(1), 2 * draw(2))
    assert finding.worst <= finding.allowed
    assert not finding.minimising


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_lipschitz_constant_is_below_that_of_all_permutations(n):
    lam, diameter = 0.5, np.sqrt(n * (n * n - 1) / 3)
    assert diameter == pytest.approx(np.linalg.norm(np.arange(n) - np.arange(n)[::-1]))
    seen = ip.continuity(ranking, draw(n, n), lam, draw(n + 1, n), draw(n + 2, n))
    assert seen.lipschitz <= diameter / lam + 1e-12


def test_value_is_the_difference_of_two_minima():
    everything = np.array(list(permutations(range(1, 6))))
    c, y, lam = draw(0), draw(1), 0.7
    expected = ((everything @ (y + lam * c)).min() - (everything @ y).min()) / lam
    assert ip.bracket(ranking, c, lam, y).values[0] == pytest.approx(expected, abs=1e-12)


def test_breakpoints_are_where_the_ranking_changes():
    start, end, c, lam = draw(1), draw(2), draw(0), 0.3
    expected = {0.0, 1.0}
    for a in (start, start + lam * c):  # i and j tie where a_i − a_j + t (d_i − d_j) = 0
        d = end - start
        for i in range(5):
            for j in range(i):
                t = -(a[i] - a[j]) / (d[i] - d[j])
                expected |= {t} if 0 < t < 1 else set()
    found = ip.piecewise_affine(ranking, c, lam, start, end)
    np.testing.assert_allclose(found.breakpoints, sorted(expected), atol=1e-9)
    assert found.pieces == len(expected) - 1
    finer = np.linspace(0, 1, 301)
    values = ip.bracket(ranking, c, lam, start + finer[:, None] * (end - start)).values
    np.testing.assert_allclose(np.interp(finer, found.breakpoints, found.values), values, atol=1e-9)


@pytest.mark.parametrize(
    "claimed",
    [
        lambda y, s, s_lam, lam: (s - s_lam) / lam,
        lambda y, s, s_lam, lam: s_lam - s,
        lambda y, s, s_lam, lam: np.zeros_like(s),
        lambda y, s, s_lam, lam: (s_lam - s) / lam + 1e-3,
    ],
)
def test_a_wrong_gradient_is_noticed(claimed):
    c, lam = draw(0), 2.0
    finding = ip.gradient(
        ranking, c, lam, draw(1, m=5), claimed=lambda y: claimed(y, ranking(y), ranking(y + lam * c), lam)
    )
    assert finding.minimising and finding.differentiable.any() and not finding.holds


def test_kinks_are_skipped_and_counted():
    c, tied = draw(0), np.array([1.0, 1.0, 0.0, 2.0, 3.0])
    finding = ip.gradient(ranking, c, 0.1, np.stack([tied, draw(1)]))
    assert finding.differentiable.tolist() == [False, True]
    assert finding.skipped == 1 and finding.holds
    only = ip.gradient(ranking, c, 0.1, tied)
    assert np.isnan(only.worst) and not only.holds


@pytest.mark.parametrize("solver", SOLVERS)
def test_bracket_and_agreement_say_the_same(solver):
    c, points, lams = draw(0), draw(1, m=40), [5.0, 1.0, 0.1, 1e-3]
    region = ip.agreement_region(SOLVERS[solver], c, lams, points)
    for lam, agrees in zip(region.lams, region.agrees, strict=True):
        found = ip.bracket(SOLVERS[solver], c, lam, points)
        np.testing.assert_array_equal(agrees, np.isclose(found.values, found.upper, rtol=0, atol=1e-9))
    assert (np.diff(region.shares) >= 0).all()


def test_agreement_grows_to_one_where_the_minimiser_is_unique():
    region = ip.agreement_region(ranking, draw(0), [10.0, 1.0, 0.1, 1e-6], draw(1, m=50))
    assert region.shares[0] < 1 and region.reaches_one


def test_a_tie_may_never_agree():
    region = ip.agreement_region(cheapest, [1.0, 0.0], [1.0, 1e-3, 1e-9], [0.0, 0.0])
    assert region.holds and not region.agrees.any()


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_is_noticed(kind):
    finding = examine(kind, ranking, 2.0)
    numbers = [f.name for f in dataclasses.fields(finding) if f.name not in ("again", "differentiable", "agrees")]
    for name in numbers:
        assert not dataclasses.replace(finding, **{name: getattr(finding, name) + 1}).verify(), name


def test_a_solver_that_changes_its_mind_is_noticed():
    calls = iter(range(10**6))
    drifting = lambda y: ranking(y) + next(calls)  # noqa: E731
    assert not ip.bracket(drifting, draw(0), 1.0, draw(1, m=4)).verify()


def test_the_solver_gets_a_copy():
    def greedy(y):
        s = ranking(y)
        y[:] = 0
        return s

    points = draw(1, m=3)
    before = points.copy()
    assert ip.bracket(greedy, draw(0), 1.0, points).holds
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ip.bracket(ranking, [1.0], np.nan, [1.0]), ValueError, r"lam must be > 0 and finite, got nan"),
        (
            lambda: ip.bracket(ranking, [1.0, 2.0], 1.0, [1.0]),
            ValueError,
            r"gradient must have the shape of the scores",
        ),
        (lambda: ip.bracket(ranking, [np.inf], 1.0, [1.0]), ValueError, r"gradient must be finite, got inf"),
        (lambda: ip.bracket(ranking, [1.0], 1.0, []), ValueError, r"points must be finite, of shape"),
        (lambda: ip.bracket("rank", [1.0], 1.0, [1.0]), TypeError, r"solver must be callable"),
        (
            lambda: ip.bracket(lambda y: y[:1], [1.0, 1.0], 1.0, [1.0, 2.0]),
            ValueError,
            r"solver\(y\) must have the shape",
        ),
        (lambda: ip.continuity(ranking, [1.0], 1.0, [0.0], [1.0], steps=0), ValueError, r"steps must be >= 1"),
        (lambda: ip.gradient(ranking, [1.0], 1.0, [0.0], step=0.0), ValueError, r"step must be > 0"),
        (lambda: ip.agreement_region(ranking, [1.0], [], [0.0]), ValueError, r"lams must have at least one"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
