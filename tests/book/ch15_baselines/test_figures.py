import numpy as np
import pytest
import torch

from rankbook.ch15_baselines import explorables, study
from rankedu.hierarchy import levels


def tangent(steps, at):
    """Without the part along the items, which normalised losses do not have."""
    return steps - (steps * at).sum(1, keepdim=True) * at


def test_the_step_is_the_sum_of_the_pulls():
    at = study.embed(study.ANGLES)
    for name in study.LOSSES:
        steps = study.descent(study.make(name), at, draws=study.draws_of(name))[1]
        pulls, proxies = study.pulls(name), study.proxy_pulls(name)
        found = tangent(pulls @ at + proxies @ study.proxies(), at)
        torch.testing.assert_close(found, tangent(steps, at), rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(pulls, pulls.T)
        assert pulls.any() != (name in study.FAMILIES["proxies"]), name
        assert proxies.any() == (name in (*study.FAMILIES["proxies"], "happier")), name


def test_no_loss_pulls_items_of_two_classes_together_but_by_the_hierarchy():
    same, siblings, strangers = map(list, study.pair_groups())
    assert (len(same), len(siblings), len(strangers)) == (9, 9, 18)
    for name in set(study.LOSSES) - {"happier", "rambo_ap", "smooth_ap"}:
        assert all(study.pulls(name)[i, j] < 1e-6 for i, j in siblings + strangers), name
    assert any(study.pulls("happier")[i, j] > 0 for i, j in siblings)


def test_the_other_batches_are_ranked_perfectly_and_one_has_a_common_threshold():
    same = (levels(study.PATHS) == 2) & ~torch.eye(9, dtype=torch.bool)
    other = levels(study.PATHS) < 2
    for angles, common in ((study.UNCALIBRATED, False), (study.SORTED, True)):
        assert study.measures(study.embed(angles)) == (1.0, pytest.approx(1.0))
        cosines = study.embed(angles) @ study.embed(angles).T
        assert (cosines[same].min() > cosines[other].max()) == common
    assert cosines[same].min() > 0.9 and cosines[other].max() < 0.6


def test_folding_keeps_the_metrics_and_only_one_loss():
    fan = study.embed([0.1 * angle for angle in study.ANGLES])
    assert study.measures(fan) == pytest.approx(study.measures(study.embed(study.ANGLES)))
    known = study.knowledge()
    assert [name for name in study.LOSSES if known[name]["folded"] < 1e-9] == ["rambo_ap"]
    assert [name for name in study.LOSSES if known[name]["parents"] > 1e-9] == ["csl", "happier"]
    assert known["normalized_softmax"]["batches"] == pytest.approx(1) and known["smooth_ap"]["batches"] < 0.5
    blind = {name for name in study.LOSSES if known[name]["uncalibrated"] <= 1e-2}
    assert blind == {"triplet_semihard", "triplet_distance_weighted", "smooth_ap", "rambo_ap"}


@pytest.mark.parametrize("name", explorables.OPTIONS)
def test_the_step_is_finite_and_follows_the_curve(name):
    angle, h = 113.3, 1e-4
    low, high = (explorables.step(name, angle + sign * h)[0] for sign in (-1, 1))
    assert explorables.turn(name, angle) == pytest.approx(-(high - low) / (2 * np.deg2rad(h)), rel=1e-3, abs=1e-5)
    for angle in explorables.one_item_moves.controls["angle"].values[::5]:
        assert all(np.isfinite(found).all() for found in explorables.step(name, angle)), angle
