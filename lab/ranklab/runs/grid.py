"""The grid of a sweep: texts of the command line → lists of values → points, all checked before anything starts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ranklab.runs.parameters import Parameter, check_parameters, parse_assignments

__all__ = ["expand", "parse_grid"]

#: How many seeds a sweep has that names none.
SEEDS = 3
#: Lists, and texts, with commas between them.
_BRACKETS = r"\s*\[[^][]*\]\s*(,\s*\[[^][]*\]\s*)*"
_TEXTS = r'\s*("[^"]*"|[^",\s][^",]*)\s*(,\s*("[^"]*"|[^",\s][^",]*)\s*)*'


def parse_grid(texts: Iterable[str], declared: Mapping[str, Parameter], *, lab: str) -> dict[str, list[Any]]:
    """Read ``name=value,value`` as values of the parameter's type.

    A value that is a list stands in brackets: ``kinds=[a,b],[c]`` are two. An empty text, or one that has a comma in
    it, stands in double quotes.
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
    """Split at the commas that are in no brackets, for a list parameter, or in no quotes, for any other."""
    name = parameter.name
    if parameter.type.lower().startswith("list"):
        if not re.fullmatch(_BRACKETS, values):
            raise ValueError(
                f"--grid {name} must have each of its values in brackets, got {values!r}: {name} is {parameter.type} "
                f"(such as --grid '{name}=[a,b],[c]', which are two values)"
            )
        return re.findall(r"\[[^][]*\]", values)
    if not re.fullmatch(_TEXTS, values):
        raise ValueError(
            f"--grid {name} must have values with commas between them, got {values!r} "
            '(an empty text, or one with a comma, stands in double quotes: "")'
        )
    return [quoted or plain.strip() for quoted, plain in re.findall(r'\s*"([^"]*)"\s*|([^",]+)', values)]


def expand(
    grid: Mapping[str, Sequence[Any]], *, seeds: int | None = None, given: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Every combination of the grid's values, for every seed: 0, 1 and 2 by default, unless something names ``seed``.

    The seed varies slowest: if a sweep is stopped, what it has done can be compared. `given` are the names of the
    parameters that are the same in all points.
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
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1):
        raise ValueError(f"seeds must be an integer >= 1, how many, got {seeds!r} (--grid seed=5,7 takes others)")
    axes: dict[str, Sequence[Any]] = {} if named else {"seed": range(seeds or SEEDS)}
    axes |= grid
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
