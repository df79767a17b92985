"""What the second round says: a mean over the deals for each question; a difference, an equality, both or neither."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranklab.claims.deals import ALSO, ROUNDS, Round, read_round
from ranklab.claims.spread import Mean, levels, mean_of_deals, say
from ranklab.runs.judging import of_letters
from ranklab.runs.packing import unpack
from ranklab.runs.records import Record, collect_runs

#: (arm, by what it was chosen) → deal → the record.
Records = Mapping[tuple[str, str], Mapping[int, Record]]


@dataclass(frozen=True)
class Answer:
    """Of one question, in points."""

    asked: str  #: what less what, in which metric
    mean: Mean
    by_deal: list[float]
    different: float  #: the level of the test of a difference, by Holm
    equal: float  #: and of the test of equality
    delta: float | None
    said: str


def networks(*tables: Path) -> Records:
    """The records of those tables that are there."""
    found: dict[tuple[str, str], dict[int, Record]] = {}
    for table in filter(Path.exists, tables):
        for record in collect_runs(table)[0]:
            for chosen in record.evidence["chosen"]:
                found.setdefault((record.evidence["arm"], chosen), {})[record.evidence["deal"]] = record
    return found


def all_answers(folder: Path) -> dict[str, dict[str, Answer]]:
    """Those of all rounds, by the designs and the records in a folder."""
    tables = [folder / f"claims_{name}.jsonl" for name in ROUNDS]
    told: dict[str, dict[str, Answer]] = {}
    for name in ROUNDS:
        told |= answers(read_round(folder, name), *tables)
    return told


def answers(design: Round, *tables: Path) -> dict[str, dict[str, Answer]]:
    """Answer the questions of each family whose arms are there in all deals; a family counts all of its questions."""
    records = networks(*tables)
    told: dict[str, dict[str, Answer]] = {}
    for family, questions in design.families.items():
        means = {
            name: _difference(one, records, design)
            for name, one in questions.items()
            if _is_there(one, records, design)
        }
        deltas = {name: design.delta.get(one.get("metric", "")) for name, one in questions.items()}
        apart = levels({name: means[name][0].p_different() if name in means else 1.0 for name in questions})
        alike = levels({n: means[n][0].p_equal(delta) if n in means else 1.0 for n, delta in deltas.items() if delta})
        told[family] = {}
        for name, (mean, by_deal) in means.items():
            tests: dict[str, Any] = {"different": apart[name], "equal": alike.get(name, 0.0), "delta": deltas[name]}
            told[family][name] = Answer(_asked(questions[name]), mean, by_deal, **tests, said=say(mean, **tests))
    return told


def _asked(question: Mapping[str, Any]) -> str:
    if "of" in question:
        return f"{question['of']}: {' − '.join(question['metrics'])}"
    minus = ("best of " if question["minus"][1:] else "") + ", ".join(question["minus"])
    return f"{question['metric']}: {question['plus']} − {minus}"


def _by(metric: str, arm: str, design: Round) -> str:
    """By what the networks of an arm are chosen for a question in this metric."""
    also = ALSO[design.known[arm].lab]
    return also if metric == also else design.known[arm].choose


def _is_there(question: Mapping[str, Any], records: Records, design: Round) -> bool:
    arms = [question["of"]] if "of" in question else [question["plus"], *question["minus"]]
    of_arms = (records.get((arm, _by(question.get("metric", ""), arm, design)), {}) for arm in arms)
    return all(len(of_deals) == design.deals for of_deals in of_arms)


def _difference(question: Mapping[str, Any], records: Records, design: Round) -> tuple[Mean, list[float]]:
    """The mean with its spread, and the differences of the deals, in points."""
    if "of" in question:
        arm = question["of"]
        of_deals = [records[arm, design.known[arm].choose][deal].metrics for deal in range(design.deals)]
        first, second = question["metrics"]
        values = [100 * (float(of[first] or 0.0) - float(of[second] or 0.0)) for of in of_deals]
        return mean_of_deals(values), values
    metric, values = question["metric"], []
    sums: dict[int, float] = {}
    counts: dict[int, float] = {}
    for deal in range(design.deals):
        rivals = [records[arm, _by(metric, arm, design)][deal] for arm in question["minus"]]
        minus = max(rivals, key=lambda record: record.evidence["val"][metric])
        plus = records[question["plus"], _by(metric, question["plus"], design)][deal]
        values.append(100 * (float(plus.metrics[metric] or 0.0) - float(minus.metrics[metric] or 0.0)))
        short = "R@1" if metric.startswith("R@1") else metric
        if short == "R@1" or short in plus.evidence["means"]:
            (ours, queries), (theirs, _) = of_letters(plus, short), of_letters(minus, short)
            for letter, total, count in zip(
                unpack(plus.evidence["letters"]).tolist(), 100 * (ours - theirs), queries, strict=True
            ):
                sums[letter] = sums.get(letter, 0.0) + float(total)
                counts[letter] = counts.get(letter, 0.0) + float(count)
    return mean_of_deals(values, [*sums.values()], [*counts.values()]), values


def as_text(told: Mapping[str, Mapping[str, Answer]]) -> str:
    """A line for each answer, with its interval at the level of the test of a difference."""
    lines = []
    for one in (one for of_family in told.values() for one in of_family.values()):
        difference = f"{one.mean.value:+.2f} ± {one.mean.half_width(one.different):.2f}"
        lines.append(f"{one.asked}: {difference} ({1 - one.different:.1%}): {one.said}")
    return "\n".join(lines) or "no question can be answered yet"
