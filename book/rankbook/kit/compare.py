"""Small experiments from which a sentence may conclude: paired starts, baselines, tuned settings, intervals.

A start is a whole experiment of its own: its data, its initial weights, and its own search. For each arm the setting is
the one that does best on the start's validation items; what is reported was measured on its test items. So differences
between arms are paired by start, and their intervals hold the scatter of the search too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from rankbook.kit import style

if TYPE_CHECKING:
    from torch import Tensor

Array = npt.NDArray[np.float64]
Arm = TypeVar("Arm")
Batch = TypeVar("Batch")
#: How large an advantage must be, by chance, for an arm that has none: this share of all comparisons of a table.
LEVEL = 0.05


@dataclass(frozen=True)
class Interval:
    """A mean over starts, ± half of the width of its confidence interval (Student's t)."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half:.3f}"

    @property
    def clear(self) -> bool:
        """Whether 0 is outside."""
        return abs(self.mean) > self.half


def _mostly_one_end(chosen: Array, asked: Sequence[float]) -> bool:
    return len(asked) > 1 and any((chosen == end).mean() > 0.5 for end in (min(asked), max(asked)))


def interval(values: Array, comparisons: int = 1) -> Interval:
    """The mean of one value a start; of several comparisons each has its share of the level (Bonferroni).

    >>> print(interval(np.array([0.1, 0.2, 0.3])))
    +0.200 ± 0.248
    """
    from scipy import stats

    n = len(values)
    width = stats.t.ppf(1 - LEVEL / comparisons / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return Interval(float(values.mean()), float(width))


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`compare` measured."""

    strengths: Mapping[str, Sequence[float]]  #: Of each arm.
    rates: Sequence[float]
    validation: Mapping[str, Array]  #: Arm → (strengths, rates, starts).
    test: Mapping[str, Array]
    baselines: Mapping[str, Array]  #: Name → (starts,).
    ceilings: frozenset[str] = frozenset()  #: The baselines that nobody is asked to beat, as the optimum.

    def values(self, name: str) -> Array:
        """What each start reports of an arm, at the setting chosen by that start, or of a baseline; shape (starts,)."""
        if name in self.baselines:
            return self.baselines[name]
        starts = self.test[name].shape[-1]
        best = self.validation[name].reshape(-1, starts).argmax(0)
        reported: Array = self.test[name].reshape(-1, starts)[best, np.arange(starts)]
        return reported

    def chosen(self, arm: str) -> tuple[Array, Array]:
        """The strength and the rate that each start has chosen."""
        _, rates, starts = self.validation[arm].shape
        row, column = np.divmod(self.validation[arm].reshape(-1, starts).argmax(0), rates)
        return np.array(self.strengths[arm])[row], np.array(self.rates)[column]

    def curve(self, arm: str) -> Array:
        """By strength, each at the rate that the start chooses for it; shape (strengths, starts)."""
        best = self.validation[arm].argmax(1)[:, None]
        return np.take_along_axis(self.test[arm], best, 1)[:, 0]

    def difference(self, arm: str, other: str, comparisons: int = 1) -> Interval:
        """How far an arm is above another, or above a baseline: paired by start."""
        return interval(self.values(arm) - self.values(other), comparisons)

    def says(self, arm: str, other: str, comparisons: int = 1) -> str:
        """One honest line: better, worse, or no difference seen; and the baselines that the arm is not above.

        An arm that cannot be told from a baseline has shown nothing, whatever it is held against.
        """
        found = self.difference(arm, other, comparisons)
        verdict = ("better" if found.mean > 0 else "worse") if found.clear else "no difference seen"
        return "; ".join([f"{verdict} ({found})", *self.below(arm, comparisons)])

    def below(self, arm: str, comparisons: int = 1) -> list[str]:
        """The baselines that an arm should beat and is not clearly above, in words."""
        gains = {name: self.difference(arm, name, comparisons) for name in self.baselines if name not in self.ceilings}
        return [f"not above {name} ({gain})" for name, gain in gains.items() if not (gain.clear and gain.mean > 0)]

    def at_an_edge(self, arm: str) -> tuple[bool, bool]:
        """Whether most starts chose the same end of the strengths, and of the rates: the sweep is too narrow."""
        strengths, rates = self.chosen(arm)
        return _mostly_one_end(strengths, self.strengths[arm]), _mostly_one_end(rates, self.rates)

    def at_an_end_of_rates(self, arm: str) -> Array:
        """Of each strength, whether most starts chose the smallest or the largest rate there; shape (strengths,)."""
        chosen = np.array(self.rates)[self.validation[arm].argmax(1)]
        return np.array([_mostly_one_end(rates, self.rates) for rates in chosen])

    def table(self, against: str) -> str:
        """All arms and baselines, and each arm against one of them, as text.

        An asterisk says that most starts chose the smallest or the largest strength, or rate, of the sweep.
        """
        others = [arm for arm in self.test if arm != against]
        width = max(map(len, [*self.test, *self.baselines]))
        starts = len(self.values(against))
        lines = [f"{'':<{width}}  mean of {starts}  strength  rate   against {against}"]
        for name in (*self.baselines, *self.test):
            line = f"{name:<{width}}  {self.values(name).mean():10.3f}"
            if name in self.test:
                told = zip(self.chosen(name), self.at_an_edge(name), (8, 5), strict=True)
                for chosen, edge, room in told:
                    line += f"  {f'{np.median(chosen):.3g}' + '*' * edge:<{room}}"
                end = self.says(name, against, len(others)) if name in others else "; ".join(self.below(name))
                line += f"  {end}"
            lines.append(line.rstrip())
        return "\n".join(lines)

    def draw(self, axes: Axes, looks: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Draw a curve over the strength for each arm in `looks`, its interval, and the baselines; returns it in words.

        A mark is hollow where most starts chose the smallest or the largest rate, so that another might do better.
        """
        facts = []
        for arm in looks:
            rows = [interval(row) for row in self.curve(arm)]
            mean, half = (np.array([getattr(row, part) for row in rows]) for part in ("mean", "half"))
            strengths, open_ended = np.array(self.strengths[arm]), self.at_an_end_of_rates(arm)
            ends = ", ".join(f"{strength:g}" for strength in strengths[open_ended])
            axes.plot(strengths, mean, **{"label": arm} | dict(looks[arm]))
            hollow = {**looks[arm], "linestyle": "none", "markerfacecolor": "white", "label": None}
            axes.plot(strengths[open_ended], mean[open_ended], **hollow)
            axes.fill_between(strengths, mean - half, mean + half, color=looks[arm]["color"], alpha=0.15, linewidth=0)
            best = int(mean.argmax())
            facts.append(
                f"{arm}: from {mean[0]:.2f} at {strengths[0]:g} over {mean[best]:.2f} at {strengths[best]:g} to "
                f"{mean[-1]:.2f} at {strengths[-1]:g}" + f", hollow at {ends}" * bool(ends)
            )
        axes.set_xscale("log")
        for number, (name, values) in enumerate(self.baselines.items()):
            axes.axhline(values.mean(), color=style.GREY, linewidth=1.2, zorder=0)
            left = number % 2  # names by turns at the right and at the left, so that two that lie close can be read
            axes.annotate(
                name, (1 - left, values.mean()), xycoords=("axes fraction", "data"), xytext=(4 * left - 2, 2),
                color="#666666", textcoords="offset points", ha="left" if left else "right", va="bottom", fontsize=10,
                annotation_clip=True, path_effects=[withStroke(linewidth=3, foreground="white")], zorder=5,
            )  # fmt: skip
            facts.append(f"{name}, a grey line: {values.mean():.2f}")
        return facts


def compare(
    train: Callable[[Arm, float, Sequence[float], int], tuple[Array, Array]],
    arms: Mapping[str, Arm],
    baselines: Mapping[str, Array],
    sweep: Mapping[str, Sequence[float]] | Sequence[float],
    *,
    rates: Sequence[float] = (1.0,),
    starts: int = 12,
    ceilings: Sequence[str] = (),
) -> Comparison:
    """Train each arm at all strengths and rates, from the same starts.

    Parameters
    ----------
    train : callable, (arm, strength, rates, starts) -> (validation, test)
        Trains at each rate from each of the starts 0, 1, …, the same for all arms, and returns two arrays of shape
        (rates, starts), the larger the better: one to choose the setting by, one to report.
    arms : what `train` takes, by name
    baselines : arrays of one value a start, by name
        What would be reported without the arms' work: of the untrained network, the raw features, chance. At least one.
    sweep : strengths, the same for all arms or by the name of an arm
    rates : step sizes, the same for all
    ceilings : names of baselines that are to be seen and not to be beaten, as the known optimum

    >>> def train(bonus, strength, rates, starts):
    ...     value = bonus - np.log(strength) ** 2 + np.linspace(-0.1, 0.1, starts)
    ...     return value[None], value[None]
    >>> found = compare(train, {"a": 0.5, "b": 0.7}, {"untrained": np.zeros(12)}, (0.1, 1, 10))
    >>> print(found.table("a"))
               mean of 12  strength  rate   against a
    untrained       0.000
    a               0.500  1         1
    b               0.700  1         1      better (+0.200 ± 0.000)
    """
    floor = set(baselines) - set(ceilings)
    if not floor:
        raise ValueError(f"baselines must have one that the arms should beat, got {list(baselines)}")
    wrong = [name for name, values in baselines.items() if np.shape(values) != (starts,)]
    if wrong:
        raise ValueError(f"baselines must have a value for each of {starts} starts, got others for {', '.join(wrong)}")
    strengths = {arm: tuple(sweep[arm] if isinstance(sweep, Mapping) else sweep) for arm in arms}
    validation, test = {}, {}
    for name, arm in arms.items():
        found = [train(arm, strength, rates, starts) for strength in strengths[name]]
        validation[name], test[name] = np.moveaxis(np.array(found, dtype=np.float64), 1, 0)
    return Comparison(strengths, tuple(rates), validation, test, dict(baselines), frozenset(ceilings))


def descend(
    start: Tensor, rates: Sequence[float], batches: Iterable[Batch], loss: Callable[[Tensor, Batch], Tensor]
) -> Iterator[Tensor]:
    """Train by Adam at several rates at once: after each batch, the parameters of all rates, (rates, ...).

    ``loss`` takes such a tensor and a batch. Where it is a mean over rates and starts, a blackbox ranker needs the λ of
    one of them so many times.
    """
    import torch

    copies = [start.clone().requires_grad_() for _ in rates]
    optimiser = torch.optim.Adam([{"params": [copy], "lr": rate} for copy, rate in zip(copies, rates, strict=True)])
    for batch in batches:
        optimiser.zero_grad()
        loss(torch.stack(copies), batch).backward()
        optimiser.step()
        yield torch.stack(copies).detach()
