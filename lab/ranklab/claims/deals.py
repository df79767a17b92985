"""The second round: every arm is searched for in each deal of the letters, and the network it finds is judged.

A deal has letters, a start, a seed and scrambles of its own: two deals have nothing in common but the characters.
Trainings are done here and not by notebooks, which takes a third of the time.
"""

import hashlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from ranklab.claims.protocol import RANDOM, Arm, read_arms, with_needs
from ranklab.experiments import hierarchical_retrieval, retrieval
from ranklab.experiments._experiment import CODE
from ranklab.experiments._minibatches import TEMPERATURE, batch_metrics, shares_of_batches
from ranklab.experiments._weights import keep_weights
from ranklab.methods.space import as_parameters
from ranklab.runs.code import code_hash
from ranklab.runs.parameters import check_known
from ranklab.runs.planning import plan
from ranklab.runs.records import Record, collect_runs, flatten, keep_runs
from ranklab.runs.results import write_json
from ranklab.runs.runner import git_revision, versions
from ranklab.runs.search import CHOOSING, Between, draw
from ranklab.training import pick_device

__all__ = ["DEFAULT", "ROUNDS", "TEMPERATURE", "Deals", "Round", "read_round"]

#: In the order in which they were designed: the later ones may ask about arms of those before.
ROUNDS = ("deals", "since")
LABS: dict[str, Any] = {"retrieval": retrieval, "hierarchical_retrieval": hierarchical_retrieval}
#: Items of all random batches of one size that are measured: small batches seldom hold a pair, so there must be many.
DRAWN = 200_000
#: By what a network is chosen too, beside the metric of its arm; and the name of the one with the preset's settings.
ALSO = {"retrieval": "R@1", "hierarchical_retrieval": "R@1 of characters"}
DEFAULT = "default"
#: A box is widened, by a half of its width at both ends, where the best of more than a quarter of the deals lie within
#: a tenth of one edge. The ends of a box that is not logarithmic are those of what is meant, as 0 is for a margin.
NEAR, MANY, WIDER = 0.1, 0.25, 0.5


@dataclass(frozen=True)
class Round:
    """What is searched, trained and compared, and which differences matter."""

    deals: int
    trials: int  #: for each setting that is searched for
    presets: Mapping[str, str]
    arms: Mapping[str, Arm]  #: in the order in which they are done
    delta: Mapping[str, float]  #: in points, by the metric
    families: Mapping[str, Any]  #: questions by their names
    before: Mapping[str, Arm] = field(default_factory=dict)  #: arms of the round before, which questions may name

    @property
    def known(self) -> Mapping[str, Arm]:
        """The arms that questions may name."""
        return {**self.before, **self.arms}


def read_round(folder: Path, name: str = ROUNDS[0]) -> Round:
    """Read the design of a round; one that comes `after` another has all that it does not say itself from it."""
    import yaml

    check_known("round", name, ROUNDS)
    design = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
    design["arms"] = read_arms(design["arms"])
    if after := design.pop("after", ""):
        base = read_round(folder, after)
        return replace(base, **design, before=base.known)
    return Round(**design)


class Deals:
    """The searches of a round, in a folder each deal, with a file each arm; each is done once."""

    def __init__(self, design: Round, runs: Path, *, workers: int = 2, device: str = "cpu") -> None:
        self.design, self.runs, self.workers = design, Path(runs).resolve(), workers
        self.device = str(pick_device(device))
        self.weights = self.runs / "weights"

    def run(self, done: Mapping[str, Mapping[int, Record]] | None = None) -> Iterator[Arm]:
        """Do the arms in order, but for those that are done, by the records of what was chosen in each deal.

        What an arm needs of these is trained again, with the settings that were chosen.
        """
        done = done or {}
        for arm in self.design.arms.values():
            if arm.name not in done:
                for name in with_needs([arm.name], self.design.arms):
                    if name in done:
                        self._train_again(self.design.arms[name], done[name])
                    else:
                        self._do(self.design.arms[name])
                yield arm

    def _train_again(self, arm: Arm, done: Mapping[int, Record]) -> None:
        todo = [deal for deal in done if not self._path(arm.name, deal).exists()]
        self._in_deals(self.again, arm, todo, [done[deal] for deal in todo])

    def again(self, arm: Arm, deal: int, record: Record) -> None:
        """Train with the settings of a record; keep them, and the network, as what was chosen by the arm's metric."""
        names = set(self._taken(arm, deal))
        if space := arm.space if arm.searched else {}:
            names |= as_parameters(draw(space, 1)[0], self._parameters(arm, {})).keys()
        here = {"weights": self._start(arm, deal), "device": self.device, "test_split": CHOOSING}
        with self._folder() as folder:
            outcome = LABS[arm.lab].run(record.parameters | here, folder, progress=False)
            outcome.close()
            network = keep_weights(Path(folder) / "net.pt", self.weights)
        found: dict[str, Any] = {"arm": arm.name, "deal": deal, "code": f"not searched, by the record {record.run}"}
        found["networks"] = {arm.choose: network}
        found["settings"] = {arm.choose: {name: record.parameters[name] for name in sorted(names)}}
        found["val"] = {"then": record.evidence["val"][arm.choose], "now": flatten(outcome.metrics)[arm.choose]}
        write_json(self._path(arm.name, deal), found)

    def _do(self, arm: Arm) -> None:
        """Search for an arm in all deals, with a wider box once more where too many ended at an edge."""
        self._search_all(arm)
        if crowding := self._crowded(arm):
            write_json(self.runs / "wider" / f"{arm.name}.json", crowding)
            self._search_all(arm)

    def space(self, arm: Arm) -> dict[str, Between]:
        """What is searched for, as wide as it is by now."""
        space, wider = arm.space if arm.searched else {}, self.runs / "wider" / f"{arm.name}.json"
        names = json.loads(wider.read_text(encoding="utf-8")) if wider.exists() else []
        return {name: widened(between) if name in names else between for name, between in space.items()}

    def _search_all(self, arm: Arm) -> None:
        self._in_deals(self.search, arm, [deal for deal in range(self.design.deals) if not self._is_done(arm, deal)])

    def _in_deals(self, work: Callable[..., None], arm: Arm, deals: list[int], *more: list[Any]) -> None:
        with ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"), initializer=_alike) as pool:
            list(pool.map(work, [arm] * len(deals), deals, *more))

    def _is_done(self, arm: Arm, deal: int) -> bool:
        if not self._path(arm.name, deal).exists():
            return False
        found = self.read(arm.name, deal)
        return bool(found["code"] == code_hash(CODE) and found["space"] == _bounds(self.space(arm)))

    def _crowded(self, arm: Arm) -> list[str]:
        """The settings whose boxes are to be widened; none of a box that was."""
        if (self.runs / "wider" / f"{arm.name}.json").exists():
            return []
        of_deals = [self.read(arm.name, deal) for deal in range(self.design.deals)]
        best = [found["trials"][found["chosen"][arm.choose]]["point"] for found in of_deals]
        return crowded(self.space(arm), best)

    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        """A folder of a run, whose weights are looked for in the folder above its parent."""
        (parent := self.runs / "now").mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=parent)

    def _path(self, arm: str, deal: int) -> Path:
        return self.runs / f"deal-{deal:02d}" / f"{arm}.json"

    def read(self, arm: str, deal: int) -> dict[str, Any]:
        """What the search of an arm in a deal found."""
        return dict(json.loads(self._path(arm, deal).read_text(encoding="utf-8")))

    def search(self, arm: Arm, deal: int) -> None:
        """Train at all points and with the preset's settings; keep the values on `val`, and the networks chosen."""
        self._path(arm.name, deal).parent.mkdir(parents=True, exist_ok=True)
        space, taken = self.space(arm), self._taken(arm, deal)
        base = self._parameters(arm, {**taken, **self._given(arm, deal)})
        scramble = int.from_bytes(hashlib.sha256(f"{deal} {arm.name}".encode()).digest()[:4], "big")
        points = draw(space, self.design.trials * len(space), scramble) if space else [{}]
        settings = [as_parameters(point, base) for point in points]
        with_default = bool(space) and not arm.like
        asked = [base | new for new in settings] + [base] * with_default
        metrics = (arm.choose, ALSO[arm.lab])
        trials: list[dict[str, Any]] = []
        chosen: dict[str, int] = {}
        networks: dict[str, str] = {}
        for number, parameters in enumerate(asked):
            trial: dict[str, Any] = {"point": points[number] if number < len(points) else DEFAULT}
            trials.append(trial)
            began = time.perf_counter()
            with self._folder() as folder:
                try:
                    outcome = LABS[arm.lab].run(parameters, folder, progress=False)
                except (ArithmeticError, RuntimeError, ValueError) as error:  # a training that diverged
                    trial["error"] = f"{type(error).__name__}: {error}"
                    continue
                outcome.close()
                trial["val"] = {name: value for name, value in flatten(outcome.metrics).items() if value == value}
                trial["curve"] = outcome.evidence["curve"]["loss"]
                trial["seconds"] = round(time.perf_counter() - began, 1)
                better = (
                    [DEFAULT] if trial["point"] == DEFAULT else [m for m in metrics if _above(trial, trials, chosen, m)]
                )
                if better:
                    chosen |= dict.fromkeys(better, number)
                    networks |= dict.fromkeys(better, keep_weights(Path(folder) / "net.pt", self.weights))
        found = {"arm": arm.name, "deal": deal, "code": code_hash(CODE), "space": _bounds(space)}
        found |= {"chosen": chosen, "networks": networks, "trials": trials}
        found["parameters"] = {metric: asked[number] for metric, number in chosen.items()}
        found["settings"] = {
            metric: {name: asked[chosen[metric]][name] for name in {*taken, *settings[chosen[metric]]}}
            for metric in metrics
        }
        write_json(self._path(arm.name, deal), found)

    def _parameters(self, arm: Arm, given: Mapping[str, Any]) -> dict[str, Any]:
        given = {**given, "device": self.device}
        return plan(arm.lab, preset=self.design.presets[arm.lab], parameters=given, runs=self.runs).parameters

    def _given(self, arm: Arm, deal: int) -> dict[str, Any]:
        """What is not searched for: method, sizes, what is held, letters, seed and start."""
        base = self._parameters(arm, {})
        sizes = {name: round(base[name] * factor) for name, factor in arm.times.items()}
        own = {"loss": arm.method, "seed": deal, "salt": _salt(deal), "weights": self._start(arm, deal)}
        return as_parameters({**own, **sizes, **arm.hold}, base)

    def _taken(self, arm: Arm, deal: int) -> dict[str, Any]:
        """The settings that were found for another arm in this deal, but for what is searched for again."""
        found = self.read(arm.like, deal)["settings"][arm.choose] if arm.like else {}
        return {name: value for name, value in found.items() if name not in arm.search}

    def _start(self, arm: Arm, deal: int) -> str:
        if arm.after == RANDOM:
            return ""
        if arm.after:
            return str(self.read(arm.after, deal)["networks"][arm.choose])
        if not self._path("start", deal).exists():
            given = {"seed": deal, "salt": _salt(deal), "device": self.device}
            planned = plan("retrieval", preset=self.design.presets["start"], parameters=given, runs=self.runs)
            with self._folder() as folder:
                LABS["retrieval"].run(planned.parameters, folder, progress=False).close()
                name = keep_weights(Path(folder) / "net.pt", self.weights, head=False)
            write_json(self._path("start", deal), {"start": name})
        return str(self.read("start", deal)["start"])

    def measure(self, arm: Arm, table: Path) -> int:
        """Measure those networks of an arm that were not yet; the held-out letters must be open. How many records."""
        kept = collect_runs(table)[0] if table.exists() else []
        there = {record.evidence["network"] for record in kept if record.evidence["arm"] == arm.name}
        records = [record for deal in range(self.design.deals) for record in self.records_of(arm, deal, there)]
        keep_runs(records, table)
        self._keep_trials(arm, table.with_name(table.stem.replace("claims", "trials") + ".json"))
        return len(records)

    def _keep_trials(self, arm: Arm, file: Path) -> None:
        """Beside the table: by deal the boxes, the points that were tried, what they reached on `val`, the choice."""
        there = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        there[arm.name] = []
        for deal in range(self.design.deals):
            found, metrics = self.read(arm.name, deal), (arm.choose, ALSO[arm.lab])
            trials = [
                {"point": one["point"], **{name: one.get("val", {}).get(name) for name in metrics}}
                for one in found["trials"]
            ]
            there[arm.name].append({"space": found["space"], "chosen": found["chosen"], "trials": trials})
        write_json(file, there)

    def search_with_needs(self, arm: Arm, deal: int) -> None:
        """Search an arm in one deal, and before it the arms that it needs."""
        for name in with_needs([arm.name], self.design.arms):
            self.search(self.design.arms[name], deal)

    def records_of(self, arm: Arm, deal: int, there: Collection[str] = ()) -> list[Record]:
        """Measure the networks that the search of an arm in a deal chose, but for those that were by their hashes."""
        found = self.read(arm.name, deal)
        new = [metrics for metrics in _by_trial(found) if found["networks"][metrics[0]] not in there]
        return [self.measured(arm, found, metrics) for metrics in new]

    def measured(self, arm: Arm, found: Mapping[str, Any], metrics: list[str]) -> Record:
        """The record of the network that these metrics chose."""
        network, parameters, number = (found[of][metrics[0]] for of in ("networks", "parameters", "chosen"))
        changed = {"weights": network, "steps": 0, "test_split": "held_out", "device": self.device}
        trial = found["trials"][number]
        with self._folder() as folder:
            outcome = LABS[arm.lab].run(parameters | changed, folder, progress=False)
        if arm.measure:
            outcome.metrics |= of_batches(outcome, arm.measure, parameters)
        about = {"arm": arm.name, "deal": found["deal"], "chosen": metrics, "network": network, "val": trial["val"]}
        about["search seconds"] = round(sum(one.get("seconds", 0.0) for one in found["trials"]), 1)
        about |= {"code": found["code"], "curve": {"loss": trial["curve"], "evaluations": []}}
        return Record(
            lab=arm.lab,
            run=f"{arm.name}-{found['deal']}-{number}",
            preset=self.design.presets[arm.lab],
            parameters=parameters | {"test_split": "held_out"},
            metrics={name: value for name, value in flatten(outcome.metrics).items() if value == value},
            seconds=trial["seconds"],
            machine={"device": self._device_name(), "threads": 1},
            versions=versions(),
            git=git_revision(Path(__file__).parent),
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            evidence=outcome.evidence | about,
        )

    def _device_name(self) -> str:
        return "CPU" if self.device == "cpu" else str(torch.cuda.get_device_name(self.device))


def of_batches(outcome: Any, sizes: Iterable[int], parameters: Mapping[str, Any]) -> dict[str, float]:
    """Mean mAP of random batches, and P of batches as the training has them, of these sizes.

    Each network has batches of its own: what the draw of the batches adds belongs to the spread over the deals.
    """
    labels, seed = outcome.data.labels[:, -1], parameters["seed"]
    metrics: dict[str, float] = {}
    for size in sizes:
        drawn = batch_metrics(outcome.embeddings, labels, size, DRAWN // size, seed=seed)
        metrics[f"mAP of batches of {size}"] = float(drawn[:, 0].nanmean())
        shares = shares_of_batches(outcome.embeddings, labels, size, parameters, batches=100, seed=1 + seed)
        metrics[f"P of batches of {size}"] = statistics.fmean(shares)
    return metrics


def _by_trial(found: Mapping[str, Any]) -> list[list[str]]:
    """The metrics that chose, together where they chose the same trial."""
    chosen: dict[int, list[str]] = {}
    for metric, number in found["chosen"].items():
        chosen.setdefault(number, []).append(metric)
    return list(chosen.values())


def _salt(deal: int) -> str:
    return f"deal {deal}"


def _bounds(space: Mapping[str, Between]) -> dict[str, list[float]]:
    return {name: [between.low, between.high] for name, between in space.items()}


def _above(trial: Mapping[str, Any], trials: list[dict[str, Any]], chosen: Mapping[str, int], metric: str) -> bool:
    return metric not in chosen or trial["val"][metric] > trials[chosen[metric]]["val"][metric]


def _alike() -> None:
    """One thread, and on a GPU convolutions of 32 bits as on a CPU."""
    torch.set_num_threads(1)
    torch.backends.cudnn.allow_tf32 = False


def crowded(space: Mapping[str, Between], best: list[dict[str, float]]) -> list[str]:
    """The settings of which too many of the best points lie near one edge of their box."""
    names = []
    for name, between in space.items():
        places = [between.place(point[name]) for point in best]
        at = max(sum(place < NEAR for place in places), sum(place > 1 - NEAR for place in places))
        names += [name] * (between.log and at > MANY * len(best))
    return names


def widened(between: Between) -> Between:
    """A logarithmic box, wider at both ends; of whole numbers, from 1 on."""
    factor = (between.high / between.low) ** WIDER
    low, high = between.low / factor, between.high * factor
    return (
        replace(between, low=max(1.0, round(low)), high=round(high))
        if between.whole
        else replace(between, low=low, high=high)
    )
