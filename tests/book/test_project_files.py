"""The project's own files agree with each other."""

from __future__ import annotations

import ast
import re

import pairs
import pytest
import yaml

import rankedu

ROOT = pairs.ROOT
tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads TOML")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_environment_yml_asks_for_what_pyproject_declares():
    from rattler import MatchSpec, Version

    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    specs = {MatchSpec(s).name.normalized: MatchSpec(s) for s in environment["dependencies"] if isinstance(s, str)}
    assert set(specs) == {"python", "pip"}
    least = Version(PROJECT["requires-python"].removeprefix(">="))
    assert Version(str(specs["python"].version).rstrip(".*=")) >= least
    [pip] = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pip[0] == "-c constraints.txt"
    extra = re.fullmatch(r"-e \.\[(\w+)\]", pip[1])
    assert extra and extra.group(1) in PROJECT["optional-dependencies"]


def test_every_declared_requirement_is_pinned_once():
    pins = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    pinned = [normal(pin) for pin in pins]
    assert len(pinned) == len(set(pinned))
    extras = {name: wanted for name, wanted in PROJECT["optional-dependencies"].items() if name != "vision"}
    for requirement in [*PROJECT["dependencies"], *(r for wanted in extras.values() for r in wanted)]:
        name = re.match(r"[\w.-]+", requirement).group(0)
        if name != "rankedu":
            assert normal(name) in pinned, name


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_core_needs_torch_and_numpy_alone():
    assert sorted(re.match(r"\w+", requirement).group(0) for requirement in PROJECT["dependencies"]) == [
        "numpy",
        "torch",
    ]


def test_the_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == rankedu.__version__
    assert f"## {rankedu.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["book", "lab", "test", "figures"])
def test_the_readme_names_commands_that_exist(command):
    assert f"make {command}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_readme_picture_is_the_figure_that_the_package_draws():
    import io

    import numpy as np
    from PIL import Image

    from rankedu.figures import all_figures, style

    committed = np.asarray(Image.open(ROOT / "book" / "_static" / "rambo_fig_1.png").convert("RGB"), dtype=int)
    drawn = np.asarray(Image.open(io.BytesIO(style.png(all_figures()["RaMBO Fig. 1"]()))).convert("RGB"), dtype=int)
    assert committed.shape == drawn.shape
    assert (abs(committed - drawn) > 40).mean() < 0.01, "run `make figures`"


@pytest.mark.parametrize("path", sorted((ROOT / "book" / "chapters").glob("*.md")), ids=lambda path: path.stem)
def test_a_chapter_imports_only_what_the_lab_extra_brings(path):
    import sys
    from importlib.metadata import packages_distributions

    declared = {normal(re.match(r"[\w.-]+", r).group(0)) for r in [*PROJECT["dependencies"], *lab_requirements()]}
    text = path.read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:import (?=\w+$)|from (?=[\w.]+ import ))(\w+)", text, re.MULTILINE))
    for module in imported - set(sys.stdlib_module_names) - {"rankedu"}:
        assert {normal(name) for name in packages_distributions()[module]} & declared, module


def lab_requirements() -> list[str]:
    return PROJECT["optional-dependencies"]["lab"]


#: A room may import only from rooms that stand before it (CONTRIBUTING.md).
ROOMS = [
    {"_validation"},
    {"_files"},
    {"_sorting"},
    {"_packed"},
    {"ranks"},
    {"blackbox"},
    {"solvers"},
    {"rankers"},
    {"hierarchy"},
    {"metrics"},
    {"losses"},
    {"memory"},
    {"proofs"},
    {"landscapes"},
    {"datasets"},
    {"models", "training"},
    {"labs"},
    {"explorables", "figures"},
    {"exercises"},
    {"doctor"},
    {"cli"},
]


def test_rooms_import_only_from_rooms_above_them():
    level = {room: number for number, rooms in enumerate(ROOMS) for room in rooms}
    for path in sorted((ROOT / "rankedu").rglob("*.py")):
        room = path.relative_to(ROOT / "rankedu").parts[0].removesuffix(".py")
        if room not in level:
            assert room in {"__init__", "__main__"}, f"{room} is not in the list of rooms"
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                parts = module.split(".")
                if parts[0] == "rankedu" and len(parts) > 1:
                    assert level[parts[1]] <= level[room], f"{path.name} imports {module}"


@pytest.mark.parametrize("path", sorted((ROOT / "rankedu" / "proofs").glob("*.py")), ids=lambda path: path.stem)
def test_proofs_need_no_torch(path):
    assert not re.search(r"^\s*(?:import|from) torch", path.read_text(encoding="utf-8"), re.MULTILINE)
