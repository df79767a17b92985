"""The project's own files agree with each other."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import sys
from importlib.metadata import packages_distributions

import pytest
import yaml
from tools.notebooks import pairs

import rankedu

ROOT = pairs.ROOT
tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads TOML")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def normal(requirement: str) -> str:
    """The name of a distribution that is asked for, in its one spelling."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement).group(0)).lower()


PROJECT = tomllib.loads(text("pyproject.toml"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_what_is_declared_is_pinned_once_and_asked_for_by_the_environment():
    environment = yaml.safe_load(text("environment.yml"))["dependencies"]
    [pip] = [entry["pip"] for entry in environment if isinstance(entry, dict)]
    [python] = re.findall(r"^python *[>=]+ *3\.(\d+)", "\n".join(filter(lambda one: isinstance(one, str), environment)))
    assert int(python) >= int(PROJECT["requires-python"].rpartition(".")[2])
    assert pip[0] == "-c constraints.txt" and re.fullmatch(r"-e \.\[(\w+)\]", pip[1])[1] in EXTRAS
    pinned = list(map(normal, re.findall(r"^([\w.-]+)==", text("constraints.txt"), re.MULTILINE)))
    assert len(pinned) == len(set(pinned))
    wanted = [one for name, listed in EXTRAS.items() if name != "vision" for one in listed]
    assert {*map(normal, PROJECT["dependencies"] + wanted)} - {"rankedu"} <= set(pinned)
    assert sorted(map(normal, PROJECT["dependencies"])) == ["numpy", "torch"], "the core needs these alone"
    brings = {normal(one) for one in EXTRAS["validate"]}
    assert brings == {"rankedu", "nbval", "pytest", "pytest-xdist"}, "to execute the notebooks, the lab suffices"


def test_the_readme_names_the_version_the_extras_and_commands_that_exist_and_its_links_are_whole():
    readme = text("README.md")
    assert yaml.safe_load(text("CITATION.cff"))["version"] == rankedu.__version__
    assert f"## {rankedu.__version__} " in text("CHANGELOG.md")
    assert f"rankedu-{rankedu.__version__}-py3-none-any.whl" in readme
    table = readme[readme.index("| extra | brings |") :].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE)))) == set(EXTRAS)
    assert all(f"make {one}" in readme for one in ("book", "lab", "test", "figures"))
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    assert doctest.testmod(hook) == (0, 2)
    assert hook.RELATIVE.search(readme) and not hook.RELATIVE.search(hook.resolved(readme, ""))


def test_make_tells_of_every_target_and_every_command_that_makes_the_book_is_there():
    from tools import __main__ as tools

    makefile = text("Makefile")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    told = set(re.findall(r"^([a-z-]+):.*  ## \S", makefile, re.MULTILINE))
    assert targets == told == set(re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE).group(1).split())
    assert re.findall(r"^(\w+)  +\S", tools.__doc__, re.MULTILINE) == list(tools.COMMANDS)
    for module in tools.COMMANDS.values():
        assert callable(importlib.import_module(f"tools.{module}").main), module
    assert set() < set(re.findall(r"book/tools (\w+)", makefile)) <= set(tools.COMMANDS)


def test_hooks_and_workflows_run_what_is_there():
    """Every step runs or uses something, every make target exists, and every Python that is named has a job."""
    [repository] = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local", "hooks need no network"
    for hook in repository["hooks"]:
        assert hook["language"] == "system" and hook["entry"].startswith(".venv/bin/python ")
        assert all((ROOT / name).exists() for name in re.findall(r"[\w/]+\.py\b", hook["entry"])), hook["id"]
    targets = re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE)
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow[True] and workflow["permissions"], path.name  # YAML reads the key `on` as a truth value
        for job in workflow["jobs"].values():
            assert job["runs-on"] and job["timeout-minutes"]
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step), step
                assert re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+", step.get("uses", "a/b@v1"))
                assert set(re.findall(r"^make (\w+)", step.get("run", ""), re.MULTILINE)) <= set(targets)
    jobs = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["library"]["strategy"]["matrix"]["python"]
    assert jobs == [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]


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


def test_a_chapter_imports_only_what_the_lab_extra_brings():
    declared, distributions = {*map(normal, PROJECT["dependencies"] + EXTRAS["lab"])}, packages_distributions()
    for path in (ROOT / "book" / "chapters").glob("*.md"):
        found = r"^(?:import (?=\w+$)|from (?=[\w.]+ import ))(\w+)"
        imported = set(re.findall(found, path.read_text(encoding="utf-8"), re.MULTILINE))
        for module in imported - set(sys.stdlib_module_names) - {"rankedu", "ranklab", "rankbook"}:
            assert {normal(name) for name in distributions[module]} & declared, (path.stem, module)


def test_imports_go_one_way_and_nobody_takes_private_ones_and_proofs_need_no_torch():
    from importlinter.cli import lint_imports

    assert lint_imports(str(ROOT / "pyproject.toml"), cache_dir=None) == 0
    private = re.compile(
        r"^\s*from rankedu(\.\w+)*(\._(?!_)\w+)+ import|^\s*from rankedu[\w.]* import .*\b_(?!_)\w", re.MULTILINE
    )
    torch = re.compile(r"^\s*(?:import|from) torch", re.MULTILINE)
    folders = {"lab/ranklab": private, "book/rankbook": private, "book/tools": private, "rankedu/proofs": torch}
    for folder, wrong in folders.items():
        texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
        assert texts and [path.name for path, source in texts.items() if wrong.search(source)] == []


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
    from tools.site import architecture_page

    shown = set(re.findall(r"<text[^>]*>([^<]*)</text>", architecture_page.picture()))
    for package in (ROOT / "rankedu", ROOT / "lab" / "ranklab", ROOT / "book" / "rankbook" / "kit"):
        inside = package.iterdir()
        parts = {path.stem for path in inside if path.suffix == ".py" or (path / "__init__.py").exists()}
        assert {part for part in parts if not part.startswith("__")} <= shown, package
