"""Chapter 3, computed: the polytopes of all rankings, and a section through the scores of five items."""

from __future__ import annotations

import functools
from fractions import Fraction
from itertools import permutations

import numpy as np
import numpy.typing as npt

from rankbook.kit.ranks import Array
from rankedu.landscapes import random_coefficients, random_section, rank_landscape

#: The five items of the chapter.
NAMES = "ABCDE"
SCORES = tuple(Fraction(tenths, 10) for tenths in (7, 2, 9, 4, 5))

#: Two orthonormal directions of the plane in which three scores sum to 0; (1, 2, 3) lies straight up.
_PLANE = np.array([[1.0, -2.0, 1.0], [-1.0, 0.0, 1.0]]) / np.sqrt([[6.0], [2.0]])


def plane(vectors: npt.ArrayLike) -> Array:
    """Coordinates, shape (..., 2), of vectors of three numbers in the plane where they sum to 0; their sum is lost."""
    return np.asarray(np.asarray(vectors, dtype=float) @ _PLANE.T)


#: The six rankings of three items in the order in which they lie around the hexagon, and where they lie.
HEXAGON_RANKS = sorted(permutations((1, 2, 3)), key=lambda ranks: float(np.arctan2(*plane(ranks)[::-1])))
HEXAGON = plane(HEXAGON_RANKS)

#: The first four items, and all their rankings, in the order of the dictionary.
SOLID_SCORES = SCORES[:4]
SOLID_RANKS: list[tuple[int, ...]] = list(permutations((1, 2, 3, 4)))


@functools.cache
def section_of_five() -> tuple[Array, Array, list[tuple[float, float, float]]]:
    """Positions along the section, a weighted sum of ranks on it, and where each pair ties (constant, u, v)."""
    made = random_section(5, seed=10, extent=2.0, resolution=400)
    values = rank_landscape(made, random_coefficients(5, seed=10))
    pairs = [
        (float(made.origin[i] - made.origin[j]), float(made.u[i] - made.u[j]), float(made.v[i] - made.v[j]))
        for i in range(5)
        for j in range(i)
    ]
    return made.axes()[0], values, pairs


def section_levels() -> int:
    """How many values the staircase of the right panel takes, that is, how many of the 120 cones the section meets."""
    return len(np.unique(section_of_five()[1].round(9)))


@functools.cache
def solid() -> tuple[list[tuple[int, int]], list[list[int]], Array]:
    """Edges (pairs of corners), facets (their corners) and the facets' outward normals in the space of the ranks."""
    index = {ranks: number for number, ranks in enumerate(SOLID_RANKS)}
    edges = []
    for ranks in SOLID_RANKS:
        for upper in (1, 2, 3):
            swapped = tuple({upper: upper + 1, upper + 1: upper}.get(rank, rank) for rank in ranks)
            if index[ranks] < index[swapped]:
                edges.append((index[ranks], index[swapped]))
    facets, normals = [], []
    for chosen in range(1, 15):  # a facet: some of the items, not all, share the best ranks among themselves
        inside = [bool(chosen >> item & 1) for item in range(4)]
        best = sum(range(sum(inside) + 1))
        corners = [i for i, ranks in enumerate(SOLID_RANKS) if sum(np.array(ranks)[inside]) == best]
        facets.append(corners)
        normals.append([sum(inside) / 4 - member for member in inside])
    return edges, facets, np.array(normals)


@functools.lru_cache(maxsize=64)
def edges_in_front(turn: float) -> frozenset[tuple[int, int]]:
    """The edges of a facet that faces the reader."""
    edges, facets, normals = solid()
    facing = [facet for facet, ahead in zip(facets, normals @ frame(turn)[1], strict=True) if ahead > 1e-9]
    return frozenset((i, j) for i, j in edges if any(i in facet and j in facet for facet in facing))


@functools.lru_cache(maxsize=64)
def frame(turn: float) -> tuple[Array, Array, Array]:
    """Across the picture, towards the reader, and up, which is the direction of the scores: high is dear."""
    scores = np.array(SOLID_SCORES, dtype=float)
    columns = np.stack([np.ones(4), scores, [1.0, 0, 0, 0], [0, 1.0, 0, 0]], axis=1)
    q = np.linalg.qr(columns)[0].T
    q *= np.where((columns * q.T).sum(axis=0) < 0, -1.0, 1.0)[:, None]  # the same signs with every LAPACK
    angle = np.radians(turn + 15)  # at the stops no two corners hide each other
    across = np.cos(angle) * q[2] + np.sin(angle) * q[3]
    towards = -np.sin(angle) * q[2] + np.cos(angle) * q[3]
    return across, towards, q[1]
