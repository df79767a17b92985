import re

import numpy as np
import torch
from executed import shown
from tools.notebooks import pairs

from rankbook.ch11_learned_sorters import explorables, study
from rankbook.kit.relief import view
from rankedu import rank
from rankedu.metrics import average_precision, spearman
from rankedu.rankers import SigmoidRanker
from ranklab.training import draw_scores

NOTEBOOK, STEPS = "11_learned_sorters", 60
LINE = torch.linspace(-explorables.REACH, explorables.REACH, 121)


def largest_step(surface):
    return max(np.abs(np.diff(surface, axis=axis)).max() for axis in (0, 1))


def test_the_landscape_of_a_sorter_is_smooth_and_not_the_true_one():
    staircase = [largest_step(view(size).staircase) for size in (15, 60)]
    learnt = [largest_step(study.learnt_surface(size, STEPS)[1]) for size in (15, 60)]
    assert staircase[1] > 0.3 * staircase[0], "a wall is as high on a finer grid"
    assert learnt[1] < 0.3 * learnt[0], "a slope is not"
    true, shown = study.heights(60, STEPS)
    assert np.abs(shown - true).mean() > 1


def test_both_surfaces_are_the_same_sum_of_ranks():
    seen, points = view(15), view(15).section.points()
    true, learnt = study.heights(15, STEPS)
    inside = torch.from_numpy(points / points.std())[torch.from_numpy(seen.inside)]
    np.testing.assert_allclose(true, rank(inside).double().numpy() @ seen.coefficients)
    ranker, _ = study.trained(study.N, STEPS)
    np.testing.assert_allclose(learnt, ranker(inside.float()).double().numpy() @ seen.coefficients, atol=1e-3)


def test_a_sigmoid_as_far_off_has_nearly_the_landscape_of_the_sorter():
    tau, soft = study.blurred(60)
    off, wanted = study.section_error(SigmoidRanker(tau)), study.section_error(study.trained()[0])
    assert abs(off - wanted) < 0.02 * wanted
    true, learnt = study.heights(60)
    inside = view(60).inside
    assert np.corrcoef(learnt, soft[inside])[0, 1] > 0.9 > 0.4 > np.corrcoef(true, soft[inside])[0, 1]


def test_the_first_step_is_of_the_metrics_themselves():
    scores, wanted = torch.rand(2, 5, study.SMALL, generator=torch.Generator().manual_seed(0))
    ranks = rank(scores)
    torch.testing.assert_close(study.spearman_of(ranks, ranks, wanted), spearman(scores, wanted), check_dtype=False)
    relevant = rank(wanted) <= 3
    torch.testing.assert_close(study.ap_of(ranks, ranks, wanted), average_precision(scores, relevant))


def test_a_first_step_gains_no_more_than_that_of_a_straight_line_and_less_the_sharper_the_ranker():
    for table in shown(NOTEBOOK, "first = {name: study.first_step").split("gain in ")[1:]:
        means = {name: float(value) for name, value in re.findall(r"^(\D+?) {2,}(\d\.\d+)", table, re.MULTILINE)}
        most = means["the wanted order"]
        assert all(most - 0.01 < means[name] < most + 0.01 for name in ("a straight line", "sigmoid", "learnt sorter"))
        assert max(means["a blind step"], means["untrained sorter"]) < 0.05 * most
        assert "not above a straight line" in table
    text = (pairs.ROOT / "book" / "chapters" / f"{NOTEBOOK}.md").read_text(encoding="utf-8")
    line, sorter, sharp, large = (
        float(re.search(rf'"{name}": "([\d.]+)"', text)[1]) for name in ("line", "sorter", "sharp", "large")
    )
    assert large < sharp < min(line, sorter) - 0.1


def test_one_dummy_does_no_harm_and_most_of_the_error_is_the_same_in_all_orders():
    said = shown(NOTEBOOK, "measured = study.by_start()")
    ten, nine, _, five = map(float, re.findall(r"items \+([\d.]+) ±", said))
    assert nine < ten < five and abs(five - 1.2) < 0.1
    assert float(re.findall(r"order \+([\d.]+) ±", said)[-1]) > 0.9, "its answers are shifted, and in order"
    [(less, half)] = re.findall(r"less by the mean +\+([\d.]+) ± ([\d.]+)", shown(NOTEBOOK, 'for name in ("10 items"'))
    assert float(half) < float(less) < 0.1 * ten


def test_slopes_are_those_of_finite_differences():
    ranker, _ = study.trained(5, 20)
    scores = draw_scores(5, 3, "uniform", generator=torch.Generator().manual_seed(0))
    found, step = study.slopes(ranker, scores), 1e-2
    for item in range(5):
        moved = step * torch.eye(5)[item]
        difference = (ranker(scores + moved) - ranker(scores - moved))[:, item] / (2 * step)
        torch.testing.assert_close(found[:, item], difference, rtol=0.02, atol=0.02)


def test_training_brings_the_answers_nearer_and_beyond_it_the_curve_turns():
    scores, errors = torch.cat([torch.tensor(explorables.OTHERS).expand(len(LINE), -1), LINE[:, None]], 1), []
    for stage in explorables.STAGES:
        found, true = explorables.answers(stage, LINE)
        assert torch.equal(true, rank(scores))
        errors.append((found - true)[LINE.abs() <= 1].abs().mean().item())
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.3 * errors[0]
    ranks = found[:, -1]
    assert -explorables.REACH < LINE[ranks.argmax()] < -1, "the worst rank is not at the far left"
