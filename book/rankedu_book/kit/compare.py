"""A mean over starts, each a whole experiment of its own, and its confidence interval."""

from dataclasses import dataclass

from rankedu_book.kit.ranks import Array

#: How often an interval may miss: this share of all comparisons of a table.
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
    """Compute the interval of one value per start; several comparisons share the level (Bonferroni).

    >>> import numpy as np
    >>> print(interval(np.array([0.1, 0.2, 0.3])))
    +0.200 ± 0.248
    """
    from scipy import stats

    width = stats.sem(values) * stats.t.isf(LEVEL / comparisons / 2, len(values) - 1)
    return Interval(float(values.mean()), float(width))
