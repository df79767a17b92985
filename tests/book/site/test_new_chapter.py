"""`rankedu new-chapter`: what it writes keeps the contract once its brackets are filled, and overwrites nothing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rankbook.kit.new_chapter import FILES, new_chapter, placeholders

ROOT = Path(__file__).resolve().parents[3]
LAST = max((ROOT / "book" / "chapters").glob("*.md"))
NUMBER = int(LAST.name[:2]) + 1
SLUG = "a_chapter_of_tests"


@pytest.fixture
def checkout(tmp_path):
    """As much of a checkout as a chapter needs."""
    for folder in ("book/chapters", "book/data", "tests/shared", "tests/book/site"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(ROOT / "book" / "template", tmp_path / "book" / "template")
    shutil.copy(LAST, tmp_path / "book" / "chapters")
    return tmp_path


def test_a_new_chapter_keeps_the_contract_and_passes_its_tests_but_for_its_brackets(checkout):
    for folder in ("book/rankbook", "book/tools", "lab/ranklab"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__"))
    files = ("tests/conftest.py", "tests/shared/equation_gaps.py", "tests/book/site/test_contract.py")
    for file in ("book/data/sources.yaml", *files):
        shutil.copy(ROOT / file, checkout / file)
    written = new_chapter(SLUG, "Sorting softly", checkout)
    left = [f"{file.name}, {found}" for file in written for found in placeholders(file.read_text(encoding="utf-8"))]
    title = f'<a id="ch-{NUMBER}"></a>\n\n# Sorting softly\n'
    assert title in written[0].read_text(encoding="utf-8") and len(left) > 50
    paths = os.pathsep.join([str(checkout / "book"), str(checkout / "lab"), str(ROOT)])
    env = {**os.environ, "PYTHONPATH": paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-k", SLUG, "tests"]
    done = subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True)
    failed = re.findall(r"^FAILED .*::(\w+)", done.stdout, re.MULTILINE)
    assert failed == ["test_no_placeholder_is_left"], done.stdout + done.stderr
    assert [place for place in left if place not in done.stdout] == []


def test_nothing_is_overwritten_and_nothing_half_done(checkout):
    for file in FILES.values():
        there = checkout / file.format(nn=f"{NUMBER:02d}", slug=SLUG)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text("mine", encoding="utf-8")
        before = sorted(checkout.rglob("*"))
        number = f"{NUMBER:02d}" if file.startswith("book") else ""  # then the next chapter has another number
        with pytest.raises(FileExistsError, match=f"slug must be new, got '{SLUG}': there is .*{number}"):
            new_chapter(SLUG, "Sorting", checkout)
        assert there.read_text(encoding="utf-8") == "mine" and sorted(checkout.rglob("*")) == before
        there.unlink()
