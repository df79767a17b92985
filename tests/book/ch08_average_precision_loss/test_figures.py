import re

import numpy as np
import pytest
import torch
from executed import shown

from rankbook.ch08_average_precision_loss import explorables, figures
from rankbook.kit import style
from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker

NOTEBOOK = "08_average_precision_loss"


def test_the_push_is_the_gradient_of_the_loss():
    """The k-th of k positives stands below r negatives; a long λ lets it move by its whole shift."""
    drawn = {
        line.get_label(): line.get_ydata() for line in figures.push_by_place(places=(1, 2, 4), most=9).axes[0].lines
    }
    for k in (1, 2, 4):
        ranks = torch.tensor([k + 0.0, k + 9.0], requires_grad=True)
        APLoss(BlackboxRanker(1.0)).formula(ranks[:, None], torch.full((2, 1), float(k))).sum().backward()
        assert ranks.grad.tolist() == pytest.approx([1 / k, k / (k + 9) ** 2])
        np.testing.assert_allclose(drawn[f"AP: positive no. {k}"][[0, -1]], ranks.grad, rtol=1e-6)


def test_each_class_is_perfect_and_the_single_list_is_not():
    scores, relevant = torch.tensor(figures.SCORES).T, torch.tensor(figures.RELEVANT).T
    assert average_precision(scores, relevant).tolist() == [1.0, 1.0]
    value = (1 + 1 + 3 / 6 + 4 / 7) / 4
    assert average_precision(scores.flatten(), relevant.flatten()).item() == pytest.approx(value)
    told = style.description(figures.two_lists_and_one())
    assert "fox: AP 1.00; badger: AP 1.00" in told and f"APC {value:.2f}" in told


def test_the_second_path_gains_nothing_and_a_long_step_costs_the_stopped_gradient_nothing():
    tables = shown(NOTEBOOK, "print(study.stopped_or_not().table(")
    now, later = map(float, re.findall(r"^both ranks .*\((-?[\d.]+) ± ", tables, re.MULTILINE))
    assert -0.05 < now < 0 and later < 0.01
    assert "*" not in tables.partition("after five times")[0], "no start chose an end of the strengths"
    curve = r"rk⁺ stopped: from .*? over ([\d.]+) at 16 to ([\d.]+) at 256"
    [ends] = re.findall(curve, shown(NOTEBOOK, "show(figures.stopped_or_not"))
    assert float(ends[1]) == pytest.approx(float(ends[0]), abs=0.02)


@pytest.mark.filterwarnings("ignore:lam must")
def test_shifting_a_class_changes_apc_alone_and_map_moves_no_class_as_a_whole():
    by_class, values = zip(*map(explorables.measure, (-0.2, 0.0, 0.3)), strict=True)
    assert by_class[0] == by_class[1] == by_class[2] and 0 < values[0] < values[1] < values[2] < 1
    assert f"APC, all in one list, {values[2]:.2f}" in style.description(explorables.two_classes(shift=0.3))
    for lam in (1.0, 10.0, 100.0):
        by_class, in_one = (explorables.places(-0.2, lam, weight) for weight in (0.0, 1.0))
        torch.testing.assert_close(by_class.sum(0), torch.zeros(2, dtype=torch.float64), atol=1e-9, rtol=0)
        assert abs(in_one.sum()) < 1e-9
        assert (by_class[~explorables.RELEVANT] < 1e-9).all() and (in_one[~explorables.RELEVANT] < 1e-9).all()
