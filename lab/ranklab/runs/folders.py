"""Where labs and their presets are. They are part of a checkout; the installed package alone does not hold them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import rankedu
from rankedu.checks import did_you_mean
from ranklab.runs.parameters import Parameter, read_parameters

__all__ = ["find_lab", "find_labs", "list_labs", "list_presets", "read_preset"]

_WITHIN = Path("notebooks") / "labs"


def find_labs(labs: str | os.PathLike[str] | None = None) -> Path:
    """Find the folder of the labs; FileNotFoundError says what to do if there is none.

    By default `notebooks/labs` of the checkout that the package is imported from, else of the current folder or one
    above it.
    """
    here = Path.cwd()
    checkouts = [Path(rankedu.__file__).resolve().parent.parent, here, *here.parents]
    tried = [Path(labs)] if labs is not None else [checkout / _WITHIN for checkout in checkouts]
    for folder in tried:
        if any(folder.glob("*.ipynb")):
            return folder.resolve()
    looked = str(tried[0]) if labs is not None else f"{tried[0]}, nor above {here}"
    raise FileNotFoundError(
        f"labs must be a folder with notebooks of labs, found none in {looked} (they come with a checkout of the "
        "repository, not with the installed package: run there, or name its notebooks/labs with --labs DIR)"
    )


def list_labs(labs: Path) -> list[str]:
    """The names of the labs of a folder."""
    return sorted(path.stem for path in labs.glob("*.ipynb"))


def find_lab(lab: str, labs: Path) -> Path:
    """Find a lab's notebook; ValueError lists those that exist."""
    known = list_labs(labs)
    if lab not in known:
        raise ValueError(f"lab {lab!r} is unknown{did_you_mean(lab, known)}; there are: {', '.join(known)}")
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
    raise ValueError(
        f"preset {preset!r} is another lab's: it has parameters that lab {lab!r} has not: {', '.join(odd)}; {there}"
    )


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
