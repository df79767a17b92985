"""The page's loss, added as the text says, passes its own examples and the tests of every loss."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "book/contributing/library.md").read_text(encoding="utf-8")
SECTION = re.search(r"^## Add a loss$.*?(?=^## )", TEXT, re.DOTALL | re.MULTILINE).group()
FILES = ["rankedu/reference.py", "rankedu/losses/discounted_gain.py", "rankedu/losses/__init__.py"]
CASES = "tests/shared/cases.py"
TESTS = ["tests/library/test_reference.py", "tests/library/losses/test_contract.py"]

# Whoever has typed the example into this very checkout has nothing left to be tried out.
pytestmark = pytest.mark.skipif(
    (ROOT / "rankedu/losses/discounted_gain.py").exists(), reason="the example stands in this checkout already"
)


def block_after(what):
    """The code block that follows a phrase of the worked example."""
    return re.search(rf"{re.escape(what)}.*?^```\w+\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE).group(1)


def put(file, lines, *, after):
    """Put lines after the one that reads so."""
    text = file.read_text(encoding="utf-8")
    assert text.count(f"\n{after}\n") == 1, f"{file.name} has no one line {after}"
    file.write_text(text.replace(f"\n{after}\n", f"\n{after}\n{lines}"), encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The library and its tests with the edits made."""
    folder = tmp_path_factory.mktemp("checkout")
    for part in ("rankedu", "tests/library", "tests/shared"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    put(
        folder / FILES[0],
        "\n\n" + block_after("`class_agnostic_loss`:"),
        after="    return 1 - average_precision(y, r)",
    )
    (folder / FILES[1]).write_text(block_after(f"`{FILES[1]}`:"), encoding="utf-8")
    put(folder / FILES[2], block_after(f"`{FILES[2]}`"), after="from rankedu.losses.csl import CSLLoss")
    put(folder / FILES[2], '    "DCGLoss",\n', after='    "ClusterLoss",')
    put(folder / CASES, block_after(f"`LOSSES` of `{CASES}`:"), after="LOSSES = {")
    return folder


def run(folder, *command):
    """Run a module in the copy; what it says."""
    paths = os.pathsep.join(map(str, (folder, folder / "tests/library", ROOT / "lab", ROOT / "book")))
    surroundings = {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # none is needed
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=surroundings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_passes_its_examples_and_every_test_of_a_loss(copy):
    quiet = ["-q", "-p", "no:cacheprovider", "--doctest-modules", "--import-mode=importlib"]
    told = run(copy, "pytest", *quiet, *FILES[:2], *TESTS, "-k", "dcg or DCGLoss or every_loss_of_scores_is_here")
    assert int(re.search(r"(\d+) passed", told).group(1)) > 15, told


def test_what_is_to_be_copied_is_in_the_projects_style(copy):
    for command in (["check"], ["format", "--check"]):
        run(copy, "ruff", *command, "--config", str(ROOT / "pyproject.toml"), *FILES, CASES)
