"""Which settings keep the bound: verdicts against a grid, and the losses of rankings with and without ties."""

import math
import random
from itertools import product

import pytest
import torch

from rankedu import reference
from rankedu.losses import NDCGLoss
from rankedu.metrics import ndcg
from rankedu.rankers import PRESETS, SigmoidRanker, SupremumRanker
from rankedu_book.ch14_happier.bounds import upper_bound

HAPPIER, INAT = PRESETS["happier"], PRESETS["happier_inat"]


def both(scores, relevance, lower=None, **setting):
    """The loss, and 1 − H-AP with the larger relevance first among ties."""
    order = sorted(range(len(scores)), key=relevance.__getitem__, reverse=True)
    y, rel = ([values[i] for i in order] for values in (scores, relevance))
    loss = reference.happier_loss(y, rel, lambda x: reference.happier_step(x, **setting), lower)
    return loss, 1 - reference.hierarchical_average_precision(y, rel)


def rankings(count, seed):
    """Random rankings of up to six items without ties, near and far."""
    draw = random.Random(seed)
    for _ in range(count):
        n = draw.randint(2, 6)
        scores = [s / 1000 for s in draw.sample(range(draw.choice([12, 80, 2000])), n)]
        yield scores, [draw.choice([0, 0, 1, 2, 2.5]) for _ in range(n - 1)] + [1]


@pytest.mark.parametrize("delta", [0, 0.05, 1])
def test_verdict_is_that_of_a_fine_grid(delta):
    """The theorem: the bound holds if and only if the step is at least 1 for x > 0; and then it is not continuous."""
    x = torch.cat([torch.logspace(-12, 1, 500, dtype=torch.float64), delta + torch.logspace(-12, 0, 300).double()])
    grid = torch.linspace(-0.3, 1.3, 16_001, dtype=torch.float64)
    starts, offsets = (0, 0.25, 0.5, 0.75, math.nextafter(0.5, 0)), (None, 0, 0.5, 0.9, 1, 1.44, 6)
    for start, offset, slope in product(starts, offsets, (0, 100)):
        setting = {"delta": delta, "start": start, "offset": offset, "slope": slope}
        found, step = upper_bound(**setting), SupremumRanker(**setting).step
        assert found.holds == bool((step(x) >= 1 - 1e-9).all()) == (not found.violations), setting
        assert not (found.holds and found.continuous), setting
        assert found.monotone == bool((step(grid).diff() >= -1e-12).all()), setting
        for scores, relevance, *losses in found.violations:
            assert tuple(losses) == pytest.approx(both(scores, relevance, **setting)), setting
            assert losses[0] < losses[1], setting


@pytest.mark.parametrize("name", ["joined", "happier", "roadmap_2021", "happier_inat"])
def test_rankings_without_ties(name):
    violated = [loss < true - 1e-12 for loss, true in (both(*each, **PRESETS[name]) for each in rankings(150, seed=0))]
    assert any(violated) == (not upper_bound(**PRESETS[name]).holds)


def test_ties_between_levels_never_matter_if_the_higher_stands_first():
    """All rankings of three items on a coarse grid, less those where items of one level tie."""
    for scores, relevance in product(product([0, 0.004, 0.3], repeat=3), product([0, 1, 2], repeat=3)):
        pairs = list(zip(scores, relevance, strict=True))
        if any(relevance) and len({p for p in pairs if p[1]}) == sum(map(bool, relevance)):
            for name in ("joined", "happier"):
                loss, true = both(scores, relevance, **PRESETS[name])
                assert loss >= true - 1e-12, (name, pairs)


@pytest.mark.parametrize("name", ["joined", "happier"])
def test_the_step_in_the_numerator_keeps_the_bound(name):
    larger = 0
    for scores, relevance in rankings(100, seed=1):
        loss, true = both(scores, relevance, reference.happier_lower_step, **PRESETS[name])
        assert loss >= true - 1e-12
        larger += loss > both(scores, relevance, **PRESETS[name])[0] + 1e-12
    assert larger > 20


def test_the_bound_fails_without_each_of_its_hypotheses():
    """Negative relevance, a falling line, too low a start or offset, tied items of one level or of two."""
    for scores, relevance, setting in (
        ([0.0025, 0.0, 0.0], [0, 1, 1], {}),
        ([0.8, 0.6, 0.4, 0.2, 0.0], [9, -1, -1, -1, 1], {}),
        ([0.058, 0.0], [0, 1], {"slope": -100.0, "offset": 1.44}),
        ([1e-6, 0.0], [0, 1], {"start": 0.49}),
        ([0.0501, 0.0], [0, 1], {"offset": 0.9}),
    ):
        loss, true = both(scores, relevance, **{**HAPPIER, **setting})
        assert loss < true, setting
    y, rel = [0.0, 0.0], [0.0, 1.0]  # the irrelevant item is put first
    assert math.isclose(reference.happier_loss(y, rel), 1 / 3)
    assert 1 - reference.hierarchical_average_precision(y, rel) == 1 / 2


def test_the_step_bounds_ndcg_and_a_sigmoid_does_not():
    soft = {"step": NDCGLoss(SupremumRanker()), "sigmoid": NDCGLoss(SigmoidRanker(0.01))}
    below = dict.fromkeys(soft, 0)
    for scores, relevance in rankings(150, seed=2):
        y, gains = torch.tensor(scores, dtype=torch.float64), torch.tensor(relevance, dtype=torch.float64)
        true = 1 - ndcg(y, gains).item()
        for name, loss in soft.items():
            below[name] += loss(y, gains).item() < true - 1e-9
    assert below["step"] == 0 < below["sigmoid"]
