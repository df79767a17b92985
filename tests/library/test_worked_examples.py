"""The page's loss and its ranker, added as the text says, pass their own examples and the tests of all others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "book/contributing/library.md").read_text(encoding="utf-8")
PLAIN = (ROOT / "rankedu/reference.py").read_text(encoding="utf-8")
PYTEST = ["-q", "-p", "no:cacheprovider", "--doctest-modules", "--import-mode=importlib"]

# Whoever has typed an example into this very checkout has nothing left to be tried out.
pytestmark = pytest.mark.skipif(
    any((ROOT / "rankedu" / name).exists() for name in ("losses/discounted_gain.py", "rankers/noise.py")),
    reason="an example stands in this checkout already",
)


def block_after(section, what):
    """The code block that follows a phrase of a worked example."""
    text = re.search(rf"^## Add a {section}$.*?(?=^## )", TEXT, re.DOTALL | re.MULTILINE).group()
    return re.search(rf"{re.escape(what)}.*?^```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE).group(1)


def put(file, lines, *, before):
    """Put lines before the one that begins so."""
    text = file.read_text(encoding="utf-8")
    assert text.count(f"\n{before}") == 1, f"{file.name} has no one line {before}"
    file.write_text(text.replace(f"\n{before}", f"\n{lines}{before}"), encoding="utf-8")


def offer(head, block, *, before):
    """Put the line of a block into the head of a package."""
    put(head, block, before=f"    from rankedu.{head.parent.name}.{before} import")


@pytest.fixture
def copy(tmp_path):
    """The library, its tests and the site's tools, to be edited."""
    for part in ("rankedu", "tests/library", "tests/shared", "book/rankedu_book", "book/tools"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    return tmp_path


def run(folder, *command):
    """Run Python in the copy; what it says."""
    paths = os.pathsep.join(map(str, (folder, folder / "tests/library", ROOT / "lab", folder / "book")))
    told = {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # none is needed
    done = subprocess.run([sys.executable, *command], cwd=folder, env=told, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def assert_in_style(folder, *files):
    for command in (["check"], ["format", "--check"]):
        run(folder, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), *files)


def test_a_loss_that_is_added_has_every_test_of_a_loss(copy):
    file, head, cases = "rankedu/losses/discounted_gain.py", "rankedu/losses/__init__.py", "tests/shared/cases.py"
    definition = block_after("loss", "`class_agnostic_loss`:")
    put(copy / "rankedu/reference.py", definition + "\n\n", before=re.search(r"\n(#.* soft ranks)\n", PLAIN).group(1))
    (copy / file).write_text(block_after("loss", f"`{file}`:"), encoding="utf-8")
    offer(copy / head, block_after("loss", f"`{head}`"), before="fast_ap")
    put(copy / cases, block_after("loss", f"`LOSSES` of `{cases}`:"), before='    "ap": Case(')
    tests = ["tests/library/test_reference.py", "tests/library/losses/test_contract.py"]
    asked = ["-k", "dcg and not ndcg or every_loss_of_scores_is_here"]
    told = run(copy, "-m", "pytest", *PYTEST, "rankedu/reference.py", file, *tests, *asked)
    assert int(re.search(r"(\d+) passed", told).group(1)) > 13, told
    assert_in_style(copy, "rankedu/reference.py", file, head, cases)


def test_a_ranker_that_is_added_has_every_test_of_a_ranker(copy):
    file, head = "rankedu/rankers/noise.py", "rankedu/rankers/__init__.py"
    table = "book/rankedu_book/kit/known_rankers.py"
    for new in (file, "tests/library/rankers/test_noise.py"):
        (copy / new).write_text(block_after("ranker", f"`{new}`:"), encoding="utf-8")
    known = (
        (copy / table).read_text(encoding="utf-8").replace(", SigmoidRanker, Sup", ", NoiseRanker, SigmoidRanker, Sup")
    )
    (copy / table).write_text(known + block_after("ranker", f"`{table}`"), encoding="utf-8")
    offer(copy / head, block_after("ranker", f"`{head}`"), before="pairwise")
    tests = ["tests/library/rankers/test_noise.py", "tests/library/rankers/test_contract.py"]
    told = run(copy, "-m", "pytest", *PYTEST, file, *tests, "-k", "noise or in_the_table")
    assert int(re.search(r"(\d+) passed", told).group(1)) > 6, told
    assert_in_style(copy, file, table, head)
