"""Search the settings of a lab: quasi-random trials, each an ordinary run, judged on the validation split alone."""

import hashlib
import json
import math
import os
import statistics
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rankedu.checks import check_count
from rankedu.extras import needed
from rankedu_lab.runs.code import code_hash
from rankedu_lab.runs.parameters import check_known
from rankedu_lab.runs.planning import EXPERIMENTS, Run, plan
from rankedu_lab.runs.results import write_json
from rankedu_lab.runs.sweeps import SweepError, run_all

#: The split that may choose.
CHOOSING = "val"


@dataclass(frozen=True)
class Between:
    """The values from `low` to `high`, drawn evenly, or with their logarithms drawn evenly; `whole` numbers alone."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def place(self, value: float) -> float:
        """How far a value is on the way from `low`, 0, to `high`, 1."""
        low, high, value = (math.log10(x) if self.log else x for x in (self.low, self.high, value))
        return (value - low) / (high - low)


@dataclass(frozen=True)
class Trial:
    """One run of a search."""

    point: dict[str, Any]  #: what was drawn
    parameters: dict[str, Any]  #: and as the lab was told
    value: float | None  #: of the metric on the validation split; None if the run failed
    run: str  #: the hash that names its folder


@dataclass(frozen=True)
class Search:
    """All trials of a search, in the order in which they were drawn."""

    lab: str
    metric: str
    trials: list[Trial]

    @property
    def best(self) -> Trial:
        """The trial with the highest value; ValueError if all failed."""
        done = [trial for trial in self.trials if trial.value is not None]
        if not done:
            raise ValueError(f"a search of {self.lab} needs a trial that did not fail, got {len(self.trials)} failed")
        return max(done, key=lambda trial: trial.value or 0.0)

    def spread(self) -> dict[str, float]:
        """How much hangs on the settings: best, median and worst value, the upper quartile, and how many failed."""
        values = sorted(trial.value for trial in self.trials if trial.value is not None)
        if not values:
            return {"failed": len(self.trials)}
        upper = statistics.quantiles(values, n=4, method="inclusive")[2] if len(values) > 1 else values[0]
        summary = {"best": values[-1], "upper quartile": upper, "median": statistics.median(values), "worst": values[0]}
        return {**summary, "failed": len(self.trials) - len(values)}


def search(
    lab: str,
    space: Mapping[str, Between],
    *,
    trials: int = 20,
    metric: str = "mAP@R",
    as_parameters: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]] = lambda point, _: dict(point),
    preset: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    labs: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
    **how: Any,
) -> Search:
    """Draw `trials` points of a space by Sobol's sequence, run the lab at each, and keep what came out.

    `as_parameters` makes parameters of a point and of the lab's other parameters. The study is kept in
    ``<runs>/searches/``: the same call goes on where it was, and with more trials it adds to them. `how` goes to
    :func:`~rankedu_lab.runs.sweeps.run_all`. A run that fails twice is a trial without a value. ValueError if the lab
    tests on anything but the validation split, or if it does not measure the metric.
    """
    base = plan(lab, preset=preset, parameters=parameters, assignments=assignments, labs=labs, runs=runs)
    check_count(trials, "trials")
    if (split := base.parameters.get("test_split")) != CHOOSING:
        raise ValueError(
            f"test_split must be {CHOOSING!r} in a search, got {split!r}: what is chosen on a split, that split can't "
            f"judge any more (-p train_split=fit -p test_split={CHOOSING})"
        )
    if not space:
        raise ValueError("space must have a setting to search for, got none")
    kept = Path(runs).resolve() / "searches" / f"{_key(base, space, metric)}.json"
    before = json.loads(kept.read_text(encoding="utf-8"))["trials"] if kept.exists() else []
    failed = {trial["run"] for trial in before if trial["value"] is None}
    points = draw(space, trials)
    settings = [as_parameters(point, base.parameters) for point in points]
    planned = [plan(lab, parameters={**base.parameters, **new}, labs=base.source.parent, runs=runs) for new in settings]
    measured = _measured([run for run in planned if run.folder.name not in failed], preset, metric, how)
    made = [
        Trial(point, new, measured.get(run.folder), run.folder.name)
        for point, new, run in zip(points, settings, planned, strict=True)
    ]
    found = Search(lab, metric, made)
    write_json(kept, asdict(found))
    return found


def _key(base: Run, space: Mapping[str, Between], metric: str) -> str:
    """What makes two searches the same, but for the number of trials."""
    code = ""
    with suppress(ValueError):  # a lab of the reader's own has no module
        code = code_hash(f"{EXPERIMENTS}.{base.lab}")
    spaces = {name: asdict(between) for name, between in space.items()}
    wanted = {"run": base.folder.name, "code": code, "space": spaces, "metric": metric}
    text = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:12]
    return f"{base.lab}-{base.parameters.get('loss', 'lab')}-{text}"


def _optuna() -> Any:
    optuna = needed("optuna", "searches are kept by Optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _distributions(space: Mapping[str, Between]) -> dict[str, Any]:
    kinds = _optuna().distributions
    return {
        name: kinds.IntDistribution(int(b.low), int(b.high), log=b.log)
        if b.whole
        else kinds.FloatDistribution(b.low, b.high, log=b.log)
        for name, b in space.items()
    }


def draw(space: Mapping[str, Between], count: int, scramble: int = 0) -> list[dict[str, Any]]:
    """The first points of the sequence as it is scrambled, whatever came out at others."""
    optuna = _optuna()
    base: Any = optuna.samplers.QMCSampler

    class Sobol(base):  # type: ignore[misc]
        """Knows the space from the first trial on."""

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return _distributions(space)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = Sobol(qmc_type="sobol", scramble=True, seed=scramble, warn_asynchronous_seeding=False)
    study = optuna.create_study(sampler=sampler)
    return [study.ask(fixed_distributions=_distributions(space)).params for _ in range(count)]


def _measured(planned: list[Run], preset: str | None, metric: str, how: Mapping[str, Any]) -> dict[Path, Any]:
    """Run what has not been run; the metric by the run's folder, for those that did not fail."""
    try:
        done = run_all(planned, preset, **how)
    except SweepError as error:
        if not error.runs:
            raise
        done = error.runs
    measured = {run.folder: run.result["metrics"] for run in done}
    for metrics in measured.values():
        check_known("metric", metric, metrics)
    return {folder: metrics[metric] for folder, metrics in measured.items()}
