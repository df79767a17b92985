from itertools import combinations
from math import comb

import numpy as np
import pytest

from rankedu_book.ch05_minibatch_bias import figures, study


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_expected_precision_is_the_mean_over_all_batches(n):
    drawn = np.random.default_rng(n).random(n) < 0.4
    for item in range(n):
        relevance = drawn | (np.arange(n) == item)
        for m in range(1, n + 1):
            chosen = combinations([i for i in range(n) if i != item], m - 1)
            batches = [np.sort([item, *others]) for others in chosen]
            wanted = np.mean([relevance[batch[batch <= item]].mean() for batch in batches])
            within = int(relevance[: item + 1].sum())
            assert study.expected_precision(item + 1, n, m, within) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("n", "m", "ranks", "exists"), [(8, 3, 8, False), (6, 6, 6, True), (8, 3, 3, True)])
def test_no_function_of_the_rank_is_unbiased_unless_the_batch_is_all_or_ranks_are_few(n, m, ranks, exists):
    chances = [
        [comb(r - 1, x) * comb(n - r, m - 1 - x) / comb(n - 1, m - 1) for x in range(m)] for r in range(1, n + 1)
    ]
    wanted = 1 / np.arange(1, ranks + 1)
    best = np.linalg.lstsq(np.array(chances)[:ranks], wanted, rcond=None)[0]
    assert (np.abs(np.array(chances)[:ranks] @ best - wanted).max() < 1e-9) == exists


def test_a_query_counts_with_the_chance_that_its_batch_holds_another_of_its_class():
    labels = np.repeat([0, 1], [2, 4])
    for size, label in ((2, 0), (4, 1)):
        query = list(labels).index(label)
        batches = [rest for rest in combinations(range(6), 2) if query not in rest]
        counting = np.mean([(labels[list(rest)] == label).any() for rest in batches])
        assert study.chance_to_count(6, size, 3) == pytest.approx(counting)


def test_batches_are_too_optimistic():
    [axes] = figures.minibatch_map().axes
    means, truth = axes.containers[0].lines[0].get_ydata(), study.synthetic_ranking().mean_ap
    assert truth in [line.get_ydata()[0] for line in axes.lines if line.get_label() == "the data set"]
    assert len(means) == len(study.SIZES) and min(means) > truth and sorted(means, reverse=True) == means.tolist()


def test_averaging_gradients_does_not_remove_the_bias():
    whole, found = study.gradients()
    limits = {key: study.limit_alignment(made, whole) for key, made in found.items()}
    for key, made in found.items():
        assert study.alignment(made, whole, 1) < study.alignment(made, whole, 32) < limits[key] < 0.98
    assert limits[64, 0] < min(limits[64, 3], limits[256, 0]) - 0.05
    noisy = np.array([1.0, 1.0, 0.0]) + 3 * np.random.default_rng(0).standard_normal((4000, 3))
    assert study.limit_alignment(noisy, np.array([1.0, 0.0, 0.0])) == pytest.approx(np.sqrt(0.5), abs=0.06)
