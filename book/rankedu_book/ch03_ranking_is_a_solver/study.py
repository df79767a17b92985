"""Chapter 3, computed: the polytopes of all rankings, and a section through the scores of five items."""

import functools
from fractions import Fraction
from itertools import combinations, permutations
from operator import mul

import numpy as np
import numpy.typing as npt

from rankedu.proofs.rearrangement import Certificate
from rankedu_book.kit.landscapes import random_coefficients, random_section, rank_landscape
from rankedu_book.kit.ranks import Array

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


def walk(proof: Certificate) -> tuple[list[tuple[int, ...]], list[Fraction]]:
    """The ranks that the swaps of a proof pass, and their costs."""
    passed = [proof.permutation]
    for swap in proof.swaps:
        ranks = list(passed[-1])
        ranks[swap.down], ranks[swap.up] = swap.rank + 1, swap.rank
        passed.append(tuple(ranks))
    return passed, [sum(map(mul, proof.scores, ranks), Fraction(0)) for ranks in passed]


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
    corners = np.array(SOLID_RANKS)
    apart = ((corners[:, None] - corners) ** 2).sum(-1)
    edges = [(int(i), int(j)) for i, j in np.argwhere(np.triu(apart == 2))]  # two neighbours have changed places
    facets, normals = [], []
    for size in (1, 2, 3):
        for best in combinations(range(4), size):  # a facet: some of the items share the best ranks among themselves
            inside = np.isin(range(4), best)
            facets.append(np.flatnonzero(corners[:, inside].sum(1) == sum(range(size + 1))).tolist())
            normals.append(size / 4 - inside)
    return edges, facets, np.array(normals)


@functools.lru_cache(maxsize=64)
def in_front(turn: float) -> tuple[list[list[int]], set[tuple[int, int]]]:
    """The facets that face the reader, and their edges."""
    edges, facets, normals = solid()
    facing = [facet for facet, ahead in zip(facets, normals @ frame(turn)[1], strict=True) if ahead > 1e-9]
    return facing, {(i, j) for i, j in edges if any(i in facet and j in facet for facet in facing)}


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
