"""The interval of a mean over starts is Student's, and several comparisons share its level."""

import numpy as np
import pytest
from scipy import stats

from rankedu_book.kit.compare import LEVEL, interval


@pytest.mark.parametrize("comparisons", [1, 5])
def test_the_interval_is_that_of_the_t_test(comparisons):
    values = np.random.default_rng(0).standard_normal(12) + 0.5
    low, high = stats.ttest_1samp(values, 0).confidence_interval(1 - LEVEL / comparisons)
    found = interval(values, comparisons)
    assert (found.mean - found.half, found.mean + found.half) == pytest.approx((low, high))
    assert found.clear == (low > 0 or high < 0)
