"""What a page says of itself: where it is edited, where it is launched, what can be taken from it."""

from __future__ import annotations

from email.message import Message

import nbformat
import pytest
from tools.site import page_links

GITHUB = "https://github.com/someone/rankedu"
CHAPTER = "chapters/01_rank_based_metrics"
FILE, NOTEBOOK = f"book/{CHAPTER}.md", "notebooks/01_rank_based_metrics.ipynb"


def test_the_address_comes_from_one_place_and_one_that_would_give_dead_links_is_refused(monkeypatch):
    package = Message()
    monkeypatch.setattr(page_links.importlib.metadata, "metadata", lambda name: package)
    for given, found in {"": "", GITHUB: GITHUB, f"{GITHUB}/": GITHUB, f"{GITHUB}.git": GITHUB}.items():
        monkeypatch.setenv("RANKEDU_REPOSITORY", given)
        assert page_links.address() == found
    for wrong in ("github.com/someone/rankedu", "http://github.com/a/b", "https://github.com/someone"):
        monkeypatch.setenv("RANKEDU_REPOSITORY", wrong)
        with pytest.raises(ValueError, match="RANKEDU_REPOSITORY must read https://host/owner/name"):
            page_links.address()
    monkeypatch.delenv("RANKEDU_REPOSITORY")
    package["Project-URL"] = f"Repository, {GITHUB}"
    assert page_links.address() == GITHUB


def test_on_github_a_page_can_be_edited_and_launched_and_elsewhere_no_address_is_guessed(monkeypatch):
    monkeypatch.setenv("RANKEDU_REPOSITORY", GITHUB)
    found = page_links.about(CHAPTER)
    assert found["edit"] == f"{GITHUB}/edit/main/{FILE}" and found["history"] == f"{GITHUB}/commits/main/{FILE}"
    assert found["launch"] == f"https://mybinder.org/v2/gh/someone/rankedu/main?urlpath=lab/tree/{NOTEBOOK}"
    assert page_links.about("glossary")["launch"] == ""
    monkeypatch.setenv("RANKEDU_REPOSITORY", "https://forge.example.org/a/b")
    found = page_links.about(CHAPTER)
    assert "edit" not in found and not found["launch"]
    assert page_links.sources(CHAPTER) == [FILE, NOTEBOOK]
    assert page_links.sources("how-to-read") == ["book/how-to-read.md"] and page_links.sources("genindex") == []


def test_a_chapter_has_notebooks_to_take_with_its_cells_and_no_outputs_and_a_page_has_none(tmp_path):
    found = page_links.about(CHAPTER)["downloads"]
    address, exercises = f"_static/{NOTEBOOK}", f"_static/{NOTEBOOK}".replace("notebooks/", "notebooks/exercises/")
    assert found == {"Notebook": address, "Exercises": exercises}
    assert list(page_links.about("labs/retrieval")["downloads"].values()) == ["_static/notebooks/labs/retrieval.ipynb"]
    assert page_links.about("glossary")["downloads"] == page_links.about("genindex")["downloads"] == {}
    page_links.write_notebooks(tmp_path)
    for taken in found.values():
        original = page_links.ROOT / taken.removeprefix("_static/")
        made, was = (nbformat.read(path, as_version=4) for path in (tmp_path / taken, original))
        assert [cell.source for cell in made.cells] == [cell.source for cell in was.cells]
        assert not any(cell.get("outputs") for cell in made.cells) and set(made.metadata) == {"kernelspec"}
        nbformat.validate(made)
