"""What the figure and the propositions of chapter 17 claim, in numbers."""

from itertools import product

import numpy as np
import pytest
import torch
from drawn import value_and_gradients

from rankedu import reference
from rankedu.rankers import BlackboxRanker, IdentityRanker, SigmoidRanker
from rankedu_book.ch17_identity_with_projection import figures


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_printed_rule_for_the_pairs_is_the_gradient_of_the_library_on_random_lists():
    """Equation eq-17-pairs, word for word."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, lam = int(rng.integers(2, 9)), 10 ** rng.uniform(-1.5, 1.5)
        y, g = rng.normal(size=(2, n))
        one, other = np.zeros(n), np.zeros(n)
        for i, j in product(range(n), repeat=2):
            one[i] += (g[i] - g[j]) / n
            if i != j and 0 < (y[j] - y[i]) / (g[i] - g[j]) < lam:
                other[i] += np.sign(g[i] - g[j]) / lam
        for step, ranker in ((one, IdentityRanker("mean")), (other, BlackboxRanker(lam))):
            _, slope = value_and_gradients(ranker, torch.tensor(y), weight=torch.tensor(g))
            assert np.allclose(step, -slope.numpy())


@pytest.mark.filterwarnings("ignore:lam=")
def test_the_three_limits_of_proposition_17_1():
    rng = np.random.default_rng(1)
    y, g = rng.normal(size=(2, 7))
    found = 1e6 * np.array(reference.rank_gradient(y.tolist(), g.tolist(), 1e6))
    assert np.allclose(found, np.subtract(reference.rank(g.tolist()), reference.rank(y.tolist())))
    y, g, lam = [0.1, 0.2, 0.5, 0.7, 0.9], [2.0, 2.0, 0.0, 0.0, 0.0], 3.0
    identity = np.array(reference.identity_gradient(y, g))
    assert np.allclose(reference.rank_gradient(y, g, lam), 5 / (lam * 2) * identity)
    g, spread = np.array([2.0, 0.5, 0.0, -1.0]), 200.0  # uniform in [0, 1], so that the integral of f² is 1
    lists = spread * rng.uniform(size=(200_000, 4))
    _, slopes = value_and_gradients(
        BlackboxRanker(1.0), torch.tensor(lists), weight=torch.tensor(g).expand(200_000, -1)
    )
    assert spread * slopes.mean(0).numpy() == pytest.approx(
        4 * np.array(reference.identity_gradient([0] * 4, g)), abs=0.25
    )


def test_a_wide_margin_before_the_projection_leaves_the_spread_within_the_groups_and_after_it_changes_nothing():
    """Proposition 17.2; and it fails if the gradient has more than two values."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        y, relevant = rng.normal(size=8), rng.permutation(8) < 3
        centred, r = y - y.mean(), relevant - relevant.mean()
        across, alpha = centred - (centred @ r) / (r @ r) * r, 1e5
        for g, kept in ((0.7 * relevant, True), (relevant * rng.uniform(0.5, 1, 8), False)):
            shifted = reference.shift_by_margin(y.tolist(), relevant.tolist(), alpha)
            step = -np.array(reference.identity_gradient(shifted, g.tolist(), "std"))
            assert np.allclose(alpha**2 * step, 0.7 / np.linalg.norm(r) * across, atol=1e-3) == kept
    first, *others = (figures.steps(margin)["projection, then margin"] for margin in (0, 0.5, 2))
    assert all(one == first for one in others)


def test_it_is_the_limit_of_sigmoid_ranks_of_a_large_temperature():
    scores, incoming = torch.randn(2, 6, generator=torch.Generator().manual_seed(0)).double()
    scores.requires_grad_()
    SigmoidRanker(1000.0)(scores).backward(incoming)
    limit = IdentityRanker("mean").backward_of(scores.detach(), incoming)
    assert torch.allclose(scores.grad * 4 * 1000 / 6, limit, atol=1e-4)


def test_in_a_perfect_list_identity_pushes_until_two_values_are_left():
    relevant, perfect, two = [0, 1, 0, 0, 1], [0.5, 0.9, 0.3, 0.2, 0.8], [0.2, 0.9, 0.2, 0.2, 0.9]
    assert reference.rank_gradient(perfect, relevant, 0.3) == [0] * 5
    assert reference.identity_gradient(perfect, relevant) == pytest.approx([0.4, -0.6, 0.4, 0.4, -0.6])
    assert reference.identity_gradient(two, relevant, "std") == pytest.approx([0] * 5, abs=1e-12)
