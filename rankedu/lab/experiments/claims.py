"""The claims of the papers as runs: what is searched, trained and compared for each, and what is to be said of it.

Nothing here opens the held-out letters: :func:`measure` can work only within the command that does.
"""

from __future__ import annotations

import json
import re
import statistics
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankedu._validation import did_you_mean
from rankedu.lab.experiments import detection, hierarchical_retrieval, retrieval
from rankedu.lab.experiments._experiment import CODE
from rankedu.lab.experiments._minibatches import TEMPERATURE, batch_metrics, pairs_with_gradient
from rankedu.lab.experiments._weights import keep_weights, kept_file
from rankedu.lab.methods.space import as_parameters, space_of
from rankedu.lab.runs.code import code_hash
from rankedu.lab.runs.folders import find_labs
from rankedu.lab.runs.judging import Contrast, Judgement, contrast, judge, milder
from rankedu.lab.runs.planning import Run, plan
from rankedu.lab.runs.records import Record, collect_runs, flatten, keep_runs
from rankedu.lab.runs.results import write_json
from rankedu.lab.runs.search import Between, search
from rankedu.lab.runs.selection import admit
from rankedu.lab.runs.sweeps import SweepError, run_all
from rankedu.lab.training.samplers import ClassBalancedSampler

__all__ = ["Arm", "Campaign", "Claim", "Protocol", "Verdicts", "costs", "read_claims", "read_protocol", "verdicts"]

LABS: dict[str, Any] = {
    "retrieval": retrieval,
    "hierarchical_retrieval": hierarchical_retrieval,
    "detection": detection,
}
#: By which metric an arm is chosen, unless it says so itself.
CHOOSE = {"retrieval": "mAP@R", "hierarchical_retrieval": "H-AP", "detection": "AP50"}
#: By whose code the runs of a lab are known.
CODES = {"retrieval": CODE, "hierarchical_retrieval": CODE, "detection": detection.CODE}
#: Networks whose runs tell how long others take.
SMALL = ("convnet", "narrow")
RANDOM = "random"
#: What was found by all searches, beside the records.
CHOSEN = "chosen.json"
#: Of the records that may judge; scenes are drawn and not dealt, so that they have no salt.
JUDGED = {"train_split": "fit", "test_split": "held_out", "salt": "claims"}
JUDGED_SCENES = {"test_split": "held_out"}
#: Random batches of each size that are measured.
BATCHES = 100


@dataclass(frozen=True)
class Claim:
    """A claim, with its rule, and the parts of the rule as the plan has them; or what is missing to test it."""

    id: str
    family: str
    source: str
    claim: str
    experiment: str
    rule: str
    parts: tuple[Mapping[str, Any], ...] = ()
    missing: str = ""

    @property
    def threshold(self) -> float:
        """What the difference must be larger than, by the rule."""
        found = re.search(r"larger than (0|-1 point)\b", self.rule)
        if found is None:
            raise ValueError(f"rule of {self.id} must say what the difference is larger than, got {self.rule!r}")
        return 0.0 if found[1] == "0" else -0.01

    @property
    def arms(self) -> list[str]:
        """The arms that its parts compare."""
        names: list[str] = []
        for part in self.parts:
            names += [part[key] for key in ("plus", "milder", "of") if key in part]
            names += [*part.get("minus", ()), *part.get("slope", {}).values()]
        return list(dict.fromkeys(names))


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: a method with what is held, searched for and taken over."""

    name: str
    method: str
    lab: str
    choose: str
    hold: Mapping[str, Any] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)
    like: str = ""
    search: tuple[str, ...] = ()
    after: str = ""
    measure: tuple[int, ...] = ()

    @property
    def needs(self) -> list[str]:
        """Arms that come before."""
        return [name for name in (self.like, self.after) if name not in ("", RANDOM)]

    @property
    def searched(self) -> bool:
        return not self.like or bool(self.search)

    @property
    def space(self) -> dict[str, Between]:
        """What is searched for."""
        space = space_of(self.method, without=[*self.hold])
        return {name: between for name, between in space.items() if name in (self.search or space)}


@dataclass(frozen=True)
class Protocol:
    """The arms of a scale, those that others need first."""

    scale: str
    presets: Mapping[str, str]
    trials: int
    seeds: int
    starts: int
    searching: int
    arms: Mapping[str, Arm]
    budget: tuple[str, ...] = ()  #: arms that are trained where none is named, in this order; all if empty

    def preset(self, arm: Arm) -> str:
        return self.presets[arm.lab]

    @property
    def code(self) -> str:
        """A hash of the code that makes its runs."""
        [module] = {CODES[arm.lab] for arm in self.arms.values()}
        return code_hash(module)

    def of(self, claims: Iterable[Claim]) -> list[Claim]:
        """The claims that compare its arms, and those that nothing can test."""
        return [claim for claim in claims if all(name in self.arms for name in claim.arms)]


def data_folder() -> Path:
    """`book/data` of the checkout."""
    return find_labs().parent.parent / "book" / "data"


def read_claims(folder: Path | None = None) -> list[Claim]:
    """Read `claims.yaml` and, for each claim, what `claims_plan.yaml` compares; ValueError for one without either."""
    folder = folder or data_folder()
    design = _yaml(folder / "claims_plan.yaml")
    claims = []
    for entry in _yaml(folder / "claims.yaml"):
        parts, missing = design["claims"].get(entry["id"], ()), design["missing"].get(entry["id"], "")
        if not parts and not missing:
            raise ValueError(f"claim {entry['id']!r} must have parts in claims_plan.yaml, or what is missing for it")
        claims.append(Claim(**entry, parts=tuple(parts), missing=missing))
    return claims


def read_protocol(scale: str = "cpu", folder: Path | None = None) -> Protocol:
    """Read the arms of `claims_plan.yaml`; ValueError for an unknown scale, or an arm that needs an unknown one."""
    design = _yaml((folder or data_folder()) / "claims_plan.yaml")
    if scale not in design["scales"]:
        raise ValueError(f"scale must be one of {', '.join(design['scales'])}, got {scale!r}")
    given = dict(design["scales"][scale])
    budget = tuple(given.pop("budget", ()))
    arms = {name: _arm(name, **entry) for name, entry in design["arms"].items()}
    ordered = {arm.name: arm for arm in _in_order(arms) if arm.lab in given["presets"]}
    return Protocol(scale, **given, arms=ordered, budget=budget)


def _arm(name: str, *, lab: str = "retrieval", letters: bool = False, **entry: Any) -> Arm:
    lab = "hierarchical_retrieval" if letters else lab
    lists = {key: tuple(entry.pop(key, ())) for key in ("search", "measure")}
    fields: dict[str, Any] = {"method": name, "lab": lab, "choose": CHOOSE[lab], **entry, **lists}
    return Arm(name, **fields)


def _in_order(arms: Mapping[str, Arm]) -> Iterator[Arm]:
    """Each after those that it needs."""
    done: set[str] = set()

    def visit(name: str) -> Iterator[Arm]:
        if name not in arms:
            raise ValueError(f"arm {name!r} is needed and not planned")
        if name not in done:
            done.add(name)
            for other in arms[name].needs:
                yield from visit(other)
            yield arms[name]

    for name in arms:
        yield from visit(name)


def _yaml(path: Path) -> Any:
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))


class Campaign:
    """The runs of a protocol: searched, trained and, once the door is open, measured; each is done once.

    Runs go to `runs`, and what is committed to `records`. `how` goes to :func:`~rankedu.lab.runs.sweeps.run_all`.
    """

    def __init__(self, protocol: Protocol, runs: Path, records: Path, **how: Any) -> None:
        self.protocol, self.runs, self.records, self.how = protocol, Path(runs).resolve(), Path(records), how
        self.starts: list[str] = []
        self.chosen: dict[str, dict[str, Any]] = {}
        self.trained: dict[str, list[Run]] = {}
        self.failures: list[str] = []  #: runs that failed twice, and why

    @property
    def _weights(self) -> Path:
        return self.runs / "weights"

    def train(self, names: Sequence[str] | None = None) -> None:
        """Do the starts, then arm by arm the search and the runs of all seeds: of the arms named, or of the budget."""
        protocol = self.protocol
        ordered = _with_needs((names or protocol.budget or protocol.arms), protocol.arms)
        self._begin()
        for arm in (protocol.arms[name] for name in ordered):
            self.chosen[arm.name] = self._choose(arm)
            found = self.chosen[arm.name]["parameters"]
            try:
                self.trained[arm.name] = self._done(self._plan(arm, found, seed) for seed in range(protocol.seeds))
            except SweepError as error:  # a training that diverged: the other arms go on, the claim stays open
                self.trained[arm.name] = error.runs
                self.failures += [f"{arm.name}: seed {run.parameters['seed']}: {why}" for run, why in error.failures]
        if names is None:
            record = {"code": protocol.code, "starts": self.starts, "arms": self.chosen}
            write_json(self.records / CHOSEN, record)

    def _begin(self) -> None:
        preset, seeds = self.protocol.presets.get("start"), range(self.protocol.starts)
        begun = self._done(plan("retrieval", preset=preset, parameters={"seed": s}, runs=self.runs) for s in seeds)
        self.starts = [keep_weights(run.folder / "net.pt", self._weights, head=False) for run in begun]

    def _done(self, runs: Iterable[Run]) -> list[Run]:
        return run_all(list(runs), **self.how)

    def _given(self, arm: Arm, seed: int) -> dict[str, Any]:
        """What is not searched for: method, what is held, sizes, and the start of the seed."""
        base = plan(arm.lab, preset=self.protocol.preset(arm), runs=self.runs).parameters
        taken = self._taken(arm)
        sizes = {name: round(base[name] * factor) for name, factor in arm.times.items() if name not in taken}
        return {"loss": arm.method, **sizes, **arm.hold, "seed": seed, "weights": self._start(arm, seed)}

    def _taken(self, arm: Arm) -> dict[str, Any]:
        """The settings that were found for another arm, multiplied where this arm says so."""
        found = self.chosen[arm.like]["parameters"] if arm.like else {}
        return {name: value * arm.times[name] if name in arm.times else value for name, value in found.items()}

    def _start(self, arm: Arm, seed: int) -> str:
        if arm.after == RANDOM or not self.starts:
            return ""
        if not arm.after:
            return self.starts[seed % len(self.starts)]
        before = self.protocol.arms[arm.after]
        chosen = self.chosen[before.name]["parameters"]
        [run] = self._done([self._plan(before, chosen, seed)])
        return keep_weights(run.folder / "net.pt", self._weights)

    def _plan(self, arm: Arm, chosen: Mapping[str, Any], seed: int) -> Run:
        given = {**chosen, **self._given(arm, seed)}
        return plan(arm.lab, preset=self.protocol.preset(arm), parameters=given, runs=self.runs)

    def _choose(self, arm: Arm) -> dict[str, Any]:
        """What was found for an arm, its value on the validation split, the spread of the trials and their seconds."""
        taken = self._taken(arm)
        if not arm.searched:
            return {"parameters": taken, "seconds": 0.0}
        space = arm.space
        given = {**taken, **self._given(arm, self.protocol.searching)}
        given = {name: value for name, value in given.items() if name not in space}
        found = search(
            arm.lab,
            space,
            trials=self.protocol.trials,
            metric=arm.choose,
            as_parameters=as_parameters,
            preset=self.protocol.preset(arm),
            parameters=given,
            runs=self.runs,
            **self.how,
        )
        manifests = [self.runs / arm.lab / trial.run / "manifest.json" for trial in found.trials]
        seconds = sum(json.loads(path.read_text(encoding="utf-8"))["seconds"] for path in manifests)
        return {
            "parameters": {**taken, **found.best.parameters},
            "value": found.best.value,
            "spread": found.spread(),
            "trials": [{"point": trial.point, "value": trial.value} for trial in found.trials],
            "seconds": round(seconds, 1),
        }

    def measure(self) -> list[str]:
        """Measure every trained network on the held-out letters and keep the records; which were made now."""
        made = []
        for name, runs in self.trained.items():
            for run in runs:
                path = self.records / run.lab / f"{name}-{run.parameters['seed']}.json"
                if not _is_of(path, run):
                    keep_runs([self.measured(name, run)], self.records)
                    made.append(path.stem)
        return made

    def retrain(self, name: str) -> tuple[Record, Run]:
        """Train what a record tells of once more, its start included: the record, and the run that `measured` takes."""
        records = {record.run: record for record in collect_runs(self.records)[0]}
        if name not in records:
            raise ValueError(f"record {name!r} is unknown{did_you_mean(name, records)}; see {self.records}")
        was = records[name]
        arm = self.protocol.arms[was.evidence["arm"]]
        self.chosen = json.loads((self.records / CHOSEN).read_text(encoding="utf-8"))["arms"]
        self._begin()
        [run] = self._done([self._plan(arm, self.chosen[arm.name]["parameters"], was.parameters["seed"])])
        return was, run

    def measured(self, name: str, run: Run) -> Record:
        """Measure the network of a run of this arm on the held-out letters."""
        arm, weights = self.protocol.arms[name], keep_weights(run.folder / "net.pt", self._weights)
        start = str(kept_file(weights, self._weights)) if arm.lab == "detection" else weights
        changed = {"weights": start, "steps": 0, "test_split": "held_out"}
        with tempfile.TemporaryDirectory(dir=run.folder.parent) as folder:
            outcome = LABS[run.lab].run(run.parameters | changed, folder, progress=False)
        if arm.measure:
            outcome.metrics |= _of_batches(outcome, arm, run.parameters)
        manifest = json.loads((run.folder / "manifest.json").read_text(encoding="utf-8"))
        training = {name: run.result["evidence"][name] for name in ("start", "curve")}
        training |= {"arm": arm.name, "trained": run.folder.name, "network": weights}
        return Record(
            lab=run.lab,
            run=f"{arm.name}-{run.parameters['seed']}",
            preset=self.protocol.preset(arm),
            parameters=run.parameters | {"test_split": "held_out"},
            metrics={name: value for name, value in flatten(outcome.metrics).items() if value == value},
            seconds=manifest["seconds"],
            machine=run.result["machine"],
            versions=manifest["versions"],
            git=manifest["git"],
            started=manifest["started"],
            evidence=outcome.evidence | training,
        )


def _with_needs(names: Iterable[str], arms: Mapping[str, Arm]) -> list[str]:
    """Some arms in their order, each after those that it needs; ValueError for an unknown one."""
    found: list[str] = []
    for name in names:
        if name not in arms:
            raise ValueError(f"arm {name!r} is unknown{did_you_mean(name, arms)}; there are: {'; '.join(arms)}")
        found += [*_with_needs(arms[name].needs, arms), name]
    return list(dict.fromkeys(found))


def _is_of(path: Path, run: Run) -> bool:
    """Whether a record stands there, of this run and of the present code."""
    if not path.exists():
        return False
    found = json.loads(path.read_text(encoding="utf-8"))["evidence"]
    return bool(found["trained"] == run.folder.name and found["code"] == code_hash(CODES[run.lab]))


def _of_batches(outcome: Any, arm: Arm, parameters: Mapping[str, Any]) -> dict[str, float]:
    """Mean mAP of random batches, and P of batches as the training has them, of the sizes that the arm asks for."""
    labels = outcome.data.labels[:, -1]
    metrics: dict[str, float] = {}
    for size in arm.measure:
        drawn = batch_metrics(outcome.embeddings, labels, size, BATCHES)
        metrics[f"mAP of batches of {size}"] = float(drawn[:, 0].nanmean())
        sampler = ClassBalancedSampler(labels, size, parameters["per_class"], batches=BATCHES, seed=1)
        temperature = parameters["temperature"] or TEMPERATURE
        shares = [pairs_with_gradient(outcome.embeddings[batch], temperature) for batch in sampler]
        metrics[f"P of batches of {size}"] = statistics.fmean(shares)
    return metrics


@dataclass(frozen=True)
class Verdicts:
    """What is to be said of the claims of a scale."""

    judged: Mapping[str, Judgement]  #: by the id of the claim; those that could be judged
    hours: Mapping[str, float]  #: core-hours of all runs that the claim needs, which it may share with others
    left_out: list[str]  #: records of other code, split or salt, and why


def verdicts(claims: Sequence[Claim], protocol: Protocol, records: Path) -> Verdicts:
    """Judge the claims whose records are there for all seeds; each family with as many claims as can be tested."""
    if not (records / CHOSEN).exists():
        return Verdicts({}, {}, [])
    chosen = json.loads((records / CHOSEN).read_text(encoding="utf-8"))
    found, left_out = collect_runs(records)
    scenes = all(arm.lab == "detection" for arm in protocol.arms.values())
    kept, others = admit(found, code=chosen["code"], **(JUDGED_SCENES if scenes else JUDGED))
    by_arm = {
        name: sorted((r for r in kept if r.evidence["arm"] == name), key=lambda record: record.parameters["seed"])
        for name in protocol.arms
    }
    whole = {name: of_arm for name, of_arm in by_arm.items() if len(of_arm) == protocol.seeds}
    ready = [claim for claim in claims if claim.parts and all(name in whole for name in claim.arms)]
    judged: dict[str, Judgement] = {}
    for family in dict.fromkeys(claim.family for claim in ready):
        parts = {
            claim.id: [_contrast(part, claim.threshold, whole, chosen["arms"]) for part in claim.parts]
            for claim in ready
            if claim.family == family
        }
        judged |= judge(parts, family=sum(claim.family == family and bool(claim.parts) for claim in claims))
    hours = {claim.id: _hours(claim, whole, chosen["arms"]) for claim in ready}
    return Verdicts(judged, hours, [*left_out, *others])


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
    best = max(part["minus"], key=lambda name: chosen[name]["value"]) if len(part["minus"]) > 1 else part["minus"][0]
    plus, minus, metric = records[part["plus"]], records[best], part["metric"]
    if plus[0].lab == "detection":  # AP50 is of all scenes at once
        return _of_networks(plus, metric, minus, metric, threshold)
    return contrast([(1.0, plus, metric), (-1.0, minus, metric)], threshold)


def _of_networks(
    plus: Sequence[Record], first: str, minus: Sequence[Record], second: str, threshold: float
) -> Contrast:
    """The difference of two measures of whole networks, seed by seed."""
    found = np.array([[r.metrics[first] for r in plus], [r.metrics[second] for r in minus]], dtype=float)
    return Contrast((found[0] - found[1])[:, None], np.ones((len(plus), 1)), threshold)


def _hours(claim: Claim, records: Mapping[str, Sequence[Record]], chosen: Mapping[str, Any]) -> float:
    seconds = sum(chosen[name]["seconds"] + sum(r.seconds or 0.0 for r in records[name]) for name in claim.arms)
    return float(seconds / 3600)


@dataclass(frozen=True)
class Cost:
    """What an arm would take."""

    arm: str
    runs: int
    steps: int  #: of one run
    hours: float  #: core-hours of all


def costs(protocol: Protocol, records: Path) -> list[Cost]:
    """Estimate by the seconds a step, for a picture in the batch, that earlier runs took; the start first."""
    first = next(iter(protocol.arms.values()))
    device = plan(first.lab, preset=protocol.preset(first)).parameters["device"]
    rates = _rates(records, {arm.lab for arm in protocol.arms.values()}, gpu=device != "cpu")
    if not rates:
        raise ValueError(f"the scale {protocol.scale!r} can't be estimated: no run was measured on its kind of machine")
    made = []
    if protocol.starts:
        start = plan("retrieval", preset=protocol.presets["start"]).parameters
        made.append(("start", "normalized_softmax", protocol.starts, start))
    for arm in protocol.arms.values():
        base = plan(arm.lab, preset=protocol.preset(arm)).parameters
        sizes = {
            name: round(base[name] * factor) for name, factor in arm.times.items() if name in ("steps", "batch_size")
        }
        made.append((arm.name, arm.method, protocol.seeds + arm.searched * protocol.trials, {**base, **sizes}))
    typical = statistics.median(rates.values())
    return [
        Cost(
            name, runs, given["steps"], runs * given["steps"] * given["batch_size"] * rates.get(method, typical) / 3600
        )
        for name, method, runs, given in made
    ]


def _rates(records: Path, labs: Collection[str], *, gpu: bool) -> dict[str, float]:
    """Seconds a picture and step by the method, of whole runs of the small networks on one core, or one GPU."""
    found: dict[str, list[float]] = {}
    for record in collect_runs(records)[0]:
        parameters = record.parameters
        alike = record.lab in labs and parameters["model"] in SMALL and (record.machine.get("device") != "CPU") == gpu
        if alike and record.seconds and parameters["steps"]:
            found.setdefault(parameters["loss"], []).append(
                record.seconds / parameters["steps"] / parameters["batch_size"]
            )
    return {method: statistics.median(values) for method, values in found.items()}
