"""A mean over starts, each a whole experiment of its own, and its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
#: How large an advantage must be, by chance, for an arm that has none: this share of all comparisons of a table.
LEVEL = 0.05


@dataclass(frozen=True)
class Interval:
    """A mean over starts, ± half of the width of its confidence interval (Student's t)."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half:.3f}"

    @property
    def clear(self) -> bool:
        """Whether 0 is outside."""
        return abs(self.mean) > self.half


def interval(values: Array, comparisons: int = 1) -> Interval:
    """The mean of one value a start; of several comparisons each has its share of the level (Bonferroni).

    >>> print(interval(np.array([0.1, 0.2, 0.3])))
    +0.200 ± 0.248
    """
    from scipy import stats

    n = len(values)
    width = stats.t.ppf(1 - LEVEL / comparisons / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return Interval(float(values.mean()), float(width))
