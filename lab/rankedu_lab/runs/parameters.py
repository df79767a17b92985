"""The parameters of a lab: read from its `parameters` cell, and every value that is given checked against them.

papermill only warns of a parameter that a notebook does not have, and runs it with the defaults.
"""

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankedu.checks import did_you_mean
from rankedu_lab import CHECKOUT

_SCALARS: dict[str, type] = {"int": int, "float": float, "str": str, "bool": bool}


@dataclass(frozen=True)
class Parameter:
    """One line ``name: type = default  # help`` of the cell."""

    name: str
    type: str  #: int, float, str, bool, or list[…] of one of these
    default: Any
    help: str


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Read the cell tagged `parameters` of a lab, in its order; each needs a type, a help and a literal."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    source = next(("".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", [])), "")
    return declared_in(source, notebook.name)


def declared_in(source: str, called: str) -> dict[str, Parameter]:
    """Read the source of a cell of parameters, of the notebook that an error is to name."""
    lines, declared = source.splitlines(), {}
    for node in ast.parse(source).body:
        said = lines[(node.end_lineno or 1) - 1].encode()[node.end_col_offset :].decode().lstrip("# ").rstrip()
        kind = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
        if not isinstance(node, ast.AnnAssign) or not node.value or not said or _kind(kind) is None:
            raise ValueError(
                f"{called}: {ast.unparse(node)!r} must be declared as `name: type = value  # help`, of type "
                f"{', '.join(_SCALARS)} or list[…] of one"
            )
        name = ast.unparse(node.target)
        where = f"{called}: parameter {name!r}"
        try:
            default = ast.literal_eval(node.value)
        except ValueError:
            raise ValueError(f"{where} must have a literal as its default, got {ast.unparse(node.value)}") from None
        parameter = Parameter(name, kind, default, said)
        declared[name] = replace(parameter, default=checked(default, parameter, where))
    if not declared:
        raise ValueError(f"{called} must have a cell tagged 'parameters' that declares some, got none")
    return declared


def defaults_of(lab: str) -> dict[str, Any]:
    """The parameters of a lab of the book with their defaults, as the `parameters` cell of its text declares them."""
    text = (CHECKOUT / "book" / "labs" / f"{lab}.md").read_text(encoding="utf-8")
    cell = ast.parse(text.partition(":tags: [parameters]\n")[2].partition("```")[0])
    lines = (node for node in cell.body if isinstance(node, ast.AnnAssign))
    return {ast.unparse(line.target): ast.literal_eval(line.value) for line in lines if line.value}


def _kind(name: str) -> tuple[type, bool] | None:
    """The type of a value, or of a list's items, and whether it is a list; None for any other type."""
    inner = re.fullmatch(r"[Ll]ist\[(\w+)\]", name)
    scalar = _SCALARS.get(inner[1] if inner else name)
    return None if scalar is None else (scalar, inner is not None)


def checked(value: Any, parameter: Parameter, where: str) -> Any:
    """The value if it has the parameter's type, an int for a float as a float; else TypeError."""
    kind = _kind(parameter.type)
    assert kind is not None
    scalar, is_list = kind
    if is_list and isinstance(value, list | tuple) and all(_is(entry, scalar) for entry in value):
        return [scalar(entry) for entry in value]
    if not is_list and _is(value, scalar):
        return scalar(value)
    hint = "; in YAML 1.0e-3 is a number, 1e-3 is a string" if scalar is float and isinstance(value, str) else ""
    raise TypeError(f"{where} must be {parameter.type}, got {value!r}, {type(value).__name__} ({parameter.help}{hint})")


def check_alike(value: Any, default: Any, where: str) -> None:
    """TypeError for a value of another type than the default's; an empty list is one of integers."""
    kind = type(default).__name__
    if isinstance(default, list):
        kind = f"list[{type(default[0]).__name__ if default else 'int'}]"
    checked(value, Parameter("", kind, default, f"for instance {default!r}"), where)


def _is(value: Any, scalar: type) -> bool:
    if scalar is not bool and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if scalar is float else scalar)


def check_parameters(given: Mapping[str, Any], declared: Mapping[str, Parameter], *, lab: str) -> dict[str, Any]:
    """Check names and types of the values given, and fill in the defaults; ValueError lists the names that exist."""
    for name in given:
        if name not in declared:
            raise ValueError(
                f"parameter {name!r} is unknown to lab {lab!r}{did_you_mean(name, declared)}; "
                f"it has:\n{describe(declared.values())}"
            )
    values = {name: checked(value, declared[name], f"lab {lab!r}: parameter {name!r}") for name, value in given.items()}
    return {name: values.get(name, parameter.default) for name, parameter in declared.items()}


def check_known(what: str, name: str, known: Collection[str]) -> None:
    """ValueError for a name that is not known, with those that are."""
    if name not in known:
        there = ("; " if any("," in other for other in known) else ", ").join(known)
        raise ValueError(f"{what} {name!r} is unknown{did_you_mean(name, known)}; there are: {there}")


def describe(parameters: Iterable[Parameter]) -> str:
    """One line a parameter."""
    return "\n".join(f"  {p.name}: {p.type} = {p.default!r}  # {p.help}" for p in parameters)


def parse_assignments(assignments: Iterable[str], declared: Mapping[str, Parameter], *, lab: str) -> dict[str, Any]:
    """Read ``key=value`` as the parameter's type; items of a list are separated by commas."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ValueError(f"-p must be followed by key=value, got {assignment!r} (in one word: -p seed=1)")
        if name not in declared:
            check_parameters({name: text}, declared, lab=lab)  # raises
        try:
            values[name] = _parse(text, declared[name].type)
        except ValueError:
            wanted, said = declared[name].type, declared[name].help
            wanted += ", entries separated by commas" if "[" in wanted else ""
            raise ValueError(f"lab {lab!r}: parameter {name!r} must be {wanted}, got {text!r} ({said})") from None
    return values


def _parse(text: str, type_name: str) -> Any:
    kind = _kind(type_name)
    assert kind is not None
    scalar, is_list = kind
    if is_list:
        entries = [entry.strip() for entry in text.strip("[] ").split(",")]
        return [_parse(entry, scalar.__name__) for entry in entries if entry]
    if scalar is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError
        return text.lower() == "true"
    return scalar(text)
