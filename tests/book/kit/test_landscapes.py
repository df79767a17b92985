"""Sections of score space against blackbox differentiation and against ranks."""

import math

import numpy as np
import pytest
import torch
from drawn import refused

from rankedu import rank
from rankedu.blackbox import differentiate, interpolate
from rankedu_book.kit import landscapes
from rankedu_book.kit.landscapes import Section


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


def test_sections_coefficients_and_strengths_that_cannot_be_are_refused():
    section = landscapes.random_section(3, resolution=4)
    e0, e1, e2 = np.eye(3)
    refused(
        (lambda: Section(e0, e1, e1, 1.0, 3), ValueError, "u and v must be orthonormal, .* 1, 1, 1"),
        (lambda: Section(e0, e1, e2[:2], 1.0, 3), ValueError, r"one shape \(n,\), got \(3,\), .* \(2,\)"),
        (lambda: Section(e0 * math.nan, e1, e2, 1.0, 3), ValueError, "origin must be a vector of finite"),
        (lambda: landscapes.rank_landscape(section, np.ones(2)), ValueError, "coefficients .* scores, 3, got 2"),
        *(
            (lambda draw=draw: draw(section, np.ones(3), -1.0), ValueError, "lam must be finite and > 0, got -1.0")
            for draw in (landscapes.interpolated_landscape, landscapes.section_gradient)
        ),
    )
