"""Landscapes against blackbox.interpolate, point by point, and against finite differences."""

import numpy as np
import pytest
import torch

from rankedu.blackbox import differentiate, interpolate
from rankedu.landscapes import (
    interpolated_landscape,
    random_coefficients,
    random_section,
    rank_landscape,
    section_gradient,
)
from rankedu.solvers import ranking


@pytest.fixture(params=[2, 5, 20])
def section(request):
    return random_section(request.param, seed=3, resolution=31)


@pytest.fixture
def coefficients(section):
    return random_coefficients(section.origin.size, seed=3)


def test_points_run_along_v_in_rows_and_u_in_columns(section):
    a, b = section.axes()
    points = section.points()
    assert points.shape == (31, 31, section.origin.size)
    for i, j in [(0, 0), (0, 30), (30, 0), (15, 15), (7, 22)]:
        np.testing.assert_allclose(points[i, j], section.origin + a[j] * section.u + b[i] * section.v)
    assert a[0] == b[0] == -section.extent and a[-1] == b[-1] == section.extent


def test_rank_landscape_is_the_staircase(section, coefficients):
    ranks = ranking(torch.from_numpy(section.points().copy())).numpy()
    np.testing.assert_allclose(rank_landscape(section, coefficients), ranks @ coefficients, atol=1e-10)


@pytest.mark.parametrize("lam", [1e-6, 0.05, 1.0, 30.0])
def test_interpolated_landscape_is_blackbox_interpolate(section, coefficients, lam):
    """And its gradient along the axes is Algorithm 1's."""
    y, c = torch.from_numpy(section.points().copy()).requires_grad_(), torch.from_numpy(coefficients)
    expected = interpolate(ranking, c, lam)(y.detach()).numpy()
    np.testing.assert_allclose(interpolated_landscape(section, coefficients, lam), expected, atol=1e-6)
    (gradient,) = torch.autograd.grad((differentiate(ranking, lam)(y) @ c).sum(), y)
    directions = np.stack([section.u, section.v], axis=-1)
    np.testing.assert_allclose(section_gradient(section, coefficients, lam), gradient.numpy() @ directions, atol=1e-9)


def test_a_seed_fixes_everything_and_scores_and_coefficients_are_unrelated():
    for seed in range(5):
        one, other = random_section(20, seed=seed), random_section(20, seed=seed)
        assert np.array_equal(one.origin, other.origin) and np.array_equal(one.u, other.u)
        assert np.array_equal(random_coefficients(20, seed), random_coefficients(20, seed))
        assert not np.isclose(random_coefficients(20, seed), one.origin).any()
