"""The exponent that is fitted to times is the one that they grow with."""

import numpy as np

from rankedu_book.kit import timing


def test_fitted_exponent_finds_the_exponent():
    lengths = np.geomspace(1e3, 1e6, 9).astype(int)
    seconds = np.exp(0.05 * np.random.default_rng(0).standard_normal(9)) * lengths**2.0
    exponent, margin = timing.fitted_exponent(dict(zip(lengths.tolist(), seconds.tolist(), strict=True)))
    assert abs(exponent - 2) < margin < 0.1
