"""A slider move on λ against one np.sort of the same array: the goal is at most 4 times."""

import statistics
import time

import numpy as np
import pytest

from rankedu.landscapes import interpolated_landscape, random_coefficients, random_section, section_gradient

RESOLUTION, N = 200, 20


@pytest.mark.parametrize("landscape", [interpolated_landscape, section_gradient])
def test_slider_move(benchmark, landscape):
    section, coefficients = random_section(N, resolution=RESOLUTION), random_coefficients(N)
    landscape(section, coefficients, 1.0)  # a section is computed once, then λ moves
    lams = iter(np.geomspace(0.1, 100, 61))
    sorts = []

    def sort_then_take_the_next_lam():
        """Runs before each round, so that the two are timed in turn."""
        start = time.perf_counter()
        np.sort(section.points(), axis=-1)
        sorts.append(time.perf_counter() - start)
        return (section, coefficients, next(lams)), {}

    benchmark.pedantic(landscape, setup=sort_then_take_the_next_lam, rounds=60)
    one_sort = statistics.median(sorts)
    ratio = benchmark.stats.stats.median / one_sort
    benchmark.extra_info.update(sort_ms=round(1e3 * one_sort, 3), ratio_to_sort=round(ratio, 2))
    print(f"\n{landscape.__name__}, {RESOLUTION}x{RESOLUTION}x{N}: {ratio:.2f} x np.sort ({1e3 * one_sort:.2f} ms)")
