"""What is to be said of the claims, by their records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ranklab.claims.protocol import JUDGED, Claim, Protocol, read_searches
from ranklab.runs.judging import Contrast, Judgement, contrast, judge, milder
from ranklab.runs.records import Record, collect_runs
from ranklab.runs.selection import admit


@dataclass(frozen=True)
class Verdicts:
    """What is to be said of the claims of a scale."""

    judged: Mapping[str, Judgement]  #: by the id of the claim; those that could be judged
    contrasts: Mapping[str, list[Contrast]]  #: what the parts of their rules compare, letter by letter
    left_out: list[str]  #: records of other code, split or salt, and why


def verdicts(claims: Sequence[Claim], protocol: Protocol, folder: Path) -> Verdicts:
    """Judge the claims whose records are there for all seeds; each family with as many claims as can be tested.

    The folder holds the table of the records and what the searches chose; records of other code than the searches'
    are left out, whatever the code is today.
    """
    table = folder / protocol.records
    if not table.exists():
        return Verdicts({}, {}, [])
    chosen = read_searches(protocol, folder)
    found, left_out = collect_runs(table)
    kept: list[Record] = []
    for lab, wanted in JUDGED.items():
        admitted, others = admit([record for record in found if record.lab == lab], code=chosen["code"], **wanted)
        kept += admitted
        left_out += others
    by_arm = {
        name: sorted((r for r in kept if r.evidence["arm"] == name), key=lambda record: record.parameters["seed"])
        for name in protocol.arms
    }
    whole = {name: of_arm for name, of_arm in by_arm.items() if len(of_arm) == protocol.seeds}
    ready = [claim for claim in claims if claim.parts and all(name in whole for name in claim.arms)]
    compared = {one.id: [_contrast(part, one.threshold, whole, chosen["arms"]) for part in one.parts] for one in ready}
    judged: dict[str, Judgement] = {}
    for family in dict.fromkeys(claim.family for claim in ready):
        parts = {claim.id: compared[claim.id] for claim in ready if claim.family == family}
        judged |= judge(parts, family=sum(claim.family == family and bool(claim.parts) for claim in claims))
    return Verdicts(judged, compared, left_out)


def _contrast(
    part: Mapping[str, Any], threshold: float, records: Mapping[str, Sequence[Record]], chosen: Mapping[str, Any]
) -> Contrast:
    """What a part of a rule compares, as sums over letters; of measures of a whole network, over the networks."""
    if "of" in part:
        first, second = part["metrics"]
        return _of_networks(records[part["of"]], first, records[part["of"]], second, threshold)
    if "milder" in part:
        return milder(records[part["plus"]], records[part["milder"]], threshold)
    if "slope" in part:
        values = np.array([float(value) for value in part["slope"]])
        factors = (values - values.mean()) / np.square(values - values.mean()).sum()
        terms = zip(factors.tolist(), part["slope"].values(), strict=True)
        return contrast([(factor, records[arm], part["metric"]) for factor, arm in terms], threshold)
    metric, others = part["metric"], part["minus"]
    best = max(others, key=lambda name: _on_val(chosen[name]["val"], metric)) if len(others) > 1 else others[0]
    plus, minus = records[part["plus"]], records[best]
    if plus[0].lab == "detection":  # AP50 is of all scenes at once
        return _of_networks(plus, metric, minus, metric, threshold)
    return contrast([(1.0, plus, metric), (-1.0, minus, metric)], threshold)


def _on_val(metrics: Mapping[str, float], metric: str) -> float:
    """A metric that a record counts from its hits has a level in its name where there are several."""
    return metrics[metric] if metric in metrics else metrics[f"{metric} of characters"]


def _of_networks(plus: Sequence[Record], first: str, minus: Sequence[Record], other: str, threshold: float) -> Contrast:
    """The difference of two measures of whole networks, seed by seed."""
    found = np.array([[r.metrics[first] for r in plus], [r.metrics[other] for r in minus]], dtype=float)
    return Contrast((found[0] - found[1])[:, None], np.ones((len(plus), 1)), threshold)
