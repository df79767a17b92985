"""Sections of score space against blackbox differentiation and against ranks."""

import numpy as np
import pytest
import torch

from rankedu import rank
from rankedu.blackbox import differentiate, interpolate
from rankedu_book.kit import landscapes


@pytest.fixture(params=[2, 5, 20])
def section(request):
    return landscapes.random_section(request.param, seed=3, resolution=31)


def test_rank_landscape_is_the_staircase(section):
    """Points run along v in rows and u in columns."""
    (a, b), points, n = section.axes(), section.points(), section.origin.size
    assert points.shape == (31, 31, n) and a[0] == b[0] == -section.extent and a[-1] == b[-1] == section.extent
    for i, j in [(0, 0), (0, 30), (30, 0), (15, 15), (7, 22)]:
        np.testing.assert_allclose(points[i, j], section.origin + a[j] * section.u + b[i] * section.v)
    c = landscapes.random_coefficients(n, seed=3)
    ranks = rank(torch.from_numpy(points.copy())).numpy()
    np.testing.assert_allclose(landscapes.rank_landscape(section, c), ranks @ c, atol=1e-10)


@pytest.mark.parametrize("lam", [1e-6, 0.05, 1.0, 30.0])
def test_interpolated_landscape_is_blackbox_interpolate(section, lam):
    """And its gradient along the axes is Algorithm 1's."""
    coefficients = landscapes.random_coefficients(section.origin.size, seed=3)
    y, c = torch.from_numpy(section.points().copy()).requires_grad_(), torch.from_numpy(coefficients)
    expected = interpolate(rank, c, lam)(y.detach()).numpy()
    np.testing.assert_allclose(landscapes.interpolated_landscape(section, coefficients, lam), expected, atol=1e-6)
    (gradient,) = torch.autograd.grad((differentiate(rank, lam)(y) @ c).sum(), y)
    expected, found = gradient.numpy() @ np.stack([section.u, section.v], axis=-1), landscapes.section_gradient
    np.testing.assert_allclose(found(section, coefficients, lam), expected, atol=1e-9)
