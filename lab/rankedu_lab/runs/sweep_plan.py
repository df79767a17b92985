"""What a sweep would do: texts of the command line → a grid → runs, all checked, and how far each is."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankedu.checks import check_count
from rankedu_lab.runs.locks import is_locked
from rankedu_lab.runs.parameters import Parameter, check_parameters, parse_assignments, read_parameters
from rankedu_lab.runs.planning import Run, plan

#: How many seeds a sweep has that names none.
SEEDS = 3


def plan_sweep(
    lab: str, grid: Mapping[str, Sequence[Any]] | Iterable[str] = (), *, seeds: int | None = None, **asked: Any
) -> list[Run]:
    """Check every point of a sweep, as :func:`sweep` takes it; those that are finished have their result."""
    base = plan(lab, **asked)
    where: dict[str, Any] = {"labs": base.source.parent, "runs": base.folder.parent.parent}
    declared = read_parameters(base.source)
    if not isinstance(grid, Mapping):
        grid = parse_grid(grid, declared, lab=lab)
    given = {*(asked.get("parameters") or {}), *(text.partition("=")[0] for text in asked.get("assignments", ()))}
    if seeds is None and "seed" not in declared:
        given.add("seed")  # a lab without one runs once at each point
    points = expand(grid, seeds=seeds, given=given)
    return [with_result(plan(lab, parameters={**base.parameters, **point}, **where)) for point in points]


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


def parse_grid(texts: Iterable[str], declared: Mapping[str, Parameter], *, lab: str) -> dict[str, list[Any]]:
    """Read ``name=value,value`` as values of the parameter's type.

    A list stands in brackets: ``kinds=[a,b],[c]`` are two values; an empty text, or one with a comma, in double quotes.
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals:
            raise ValueError(f"--grid must be followed by name=value,value, got {text!r} (such as --grid seed=0,1)")
        if name not in declared:
            check_parameters({name: values}, declared, lab=lab)  # raises
        if name in grid:
            raise ValueError(f"--grid must name a parameter once, got {name!r} twice (--grid {name}=value,value)")
        entries = _split(values, declared[name])
        grid[name] = [parse_assignments([f"{name}={entry}"], declared, lab=lab)[name] for entry in entries]
    return grid


def _split(values: str, parameter: Parameter) -> list[str]:
    """Split at the commas that are in no quotes, nor, for a list parameter, in brackets."""
    import yaml

    is_list = parameter.type.lower().startswith("list")
    try:
        entries = yaml.load(f"[{values}]", Loader=yaml.BaseLoader)  # it makes texts of everything
    except yaml.YAMLError:
        entries = []
    if not entries or not all(isinstance(entry, list if is_list else str) for entry in entries):
        wanted = f"each of its values in brackets ('{parameter.name}=[a,b],[c]' are two)"
        if not is_list:
            wanted = 'values with commas between them (an empty text, or one with a comma, in double quotes: "")'
        raise ValueError(f"--grid {parameter.name} must have {wanted}, got {values!r}: it is {parameter.type}")
    return [",".join(entry) if is_list else entry for entry in entries]


def expand(
    grid: Mapping[str, Sequence[Any]], *, seeds: int | None = None, given: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Every combination of the grid's values, for every seed, 0, 1, 2 unless ``seed`` is named, which varies slowest.

    `given` are the names of the parameters that are the same in all points.
    """
    fixed = set(given)
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid must be a mapping of parameter to values, got {type(grid).__name__}")
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise TypeError(f"grid[{name!r}] must be a list of values, got {values!r}, {type(values).__name__}")
        if not values:
            raise ValueError(f"grid[{name!r}] must have at least one value, got none")
        if name in fixed:
            raise ValueError(f"parameter {name!r} must be in the grid or be given for all points, got both")
        for place, value in enumerate(values):
            if value in values[:place]:
                raise ValueError(f"grid[{name!r}] must have different values, got {value!r} twice")
    named = "seed" in grid or "seed" in fixed
    if seeds is not None and named:
        raise ValueError(f"seeds must be left out where the grid or the parameters name 'seed', got {seeds}")
    if seeds is not None:
        check_count(seeds, "seeds", hint="how many; --grid seed=5,7 takes others")
    axes: dict[str, Sequence[Any]] = {} if named else {"seed": range(seeds or SEEDS)}
    axes |= grid
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
