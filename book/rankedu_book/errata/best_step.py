"""How much a test flatters a network whose step the test has chosen: trainings that two test sets follow all along."""

import functools
import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankedu.losses import OnEmbeddings, SmoothAPLoss

#: Classes of the training and of each test set, and items of each; inputs are noisy and mixed, as pictures are.
CLASSES, EACH = 40, 4
HIDDEN, INPUTS, NOISE = 8, 24, 2.5
#: A batch has a quarter of the classes; every third step is measured.
STEPS, EVERY = 60, 3


class Flattery(NamedTuple):
    """Points of R@1 at the step that a test set liked best, means over trainings and over both test sets."""

    too_good: float  #: what that test set says less what the other says of the same network
    half_width: float  #: of its 95 % interval, over the trainings
    reported: float  #: what that test set says less what it says of the last step
    elsewhere: float  #: what the other says less what it says of the last step: what the choice is worth


@functools.cache
def curves(trainings: int = 16) -> Tensor:
    """R@1 of two test sets, along trainings of a linear network on Smooth-AP: (trainings, 2, measurements)."""
    return torch.stack([_training(seed) for seed in range(trainings)])


def _training(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    draw = functools.partial(torch.randn, generator=generator, dtype=torch.float64)
    labels = torch.arange(CLASSES).repeat_interleave(EACH)
    mixing = draw(HIDDEN, INPUTS)
    train, *tests = ((draw(CLASSES, HIDDEN) @ mixing)[labels] + NOISE * draw(len(labels), INPUTS) for _ in range(3))
    weight = (draw(INPUTS, HIDDEN) / math.sqrt(INPUTS)).requires_grad_()
    optimizer, loss = torch.optim.Adam([weight], 0.03), OnEmbeddings(SmoothAPLoss(0.05))
    measured = []
    for step in range(STEPS):
        classes = torch.randperm(CLASSES, generator=generator)[: CLASSES // 4]
        rows = (EACH * classes[:, None] + torch.arange(EACH)).flatten()
        optimizer.zero_grad()
        torch.autograd.backward(loss(train[rows] @ weight, labels[rows]))
        optimizer.step()
        if step % EVERY == EVERY - 1:
            embedded = [normalize(test @ weight.detach(), dim=1) for test in tests]
            nearest = [(unit @ unit.T).fill_diagonal_(-2).argmax(1) for unit in embedded]
            measured.append([float((labels[found] == labels).double().mean()) for found in nearest])
    return torch.tensor(measured, dtype=torch.float64).T


def flattery(measured: Tensor) -> Flattery:
    """Let each of the two test sets choose a step, and ask the other, (trainings, 2, steps); in points.

    Both choose, so that it does not matter which of them is easier.

    >>> measured = [[[0.5, 0.75, 0.5], [0.5, 0.5, 0.5]], [[0.5, 0.5, 0.5], [0.75, 0.5, 0.5]]]
    >>> flattery(torch.tensor(measured)).reported
    12.5
    """
    from scipy import stats

    best = measured.argmax(2, keepdim=True)
    own, other = (100 * found.gather(2, best)[..., 0].mean(1) for found in (measured, measured.flip(1)))
    last = 100 * measured[..., -1].mean(1)
    half_width = float(stats.t.isf(0.025, len(own) - 1) * (own - other).std()) / math.sqrt(len(own))
    means = [round(float(values.mean()), 9) for values in (own - other, own - last, other - last)]
    return Flattery(means[0], half_width, *means[1:])
