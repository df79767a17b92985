"""Compute every interval and verdict of the claims page from `lab/records`: ``python -m rankedu_lab.claims``."""

import csv
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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
ORDER = (SUPPORTED, BETTER, CONTRADICTED, WORSE, SMALL, OPEN)
ALPHA = 0.05
#: Of the long runs, by the rules of `long.md`; a ninth method was added when one split was known.
EIGHT = (
    "rambo_log",
    "rambo_loglog",
    "rambo_ap",
    "smooth_ap",
    "fast_ap",
    "roadmap",
    "contrastive",
    "normalized_softmax",
)
LOG, SOFTMAX, NINTH = EIGHT[0], EIGHT[-1], "normalized_softmax_500"
METHODS, BASELINES = (*EIGHT, NINTH), ("untrained", "start")
SPLITS, FACTORS, WIDER, STEPS, ENOUGH = 16, ("1", "0.3333", "3"), ("1", "0.3333", "3", "9"), (0, 250, 1000, 2500), 4
ASKED = SPLITS * (len(BASELINES) + len(METHODS) * len(FACTORS)) + 8 * len(METHODS)  # the last for a fourth rate
COLUMNS = {"R@1": "recall@1", "mAP@R": "map@r"}  #: of a metric in their table
DELTA = {"R@1": 1.0, "mAP@R": 0.5}  #: differences matter from here on
GROUPS = {  #: what is compared at the last step: the first method minus the second
    "minus the recall loss (log)": [(method, LOG) for method in EIGHT[1:]],
    "normalised softmax minus this loss": [(SOFTMAX, method) for method in EIGHT[:-1]],
    "asked afterwards: softmax of 500 steps minus this loss": [(NINTH, method) for method in EIGHT],
}


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
    small: bool  #: certainly within ± delta

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


def holm(p: Mapping[Any, float]) -> dict[Any, float]:
    """Give each of a family its level: ALPHA/m for the smallest p, ALPHA/(m − 1) for the next, until one is above."""
    found: dict[Any, float] = {}
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


def shown(found: list[Result]) -> dict[str, list[Result]]:
    """Group the parts of each claim, and leave out what the first round says where a later round has an answer."""
    later = {(one.claim, one.condition) for one in found if not one.first}
    parts: dict[str, list[Result]] = defaultdict(list)
    for one in found:
        if not one.first or (one.claim, one.condition) not in later:
            parts[one.claim].append(one)
    return parts


def verdict(parts: Iterable[Result]) -> str:
    """Judge a claim, which needs all of its parts."""
    return max((one.verdict for one in parts), key=(SUPPORTED, SMALL, OPEN, CONTRADICTED).index)


def student(values: npt.NDArray[np.float64], metric: str, level: float = ALPHA) -> Result:
    """Compute Student's interval of the mean of differences, and whether all of it is within the limits."""
    mean, half = float(values.mean()), float(stats.t.isf(level / 2, len(values) - 1) * stats.sem(values))
    return Result("", "", "", metric, False, mean, half, level, 0.0, abs(mean) + half < DELTA[metric])


@dataclass(frozen=True)
class Long:
    """What there is of the long runs: values[metric][method] has the shape (splits, steps), in points."""

    made: int  #: of ASKED runs
    complete: int  #: splits that have all eight methods at all rates
    splits: list[int]  #: that the result is computed from
    rates: int  #: among which one was chosen on `val`
    largest: int  #: how often the largest rate was chosen
    values: dict[str, dict[str, npt.NDArray[np.float64]]]

    def at(self, method: str, metric: str = "R@1") -> float:
        """Return the mean of a method at the last step, or of a baseline at its only step."""
        return float(np.nanmean(self.values[metric][method][:, 0 if method in BASELINES else -1]))

    def answers(self, metric: str, group: str) -> dict[tuple[str, str], Result]:
        """Compare the methods of a group at the last step."""
        ends = {method: values[:, -1] for method, values in self.values[metric].items()}
        both = {(one, other): ends[one] - ends[other] for one, other in GROUPS[group]}
        both = {pair: values[~np.isnan(values)] for pair, values in both.items()}
        levels = holm({pair: float(stats.ttest_1samp(values, 0).pvalue) for pair, values in both.items()})
        return {pair: student(values, metric, levels[pair]) for pair, values in both.items()}


def long_runs(folder: Path = RECORDS, factors: tuple[str, ...] | None = None) -> Long:
    """Read the long runs: the splits that have these rates; all three if four splits have them, else the rate found."""
    runs: dict[tuple[int, str, str], dict[int, dict[str, str]]] = defaultdict(dict)
    for row in read("long", folder):
        runs[int(row["split"]), row["method"], row["factor"]][int(row["step"])] = row

    def done(factors: tuple[str, ...]) -> list[int]:
        return [s for s in range(SPLITS) if all((s, m, f) in runs for m in EIGHT for f in factors)]

    def chosen(split: int, method: str) -> Mapping[int, Mapping[str, str]]:
        if method in BASELINES:
            return runs[split, method, "0"]
        tried = [runs.get((split, method, factor), {}) for factor in rates]
        ended = [run for run in tried if STEPS[-1] in run and all(tried)]  # the others diverged
        return max(ended, key=lambda run: float(run[STEPS[-1]]["val map@r"]), default={})

    complete = done(FACTORS)
    rates = factors or (FACTORS if len(complete) >= ENOUGH else FACTORS[:1])
    splits = done(rates)
    values: dict[str, dict[str, Any]] = {metric: {} for metric in COLUMNS}
    for method in (*METHODS, *BASELINES):
        best = [chosen(split, method) for split in splits]
        for metric, name in COLUMNS.items():
            points = [[100 * float(run[n][f"test {name}"]) if n in run else np.nan for n in STEPS] for run in best]
            values[metric][method] = np.array(points)
    largest = sum(chosen(s, method).get(0, {}).get("factor") == rates[-1] for s in splits for method in METHODS)
    return Long(len(runs), len(complete), splits, len(rates), largest, values)


def main() -> None:
    """Print a line for each answer."""
    papers, long = quotations(), long_runs()
    for claim, parts in shown(results()).items():
        whole = f", claim {verdict(parts)}" if papers[claim]["in_paper"] == "yes" else ""
        for one in parts:
            print(f"{one.question}: {one} ({1 - one.level:.1%}): {one.verdict if whole else one.answer}{whole}")
    for metric, group in itertools.product(COLUMNS, GROUPS):
        for (method, other), one in long.answers(metric, group).items():
            print(f"{method} − {other}, {metric}, {len(long.splits)} splits: {one} ({1 - one.level:.1%}): {one.answer}")


if __name__ == "__main__":
    main()
