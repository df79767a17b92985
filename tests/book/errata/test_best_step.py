"""What a test set says too much of the step that it has chosen."""

import torch

from rankbook.errata.best_step import Flattery, curves, flattery


def test_curves_are_of_trainings_that_learn_and_of_two_sets():
    found = curves(4)
    assert found.shape == (4, 2, 20) and not torch.equal(found[:, 0], found[:, 1])
    assert (found[..., -1] > found[..., 0] + 0.1).all() and found.max() < 1


def test_two_sets_that_agree_flatter_nobody():
    curve = torch.rand(5, 1, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = flattery(curve.expand(-1, 2, -1))
    assert found.too_good == found.half_width == 0 and found.reported == found.elsewhere > 0


def test_pure_noise_flatters_by_the_mean_of_its_maximum():
    """Of m uniform numbers the largest is m/(m + 1) in the mean, and the choice is worth nothing elsewhere."""
    noise = torch.rand(20_000, 2, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = flattery(noise)
    assert abs(found.too_good - 100 * (0.9 - 0.5)) < 0.8 and abs(found.elsewhere) < 0.8
    assert abs(found.reported - found.too_good) < 0.8


def test_which_set_is_easier_does_not_matter():
    measured = torch.rand(6, 2, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    easier = measured + torch.tensor([0.3, 0.0], dtype=torch.float64)[:, None]
    one, other = flattery(measured), flattery(easier)
    assert all(abs(getattr(one, name) - getattr(other, name)) < 1e-6 for name in Flattery.__dataclass_fields__)
