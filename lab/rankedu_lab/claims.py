"""Compute every interval and verdict of the claims page from `lab/records`: ``python -m rankedu_lab.claims``."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from scipy import stats

RECORDS = Path(__file__).resolve().parents[1] / "records"
SUPPORTED, CONTRADICTED, SMALL, OPEN = "supported", "contradicted", "too small to matter", "inconclusive"
BETTER, WORSE = "better", "worse"
ALPHA = 0.05
#: Of the long runs, by the rules of `long.md`; the last method was added when one split was known.
METHODS: tuple[str, ...] = ("rambo_log", "rambo_loglog", "rambo_ap", "smooth_ap", "fast_ap", "roadmap", "contrastive")
METHODS += ("normalized_softmax", "normalized_softmax_500")
SPLITS, FACTORS, STEPS, ENOUGH = 16, ("1", "0.3333", "3"), (0, 250, 1000, 2500), 4
ASKED = SPLITS * (2 + len(METHODS) * len(FACTORS))  #: two of each split are baselines


@dataclass(frozen=True)
class Result:
    """One difference in points, with the half-width of its interval at the level that Holm's correction gives it."""

    question: str
    claim: str
    condition: str
    metric: str
    first: bool  #: of the first round
    mean: float
    half: float
    level: float
    asked: float  #: what the difference must be larger than by the rule: 0, or −1 for "as good as"
    small: bool  #: two one-sided tests within ± delta

    @property
    def verdict(self) -> str:
        """The verdict on a claim that a paper makes."""
        if self.small and not self.asked:
            return SMALL
        if self.mean - self.half > self.asked:
            return SUPPORTED
        return CONTRADICTED if self.mean + self.half < self.asked else SMALL if self.small else OPEN

    @property
    def answer(self) -> str:
        """The answer to a question of ours, which no rule of a paper decides."""
        return SMALL if self.small else OPEN if abs(self.mean) <= self.half else BETTER if self.mean > 0 else WORSE

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.half:.2f}".replace("-", "−")


def read(name: str, folder: Path = RECORDS) -> list[dict[str, str]]:
    """Read the rows of a table."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def quotations(folder: Path = RECORDS) -> dict[str, dict[str, Any]]:
    """Read what the papers say, by the name of the claim."""
    return {one["id"]: one for one in yaml.safe_load((folder / "quotations.yaml").read_text(encoding="utf-8"))}


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Give each of a family its level: ALPHA/m for the smallest p, ALPHA/(m − 1) for the next, until one is above."""
    found: dict[str, float] = {}
    left, stopped = len(p), False
    for name in sorted(p, key=lambda name: p[name]):
        found[name] = ALPHA / left
        stopped |= p[name] > found[name]
        left -= not stopped
    return found


def moments(row: Mapping[str, str], runs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Compute the mean, its standard error and its degrees of freedom, which the first round has from a bootstrap."""
    values, weights = np.array(runs).T
    mean = float(np.average(values, weights=weights))
    if row["error"]:
        return mean, float(row["error"]), float(row["freedom"])
    parts = [(float(values.var(ddof=1)) / len(values), len(values) - 1.0)]
    if row["letters_variance"]:
        parts.append((float(row["letters_variance"]), float(row["letters_freedom"])))
    variance = sum(part for part, _ in parts)
    return mean, variance**0.5, variance**2 / sum(part**2 / free for part, free in parts)


def results(folder: Path = RECORDS) -> list[Result]:
    """Compute the answer to each question that has runs; a family counts its unanswered questions, too."""
    runs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in read("claims_differences", folder):
        runs[row["question"]].append((float(row["difference"]), float(row["weight"])))
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in read("claims_questions", folder):
        families[f"{row['round']} {row['family']}"].append(row)
    return [one for rows in families.values() for one in _of_family(rows, runs)]


def _of_family(rows: list[dict[str, str]], runs: Mapping[str, list[tuple[float, float]]]) -> Iterator[Result]:
    of = {row["question"]: moments(row, runs[row["question"]]) for row in rows if row["question"] in runs}
    different = {row["question"]: 1.0 for row in rows}  # without runs
    equal = {row["question"]: 1.0 for row in rows if row["delta"]}
    for row in rows:
        if (name := row["question"]) in of:
            mean, error, freedom = of[name]
            different[name] = float(2 * stats.t.sf(abs(mean) / error, freedom))
            if row["delta"]:  # the larger of two one-sided tests
                equal[name] = float(stats.t.sf((float(row["delta"]) - abs(mean)) / error, freedom))
    levels, alike = holm(different), holm(equal)
    for row in rows:
        if (name := row["question"]) in of:
            mean, error, freedom = of[name]
            level = float(row["level"] or levels[name])
            half = float(np.hypot(stats.t.isf(level / 2, freedom) * error, float(row["search"] or 0)))
            about = name, row["claim"], row["condition"], row["metric"], row["round"] == "first"
            yield Result(*about, mean, half, level, float(row["asked"]), name in equal and equal[name] <= alike[name])


def shown(found: list[Result]) -> list[Result]:
    """Leave out what the first round says where a later round has an answer."""
    later = {(one.claim, one.condition) for one in found if not one.first}
    return [one for one in found if not one.first or (one.claim, one.condition) not in later]


@dataclass(frozen=True)
class Long:
    """What there is of the long runs: values[method][metric] has the shape (splits, steps), in points."""

    made: int  #: of ASKED runs
    splits: list[int]  #: in which all methods are done
    tuned: bool  #: whether the rate was chosen on `val` among three
    values: dict[str, dict[str, npt.NDArray[np.float64]]]
    baselines: dict[str, dict[str, float]]


def long_runs(folder: Path = RECORDS) -> Long:
    """Read the long runs: splits that have all rates if there are four, else those that have the rate found."""
    runs: dict[tuple[int, str, str], dict[int, dict[str, str]]] = defaultdict(dict)
    for row in read("long", folder):
        runs[int(row["split"]), row["method"], row["factor"]][int(row["step"])] = row
    there = sorted({split for split, _, _ in runs})

    def done(factors: tuple[str, ...]) -> list[int]:
        return [s for s in there if all((s, m, f) in runs for m in METHODS for f in factors)]

    tuned = len(done(FACTORS)) >= ENOUGH
    factors = FACTORS if tuned else FACTORS[:1]
    splits = done(factors)
    values: dict[str, dict[str, Any]] = {method: {} for method in METHODS}
    for method in METHODS:
        tried = [[runs[s, method, f] for f in factors if STEPS[-1] in runs[s, method, f]] for s in splits]
        best = [max(of, key=lambda run: float(run[STEPS[-1]]["val map@r"])) for of in tried]
        for metric in ("recall@1", "map@r"):
            values[method][metric] = np.array([[100 * float(run[n][f"test {metric}"]) for n in STEPS] for run in best])
    baselines = {
        metric: {
            b: float(np.mean([100 * float(runs[s, b, "0"][0][f"test {metric}"]) for s in splits]))
            for b in ("untrained", "start")
        }
        for metric in ("recall@1", "map@r")
    }
    return Long(len(runs), splits, tuned, values, baselines)


def main() -> None:
    """Print a line for each answer."""
    papers = quotations()
    for one in shown(results()):
        said = one.verdict if papers[one.claim]["in_paper"] == "yes" else f"{one.answer} (a question of ours)"
        print(f"{one.question}: {one} ({1 - one.level:.1%}): {said}")


if __name__ == "__main__":
    main()
