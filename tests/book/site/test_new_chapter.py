"""`rankedu new-chapter`: what it writes, and what it never overwrites."""

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rankbook.kit.new_chapter import FILES, new_chapter, placeholders
from rankedu.cli import app

ROOT = Path(__file__).resolve().parents[3]
LAST = max((ROOT / "book" / "chapters").glob("*.md"))
NUMBER = int(LAST.name[:2]) + 1
SLUG = "a_chapter_of_tests"
SECTIONS = ("Objectives", "Five items by hand", "Explore", "Pitfall", "Paper map", "Exercises", "Self-test")


@pytest.fixture
def checkout(tmp_path):
    """As much of a checkout as a chapter needs."""
    (tmp_path / "book" / "chapters").mkdir(parents=True)
    shutil.copytree(ROOT / "book" / "template", tmp_path / "book" / "template")
    shutil.copy(LAST, tmp_path / "book" / "chapters")
    return tmp_path


def test_a_new_chapter_has_its_number_its_title_and_the_sections_of_the_contract(checkout):
    written = new_chapter(SLUG, "Sorting softly", checkout)
    assert written == [checkout / file.format(nn=f"{NUMBER:02d}", slug=SLUG) for file in FILES.values()]
    text = written[0].read_text(encoding="utf-8")
    assert f"(ch-{NUMBER})=\n# Sorting softly\n" in text and f"needs: [{NUMBER - 1}]" in text
    assert all(f"\n## {title}" in text for title in SECTIONS)
    assert len(placeholders(text)) > 30 and not any("@NN@" in path.read_text(encoding="utf-8") for path in written)


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


def test_what_cannot_be_is_named_and_the_command_reports_without_a_traceback():
    with pytest.raises(ValueError, match="title must be one line of text, got ' '"):
        new_chapter("soft", " ")
    done = CliRunner().invoke(app, ["new-chapter", "Soft-Sorting", "--title", "T"])
    said = "rankedu new-chapter: slug must be lower-case letters.* got 'Soft-Sorting'"
    assert done.exit_code == 2 and re.search(said, done.output, re.DOTALL)
