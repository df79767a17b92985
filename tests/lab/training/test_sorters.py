"""Learned sorters: the lists, the training, and the cache."""

import pytest
import torch
from drawn import seeded

from rankedu.rankers import BlackboxRanker
from rankedu_lab.contestants import LSTMRanker, equivariance_error
from rankedu_lab.training import (
    draw_scores,
    fit_sorter,
    rank_error,
    sorter_errors,
    sorters,
    train_sorter,
    trained_sorter,
)
from rankedu_lab.training.sorter_data import DISTRIBUTIONS


def test_each_distribution_is_what_it_says_and_drawn_from_the_generator():
    drawn = {name: draw_scores(8, 4000, name, generator=seeded(0)) for name in DISTRIBUTIONS}
    assert drawn["uniform"].abs().max() <= 1 and abs(drawn["uniform"].std() - 3**-0.5) < 0.01
    assert drawn["normal"].abs().max() > 3 and abs(drawn["normal"].std() - 1) < 0.01
    steps = drawn["evenly spaced"].diff()
    torch.testing.assert_close(steps, steps[:, :1].expand_as(steps), rtol=0, atol=1e-6)
    assert drawn["evenly spaced"].abs().max() <= 1 and 0.4 < (steps[:, 0] > 0).float().mean() < 0.6
    steps = drawn["shuffled"].sort(-1).values.diff()
    torch.testing.assert_close(steps, steps[:, :1].expand_as(steps), rtol=0, atol=1e-6)
    assert 0.4 < (drawn["mixed"].abs().amax(-1) <= 1).float().mean() < 0.9  # the rest have a normal part
    for distribution in (None, *DISTRIBUTIONS):
        first, again, other = (draw_scores(7, 40, distribution, generator=seeded(s)) for s in (0, 0, 1))
        assert first.shape == (40, 7) and first.dtype == torch.float32
        assert torch.equal(first, again) and not torch.equal(first, other), distribution


def test_the_error_names_the_parameter(refused):
    frozen, mlp = LSTMRanker(3).requires_grad_(False), LSTMRanker(3, "mlp")
    exploding = lambda: fit_sorter(mlp, steps=50, lr=1e30, progress=False)  # noqa: E731
    refused([(exploding, FloatingPointError, r"stay finite, got (nan|inf) at step \d+")])
    refused([(lambda: fit_sorter(frozen, steps=1), ValueError, r"must not be frozen.*requires_grad_\(\)")])


@pytest.mark.parametrize(("architecture", "steps"), [("lstm", 120), ("gru", 120), ("conv", 150), ("mlp", 250)])
def test_a_short_training_teaches_to_sort(architecture, steps):
    before = torch.random.get_rng_state()
    sorter = train_sorter(4, architecture=architecture, hidden=16, steps=steps, progress=False)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not any(parameter.requires_grad for parameter in sorter.parameters())
    errors = sorter_errors(sorter, lists=300)
    untrained = sorter_errors(train_sorter(4, architecture=architecture, hidden=16, steps=0), lists=300)
    assert errors["uniform"] < 0.5 < 1 < untrained["uniform"]  # always the middle rank: 1.0
    assert all(errors[name] < untrained[name] / 2 for name in DISTRIBUTIONS)
    uniform = draw_scores(4, 300, "uniform", generator=seeded(5))
    assert 0.01 < equivariance_error(sorter, uniform) < 2 * errors["uniform"]


def test_the_seed_makes_the_sorter_which_can_be_trained_on_and_its_error_is_of_ranks():
    y = draw_scores(4, 5, generator=seeded(0))
    made = [train_sorter(4, architecture="mlp", steps=3, seed=s, progress=False) for s in (0, 0, 1)]
    first, again, other = (sorter(y) for sorter in made)
    assert torch.equal(first, again) and not torch.equal(first, other)
    sorter = made[0].requires_grad_()
    history = fit_sorter(sorter.double(), steps=4, seed=1, progress=False)
    assert len(history.losses) == 4 and history.seconds > 0 and sorter.head.weight.dtype == torch.float64
    y = torch.tensor([[0.9, 0.1, 0.5], [0.1, 0.5, 0.9]])
    assert rank_error(BlackboxRanker(1.0), y) == 0
    assert rank_error(lambda scores: torch.full_like(scores, 2.0), y) == pytest.approx(2 / 3)


def test_a_trained_sorter_is_read_from_its_file(tmp_path, monkeypatch):
    settings = {"architecture": "mlp", "steps": 2, "root": tmp_path, "progress": False}
    first, y = trained_sorter(4, **settings), draw_scores(4, 5, generator=seeded(0))
    (file,) = tmp_path.iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(sorters, "train_sorter", None)
        again = trained_sorter(4, **settings)
    assert torch.equal(first(y), again(y)) and not any(p.requires_grad for p in again.parameters())
    for other in ({"seed": 1}, {"steps": 3}):
        trained_sorter(4, **(settings | other))
    monkeypatch.setenv("RANKEDU_DATA", str(tmp_path))
    assert torch.equal(trained_sorter(4, **(settings | {"root": None}))(y), first(y))
    assert file.name.startswith("sorter-mlp-4-") and len(list(tmp_path.iterdir())) == 3
