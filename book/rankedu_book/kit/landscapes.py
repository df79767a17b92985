r"""Two-dimensional sections of score space: what a loss linear in the ranks, L(y) = c·rk(y), looks like.

The interpolated loss needs no ranks, only sorted *values*: with m(z) = min over permutations of z·π, which is
1·(largest) + 2·(second largest) + …, it is f_λ(y) = (m(y + λc) − m(y)) / λ, and m(y) does not change with λ.
"""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankedu.checks import check_count, check_lam, check_number

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

    The arrays are copied and cannot be written to. Explained in chapter 4. Raises ValueError for directions that are
    not orthonormal, shapes that differ, NaN, an extent ≤ 0 or a resolution < 2.
    Source: RaMBO Fig. 1; RaMBO supp. Fig. 2.

    >>> section = Section(np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), extent=2.0, resolution=5)
    >>> section.points().shape
    (5, 5, 3)
    """

    origin: Array  #: Shape (n,).
    u: Array  #: u, v: orthonormal directions, shape (n,).
    v: Array
    extent: float  #: Half the side of the square, in units of the score.
    resolution: int  #: Points along each side, at least 2.

    def __post_init__(self) -> None:
        for name in ("origin", "u", "v"):
            object.__setattr__(self, name, _vector(getattr(self, name), name))
        shapes = [vector.shape for vector in (self.origin, self.u, self.v)]
        if len(set(shapes)) > 1:
            raise ValueError(f"origin, u and v must have one shape (n,), got {', '.join(map(str, shapes))}")
        products = (self.u @ self.u, self.v @ self.v, self.u @ self.v)
        if not np.allclose(products, (1.0, 1.0, 0.0), atol=1e-9):
            raise ValueError(
                f"u and v must be orthonormal, got u·u, v·v, u·v = {', '.join(f'{p:.6g}' for p in products)} "
                "(take the columns of np.linalg.qr(np.stack([u, v], axis=1))[0])"
            )
        check_number(self.extent, "extent", above=0)
        check_count(self.resolution, "resolution", least=2, hint="points a side")

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
        return _optimal_value(self._points.copy())

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

    The seed may be that of :func:`random_section`: the streams differ. ValueError for n < 1. Explained in chapter 4.
    Source: RaMBO supp. Sec. C.

    >>> random_coefficients(20, seed=0).shape
    (20,)
    """
    check_count(n, "n")
    return np.random.default_rng([seed, 1]).standard_normal(n)


def rank_landscape(section: Section, coefficients: Array) -> Array:
    """Evaluate the staircase c·rk(y) on a section, shape (resolution, resolution): rows run along v, columns along u.

    There is one finite coefficient c for each score, else ValueError. O(resolution² n log n). Ties go by position.
    Explained in chapter 4.
    Source: RaMBO supp. Fig. 2a; RaMBO Fig. 1.

    >>> section = Section(np.zeros(2), np.array([1.0, 0]), np.array([0, 1.0]), extent=1.0, resolution=2)
    >>> rank_landscape(section, np.array([1.0, 0.0]))  # the rank of the first of two scores
    array([[1., 1.],
           [2., 1.]])
    """
    return _dot_ranks(section._order, _coefficients(coefficients, section))


def interpolated_landscape(section: Section, coefficients: Array, lam: float) -> Array:
    r"""Evaluate the interpolation of c·rk(y) on a section, shape (resolution, resolution), as :func:`rank_landscape`.

    .. math:: f_\lambda(\mathbf{y}) = \frac{m(\mathbf{y} + \lambda \mathbf{c}) - m(\mathbf{y})}{\lambda}, \qquad
              m(\mathbf{z}) = \min_{\pi \in \Pi_n} \mathbf{z} \cdot \pi

    O(resolution² n log n): one sort of values. Explained in chapter 4. Raises ValueError for ``lam``, the strength λ,
    that is not a finite number > 0, and for bad coefficients.
    Source: RaMBO supp. Fig. 1a; RaMBO supp. Fig. 2b; RaMBO Fig. 1.

    >>> section = Section(np.zeros(2), np.array([1.0, 0]), np.array([0, 1.0]), extent=1.0, resolution=3)
    >>> interpolated_landscape(section, np.array([1.0, 0.0]), lam=2.0)
    array([[1. , 1. , 1. ],
           [1.5, 1. , 1. ],
           [2. , 1.5, 1. ]])
    """
    lam = check_lam(lam)
    perturbed = section._points + lam * _coefficients(coefficients, section)
    return (_optimal_value(perturbed) - section._optimal_values) / lam


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
    after = _descending(section._points + lam * _coefficients(coefficients, section))
    moves = [_dot_ranks(after, d) - _dot_ranks(section._order, d) for d in (section.u, section.v)]
    return np.stack(moves, axis=-1) / lam


def _optimal_value(z: Array) -> Array:
    """m(z) = 1·(largest) + 2·(second largest) + …; sorts z in place."""
    z.sort(axis=-1)
    value: Array = z @ np.arange(z.shape[-1], 0, -1, dtype=np.float64)
    return value


def _descending(points: Array) -> npt.NDArray[np.int64]:
    return np.argsort(-points, axis=-1, kind="stable")


def _dot_ranks(order: npt.NDArray[np.int64], vector: Array) -> Array:
    """vector·rk(y) for each y of a section, from the items in descending order of score."""
    product: Array = vector[order] @ np.arange(1.0, order.shape[-1] + 1)
    return product


def _vector(values: npt.ArrayLike, name: str) -> Array:
    vector = np.array(values, dtype=np.float64)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be a vector of finite numbers, got shape {vector.shape} (NaN or inf inside?)")
    vector.setflags(write=False)
    return vector


def _coefficients(coefficients: npt.ArrayLike, section: Section) -> Array:
    vector, n = _vector(coefficients, "coefficients"), section.origin.size
    if vector.size != n:
        raise ValueError(
            f"coefficients must have the length of the section's scores, {n}, got {vector.size} "
            f"(draw them with random_coefficients({n}))"
        )
    return vector
