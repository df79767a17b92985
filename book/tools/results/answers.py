"""The sentences at the head of the page of the claims, in words of `book/data/claims_in_words.yml`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy import stats

from rankbook.kit.live import Live
from ranklab.claims import Claim, Verdicts, read_protocol
from ranklab.claims.answers import Answer, all_answers
from ranklab.claims.deals import ROUNDS, read_round
from ranklab.claims.spread import ABOVE, BELOW, EQUAL, FURTHER, OPEN, redrawn
from ranklab.models.convnet import ConvNet
from ranklab.runs.judging import resolution
from ranklab.runs.planning import plan
from tools.site.explorables import live_markup

WORDS = Path(__file__).resolve().parents[2] / "data" / "claims_in_words.yml"
Part = tuple[str, float, float, dict[str, Any]]  # of a rule: metric, mean and half-width in points, its runs
IS = {ABOVE: "is above", BELOW: "is below", EQUAL: "is level with", OPEN: "cannot be told from"}


@dataclass(frozen=True)
class Found:
    """Of one clause in one metric, in points."""

    plus: str
    minus: str
    metric: str
    mean: float
    half_width: float
    said: str
    first: bool  #: of the first round, widened by what another search would have changed
    row: str = ""  #: what is compared, in a few words
    #: What the picture judges again by fewer runs: `rankbook.claims.live.verdicts`.
    by_run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        return IS[self.said.removesuffix(f", {FURTHER}")]

    def __str__(self) -> str:
        less = ", less than matters" if self.said.endswith(FURTHER) else ""
        first = ", first round" if self.first else ""
        mean = f"{self.mean:+.2f}".replace("-", "−")
        return f"{self.metric} {mean}\u00a0±\u00a0{self.half_width:.2f}{less}{first}"


def topics(
    records: Path, claims: Sequence[Claim], said: Verdicts, chosen: Mapping[str, Any]
) -> dict[str, list[list[Found]]]:
    """What was found of each topic: of each of its clauses, the metrics in which it was asked.

    Of the first round it takes what was judged of the claims, and what the searches of its arms chose.
    """
    rounds, second = [read_round(records, name) for name in ROUNDS], all_answers(records)
    families = {family: questions for design in rounds for family, questions in design.families.items()}
    first = {one.id: list(_first(one, said, chosen, rounds[0].delta)) for one in claims if one.id in said.judged}
    told: dict[str, list[list[Found]]] = {}
    for topic in yaml.safe_load(WORDS.read_text(encoding="utf-8"))["topics"]:
        clauses = [list(_clause(clause, families, second, first)) for clause in topic["clauses"]]
        if there := [clause for clause in clauses if clause]:
            told[topic["topic"]] = there
    return told


def _clause(
    clause: Mapping[str, Any],
    families: Mapping[str, Any],
    second: Mapping[str, Mapping[str, Answer]],
    first: Mapping[str, list[Part]],
) -> Iterator[Found]:
    """In the metrics of the second round, or as the first one left it."""
    sides = clause["plus"], clause["minus"]
    asked = [(family, clause["second"]) for family in families if clause.get("second") in second[family]]
    for family, name in asked:
        answer = second[family][name]
        half = answer.mean.half_width(answer.different)
        metric = unit(families[family][name])
        row = f"{clause['row']}, {metric}" if len(asked) > 1 else clause["row"]
        of = {"values": answer.by_deal, "error": answer.mean.error, "freedom": answer.mean.freedom, "search": 0.0}
        of |= {"different": answer.different, "equal": answer.equal, "delta": answer.delta or 0.0}
        yield Found(*sides, metric, answer.mean.value, half, answer.said, first=False, row=row, by_run=of)
    if not asked and clause.get("first", [""])[0] in first:
        name, part = clause["first"]
        metric, mean, half, of = first[name][part]
        said = OPEN if abs(mean) <= half else ABOVE if mean > 0 else BELOW
        yield Found(*sides, metric, mean, half, said, first=True, row=clause["row"], by_run=of)


def _first(claim: Claim, said: Verdicts, chosen: Mapping[str, Any], deltas: Mapping[str, float]) -> Iterator[Part]:
    """Each part of a rule, with the spread of another search in its half-width."""
    judged = said.judged[claim.id]
    share = 1 - judged.level
    for part, one, compared in zip(claim.parts, judged.parts, said.contrasts[claim.id], strict=True):
        seeds, letters = compared.sums.shape
        ways = [np.full(seeds, 1 / seeds)] + [compared.counts.sum(0) / compared.counts.sum()] * (letters > 1)
        freedom = min(resolution(way)[1] for way in ways)
        values, half = 100 * compared.sums.sum(1) / compared.counts.sum(1), 100 * one.half_width
        error, search = half / float(stats.t.isf(share / 2, freedom)), 100 * (by_another_search(part, chosen) or 0.0)
        of = {"values": values.tolist(), "error": error, "freedom": freedom, "search": search}
        of |= {"different": share, "equal": share, "delta": deltas.get(unit(part), 0.0)}
        yield unit(part), 100 * one.mean, math.hypot(half, search), of


def live(clauses: Sequence[Sequence[Found]]) -> str:
    """All that was found, where a reader can try what would change it: HTML for a page beside the scripts."""
    shown = Live("verdicts")
    rows = [
        {"row": one.row, "plus": one.plus, "minus": one.minus, "metric": one.metric}
        | {name: _rounded(value) for name, value in one.by_run.items()}
        for clause in clauses
        for one in clause
    ]
    shown.start = {**shown.start, "rows": rows}
    return f"```{{raw}} html\n{live_markup(shown, '_static/')}\n```\n"


def _rounded(value: Any) -> Any:
    return [round(one, 4) for one in value] if isinstance(value, list) else float(f"{value:.6g}")


def sentences(told: Mapping[str, list[list[Found]]], records: Path) -> str:
    """The conditions, what the verbs mean, and a line of Markdown for each topic."""
    about, words = _conditions(records), yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    lines = [words["lead"].format(**about), "", words["legend"], ""]
    for topic, clauses in told.items():
        heads = [clause[0].plus for clause in clauses]
        said = "; ".join(
            f"{'it' if head == before else head} {_said(clause)}"
            for clause, head, before in zip(clauses, heads, ["", *heads], strict=False)
        )
        lines.append(f"1. **{topic.format(**about)}.** {said[:1].upper()}{said[1:]}.")
    return "\n".join([*lines, ""])


def _conditions(records: Path) -> dict[str, int]:
    """What all trainings have in common."""
    design, scenes = read_round(records), read_protocol("detection", records)
    of = plan("retrieval", preset=design.presets["retrieval"]).parameters
    steps = plan("detection", preset=scenes.presets["detection"]).parameters["steps"]
    weights = sum(weight.numel() for weight in ConvNet(of["dim"]).parameters())
    return {"weights": weights, "scene_steps": steps, **{name: of[name] for name in ("steps", "batch_size")}}


def _said(clause: list[Found]) -> str:
    """What is said of the first side in each metric; metrics with the same answer together."""
    by_verb: dict[str, list[Found]] = {}
    for one in clause:
        by_verb.setdefault(one.verb, []).append(one)
    sides = [clause[0].minus, *["it"] * len(by_verb)]
    return " and ".join(
        f"{verb} {side} ({', '.join(map(str, of))})" for (verb, of), side in zip(by_verb.items(), sides, strict=False)
    )


def by_another_search(part: Mapping[str, Any], chosen: Mapping[str, Any]) -> float | None:
    """Twice the standard deviation of a difference, on `val`, if the trials of both sides were drawn anew.

    None where the sides are no two searches, or there are no trials.
    """
    if "plus" not in part or "minus" not in part:
        return None
    metric = part["metric"]
    best = max(part["minus"], key=lambda name: chosen[name].get("val", {}).get(metric, chosen[name].get("value", 0.0)))
    sides = [chosen[name].get("trials") for name in (part["plus"], best)]
    if not all(sides):
        return None
    return 2 * math.hypot(*(redrawn([trial["value"] for trial in trials]) for trials in sides))


def unit(part: Mapping[str, Any]) -> str:
    """What a part of a rule, or a question, is measured in."""
    if "of" in part:
        return str(part["metrics"][0]).partition(" of batches")[0]
    if "milder" in part:
        return "levels in common"
    return f"{part['metric']}, for one more α" if "slope" in part else str(part["metric"])
