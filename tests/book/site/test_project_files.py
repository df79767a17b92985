"""The project's own files agree with each other, and what installs them says what is wrong in one sentence."""

import importlib.util
import json
import re
import sys
from importlib.metadata import packages_distributions

import grimp
import pytest
import yaml
from importlinter.cli import lint_imports
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
    *names, pip = yaml.safe_load(text("environment.yml"))["dependencies"]
    [python] = re.findall(r"^python *[>=]+ *3\.(\d+)", "\n".join(names), re.MULTILINE)
    assert int(python) >= int(PROJECT["requires-python"].rpartition(".")[2])
    assert pip["pip"][0] == "-c constraints.txt" and re.fullmatch(r"-e \.\[(\w+)\]", pip["pip"][1])[1] in EXTRAS
    pinned = list(map(normal, re.findall(r"^([\w.-]+)==", text("constraints.txt"), re.MULTILINE)))
    assert len(pinned) == len(set(pinned))
    wanted = [one for name, listed in EXTRAS.items() if name != "vision" for one in listed]
    assert {*map(normal, PROJECT["dependencies"] + wanted)} - {"rankedu"} <= set(pinned)
    assert sorted(map(normal, PROJECT["dependencies"])) == ["numpy", "torch"], "the core needs these alone"


def test_the_version_is_one_everywhere_and_the_archive_is_described_by_the_citation():
    cited = yaml.safe_load(text("CITATION.cff"))
    assert cited["version"] == rankedu.__version__ and f"## {rankedu.__version__} " in text("CHANGELOG.md")
    spec = importlib.util.spec_from_file_location("ready", ROOT / ".ci" / "release" / "ready.py")
    ready = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ready)
    address = (ready.ADDRESS.search(text("pyproject.toml")) or ["", ""])[1]
    assert json.loads(text(".zenodo.json")) == ready.archived(cited, address)


def test_a_chapter_imports_only_what_the_lab_extra_brings():
    declared, distributions = {*map(normal, PROJECT["dependencies"] + EXTRAS["lab"])}, packages_distributions()
    for path in (ROOT / "book" / "chapters").glob("*.md"):
        found = r"^(?:import (?=\w+$)|from (?=[\w.]+ import ))(\w+)"
        imported = set(re.findall(found, path.read_text(encoding="utf-8"), re.MULTILINE))
        for module in imported - set(sys.stdlib_module_names) - {"rankedu", "rankedu_lab", "rankedu_book"}:
            assert {normal(name) for name in distributions[module]} & declared, (path.stem, module)


def test_imports_go_one_way_and_nobody_takes_private_ones_and_proofs_need_no_torch():
    assert lint_imports(str(ROOT / "pyproject.toml"), cache_dir=None) == 0
    private = r"^\s*from rankedu(\.\w+)*(\._(?!_)\w+)+ import|^\s*from rankedu(?!_)[\w.]* import .*\b_(?!_)\w"
    folders = dict.fromkeys(("lab/rankedu_lab", "book/rankedu_book", "book/tools"), private)
    for folder, wrong in (folders | {"rankedu/proofs": r"^\s*(?:import|from) torch"}).items():
        texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")}
        assert texts and [name for name, source in texts.items() if re.search(wrong, source, re.MULTILINE)] == []


def test_the_kit_knows_no_chapter_and_a_chapter_none_that_comes_later():
    graph = grimp.build_graph("rankedu_book", exclude_type_checking_imports=True)
    parts = sorted(graph.find_children("rankedu_book"))
    assert len(parts) > 16
    for upper in parts:
        for lower in graph.find_upstream_modules(upper, as_package=True):
            part = ".".join(lower.split(".")[:2])
            assert upper != "rankedu_book.kit" or part in ("rankedu_book", "rankedu_book.kit"), f"{upper} needs {lower}"
            assert ".ch" not in part or ".ch" not in upper or part <= upper, f"{upper} needs {lower}"
