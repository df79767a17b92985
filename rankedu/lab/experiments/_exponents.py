"""How time grows with two quantities: exponents, with intervals that hold them as often as they promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Growth", "fit_growth"]


@dataclass(frozen=True)
class Growth:
    """Seconds ∝ n^a p^b.

    Attributes
    ----------
    a, b : float
    a_margin, b_margin : float
        The intervals are a ± a_margin and b ± b_margin.
    """

    a: float
    b: float
    a_margin: float
    b_margin: float


def fit_growth(cells: Sequence[tuple[float, float, float]], confidence: float = 0.95) -> Growth:
    r"""Fit :math:`\log t = c + a \log n + b \log p` by least squares.

    Parameters
    ----------
    cells : sequence of (n, p, seconds)
        One for each pair of n and p, more than three; several rounds of a pair are to be brought together before.
    confidence : float
        Of each interval.

    Returns
    -------
    Growth
        The intervals are Student's, with as many degrees of freedom as there are cells beyond the three unknowns. What
        makes a cell deviate, noise or a growth that is no power, is taken as independent from cell to cell. Rounds of
        one cell are not independent: they share what is not noise, so they count once.

    Raises
    ------
    ValueError
        For three cells or fewer, or numbers that are not > 0; also if n or p does not vary by itself.

    Examples
    --------
    >>> cells = [(n, p, 1e-9 * n * p**0.5) for n in (10, 100, 1000) for p in (1, 4)]
    >>> growth = fit_growth(cells)
    >>> round(growth.a, 6), round(growth.b, 6)
    (1.0, 0.5)
    """
    from scipy import stats

    table = np.array(cells, dtype=float).reshape(-1, 3)
    free = len(table) - 3
    if free < 1 or not (table > 0).all():
        raise ValueError(f"cells must be four or more triples of numbers > 0, got {list(cells)}")
    n, p, seconds = np.log(table).T
    design = np.stack([np.ones_like(n), n, p], axis=1)
    if np.linalg.matrix_rank(design) < 3:
        raise ValueError("cells must have several n for one p, and several p for one n, got n and p that vary together")
    solution = np.linalg.lstsq(design, seconds, rcond=None)[0]
    variance = float(((seconds - design @ solution) ** 2).sum()) / free
    spread = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    margins = stats.t.ppf((1 + confidence) / 2, free) * spread
    a, b, a_margin, b_margin = (float(x) for x in (*solution[1:], *margins[1:]))
    return Growth(a, b, a_margin, b_margin)
