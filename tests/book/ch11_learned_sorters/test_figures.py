import numpy as np
import torch

from rankedu import rank
from rankedu.rankers import SigmoidRanker
from rankedu_book.ch11_learned_sorters import study
from rankedu_book.kit.relief import view
from rankedu_lab.training import draw_scores

NOTEBOOK, STEPS = "11_learned_sorters", 60
LINE = torch.linspace(-study.REACH, study.REACH, 121)


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


def test_a_sorter_is_best_near_the_scale_of_its_training():
    scales = np.array([0.03, 1.0, 30.0])
    for at, scale in enumerate(scales[1:], start=1):
        errors = study.errors_on(study.taught_on(float(scale)), scales)
        assert np.argmin(errors) == at and errors[0] > 1.3 * errors[at], errors


def test_a_shift_takes_a_sorter_further_off_than_the_middle_rank_and_a_sigmoid_nowhere():
    learned, soft = (
        study.errors(r, np.ones(1), np.array([0.0, 4.0]))[2] for r in (study.trained()[0], SigmoidRanker(0.1))
    )
    assert learned[0] < study.N / 4 < learned[1] and abs(soft[0] - soft[1]) < 1e-4


def test_slopes_are_those_of_finite_differences():
    ranker, _ = study.trained(5, 20)
    scores = draw_scores(5, 3, "uniform", generator=torch.Generator().manual_seed(0))
    found, step = study.slopes(ranker, scores), 1e-2
    for item in range(5):
        moved = step * torch.eye(5)[item]
        difference = (ranker(scores + moved) - ranker(scores - moved))[:, item] / (2 * step)
        torch.testing.assert_close(found[:, item], difference, rtol=0.02, atol=0.02)


def test_training_brings_the_answers_nearer_and_beyond_it_the_curve_turns():
    scores, errors = torch.cat([torch.tensor(study.OTHERS).expand(len(LINE), -1), LINE[:, None]], 1), []
    for stage in study.STAGES:
        found, true = study.answers(stage, LINE)
        assert torch.equal(true, rank(scores))
        errors.append((found - true)[LINE.abs() <= 1].abs().mean().item())
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.3 * errors[0]
    ranks = found[:, -1]
    assert -study.REACH < LINE[ranks.argmax()] < -1, "the worst rank is not at the far left"
