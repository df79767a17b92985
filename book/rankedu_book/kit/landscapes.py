r"""Two-dimensional sections of score space: what a loss linear in the ranks, L(y) = c·rk(y), looks like.

The interpolated loss needs no ranks, only sorted *values*: with m(z) = min over permutations of z·π, which is
1·(largest) + 2·(second largest) + …, it is f_λ(y) = (m(y + λc) − m(y)) / λ, and m(y) does not change with λ.
"""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankedu.checks import check_count, check_lam

__all__ = [
    "Section",
    "interpolated_landscape",
    "random_coefficients",
    "random_section",
    "rank_landscape",
    "section_gradient",
]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Section:
    """A square of score vectors y = origin + a·u + b·v, with a and b in [−extent, extent].

    Explained in chapter 4.
    Source: RaMBO Fig. 1; RaMBO supp. Fig. 2.

    >>> section = Section(np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), extent=2.0, resolution=5)
    >>> section.points().shape
    (5, 5, 3)
    """

    origin: Array  #: Shape (n,).
    u: Array  #: u, v: orthonormal directions, shape (n,).
    v: Array
    extent: float  #: Half the side of the square, in units of the score.
    resolution: int  #: Points along each side.

    def axes(self) -> tuple[Array, Array]:
        """Give the coordinates a along u and b along v, shape (resolution,) each."""
        line = np.linspace(-self.extent, self.extent, self.resolution)
        return line, line.copy()

    def points(self) -> Array:
        """Give the score vectors, shape (resolution, resolution, n): rows run along v, columns along u."""
        return self._points

    @functools.cached_property
    def _points(self) -> Array:
        a, b = self.axes()
        points = self.origin + a[None, :, None] * self.u + b[:, None, None] * self.v
        points.setflags(write=False)
        return points

    @functools.cached_property
    def _optimal_values(self) -> Array:
        return _optimal_value(self._points)

    @functools.cached_property
    def _order(self) -> npt.NDArray[np.int64]:
        return _descending(self._points)


def random_section(n: int = 20, *, seed: int = 0, extent: float = 2.0, resolution: int = 200) -> Section:
    """Draw the "random but fixed" section of n scores: standard normal ones, and two random orthonormal directions.

    The other parameters are those of :class:`Section`. Raises ValueError for n < 2. Explained in chapter 4.
    Source: RaMBO supp. Fig. 2; RaMBO Fig. 1.

    >>> random_section(resolution=50).points().shape
    (50, 50, 20)
    """
    check_count(n, "n", least=2, hint="two directions do not fit into fewer dimensions")
    random = np.random.default_rng([seed, 0])  # a stream of its own: the coefficients must not repeat the scores
    origin = random.standard_normal(n)
    u, v = np.linalg.qr(random.standard_normal((n, 2)))[0].T
    return Section(origin, u, v, extent, resolution)


def random_coefficients(n: int = 20, seed: int = 0) -> Array:
    """Draw the "random but fixed linear combination of ranks": standard normal coefficients c of L(y) = c·rk(y), (n,).

    The seed may be that of :func:`random_section`: the streams differ. Explained in chapter 4.
    Source: RaMBO supp. Sec. C.

    >>> random_coefficients(20, seed=0).shape
    (20,)
    """
    return np.random.default_rng([seed, 1]).standard_normal(n)


def rank_landscape(section: Section, coefficients: Array) -> Array:
    """Evaluate the staircase c·rk(y) on a section, shape (resolution, resolution): rows run along v, columns along u.

    There is one coefficient c for each score. O(resolution² n log n). Ties go by position. Explained in chapter 4.
    Source: RaMBO supp. Fig. 2a; RaMBO Fig. 1.

    >>> section = Section(np.zeros(2), np.array([1.0, 0]), np.array([0, 1.0]), extent=1.0, resolution=2)
    >>> rank_landscape(section, np.array([1.0, 0.0]))  # the rank of the first of two scores
    array([[1., 1.],
           [2., 1.]])
    """
    return _dot_ranks(section._order, coefficients)


def interpolated_landscape(section: Section, coefficients: Array, lam: float) -> Array:
    r"""Evaluate the interpolation of c·rk(y) on a section, shape (resolution, resolution), as :func:`rank_landscape`.

    .. math:: f_\lambda(\mathbf{y}) = \frac{m(\mathbf{y} + \lambda \mathbf{c}) - m(\mathbf{y})}{\lambda}, \qquad
              m(\mathbf{z}) = \min_{\pi \in \Pi_n} \mathbf{z} \cdot \pi

    O(resolution² n log n): one sort of values. Explained in chapter 4. Raises ValueError for ``lam``, the strength λ,
    that is not a finite number > 0.
    Source: RaMBO supp. Fig. 1a; RaMBO supp. Fig. 2b; RaMBO Fig. 1.

    >>> section = Section(np.zeros(2), np.array([1.0, 0]), np.array([0, 1.0]), extent=1.0, resolution=3)
    >>> interpolated_landscape(section, np.array([1.0, 0.0]), lam=2.0)
    array([[1. , 1. , 1. ],
           [1.5, 1. , 1. ],
           [2. , 1.5, 1. ]])
    """
    lam = check_lam(lam)
    return (_optimal_value(section._points + lam * coefficients) - section._optimal_values) / lam


def section_gradient(section: Section, coefficients: Array, lam: float) -> Array:
    """Evaluate Algorithm 1's gradient of c·rk(y), as far as it lies in the section, shape (resolution, resolution, 2).

    It is g·u and g·v with g = −(rk(y) − rk(y_λ))/λ: the gradient of :func:`interpolated_landscape` along the axes,
    whose parameters and errors it has; c is the incoming gradient dL/drk. O(resolution² n log n). Ties go by position.
    Explained in chapter 4.
    Source: RaMBO Alg. 1; RaMBO Eq. 10.

    >>> section = random_section(resolution=50)
    >>> section_gradient(section, random_coefficients(20), lam=1.0).shape
    (50, 50, 2)
    """
    lam = check_lam(lam)
    after = _descending(section._points + lam * coefficients)
    moves = [_dot_ranks(after, d) - _dot_ranks(section._order, d) for d in (section.u, section.v)]
    return np.stack(moves, axis=-1) / lam


def _optimal_value(z: Array) -> Array:
    """Compute m(z) = 1·(largest) + 2·(second largest) + …"""
    return np.asarray(np.sort(z, axis=-1) @ np.arange(z.shape[-1], 0, -1, dtype=np.float64))


def _descending(points: Array) -> npt.NDArray[np.int64]:
    return np.argsort(-points, axis=-1, kind="stable")


def _dot_ranks(order: npt.NDArray[np.int64], vector: Array) -> Array:
    """Compute vector·rk(y) for each y of a section, from the items in descending order of score."""
    return np.asarray(vector[order] @ np.arange(1.0, order.shape[-1] + 1))
