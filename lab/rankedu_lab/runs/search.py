"""Search the settings of a lab with Optuna: quasi-random trials, which are ordinary runs evaluated on `val`.

Optuna keeps the study in ``<runs>/searches/``, so that a search can be interrupted, continued and looked at.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import optuna
from optuna.storages.journal import JournalFileBackend

from rankedu.checks import check_count
from rankedu_lab.runs.parameters import check_known
from rankedu_lab.runs.runner import Run, code_hash, plan
from rankedu_lab.runs.sweeps import SweepError, run_all

__all__ = ["search"]

#: The only split that may choose settings.
CHOOSING = "val"


def search(
    lab: str,
    space: Mapping[str, Any],
    *,
    trials: int = 20,
    metric: str = "mAP@R",
    as_parameters: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]] = lambda point, _: dict(point),
    how: Mapping[str, Any] | None = None,
    **asked: Any,
) -> Any:
    """Draw points of a space by Sobol's sequence, run the lab at each, and return the study of Optuna.

    `space` maps a setting to a distribution of Optuna, such as ``FloatDistribution(1e-4, 1e-2, log=True)``.
    `as_parameters` makes parameters of a point and of the lab's other parameters; `how` goes to
    :func:`~rankedu_lab.runs.sweeps.run_all`, and what is asked for is that of :func:`~rankedu_lab.runs.plan`. The same
    call continues the search, and with more `trials` it adds to them. A run that fails twice is a trial without a
    value. ValueError if the lab tests on anything but the validation split, or if it does not measure the metric;
    SweepError if all runs fail.
    """
    base = plan(lab, **asked)
    check_count(trials, "trials")
    if (split := base.parameters.get("test_split")) != CHOOSING:
        raise ValueError(
            f"test_split must be {CHOOSING!r} in a search, got {split!r}: what is chosen on a split cannot be "
            f"evaluated on it (-p train_split=fit -p test_split={CHOOSING})"
        )
    if not space:
        raise ValueError("space must have a setting to search for, got none")
    study = _study(base, space, metric)
    for _ in range(trials - len(study.trials)):
        study.ask(dict(space))
    open_trials = [trial for trial in study.trials if not trial.state.is_finished()]  # new, or interrupted
    planned = [
        plan(lab, parameters=base.parameters | as_parameters(trial.params, base.parameters), **base.where())
        for trial in open_trials
    ]
    try:
        done = run_all(planned, asked.get("preset"), **(how or {}))
    except SweepError as error:
        if not error.runs:
            raise
        done = error.runs
    for run in done:
        check_known("metric", metric, run.result["metrics"])
    measured = {run.folder: run.result["metrics"][metric] for run in done}
    for trial, run in zip(open_trials, planned, strict=True):
        value = measured.get(run.folder)
        study.tell(trial.number, value, state=None if value is not None else optuna.trial.TrialState.FAIL)
    return study


def _study(base: Run, space: Mapping[str, Any], metric: str) -> Any:
    """Open or begin the study of a lab, a space and a metric; other code begins another study."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spaces = {name: str(distribution) for name, distribution in space.items()}
    wanted = json.dumps({"run": base.folder.name, "code": code_hash(), "space": spaces, "metric": metric})
    name = f"{base.lab}-{base.parameters.get('loss', 'lab')}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    file = base.runs / "searches" / f"{name}.log"
    file.parent.mkdir(parents=True, exist_ok=True)

    class Sobol(optuna.samplers.QMCSampler):
        """Draw from the space in the first trial as well, where Optuna's own sampler would draw at random."""

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return dict(space)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.create_study(
            study_name=name,
            storage=optuna.storages.JournalStorage(JournalFileBackend(str(file))),
            sampler=Sobol(qmc_type="sobol", scramble=True, seed=0, warn_asynchronous_seeding=False),
            direction="maximize",
            load_if_exists=True,
        )
