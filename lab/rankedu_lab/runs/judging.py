"""Is a difference between two methods more than chance? Paired by seed, over seeds and letters, by families."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rankedu_lab.runs.packing import unpack
from rankedu_lab.runs.records import Record

Array = npt.NDArray[np.float64]
CONFIRMED, REFUTED, UNDECIDED = "confirmed here", "refuted here", "undecided here"
SAMPLES, ALPHA = 10_000, 0.05


@dataclass(frozen=True)
class Contrast:
    """A difference that must be larger than a threshold: sums (seeds, letters) over the queries, and their numbers."""

    sums: Array
    counts: Array
    threshold: float = 0.0

    @property
    def mean(self) -> float:
        """Over all queries of all seeds."""
        return float(self.sums.sum() / self.counts.sum())


@dataclass(frozen=True)
class Estimate:
    """A difference with its interval."""

    mean: float
    half_width: float
    threshold: float

    @property
    def verdict(self) -> str:
        """Whether the whole interval lies above the threshold, or below it."""
        if self.mean - self.half_width > self.threshold:
            return CONFIRMED
        return REFUTED if self.mean + self.half_width < self.threshold else UNDECIDED


@dataclass(frozen=True)
class Judgement:
    """What is to be said of a claim."""

    verdict: str
    estimate: Estimate  #: of the part of the rule that decides
    parts: list[Estimate]
    p: float  #: before Holm's correction
    level: float  #: 1 less the share of intervals that may be wrong, after it


def of_letters(record: Record, metric: str) -> tuple[Array, Array]:
    """Sums of a metric over the queries of each base letter, and how many these are; "R@1" is counted from the hits."""
    found = record.evidence
    counts = unpack(found["queries"]).astype(np.float64)
    if metric == "R@1":
        hits = unpack(found["first"]) == found["levels"]
        return np.add.reduceat(hits.astype(np.float64), _starts(counts)), counts
    if metric not in found["means"]:
        raise ValueError(f"metric must be R@1 or one of {', '.join(found['means'])}, got {metric!r}")
    return unpack(found["means"][metric]).astype(np.float64) * counts, counts


def _starts(counts: Array) -> npt.NDArray[np.int64]:
    return (counts.cumsum() - counts).astype(np.int64)


def contrast(terms: Sequence[tuple[float, Sequence[Record], str]], threshold: float = 0.0) -> Contrast:
    """Add up factor × metric over terms (factor, records, metric) with the same seeds, in one order, and queries."""
    seeds = [[record.parameters["seed"] for record in records] for _, records, _ in terms]
    if any(of_term != seeds[0] for of_term in seeds):
        raise ValueError(f"records must be of the same seeds in all terms, got {seeds}")
    _check_queries([record for _, records, _ in terms for record in records])
    tables = [(factor, [of_letters(record, metric) for record in records]) for factor, records, metric in terms]
    sums = sum(factor * np.stack([of_letter for of_letter, _ in table]) for factor, table in tables)
    return Contrast(np.asarray(sums), np.stack([counts for _, counts in tables[0][1]]), threshold)


def milder(ours: Sequence[Record], theirs: Sequence[Record], threshold: float = 0.0) -> Contrast:
    """How much more our first mistakes have in common with the query than theirs, of queries on which both err."""
    _check_queries([*ours, *theirs])
    sums, counts = [], []
    for one, other in zip(ours, theirs, strict=True):
        first, second = (unpack(record.evidence["first"]).astype(np.float64) for record in (one, other))
        both = (first < one.evidence["levels"]) & (second < one.evidence["levels"])
        starts = _starts(unpack(one.evidence["queries"]).astype(np.float64))
        sums.append(np.add.reduceat((first - second) * both, starts))
        counts.append(np.add.reduceat(both.astype(np.float64), starts))
    return Contrast(np.stack(sums), np.stack(counts), threshold)


def _check_queries(records: Sequence[Record]) -> None:
    kinds: dict[str, Any] = {str([r.evidence[name] for name in ("letters", "queries")]): r for r in records}
    if len(kinds) > 1:
        others = ", ".join(f"{record.lab}/{record.run}" for record in kinds.values())
        raise ValueError(f"records must be of the same queries, got {others}")


def bootstrap(found: Contrast, *, samples: int = SAMPLES, seed: int = 0) -> Array:
    """The mean in samples of seeds and of letters, each drawn with replacement and independently: (samples,)."""
    seeds, letters = found.sums.shape
    generator, means = np.random.default_rng(seed), []
    for size in np.diff(np.append(np.arange(0, samples, 1000), samples)):
        rows = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size)
        columns = generator.multinomial(letters, np.full(letters, 1 / letters), size)
        sums, counts = (((rows @ values) * columns).sum(1) for values in (found.sums, found.counts))
        means.append(sums / np.where(counts > 0, counts, np.nan))
    return np.concatenate(means)


def resolution(weights: Array) -> tuple[float, float]:
    """How much too small the bootstrap's variance of a weighted mean is, and its degrees of freedom.

    Of letters with the weights w, which add up to 1, and independent effects b of one variance σ², the mean Σwb has the
    variance σ²Σw². The bootstrap estimates it by Σw²(b − Σwb)², on average σ²(Σw² − 2Σw³ + (Σw²)²). Student's t takes
    1/Σw² − 1 degrees of freedom, the effective number of letters less one. Of n equal weights these are n/(n − 1) and
    n − 1.
    """
    square, cube = (float((weights**power).sum()) for power in (2, 3))
    return square / (square - 2 * cube + square**2), 1 / square - 1


def _spread(found: Contrast) -> tuple[float, float]:
    """The standard error of the mean and its degrees of freedom, by whichever there are fewer of: seeds or letters."""
    seeds, letters = found.sums.shape
    ways = [resolution(np.full(seeds, 1 / seeds))]
    if letters > 1:  # else only seeds were drawn
        ways.append(resolution(found.counts.sum(0) / found.counts.sum()))
    factor, freedom = max(way[0] for way in ways), min(way[1] for way in ways)
    return float(np.nanstd(bootstrap(found)) * math.sqrt(factor)), freedom


def judge(
    claims: Mapping[str, Sequence[Contrast]], *, family: int | None = None, alpha: float = ALPHA
) -> dict[str, Judgement]:
    """Judge the claims of a family, each a list of contrasts that must all be larger than their thresholds.

    The interval of a contrast is its mean ± t · standard error, with the degrees of freedom of `resolution`. Its level
    is Holm's: α/m for the clearest of m claims, α/(m − 1) for the next, and so on to the first that stays undecided,
    whose level the others share. `family` is m where more claims belong to it than have been tested. A claim is
    confirmed if all its parts are; to refute it one is enough, at the level divided by their number.
    """
    spreads = {name: [_spread(part) for part in parts] for name, parts in claims.items()}
    p = {name: _p(parts, spreads[name]) for name, parts in claims.items()}
    judged: dict[str, Judgement] = {}
    left, stopped = max(family or 0, len(claims)), False
    for name in sorted(claims, key=lambda name: p[name]):
        judged[name] = _judgement(claims[name], spreads[name], p[name], alpha / left)
        stopped |= judged[name].verdict == UNDECIDED
        left -= not stopped
    return {name: judged[name] for name in claims}


def _p(parts: Sequence[Contrast], spreads: Sequence[tuple[float, float]]) -> float:
    """The level from which on a claim is confirmed or refuted."""
    from scipy import stats

    scores = [
        (_in_units(part.mean - part.threshold, error), freedom)
        for part, (error, freedom) in zip(parts, spreads, strict=True)
    ]
    up = [2 * stats.t.sf(score, freedom) for score, freedom in scores]
    down = [2 * stats.t.cdf(score, freedom) for score, freedom in scores]
    return float(min(1.0, max(up), len(parts) * min(down)))


def _in_units(distance: float, unit: float) -> float:
    """The distance in units; without any spread, where the unit is 0, ±∞, or 0 for none."""
    return distance / unit if unit > 0 else math.copysign(math.inf, distance) if distance else 0.0


def _judgement(parts: Sequence[Contrast], spreads: Sequence[tuple[float, float]], p: float, level: float) -> Judgement:
    estimates, strict = (
        [_estimate(part, *spread, share) for part, spread in zip(parts, spreads, strict=True)]
        for share in (level, level / len(parts))
    )
    weakest, lowest = min(estimates, key=_above), min(strict, key=_above)
    if lowest.verdict == REFUTED:
        return Judgement(REFUTED, lowest, strict, p, 1 - level / len(parts))
    return Judgement(weakest.verdict if weakest.verdict == CONFIRMED else UNDECIDED, weakest, estimates, p, 1 - level)


def _above(estimate: Estimate) -> float:
    """How far above the threshold it lies, in half-widths: below 1 it is not confirmed."""
    return _in_units(estimate.mean - estimate.threshold, estimate.half_width)


def _estimate(part: Contrast, error: float, freedom: float, share: float) -> Estimate:
    from scipy import stats

    return Estimate(part.mean, float(stats.t.isf(share / 2, freedom) * error), part.threshold)
