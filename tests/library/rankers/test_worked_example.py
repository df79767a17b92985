"""The page's ranker, added as the text says: every test, figure and slider then has it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "book/contributing/library.md").read_text(encoding="utf-8")
SECTION = re.search(r"^## Add a ranker$.*?(?=^## )", TEXT, re.DOTALL | re.MULTILINE).group()

#: What the table of rankers reaches, in a process of its own. The figures are drawn small.
LOOK = """
import json, sys
import numpy as np
import pytest
sys.path.insert(0, "book")
status = pytest.main(["-q", "-p", "no:cacheprovider", "--doctest-modules", "--import-mode=importlib",
                      "tests/library/rankers/test_noise.py", "rankedu/rankers/noise.py",
                      "tests/library/rankers/test_contract.py", "-k", "noise or in_the_table"])
from rankbook.ch12_surrogates_side_by_side.explorables import method_and_strength as slider
from rankbook.kit import style
from rankbook.ch12_surrogates_side_by_side import figures, maps
from rankbook.ch12_surrogates_side_by_side import surrogates
from ranklab.contestants import LSTMRanker
from tools.site import architecture_page
surrogates.sorter = lambda: LSTMRanker(20)
walk = maps.one_walk()
told = {
    "status": int(status),
    "frames": [frame for frame in slider.grid() if frame["method"] == "noise"],
    "frame": style.description(slider(method="noise", distortion=0.1)),
    "of all frames": len(list(slider.grid())),
    "landscapes": style.description(figures.every_landscape(size=20)),
    "walk": style.description(walk),
    "fields": style.description(maps.gradient_fields()),
    "two items": style.description(figures.two_items()),
    "table": architecture_page.rankers(),
    "axes": len(walk.axes),
}
print(json.dumps(told))
"""


# Whoever has typed the example into this very checkout has nothing left to be tried out.
pytestmark = pytest.mark.skipif(
    (ROOT / "rankedu/rankers/noise.py").exists(), reason="the example stands in this checkout already"
)


def block_after(what):
    """The code block that follows a phrase of the worked example."""
    return re.search(rf"{re.escape(what)}.*?^```\w+\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE).group(1)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Make the edits in a copy of the package, and look."""
    copy = tmp_path_factory.mktemp("checkout")
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "rankedu", copy / "rankedu", ignore=without)
    (copy / "tests/library/rankers").mkdir(parents=True)
    for file in ("tests/library/drawn.py", "tests/library/conftest.py", "tests/library/rankers/test_contract.py"):
        shutil.copy(ROOT / file, copy / file)
    shutil.copytree(ROOT / "book" / "tools", copy / "book" / "tools", ignore=without)
    for file in ("rankedu/rankers/noise.py", "tests/library/rankers/test_noise.py"):
        (copy / file).write_text(block_after(f"`{file}`:"), encoding="utf-8")
    registry, head = copy / "rankedu/rankers/registry.py", copy / "rankedu/rankers/__init__.py"
    line, row = block_after("`rankedu/rankers/registry.py`").strip().split("\n\n")
    put(registry, line, before="from rankedu.rankers.sigmoid")
    registry.write_text(registry.read_text(encoding="utf-8") + row + "\n", encoding="utf-8")
    put(head, block_after("`rankedu/rankers/__init__.py`").strip(), before="from rankedu.rankers.reach")
    put(head, '    "NoiseRanker",', before='    "PairwiseRanker",')
    paths = os.pathsep.join(map(str, (copy, ROOT / "lab", ROOT / "book")))
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # none is needed
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    return {"output": done.stdout, "folder": copy, **json.loads(last)}


def put(file, line, *, before):
    """Put a line before the one that begins so."""
    text = file.read_text(encoding="utf-8")
    assert text.count(f"\n{before}") == 1, f"{file.name} has no one line {before}"
    file.write_text(text.replace(f"\n{before}", f"\n{line}\n{before}"), encoding="utf-8")


def test_the_contract_and_its_own_test_have_it(told):
    assert told["status"] == 0, told["output"]
    assert int(re.search(r"(\d+) passed", told["output"]).group(1)) > 10


def test_the_explorable_has_its_frames(told):
    assert len(told["frames"]) >= 10 and told["of all frames"] <= 60
    assert "Map of the noise surrogate with s = " in told["frame"] and "distorts the loss by 10%" in told["frame"]


@pytest.mark.parametrize("figure", ["landscapes", "walk", "fields", "two items", "table"])
def test_every_figure_has_it(told, figure):
    assert "noise" in told[figure]


def test_what_is_to_be_copied_is_in_the_projects_style(told):
    files = ["rankedu/rankers/noise.py", "rankedu/rankers/registry.py", "rankedu/rankers/__init__.py"]
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), *files]
        done = subprocess.run(ruff, cwd=told["folder"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
