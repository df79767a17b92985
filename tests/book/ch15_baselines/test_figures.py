import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from rankedu.losses import CalibrationLoss, OnEmbeddings
from rankedu_book.ch15_baselines import figures, study


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


def test_what_the_chapter_says_of_the_losses_and_ranks():
    known = study.knowledge()
    assert [name for name, row in known.items() if row["folded"] < 1e-9] == ["rambo_ap"]
    rest = {name for name, row in known.items() if row["sorted"] < 1e-3}
    assert set(study.LOSSES) - rest == {"contrastive", "margin", "lifted_structure", "n_pair", "angular"}
    assert {name for name in rest if known[name]["uncalibrated"] > 1e-2} == {"roadmap"}
    assert {name for name, row in known.items() if row["parents"] > 1e-9} == {"csl", "happier"}
    every, wrong, taken, both = study.inverted_triplets()
    assert every == 108 and wrong > taken > both == 0
    factors = tuple(np.linspace(0.2, 1, 9))
    assert 0.4 <= factors[study.folded("normalized_softmax", factors).argmin()] <= 0.6
    within, cousins, strangers = study.pulls_by_group("Σ contrastive")
    assert abs(cousins) < 0.1 * within < -strangers


@pytest.mark.parametrize("name", figures.ALONG)
def test_the_step_follows_the_curve_along_the_arc(name):
    item, angle, h = figures.NAMES.index(figures.MOVES), 113.3, 1e-4
    (low, high), _ = study.along_the_arc(name, item, (angle - h, angle + h))
    at = study.embed([*study.ANGLES[:item], angle, *study.ANGLES[item + 1 :]])
    x, y = study.descent(study.make(name), at)[1][item, :2].tolist()
    turn = y * np.cos(np.deg2rad(angle)) - x * np.sin(np.deg2rad(angle))
    assert turn == pytest.approx(-(high - low) / (2 * np.deg2rad(h)), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_a_common_threshold_joins_batches_if_every_pair_meets_and_the_bounds_are_apart(seed):
    generator = torch.Generator().manual_seed(seed)
    classes, axes = torch.arange(20) % 5, torch.eye(8, dtype=torch.float64)
    loss = OnEmbeddings(CalibrationLoss(0.9, 0.6))
    items = normalize(axes[classes] + 0.05 * torch.randn(20, 8, generator=generator, dtype=torch.float64), dim=1)
    parts = torch.randperm(20, generator=generator).view(4, 5)
    batches = [torch.cat([parts[i], parts[j]]) for i in range(4) for j in range(i)]
    assert all(loss(items[at], classes[at]) == 0 for at in batches)
    assert study.measures(items, torch.stack([classes // 2, classes], 1))[0] == 1

    alike = items.clone()  # classes 0 and 1 are at one place, and no item of one ever meets an item of the other
    alike[classes == 1] = items[classes == 0]
    assert all(loss(alike[classes != k], classes[classes != k]) == 0 for k in (0, 1))
    assert study.measures(alike, torch.stack([classes // 2, classes], 1))[0] < 1
    assert OnEmbeddings(CalibrationLoss(-1.0, 1.1))(alike, classes) == 0  # the first bound below the second
