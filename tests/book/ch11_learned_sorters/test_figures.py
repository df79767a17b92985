import numpy as np
import torch

from rankedu import rank
from rankedu_book.ch11_learned_sorters import study
from rankedu_book.kit.relief import view

STEPS = 60


def largest_step(surface):
    return max(np.abs(np.diff(surface, axis=axis)).max() for axis in (0, 1))


def test_the_landscape_of_a_sorter_is_smooth_and_not_the_true_one():
    staircase = [largest_step(view(size).staircase) for size in (15, 60)]
    learned = [largest_step(study.learned_surface(size, STEPS)[1]) for size in (15, 60)]
    assert staircase[1] > 0.3 * staircase[0], "a wall is as high on a finer grid"
    assert learned[1] < 0.3 * learned[0], "a slope is not"
    true, shown = study.heights(60, STEPS)
    assert np.abs(shown - true).mean() > 1


def test_both_surfaces_are_the_same_sum_of_ranks():
    seen, points = view(15), view(15).section.points()
    true, learned = study.heights(15, STEPS)
    inside = torch.from_numpy(points / points.std())[torch.from_numpy(seen.inside)]
    np.testing.assert_allclose(true, rank(inside).double().numpy() @ seen.coefficients)
    ranker, _ = study.trained(study.N, STEPS)
    np.testing.assert_allclose(learned, ranker(inside.float()).double().numpy() @ seen.coefficients, atol=1e-3)
