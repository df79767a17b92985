"""The steps of HAPPIER and ROADMAP: one meant to lie above the Heaviside function, one below it."""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_mask, check_not_nan, check_number
from rankedu.pairs import Pairs, far
from rankedu.rankers.base import clip, wide
from rankedu.rankers.pairwise import PairwiseRanker, bounded, check_temperature
from rankedu.rankers.sigmoid import sigmoid
from rankedu.ranks import Relevant, h_rank, rank

#: The published settings, as keyword arguments. The affine part of the ROADMAP of 2021 was slope * x + offset, without
#: -delta; that is the same function with an offset larger by slope * delta = 5.
PRESETS: Mapping[str, Mapping[str, float | None]] = {
    "joined": {"offset": None, "start": 0.5},
    "happier": {"offset": 1.44, "start": 0.5},
    "happier_inat": {"offset": 1.0, "start": 0.0},
    "roadmap": {"offset": 1.44, "start": 0.5},
    "roadmap_inat": {"offset": 1.0, "start": 0.0},
    "roadmap_2021": {"offset": 6.44, "start": 0.5},
    "roadmap_inat_2021": {"offset": 6.0, "start": 0.0},
}


class SupremumRanker(PairwiseRanker):
    r"""Count items by a step above the Heaviside function: an upper bound of the rank, if the setting keeps it.

    .. math:: \mathrm{step}(x) = \begin{cases}
              \sigma(x/\tau) & x \le 0 \\
              \mathrm{start} + \sigma(x/\tau) & 0 < x \le \delta \\
              \rho\,(x - \delta) + \mathrm{offset} & x > \delta \end{cases}

    The step counts the items that are less relevant than k. All others are counted exactly, without a gradient: tied
    items of one grade count each other, H(0) = 1. Both happen in the losses; :meth:`against` and :meth:`among` do each
    for a set of items. `PRESETS` has the published settings. Chapter 14 proves which of them keep the bound. O(n²) time
    for each row, O(p n) in a loss. Explained in chapter 14.

    Parameters
    ----------
    temperature : float
        τ > 0 of the sigmoid.
    slope : float
        ρ ≥ 0 of the affine part, so that the gradient does not vanish for an item that is outranked by far. The
        attribute is called ``rho``, because the method ``slope`` is the derivative of the step.
    delta : float
        δ ≥ 0, where the affine part begins.
    offset : float, optional
        Its value ≥ 0 there, by default start + σ(δ/τ), at which the sigmoid ends, so that there is no jump.
    start : float
        ≥ 0; added to the sigmoid between 0 and δ. If it is 1/2 or more (and the offset 1 or more), the step lies above
        the Heaviside function, and then it jumps at 0.

    Raises
    ------
    ValueError
        For a parameter that is not finite or out of range.

    References
    ----------
    HAPPIER Sec. 3.2

    Examples
    --------
    >>> ranker = SupremumRanker()
    >>> scores, relevant = torch.tensor([0.75, 0.5, 0.25]), torch.tensor([False, True, False])
    >>> ranker.among(scores, relevant) + ranker.against(scores, relevant, ~relevant)  # 1 + 100 (0.25 − 0.05) + 1.4933
    tensor([ 0.0000, 22.4933,  0.0000])
    """

    #: A step below the Heaviside function that counts, in H-rank, the items that are more relevant than k, or None for
    #: an exact count. `HAPLoss` sets it.
    lower: Callable[[Tensor], Tensor] | None = None

    def __init__(
        self,
        temperature: float = 0.01,
        slope: float = 100.0,
        delta: float = 0.05,
        offset: float | None = None,
        start: float = 0.5,
    ) -> None:
        super().__init__()
        self.temperature = check_temperature(temperature)
        self.rho = check_number(slope, "slope", least=0, hint="100 is published")
        self.delta = check_number(delta, "delta", least=0, hint="0.05 is published")
        self.start = check_number(start, "start", least=0, hint="1/2 keeps the bound")
        end = self.start + 1 / (1 + math.exp(-min(self.delta / self.temperature, 700.0)))
        self.offset = (
            end if offset is None else check_number(offset, "offset", least=0, hint="None joins the parts at delta")
        )
        self.jump, self.start_of_line = self.offset - end, end - self.start

    @classmethod
    def preset(cls, name: str) -> "SupremumRanker":
        """Make the ranker of a published setting, a key of `PRESETS`; ValueError for another name.

        >>> SupremumRanker.preset("happier_inat")
        SupremumRanker(temperature=0.01, slope=100, delta=0.05, offset=1, start=0)
        """
        check_choice(name, tuple(PRESETS), name="name")
        return cls(**PRESETS[name])  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        values = {"temperature": self.temperature, "slope": self.rho, "delta": self.delta}
        values |= {"offset": self.offset, "start": self.start}
        return ", ".join(f"{name}={value:.6g}" for name, value in values.items())

    def step(self, differences: Tensor) -> Tensor:
        curve = sigmoid(clip(differences, high=self.delta) / self.temperature)
        steps = torch.add(curve, (differences - self.delta).relu(), alpha=self.rho)
        steps = torch.add(steps, beyond(differences, 0.0), alpha=self.start)
        return steps if self.jump == 0 else torch.add(steps, beyond(differences, self.delta), alpha=self.jump)

    def slope(self, differences: Tensor, steps: Tensor | None = None) -> Tensor:
        differences = differences.detach()
        if steps is None or self.jump != 0:
            curve = sigmoid(differences.clamp(max=self.delta) / self.temperature)
        else:  # what the steps are made of
            curve = torch.sub(steps, beyond(differences, 0.0), alpha=self.start).clamp_(max=self.start_of_line)
        inside = self.start_of_line * (1 - self.start_of_line) / self.temperature  # of the clamped curve, beyond delta
        slope = torch.addcmul(curve, curve, curve, value=-1).mul_(1 / self.temperature)
        return slope.add_(beyond(differences, self.delta), alpha=self.rho - inside)

    def among(self, scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Count, for each member, the members whose score is at least its own, without a gradient."""
        self._check(scores, where)
        check_mask(members, scores, name="members")
        members = members if where is None else members & where
        return rank(scores, where=members, ties="max").to(torch.promote_types(scores.dtype, torch.float32))

    def against(self, scores: Tensor, members: Tensor, others: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Count, for each member, by the step how far the others outrank it; with a gradient, 0 elsewhere.

        As :meth:`Ranker.among` otherwise. Raises ValueError if members and others have an item in common.
        """
        self._check(scores, where)
        check_mask(members, scores, name="members")
        check_mask(others, scores, name="others")
        if where is not None:
            members, others = members & where, others & where
        if (members & others).any():
            raise ValueError("others must have no item in common with members (no item outranks itself: & ~members)")
        check_not_nan(scores, members | others)
        rows = bounded(wide(scores), members | others).reshape(-1, scores.shape[-1])
        here = members.reshape(rows.shape)
        row, item = here.nonzero(as_tuple=True)
        counts, _ = self._sums(rows, Pairs(row, item), rows.masked_fill(here, far(rows)))
        return torch.zeros_like(rows).masked_scatter(here, counts).view(scores.shape)

    def two_ranks(
        self, scores: Tensor, relevant: Relevant, where: Tensor | None, *, within_grad: bool | None
    ) -> tuple[Tensor, Tensor]:
        """As `Ranker.two_ranks`: the step counts less relevant items only, and ``lower`` the more relevant ones.

        If the second rank is not needed, the step counts all items.
        """
        if within_grad is None:
            return super().two_ranks(scores, relevant, where, within_grad=None)
        grade = (~relevant.members).long() if relevant.grade is None else relevant.grade.long()
        counted = sums_by_grade(self, bounded(scores, where), grade, relevant.item, relevant.real, torch.le)
        table = relevant.pick(scores)
        if relevant.grade is None:
            own = within = rank(table.detach(), where=relevant.real, ties="max").to(scores)
        else:
            own, total = h_rank(table.detach(), relevant, ties="for")
            within = total / relevant.share.masked_fill(~relevant.real, 1.0)
            if self.lower is not None:
                rows, place = bounded(table, relevant.real), torch.arange(table.shape[1], device=table.device)
                steps = _LessThanCounted(self.lower), rows, relevant.pick(grade), place.expand_as(table)
                within = within + sums_by_grade(*steps, relevant.real, torch.ge)
        return own + counted, within


def sums_by_grade(
    counter: PairwiseRanker,
    rows: Tensor,
    grade: Tensor,
    item: Tensor,
    real: Tensor,
    leaves_out: Callable[[Tensor, int], Tensor],
) -> Tensor:
    """Sum the steps from each real item of a table, (q, m), to the items of its row whose grade is not left out."""
    row, column = real.nonzero(as_tuple=True)
    own = grade[row, item[row, column]]
    found, order = [], own.argsort(stable=True)
    for g, some in enumerate(order.split(own.bincount().tolist())):
        others = rows.masked_fill(leaves_out(grade, g), far(rows))
        found.append(counter._sums(rows, Pairs(row[some], item[row[some], column[some]]), others)[0])
    table = torch.zeros(real.numel(), dtype=rows.dtype, device=rows.device)
    return table.index_copy(0, (row * real.shape[1] + column)[order], torch.cat(found)).view(real.shape)


class _LessThanCounted(PairwiseRanker):
    """The change that a lower step makes in the count of a more relevant item; 0 if it is not counted."""

    def __init__(self, lower: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.lower = lower

    def step(self, differences: Tensor) -> Tensor:
        counted = differences > far(differences) / 2
        change = self.lower(differences.masked_fill(~counted, 0.0)) - (differences >= 0).to(differences)
        return change.masked_fill(~counted, 0.0)


def beyond(differences: Tensor, bound: float) -> Tensor:
    """1 above the bound and 0 elsewhere, in the dtype of the differences."""
    differences = differences.detach()
    return torch.gt(differences, bound, out=torch.empty_like(differences))


class InfimumStep:
    r"""A step below the Heaviside function, for the numerator of H-AP: H-rank over items of strictly higher level.

    .. math:: \mathrm{step}(x) = \begin{cases} 10\,x & x \le 0 \\ \min(25\,x + \tfrac12,\ 1) & x > 0 \end{cases}

    Called with differences of scores, elementwise, with a gradient by autograd. It jumps by 1/2 at 0, and is not
    bounded below: an H-rank that it counts may be negative, and then a loss exceeds 1. Explained in chapter 14.

    Parameters
    ----------
    below, above : float
        The slopes of the two parts, ≥ 0.

    Raises
    ------
    ValueError
        For a slope that is negative or not finite.

    References
    ----------
    HAPPIER Sec. 3.2

    Examples
    --------
    >>> InfimumStep()(torch.tensor([-0.125, 0.0, 0.0078125, 0.5]))
    tensor([-1.2500,  0.0000,  0.6953,  1.0000])
    """

    def __init__(self, below: float = 10.0, above: float = 25.0) -> None:
        self.below = check_number(below, "below", least=0, hint="10 is published")
        self.above = check_number(above, "above", least=0, hint="25 is published")

    def __repr__(self) -> str:
        return f"InfimumStep(below={self.below:g}, above={self.above:g})"

    def __call__(self, differences: Tensor) -> Tensor:
        return torch.where(differences > 0, clip(self.above * differences + 0.5, high=1.0), self.below * differences)
