"""The steps of HAPPIER and ROADMAP: one meant to lie above the Heaviside function, one below it."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_mask, check_not_nan, check_number
from rankedu.rankers._pairwise import PairwiseRanker, check_temperature
from rankedu.ranks import rank

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
    r"""Count who is outranked by a step above the Heaviside function: no less than a rank, if the setting keeps to it.

    .. math:: \mathrm{step}(x) = \begin{cases}
              \sigma(x/\tau) & x \le 0 \\
              \mathrm{start} + \sigma(x/\tau) & 0 < x \le \delta \\
              \rho\,(x - \delta) + \mathrm{offset} & x > \delta \end{cases}

    The step is for items that should stand below, of strictly lower level: :meth:`against`. All others are counted as
    they are, without a gradient: :meth:`among`.

    Parameters
    ----------
    temperature : float
        τ > 0 of the sigmoid.
    slope : float
        ρ ≥ 0 of the affine part, so that the gradient does not vanish where an item is outranked by far.
    delta : float
        δ ≥ 0, where the affine part begins.
    offset : float, optional
        Value ≥ 0 at which it begins. Default: where the sigmoid ends, start + σ(δ/τ), so that there is no jump at δ.
    start : float
        ≥ 0; added to the sigmoid between 0 and δ. The step lies above the Heaviside function if this is 1/2 or more
        (and the offset 1 or more), and then it jumps at 0.

    Notes
    -----
    `PRESETS` has the published settings, :meth:`preset` makes a ranker of one; only some of them keep the bound, and
    chapter 14 proves which. O(n²) for each row. Tied members count each other, H(0) = 1; a tied outsider counts
    σ(0) = 1/2. The attribute ``rho`` holds the parameter ``slope``: the method ``slope`` is the
    derivative of the step. Explained in chapter 14.
    Raises ValueError for a parameter that is not finite or out of range.
    Source: HAPPIER Sec. 3.2.

    >>> ranker = SupremumRanker()
    >>> scores, relevant = torch.tensor([0.75, 0.5, 0.25]), torch.tensor([False, True, False])
    >>> ranker.among(scores, relevant) + ranker.against(scores, relevant, ~relevant)  # 1 + 100 (0.25 − 0.05) + 1.4933
    tensor([ 0.0000, 22.4933,  0.0000])
    """

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
        self.jump = self.offset - end

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
        curve = (differences / self.temperature).sigmoid()
        affine = self.rho * (differences - self.delta) + self.offset
        near = torch.where(differences > 0, self.start + curve, curve)
        return torch.where(differences > self.delta, affine, near)

    def among(self, scores: Tensor, members: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Count, for each member, the members whose score is at least its own; hard, without a gradient.

        As :meth:`SigmoidRanker.among` otherwise. O(n log n). Tied members share the worst of their ranks, as H(0) = 1.
        """
        self._check(scores, where)
        check_mask(members, scores, name="members")
        if where is not None:
            members = members & where
        return rank(scores, where=members, ties="max").to(torch.promote_types(scores.dtype, torch.float32))

    def ranks_of_positives(
        self, scores: Tensor, positive: Tensor, where: Tensor | None, *, within_grad: bool
    ) -> tuple[Tensor, Tensor]:
        """As ``Ranker.ranks_of_positives``; its step is for the irrelevant items alone."""
        within = self.among(scores, positive, where=where)
        return within + self.against(scores, positive, ~positive, where=where), within

    def against(self, scores: Tensor, members: Tensor, others: Tensor, *, where: Tensor | None = None) -> Tensor:
        """Count, for each member, by how much the others outrank it: the sum of the step, with a gradient; 0 elsewhere.

        All else as :meth:`among`; members and others may have no common item, else ValueError. O(n²) time and memory
        for each row.
        """
        self._check(scores, where)
        check_mask(members, scores, name="members")
        check_mask(others, scores, name="others")
        if where is not None:
            members, others = members & where, others & where
        if (members & others).any():
            raise ValueError("others must have no item in common with members (nobody outranks itself: & ~members)")
        check_not_nan(scores, members | others)
        return self._outranked(scores, members, others)


class InfimumStep:
    r"""A step below the Heaviside function, for the numerator of H-AP: H-rank over items of strictly higher level.

    .. math:: \mathrm{step}(x) = \begin{cases} 10\,x & x \le 0 \\ \min(25\,x + \tfrac12,\ 1) & x > 0 \end{cases}

    The slopes of the two parts are ≥ 0, else ValueError. Called with differences of scores, elementwise, with a
    gradient by autograd. It jumps by 1/2 at 0, and is not bounded below: what it counts may be negative, and then a
    loss exceeds 1. Explained in chapter 14.
    Source: HAPPIER Sec. 3.2.

    >>> InfimumStep()(torch.tensor([-0.125, 0.0, 0.0078125, 0.5]))
    tensor([-1.2500,  0.0000,  0.6953,  1.0000])
    """

    def __init__(self, below: float = 10.0, above: float = 25.0) -> None:
        self.below = check_number(below, "below", least=0, hint="10 is published")
        self.above = check_number(above, "above", least=0, hint="25 is published")

    def __repr__(self) -> str:
        return f"InfimumStep(below={self.below:g}, above={self.above:g})"

    def __call__(self, differences: Tensor) -> Tensor:
        return torch.where(differences > 0, (self.above * differences + 0.5).clamp(max=1.0), self.below * differences)

    def slope(self, differences: Tensor) -> Tensor:
        """Differentiate, elementwise, without a gradient of its own."""
        rising = (differences > 0) & (self.above * differences + 0.5 <= 1)
        flat = torch.zeros_like(differences)
        return flat.masked_fill(differences <= 0, self.below).masked_fill(rising, self.above)
