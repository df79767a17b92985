"""Search, train and measure the arms of a protocol, each once.

Nothing here opens the held-out letters: :meth:`Campaign.measure` can work only within the command that does.
"""

import json
import statistics
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankedu.checks import did_you_mean
from ranklab.claims.protocol import CODES, RANDOM, Arm, Protocol, read_searches, with_needs
from ranklab.experiments import detection, hierarchical_retrieval, retrieval
from ranklab.experiments._minibatches import TEMPERATURE, batch_metrics, shares_of_batches
from ranklab.experiments._weights import keep_weights, kept_file
from ranklab.methods.space import as_parameters
from ranklab.runs.code import code_hash
from ranklab.runs.planning import Run, plan
from ranklab.runs.records import Record, collect_runs, flatten, keep_runs
from ranklab.runs.results import write_json
from ranklab.runs.search import search
from ranklab.runs.sweeps import SweepError, run_all

__all__ = ["TEMPERATURE", "Campaign"]

LABS: dict[str, Any] = {
    "retrieval": retrieval,
    "hierarchical_retrieval": hierarchical_retrieval,
    "detection": detection,
}
#: Items of all random batches of one size that are measured: small batches seldom hold a pair, so there must be many.
DRAWN = 200_000


class Campaign:
    """The runs of a protocol: searched, trained and, once the door is open, measured; each is done once.

    Runs go to `runs`; what is committed, the table of the records and what the searches chose, to `folder`; `how` goes
    to :func:`~ranklab.runs.sweeps.run_all`.
    """

    def __init__(self, protocol: Protocol, runs: Path, folder: Path, **how: Any) -> None:
        self.protocol, self.runs, self.folder, self.how = protocol, Path(runs).resolve(), Path(folder), how
        self._weights, self._table = self.runs / "weights", self.folder / protocol.records
        self.starts: list[str] = []
        self.chosen: dict[str, dict[str, Any]] = {}
        self.trained: dict[str, list[Run]] = {}
        self.failures: list[str] = []  #: runs that failed twice, and why

    def train(self, names: Sequence[str] | None = None) -> None:
        """Do the starts, then arm by arm the search and the runs of all seeds: of the arms named, or of the budget."""
        protocol = self.protocol
        ordered = with_needs((names or protocol.budget or protocol.arms), protocol.arms)
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
            write_json(self.folder / self.protocol.searches, record)

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
        folders = [self.runs / arm.lab / trial.run for trial in found.trials]
        seconds = sum(_json(folder / "manifest.json")["seconds"] for folder in folders)
        best = _json(self.runs / arm.lab / found.best.run / "result.json")["metrics"]
        return {
            "parameters": {**taken, **found.best.parameters},
            "value": found.best.value,
            "val": {name: value for name, value in flatten(best).items() if value == value},
            "spread": found.spread(),
            "trials": [{"point": trial.point, "value": trial.value} for trial in found.trials],
            "seconds": round(seconds, 1),
        }

    def measure(self) -> list[str]:
        """Measure every trained network on the held-out letters and keep the records; which were made now."""
        there = {record.run: record for record in collect_runs(self._table)[0]} if self._table.exists() else {}
        made = []
        for name, runs in self.trained.items():
            for run in runs:
                record = there.get(f"{name}-{run.parameters['seed']}")
                code = code_hash(CODES[run.lab])
                if record is None or (record.evidence["trained"], record.evidence["code"]) != (run.folder.name, code):
                    keep_runs([now := self.measured(name, run)], self._table)
                    made.append(now.run)
        return made

    def retrain(self, name: str) -> tuple[Record, Run]:
        """Train what a record tells of once more, its start included: the record, and the run that `measured` takes."""
        records = {record.run: record for record in collect_runs(self._table)[0]}
        if name not in records:
            raise ValueError(f"record {name!r} is unknown{did_you_mean(name, records)}; see {self._table}")
        was = records[name]
        arm = self.protocol.arms[was.evidence["arm"]]
        self.chosen = read_searches(self.protocol, self.folder)["arms"]
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
            outcome.metrics |= of_batches(outcome, arm.measure, run.parameters)
        manifest = _json(run.folder / "manifest.json")
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


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def of_batches(outcome: Any, sizes: Iterable[int], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Mean mAP of random batches, and P of batches as the training has them, of the sizes that the arm asks for.

    Each network has batches of its own: what the draw of the batches adds belongs to the spread over the seeds.
    """
    labels, seed = outcome.data.labels[:, -1], parameters["seed"]
    metrics: dict[str, float] = {}
    for size in sizes:
        drawn = batch_metrics(outcome.embeddings, labels, size, DRAWN // size, seed=seed)
        metrics[f"mAP of batches of {size}"] = float(drawn[:, 0].nanmean())
        shares = shares_of_batches(outcome.embeddings, labels, size, parameters, batches=100, seed=1 + seed)
        metrics[f"P of batches of {size}"] = statistics.fmean(shares)
    return metrics
