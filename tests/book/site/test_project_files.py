"""The project's own files agree with each other."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import sys
from importlib.metadata import packages_distributions
from xml.etree import ElementTree

import pytest
import yaml
from tools.notebooks import pairs
from tools.site import architecture_page

import rankedu

ROOT = pairs.ROOT
SVG = "{http://www.w3.org/2000/svg}"
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


def test_the_readme_names_the_wheel_and_every_extra():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"rankedu-{rankedu.__version__}-py3-none-any.whl" in readme
    table = readme[readme.index("| extra | brings |") :].split("\n\n")[0]
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE))))
    assert named == set(PROJECT["optional-dependencies"])


def test_what_executes_the_notebooks_needs_nothing_but_the_lab():
    """So that `make test` on a bare machine proves that the lab suffices: nbval comes with pytest, and no more."""
    brings = {re.match(r"[\w.-]+(\[\w+\])?", r).group(0) for r in PROJECT["optional-dependencies"]["validate"]}
    assert brings == {"rankedu[lab]", "nbval", "pytest", "pytest-xdist"}
    assert "rankedu[vision]" in lab_requirements() and "rankedu[lab]" in PROJECT["optional-dependencies"]["book"]


def test_links_of_the_readme_are_whole_on_a_package_index_or_no_links():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    assert doctest.testmod(hook) == (0, 2)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert hook.RELATIVE.search(readme), "else there is nothing to do"
    assert not hook.RELATIVE.search(hook.resolved(readme, ""))


def test_make_help_tells_of_every_target():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))
    told = set(re.findall(r"^([a-z-]+):.*  ## \S", text, re.MULTILINE))
    phony = set(re.search(r"^\.PHONY: (.*)", text, re.MULTILINE).group(1).split())
    assert targets == told == phony


def test_hooks_need_no_network_and_run_what_is_there():
    from pre_commit.clientlib import load_config

    path = ROOT / ".pre-commit-config.yaml"
    load_config(str(path))  # refuses what pre-commit would refuse
    [repository] = yaml.safe_load(path.read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system" and hook["entry"].startswith(".venv/bin/python ")
        assert all((ROOT / name).exists() for name in re.findall(r"[\w/]+\.py\b", hook["entry"])), hook["id"]


def test_every_command_that_makes_the_book_is_there_and_told():
    from tools import __main__ as tools

    told = re.findall(r"^(\w+)  +\S", tools.__doc__, re.MULTILINE)
    assert told == list(tools.COMMANDS)
    for module in tools.COMMANDS.values():
        assert callable(importlib.import_module(f"tools.{module}").main), module
    asked = set(re.findall(r"book/tools (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert asked and asked <= set(tools.COMMANDS)


def test_every_python_that_is_named_has_a_job():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]["library"]["strategy"]["matrix"]["python"]
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert jobs == named
    assert f"Python {named[0]} to {named[-1]}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_tells_of_every_machine_that_was_seen_and_of_jobs_as_jobs():
    from tools.notebooks import timings

    rows = yaml.safe_load((ROOT / "book" / "data" / "machines.yaml").read_text(encoding="utf-8"))
    table, _, rest = timings.machines().partition("\n\n")
    assert len(table.splitlines()) == 2 + len(rows)
    assert all(row["passed"] in ("all", "library") and str(row["date"]) in table for row in rows)
    assert "windows" in rest and "windows" not in table.lower()


def test_workflows_are_read_as_they_are_meant():
    """Every step runs or uses something, every make target exists, and no expression is left open."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        assert workflow[True] and workflow["permissions"], path.name  # YAML reads the key `on` as a truth value
        for job in workflow["jobs"].values():
            assert job["runs-on"] and job["timeout-minutes"]
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step), step
                assert re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step.get("uses", "a/b@v1"))
                assert set(re.findall(r"^make (\w+)", step.get("run", ""), re.MULTILINE)) <= set(targets)
        assert text.count("${{") == text.count("}}")


def test_the_readme_picture_is_the_figure_that_the_package_draws():
    import io

    import numpy as np
    from PIL import Image

    from rankbook.kit import style
    from rankbook.kit.figures import all_figures

    committed = np.asarray(Image.open(ROOT / "book" / "_static" / "rambo_fig_1.png").convert("RGB"), dtype=int)
    drawn = np.asarray(Image.open(io.BytesIO(style.png(all_figures()["RaMBO Fig. 1"]()))).convert("RGB"), dtype=int)
    assert committed.shape == drawn.shape
    assert (abs(committed - drawn) > 40).mean() < 0.01, "`make figures`; cp figures/rambo_fig_1.png book/_static"


@pytest.fixture(scope="module")
def distributions():
    """The distributions that bring each module that is installed."""
    return packages_distributions()


@pytest.mark.parametrize("path", sorted((ROOT / "book" / "chapters").glob("*.md")), ids=lambda path: path.stem)
def test_a_chapter_imports_only_what_the_lab_extra_brings(path, distributions):
    declared = {normal(re.match(r"[\w.-]+", r).group(0)) for r in [*PROJECT["dependencies"], *lab_requirements()]}
    text = path.read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:import (?=\w+$)|from (?=[\w.]+ import ))(\w+)", text, re.MULTILINE))
    for module in imported - set(sys.stdlib_module_names) - {"rankedu", "ranklab", "rankbook"}:
        assert {normal(name) for name in distributions[module]} & declared, module


def lab_requirements() -> list[str]:
    return PROJECT["optional-dependencies"]["lab"]


def test_imports_go_one_way():
    from importlinter.cli import lint_imports

    assert lint_imports(str(ROOT / "pyproject.toml"), cache_dir=None) == 0


@pytest.mark.parametrize("folder", ["lab/ranklab", "book/rankbook", "book/tools"])
def test_nobody_takes_private_imports_of_the_library(folder):
    private = re.compile(
        r"^\s*from rankedu(\.\w+)*(\._(?!_)\w+)+ import|^\s*from rankedu[\w.]* import .*\b_(?!_)\w", re.MULTILINE
    )
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
    assert len(texts) > 20 and [path.name for path, text in texts.items() if private.search(text)] == []


def test_the_kit_knows_no_chapter_and_a_chapter_none_that_comes_later():
    import grimp

    graph = grimp.build_graph("rankbook", exclude_type_checking_imports=True)
    parts = sorted(graph.find_children("rankbook"))
    assert len(parts) > 16
    for upper in parts:
        for lower in graph.find_upstream_modules(upper, as_package=True):
            part = ".".join(lower.split(".")[:2])
            assert upper != "rankbook.kit" or part in ("rankbook", "rankbook.kit"), f"{upper} needs {lower}"
            assert ".ch" not in part or ".ch" not in upper or part <= upper, f"{upper} needs {lower}"


def test_the_picture_of_the_imports_has_every_part_of_every_package():
    picture = ElementTree.fromstring(architecture_page.picture())
    shown = {node.text for node in picture.iter(f"{SVG}text")}
    for package in (ROOT / "rankedu", ROOT / "lab" / "ranklab", ROOT / "book" / "rankbook" / "kit"):
        inside = package.iterdir()
        parts = {path.stem for path in inside if path.suffix == ".py" or (path / "__init__.py").exists()}
        assert {part for part in parts if not part.startswith("__")} <= shown, package


@pytest.mark.parametrize("path", sorted((ROOT / "rankedu" / "proofs").glob("*.py")), ids=lambda path: path.stem)
def test_proofs_need_no_torch(path):
    assert not re.search(r"^\s*(?:import|from) torch", path.read_text(encoding="utf-8"), re.MULTILINE)
