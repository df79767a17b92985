"""Labs, their parameters and their presets: whatever is given is checked, because papermill would only warn."""

import ast
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

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

    @property
    def is_list(self) -> bool:
        """Whether the values are lists."""
        return self.type.lower().startswith("list[")

    @property
    def scalar(self) -> Any:
        """The type of a value, or of the items of a list; KeyError for any other type."""
        return _SCALARS[re.sub(r"[Ll]ist\[(\w+)\]", r"\1", self.type)]

    def check(self, value: Any, where: str) -> Any:
        """Return a value of the right type, an int for a float as a float; else TypeError."""
        entries = value if self.is_list else [value]
        if isinstance(entries, list | tuple) and all(_is(entry, self.scalar) for entry in entries):
            return [self.scalar(entry) for entry in entries] if self.is_list else self.scalar(value)
        hint = "; in YAML 1.0e-3 is a number, 1e-3 is a string" * (self.scalar is float and isinstance(value, str))
        raise TypeError(f"{where} must be {self.type}, got {value!r}, {value.__class__.__name__} ({self.help}{hint})")

    def parse(self, text: str) -> Any:
        """Read a value from the command line, where commas separate the items of a list; else ValueError."""
        if self.is_list:
            entries = map(str.strip, text.strip("[] ").split(","))
            return [replace(self, type=self.scalar.__name__).parse(entry) for entry in entries if entry]
        return {"true": True, "false": False}[text.lower()] if self.scalar is bool else self.scalar(text)


def _is(value: Any, scalar: type) -> bool:
    if isinstance(value, bool):
        return scalar is bool
    return isinstance(value, (int, float) if scalar is float else scalar)


# --- Declared ---------------------------------------------------------------------------------------------------------


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Read the cell tagged `parameters` of a lab, in its order; each needs a type, a help and a literal."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    source = next(("".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", [])), "")
    return declared_in(source, notebook.name)


def declared_in(source: str, called: str) -> dict[str, Parameter]:
    """Read the source of a cell of parameters, of the notebook that an error is to name."""
    lines, declared = source.splitlines(), {}
    for node in ast.parse(source).body:
        text = lines[(node.end_lineno or 1) - 1].encode()[node.end_col_offset :].decode().lstrip("# ").rstrip()
        try:
            if not (isinstance(node, ast.AnnAssign) and node.value and text):
                raise ValueError
            name, kind = ast.unparse(node.target), ast.unparse(node.annotation)
            parameter = Parameter(name, kind, ast.literal_eval(node.value), text)
            default = parameter.check(parameter.default, f"{called}: parameter {name!r}")
        except (KeyError, ValueError):
            raise ValueError(
                f"{called}: {ast.unparse(node)!r} must be declared as `name: type = literal  # help`, of type "
                f"{', '.join(_SCALARS)} or list[…] of one"
            ) from None
        declared[name] = replace(parameter, default=default)
    if not declared:
        raise ValueError(f"{called} must have a cell tagged 'parameters' that declares some, got none")
    return declared


def declared_of(lab: str) -> dict[str, Parameter]:
    """Read the parameters of a lab of the book, as its text declares them."""
    text = (CHECKOUT / "book" / "labs" / f"{lab}.md").read_text(encoding="utf-8")
    return declared_in(text.partition(":tags: [parameters]\n")[2].partition("```")[0], lab)


def defaults_of(lab: str) -> dict[str, Any]:
    """Return the parameters of a lab of the book with their defaults."""
    return {name: parameter.default for name, parameter in declared_of(lab).items()}


def describe(parameters: Iterable[Parameter]) -> str:
    """Write one line per parameter."""
    return "\n".join(f"  {p.name}: {p.type} = {p.default!r}  # {p.help}" for p in parameters)


# --- Given ------------------------------------------------------------------------------------------------------------


def check_parameters(given: Mapping[str, Any], declared: Mapping[str, Parameter], *, lab: str) -> dict[str, Any]:
    """Check names and types of the values given, and fill in the defaults; ValueError lists the names that exist."""
    for name in given:
        if name not in declared:
            raise ValueError(
                f"parameter {name!r} is unknown to lab {lab!r}{did_you_mean(name, declared)}; "
                f"it has:\n{describe(declared.values())}"
            )
    values = {name: declared[name].check(value, f"lab {lab!r}: parameter {name!r}") for name, value in given.items()}
    return {name: values.get(name, parameter.default) for name, parameter in declared.items()}


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
            values[name] = declared[name].parse(text)
        except (KeyError, ValueError):
            wanted = declared[name].type + ", entries separated by commas" * declared[name].is_list
            raise ValueError(
                f"lab {lab!r}: parameter {name!r} must be {wanted}, got {text!r} ({declared[name].help})"
            ) from None
    return values


def complete(lab: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Check the parameters given for a lab of the book, and fill in its defaults, as :func:`check_parameters`."""
    return check_parameters(given or {}, declared_of(lab), lab=lab)


def check_known(what: str, name: str, known: Iterable[str]) -> None:
    """ValueError for a name that is not known, with those that are."""
    known = list(known)
    if name not in known:
        there = ("; " if any("," in other for other in known) else ", ").join(known)
        raise ValueError(f"{what} {name!r} is unknown{did_you_mean(name, known)}; there are: {there}")


# --- Labs and presets -------------------------------------------------------------------------------------------------


def find_labs(labs: str | os.PathLike[str] | None = None) -> Path:
    """Find the folder of the labs, by default that of the checkout; FileNotFoundError if it holds no notebook."""
    folder = Path(labs) if labs is not None else CHECKOUT / "notebooks" / "labs"
    if not list_labs(folder):
        raise FileNotFoundError(f"labs must hold notebooks of labs, found none in {folder} (name one with --labs DIR)")
    return folder.resolve()


def list_labs(labs: Path) -> list[str]:
    """List the labs of a folder."""
    return sorted(path.stem for path in labs.glob("*.ipynb"))


def find_lab(lab: str, labs: Path) -> Path:
    """Find a lab's notebook; ValueError lists those that exist."""
    check_known("lab", lab, list_labs(labs))
    return labs / f"{lab}.ipynb"


def list_presets(lab: str, labs: Path) -> list[str]:
    """List the presets that fit a lab, that is, name no parameter that it does not have."""
    declared = set(read_parameters(find_lab(lab, labs)))
    return [path.stem for path in sorted((labs / "presets").glob("*.yaml")) if set(_read_yaml(path)) <= declared]


def read_preset(preset: str, lab: str, labs: Path) -> dict[str, Any]:
    """Read the parameters of a preset; ValueError for an unknown one lists those that fit the lab."""
    path = labs / "presets" / f"{preset}.yaml"
    if not path.is_file():
        check_known(f"preset of {lab}", preset, list_presets(lab, labs))  # raises
    return _read_yaml(path)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"{path} must be YAML, got {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must be lines `parameter: value`, got {type(content).__name__}")
    return content
