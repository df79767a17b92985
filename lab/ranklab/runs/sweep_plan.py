"""What a sweep would do: its runs, all checked, and how far each is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ranklab.runs.folders import find_lab, find_labs
from ranklab.runs.grid import expand, parse_grid
from ranklab.runs.locks import is_locked
from ranklab.runs.parameters import read_parameters
from ranklab.runs.planning import Run, plan

__all__ = ["list_states", "plan_sweep", "run_state", "with_result"]


def plan_sweep(
    lab: str,
    grid: Mapping[str, Sequence[Any]] | Iterable[str] = (),
    *,
    seeds: int | None = None,
    preset: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    assignments: Iterable[str] = (),
    labs: str | os.PathLike[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
) -> list[Run]:
    """Check every point of a sweep, as :func:`sweep` takes it; those that are finished have their result."""
    folder = find_labs(labs)
    declared = read_parameters(find_lab(lab, folder))
    if not isinstance(grid, Mapping):
        grid = parse_grid(grid, declared, lab=lab)
    base = plan(lab, preset=preset, parameters=parameters, assignments=(texts := list(assignments)), labs=folder)
    given = {*(parameters or {}), *(text.partition("=")[0] for text in texts)}
    if seeds is None and "seed" not in declared:
        given.add("seed")  # a lab without one runs once at each point
    points = expand(grid, seeds=seeds, given=given)
    planned = [plan(lab, parameters={**base.parameters, **point}, labs=folder, runs=runs) for point in points]
    return list(map(with_result, planned))


def with_result(run: Run) -> Run:
    """The run with its result, if it has been finished."""
    result = run.finished()
    return run if result is None else replace(run, skipped=True, result=result)


def run_state(run: Run) -> str:
    """How far a planned run is: "done", "new", "running", or as it ended: "interrupted", "failed", …."""
    if run.skipped:
        return "done"
    state = str(run.manifest().get("status", "new"))
    if state == "running" and not is_locked(run.folder):
        return "interrupted"  # it was killed
    return "damaged" if state == "completed" else state


def list_states(runs: Sequence[Run]) -> str:
    """One line for each planned run: its folder's name, how far it is, and what makes it different from the others."""
    first = runs[0].parameters
    varied = [name for name in first if any(run.parameters[name] != first[name] for run in runs)]
    states = [run_state(run) for run in runs]
    width = max(map(len, states))
    lines = [
        f"{run.folder.name}  {state:<{width}}  {' '.join(f'{name}={run.parameters[name]}' for name in varied)}".rstrip()
        for run, state in zip(runs, states, strict=True)
    ]
    return "\n".join([*lines, f"{states.count('done')} of {len(runs)} runs are done"])
