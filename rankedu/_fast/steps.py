"""The step of a ranker and its slope, in place: the fast forms of the two steps that most losses take.

A subclass that has another step than `SigmoidRanker.step` or `SupremumRanker.step` is asked for it, and for its slope.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from rankedu.rankers._pairwise import PairwiseRanker
from rankedu.rankers.sigmoid import SigmoidRanker
from rankedu.rankers.supremum import SupremumRanker


def step_then_slope_(ranker: PairwiseRanker, differences: Tensor) -> tuple[Tensor, Callable[[], Tensor]]:
    """The steps, and what makes their slopes when it is called, once; both overwrite what they are made of."""
    if isinstance(ranker, SigmoidRanker) and _own(ranker, SigmoidRanker):
        step = sigmoid_(differences, ranker.temperature)
        return step, lambda: _slope_of_sigmoid_(step, ranker.temperature)
    return ranker.step(differences), lambda: ranker.slope(differences)


def sum_and_slope_(
    ranker: PairwiseRanker, differences: Tensor, learning: bool, above: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Sum the steps over the last dimension; and, if it is to be learnt from, the slope. ``differences`` are lost.

    ``above`` is the number of differences > 0, if it is known. Of a `SupremumRanker` below δ the slope is σ(1 − σ)/τ,
    and ρ above, where the sigmoid is held at its value at δ: one sigmoid serves both.
    """
    if not (isinstance(ranker, SupremumRanker) and _own(ranker, SupremumRanker)):
        step, slope = step_then_slope_(ranker, differences)
        total = step.sum(-1)
        return total, slope() if learning else None
    if above is None:
        above = torch.gt(differences, 0, out=torch.empty_like(differences)).sum(-1)
    far = torch.gt(differences, ranker.delta, out=torch.empty_like(differences))
    beyond = (differences - ranker.delta).clamp_(min=0).sum(-1) if ranker.rho else 0.0
    curve = sigmoid_(differences.clamp_(max=ranker.delta), ranker.temperature)
    total = curve.sum(-1) + ranker.start * above + ranker.rho * beyond
    if ranker.jump != 0:
        total += ranker.jump * far.sum(-1)
    if learning:
        at_delta = ranker.offset - ranker.start - ranker.jump
        level = at_delta * (1 - at_delta)
        curve.addcmul_(curve, curve, value=-1).add_(far, alpha=ranker.rho * ranker.temperature - level)
        curve.mul_(1 / ranker.temperature)
    return total, curve if learning else None


def sigmoid_(differences: Tensor, temperature: float) -> Tensor:
    """The sigmoid in place; 0 where it is nothing beside a rank: further down lie denormal numbers, which are slow."""
    return torch.threshold_(differences.mul_(1 / temperature), -40.0, -math.inf).sigmoid_()  # exp(-40) = 4e-18


def _slope_of_sigmoid_(value: Tensor, temperature: float) -> Tensor:
    """σ(1 − σ)/τ in one pass."""
    outer = value.new_full((), 1 / temperature)
    slope: Tensor = torch.ops.aten.sigmoid_backward.grad_input(outer, value, grad_input=value)
    return slope


def _own(ranker: PairwiseRanker, kind: type[PairwiseRanker]) -> bool:
    return type(ranker).step is kind.step and type(ranker).slope is kind.slope
