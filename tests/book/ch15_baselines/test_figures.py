import pytest
import torch
from torch.nn.functional import normalize

from rankedu.losses import CalibrationLoss, OnEmbeddings
from rankedu_book.ch15_baselines import study


def tangent(steps, at):
    """Without the part along the items, which normalised losses do not have."""
    return steps - (steps * at).sum(1, keepdim=True) * at


def test_the_step_is_the_sum_of_the_pulls():
    at = study.embed(study.ANGLES)
    for name in study.LOSSES:
        steps = study.descent(study.make(name), at)[1]
        pulls, proxies = study.pulls(name), study.proxy_pulls(name)
        found = tangent(pulls @ at + proxies @ study.proxies(), at)
        torch.testing.assert_close(found, tangent(steps, at), rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(pulls, pulls.T)
        assert pulls.any() != (name in study.FAMILIES["proxies"]), name
        assert proxies.any() == (name in (*study.FAMILIES["proxies"], "happier")), name


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
