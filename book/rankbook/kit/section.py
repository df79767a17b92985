"""The book's section of score space, as a viewer sees it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankbook.kit.ranks import Array
from rankedu.landscapes import Section, interpolated_landscape, random_coefficients, random_section, rank_landscape
from rankedu.rankers import BlackboxRanker

#: The random but fixed section of the book's landscapes.
SEED, EXTENT = 3, 1.2
#: From which corner the landscapes are seen: degrees around the vertical, and above the horizon.
TURN, ELEVATION = 30.0, 38.0


class View(NamedTuple):
    """The book's section as a viewer sees it."""

    section: Section  # its u runs to the right, its v into the depth
    coefficients: Array  # of the loss c·rk(y)
    inside: npt.NDArray[np.bool_]  # which of its points lie in the square
    staircase: Array  # the loss itself


def view(size: int = 520, *, seed: int = SEED, extent: float = EXTENT) -> View:
    """Turn the section towards the viewer; ``size`` points along each side."""
    cosine, sine = np.cos(np.deg2rad(TURN)), np.sin(np.deg2rad(TURN))
    flat, coefficients = random_section(seed=seed, extent=extent), random_coefficients(seed=seed)
    u, v = cosine * flat.u - sine * flat.v, sine * flat.u + cosine * flat.v
    section = Section(flat.origin, u, v, flat.extent * (abs(cosine) + abs(sine)), size)
    across, depth = np.meshgrid(*section.axes())
    a, b = cosine * across + sine * depth, -sine * across + cosine * depth
    inside = np.asarray(np.maximum(np.abs(a), np.abs(b)) <= extent)
    return View(section, coefficients, inside, rank_landscape(section, coefficients))


@torch.no_grad()
def surface(seen: View, ranker: Callable[[Tensor], Tensor]) -> Array:
    """The loss c·rk(y) over the section with the ranks of a ranker; of a blackbox ranker its interpolation."""
    if isinstance(ranker, BlackboxRanker):
        return interpolated_landscape(seen.section, seen.coefficients, ranker.lam)
    rows = (torch.from_numpy(row.copy()) for row in seen.section.points())
    return np.stack([seen.coefficients @ ranker(row).numpy().T for row in rows])
