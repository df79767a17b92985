"""What the runs of a protocol would take, by the time that such runs took."""

import statistics
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranklab.claims.protocol import Protocol
from ranklab.runs.planning import plan
from ranklab.runs.records import collect_runs

#: Networks whose runs tell how long others take.
SMALL = ("convnet", "narrow")


@dataclass(frozen=True)
class Cost:
    """What an arm would take."""

    arm: str
    runs: int
    steps: int  #: of one run
    hours: float  #: core-hours of all


def costs(protocol: Protocol, table: Path) -> list[Cost]:
    """Estimate by the seconds a step, for a picture in the batch, that the runs of a table took; the start first."""
    first = next(iter(protocol.arms.values()))
    device = plan(first.lab, preset=protocol.preset(first)).parameters["device"]
    rates = _rates(table, {arm.lab for arm in protocol.arms.values()}, gpu=device != "cpu")
    if not rates:
        raise ValueError(f"the scale {protocol.scale!r} can't be estimated: no run was measured on its kind of machine")
    typical = statistics.median(rates.values())

    def cost(arm: str, method: str, runs: int, given: Mapping[str, Any]) -> Cost:
        seconds = given["steps"] * given["batch_size"] * rates.get(method, typical)
        return Cost(arm, runs, given["steps"], runs * seconds / 3600)

    made = []
    if protocol.starts:
        start = plan("retrieval", preset=protocol.presets["start"]).parameters
        made.append(cost("start", "normalized_softmax", protocol.starts, start))
    for arm in protocol.arms.values():
        base = plan(arm.lab, preset=protocol.preset(arm)).parameters
        sizes = {name: round(base[name] * factor) for name, factor in arm.times.items() if name in base}
        made.append(cost(arm.name, arm.method, protocol.seeds + arm.searched * protocol.trials, {**base, **sizes}))
    return made


def _rates(table: Path, labs: Collection[str], *, gpu: bool) -> dict[str, float]:
    """Seconds a picture and step by the method, of whole runs of the small networks on one core, or one GPU."""
    found: dict[str, list[float]] = {}
    for record in collect_runs(table)[0]:
        given = record.parameters
        alike = record.lab in labs and given["model"] in SMALL and (record.machine.get("device") != "CPU") == gpu
        if alike and record.seconds and given["steps"]:
            found.setdefault(given["loss"], []).append(record.seconds / given["steps"] / given["batch_size"])
    return {method: statistics.median(values) for method, values in found.items()}
