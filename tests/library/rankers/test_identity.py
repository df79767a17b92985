"""Identity with projection: its definition, its limits, and where it and Algorithm 1 agree."""

import numpy as np
import pytest
import torch
from drawn import random, value_and_gradients

from rankedu import reference
from rankedu.rankers import BlackboxRanker, IdentityRanker

close = torch.testing.assert_close


def passed_on(ranker, scores, incoming):
    return value_and_gradients(ranker, scores, weight=incoming)[1]


@pytest.mark.parametrize("project", ["none", "mean", "std"])
def test_it_is_the_reference(project):
    for seed in range(5):
        y, g = random(7, seed=seed), random(7, seed=seed + 50)
        expected = reference.identity_gradient(y.tolist(), g.tolist(), project)
        close(passed_on(IdentityRanker(project), y, g), torch.tensor(expected, dtype=torch.float64))
    tied = passed_on(IdentityRanker(project), torch.zeros(3).double(), torch.tensor([1.0, 0, 0]).double())
    assert tied.tolist() == pytest.approx(reference.identity_gradient([0.0] * 3, [1.0, 0, 0], project))


def test_the_mean_is_a_projection_and_std_is_the_slope_of_the_correlation():
    y, g = random(9), random(9, seed=1)
    centred = y - y.mean()
    by_mean, by_std = (passed_on(IdentityRanker(project), y, g) for project in ("mean", "std"))
    close(passed_on(IdentityRanker("mean"), y, by_mean), -by_mean)
    close(torch.stack([by_mean.sum(), by_std.sum(), by_std @ centred]), torch.zeros(3).double())
    leaf = y.clone().requires_grad_()
    correlation = torch.corrcoef(torch.stack([leaf, g]))[0, 1]
    (-(g - g.mean()).norm() * correlation).backward()
    close(by_std, leaf.grad)
    close(passed_on(IdentityRanker(), 3 * y + 1, g), by_std / 3)


@pytest.mark.parametrize("relevant", [1, 3, 7])
def test_with_a_margin_wider_than_the_scores_and_a_long_step_both_are_one(relevant):
    """Of an incoming gradient that is one number on the relevant items and 0 elsewhere."""
    y, c = random(8), 0.5
    positive = torch.arange(8) < relevant
    width = (y.max() - y.min()).item()
    moved = torch.where(positive, y - width, y + width)
    lam = 1.01 * 3 * width / c
    found = passed_on(BlackboxRanker(lam), moved, c * positive.double())
    close(found * lam * c / 8, passed_on(IdentityRanker("mean"), y, c * positive.double()))


def test_identity_is_the_mean_of_algorithm_1_over_scores_that_are_spread_evenly_and_wide():
    """n ∫ p² / width times: the density of a difference at 0, of uniform scores 1 over their width."""
    g, width, lam = np.array([1.0, 0.2, 0.0, -0.4]), 20.0, 1.0
    y = width * np.random.default_rng(0).random((400_000, 4))
    places = [(-x).argsort(1).argsort(1) for x in (y, y + lam * g)]
    found = width * (places[1] - places[0]).mean(0) / lam
    expected = 4 * np.array(reference.identity_gradient([0, 0, 0, 0], g.tolist()))
    assert np.abs(found - expected).max() < 0.15 < np.abs(expected).max()
