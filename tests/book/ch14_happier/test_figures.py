"""What the figures of chapter 14 claim, in numbers; and its equations, against the losses of the package."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats

from rankbook.ch14_happier import figures, glyphs, study
from rankbook.ch14_happier.bounds import upper_bound
from rankbook.ch14_happier.glyphs import CHARACTERS, batches, glyph_tree
from rankbook.kit import style
from rankedu.losses import HAPLoss
from rankedu.metrics import hierarchical_average_precision
from rankedu.rankers import PRESETS, BlackboxRanker, SupremumRanker
from ranklab.claims import read_protocol

FINE = "AP of characters"


@pytest.mark.parametrize("spread", [0.01, 0.3])
def test_the_readable_definition_is_the_loss(spread):
    """HAPPIER Eq. 5, by all pairs: with the step it is `HAPLoss`, without it is 1 − H-AP."""
    scores, relevance = study.draws(spread, rankings=50)
    for name in PRESETS:
        ranker = SupremumRanker.preset(name)
        soft = study.losses(scores, relevance, ranker.step)
        torch.testing.assert_close(soft.mean(), HAPLoss(ranker)(scores, relevance))
        torch.testing.assert_close(soft[7], HAPLoss(ranker)(scores[7], relevance[7]))
    hard = study.losses(scores, relevance)
    torch.testing.assert_close(hard, 1 - hierarchical_average_precision(scores, relevance))


@pytest.mark.parametrize("spread", study.SPREADS)
def test_only_the_settings_without_a_proof_break_the_bound(spread):
    for name in figures.SHOWN.values():
        share = study.broken_share(name, spread)
        assert upper_bound(**PRESETS[name]).holds == (share == 0)
    assert (study.broken_share("happier_inat", spread) > 0.2) == (spread <= 0.01)


def test_the_five_items_are_those_of_the_text():
    scores, relevance = study.five()
    assert study.losses(scores, relevance).item() == pytest.approx(3 / 16)
    soft = study.losses(scores, relevance, SupremumRanker.preset("happier").step).item()
    assert soft == pytest.approx(1 - (1 + 3 / 7.44 + 3 / 9.44) / 4, abs=1e-4)
    assert "A has 1.00, B has 7.44, D has 9.44" in style.description(figures.five_items())


def test_the_description_of_the_steps_tells_their_jumps():
    told = style.description(figures.steps())
    assert "HAPPIER: from 0.5 to 1 at 0, from 1.4933 to 1.4400 at 0.05" in told
    assert "its iNaturalist setting: from 0.5 to 0.5 at 0, from 0.9933 to 1.0000 at 0.05" in told


@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 2.9), (1, 3.1), (1, 8), (0.1, 1)])
def test_which_inversions_blackbox_ranks_see(a, b):
    """The proposition: for a stopped H-rank b > 3a and λ (1/4 − a/(a + b)) > gap; for both λ a/(2 (a + b)) > gap."""
    relevance = torch.tensor([a, b], dtype=torch.float64)
    for gap, lam, within in product((0.01, 0.1), (0.5, 2.0, 30.0), (False, True)):
        leaf = torch.tensor([gap, 0.0], dtype=torch.float64, requires_grad=True)
        HAPLoss(BlackboxRanker(lam), within_grad=within)(leaf, relevance).backward()
        stopped = b > 3 * a and lam * (1 / 4 - a / (a + b)) > gap
        nested = within and lam * a / (2 * (a + b)) > gap
        assert leaf.grad[0].item() >= 0
        assert (leaf.grad[0].item() > 0) == (stopped or nested)


def test_blackbox_ranks_train_as_well_as_the_step_if_lam_is_large_enough():
    ends = {name: study.end(study.descend(name, seeds=8, steps=50)) for name in ("supremum", "stopped 4", "stopped 64")}
    assert ends["stopped 4"] + 0.1 < min(ends["supremum"], ends["stopped 64"])
    assert abs(ends["stopped 64"] - ends["supremum"]) < 0.1


def test_a_batch_has_every_level():
    _, labels = glyph_tree("train")
    for batch in batches(labels, 5, seed=3):
        assert len(batch) == len(set(batch.tolist())) == 64
        assert [len(labels[batch, level].unique()) for level in range(3)] == [2, 4, 16]


def test_the_letters_of_the_test_are_new_and_each_has_four_characters():
    for split in ("train", "test"):
        _, labels = glyph_tree(split)
        paths = torch.unique(labels, dim=0)
        assert len(paths) == int(labels[:, 2].max()) + 1
        assert (paths[:, 1].bincount() == CHARACTERS).all() and len(paths[:, 0].unique()) == 3


def test_a_larger_alpha_favours_the_fine_level():
    """In the short runs of the figure, in which λ = 0 is best."""
    found = glyphs.sweep()
    fine, h_ap = ([row[name] for row in found[key].values()] for key, name in (("alpha", FINE), ("weight", "H-AP")))
    assert fine == sorted(fine) and fine[-1] > fine[0] + 0.02
    assert h_ap == sorted(h_ap, reverse=True) and h_ap[0] > h_ap[1] + 0.02


def test_the_records_are_those_of_the_claims_page():
    protocol = read_protocol("cpu")
    for key in ("alpha", "weight"):
        held = [arm.hold[key] for arm in protocol.arms.values() if arm.like == "happier" and key in arm.hold]
        found = glyphs.recorded(key)
        assert list(found) == sorted(held)
        for value, records in found.items():
            assert [record.parameters["seed"] for record in records] == list(range(protocol.seeds)), value
            assert {record.parameters[key] for record in records} == {value}
    assert glyphs.about_records().startswith("recorded: 90 runs of 250 steps")


def test_the_records_say_what_the_chapter_says_of_them():
    h_ap, fine = glyphs.measured("weight", "H-AP"), glyphs.measured("alpha", FINE)
    assert (fine[5.0] > fine[1.0]).all() and (h_ap[0.5] > h_ap[0.9]).all()
    helps = h_ap[0.1] - h_ap[0.0]
    assert stats.ttest_1samp(helps, 0.0).confidence_interval(0.95).low > 0
    assert h_ap[0.3].mean() < h_ap[0.0].mean()


def test_fig_4_draws_the_gains_of_the_records():
    whole = figures.alpha_and_weight()
    mean, half = glyphs.gain(glyphs.measured("weight", "H-AP"), 0.9, 0.0)
    drawn = whole.axes[3].containers[1]  # H-AP over λ = 0
    assert drawn.lines[0].get_ydata()[-1] == pytest.approx(mean)
    low, high = drawn.lines[2][0].get_segments()[-1][:, 1]
    assert (high - low) / 2 == pytest.approx(half)
    assert f"{mean:+.1f} ± {half:.1f} at 0.9".replace("-", "−") in style.description(whole)


def test_a_gain_is_paired_by_seed():
    values = {1.0: np.array([0.10, 0.20, 0.40]), 2.0: np.array([0.11, 0.22, 0.43])}
    mean, half = glyphs.gain(values, 2.0, 1.0)
    between = stats.ttest_rel(100 * values[2.0], 100 * values[1.0]).confidence_interval(0.95)
    assert (mean - half, mean + half) == pytest.approx((between.low, between.high))


def test_both_ways_are_timed_at_every_length(lines):
    drawn = lines(figures.cost_by_length(lengths=(64, 256)).axes[0])
    assert set(drawn) == {"pairwise", "blackbox"} and all((times > 0).all() for times in drawn.values())


def test_in_training_the_released_default_is_never_below():
    found = glyphs.below_while_training("happier", looks=(0, 3))
    assert [(below, queries) for below, queries, _ in found.values()] == [(0, 384)] * 2


def test_arrows_are_minus_the_gradient():
    scores, relevance = study.example()
    for axes, loss in zip(figures.two_gradients().axes, (HAPLoss(), HAPLoss(BlackboxRanker(32.0))), strict=False):
        leaf = scores.clone().requires_grad_()
        loss(leaf, relevance).backward()
        pushes = -leaf.grad / leaf.grad.abs().max()
        drawn = [pair for arrows in axes.collections for pair in zip(arrows.X, arrows.V, strict=True)]
        moved = pushes.abs() > 0.02
        wanted = torch.stack([scores[moved], pushes[moved]], 1)
        torch.testing.assert_close(torch.tensor(sorted(drawn)), wanted[wanted[:, 0].argsort()])
