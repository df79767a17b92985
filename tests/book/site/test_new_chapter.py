"""`rankedu new-chapter`: what it writes keeps the contract once its brackets are filled, and overwrites nothing."""

import shutil
from pathlib import Path

import pytest

from rankedu_book.kit.new_chapter import FILES, new_chapter

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
