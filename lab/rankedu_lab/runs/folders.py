"""Where labs and their presets are."""

import os
from pathlib import Path
from typing import Any

from rankedu.checks import did_you_mean
from rankedu_lab import CHECKOUT
from rankedu_lab.runs.parameters import Parameter, check_known, read_parameters


def find_labs(labs: str | os.PathLike[str] | None = None) -> Path:
    """Find the folder of the labs, by default that of the checkout; FileNotFoundError if it holds no notebook."""
    folder = Path(labs) if labs is not None else CHECKOUT / "notebooks" / "labs"
    if not any(folder.glob("*.ipynb")):
        raise FileNotFoundError(f"labs must hold notebooks of labs, found none in {folder} (name one with --labs DIR)")
    return folder.resolve()


def list_labs(labs: Path) -> list[str]:
    """The names of the labs of a folder."""
    return sorted(path.stem for path in labs.glob("*.ipynb"))


def find_lab(lab: str, labs: Path) -> Path:
    """Find a lab's notebook; ValueError lists those that exist."""
    check_known("lab", lab, list_labs(labs))
    return labs / f"{lab}.ipynb"


def list_presets(lab: str, labs: Path) -> list[str]:
    """The names of the presets that fit a lab, that is, name no parameter that it does not have."""
    declared = set(read_parameters(find_lab(lab, labs)))
    paths = sorted((labs / "presets").glob("*.yaml"))
    return [path.stem for path in paths if set(_read_yaml(path)) <= declared]


def read_preset(preset: str, lab: str, labs: Path, declared: dict[str, Parameter]) -> dict[str, Any]:
    """Read the parameters of a preset; ValueError for an unknown one, or another lab's, lists those that fit."""
    path = labs / "presets" / f"{preset}.yaml"
    fitting = list_presets(lab, labs)
    if preset in fitting:
        return _read_yaml(path)
    there = f"there are: {', '.join(fitting) or 'none'}"
    if not path.is_file():
        raise ValueError(f"preset {preset!r} of lab {lab!r} is unknown{did_you_mean(preset, fitting)}; {there}")
    odd = sorted(set(_read_yaml(path)) - set(declared))
    raise ValueError(f"preset {preset!r} is another lab's: lab {lab!r} has no {', '.join(odd)}; {there}")


def _read_yaml(path: Path) -> dict[str, Any]:
    """A flat mapping of parameters."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"{path} must be YAML, got {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must be lines `parameter: value`, got {type(content).__name__}")
    return content
