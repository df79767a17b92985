"""Fit how time grows with the length of a list."""

import numpy as np


def fitted_exponent(seconds: dict[int, float]) -> tuple[float, float]:
    """Fit seconds ∝ n^k, length → seconds; the 95 % interval is k ± margin.

    Source: RaMBO Tab. 1.

    >>> k, margin = fitted_exponent({10: 1.0, 100: 100.0, 1000: 10_000.0})
    >>> round(k, 6), round(margin, 6)
    (2.0, 0.0)
    """
    from scipy import stats

    line = stats.linregress(np.log(list(seconds)), np.log(list(seconds.values())))
    return float(line.slope), float(stats.t.ppf(0.975, len(seconds) - 2) * line.stderr)
