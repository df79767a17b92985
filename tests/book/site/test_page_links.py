"""What a page says of itself: where it is edited, where it is launched."""

from __future__ import annotations

import nbformat
import pytest
from tools.site import page_links

GITHUB = "https://github.com/someone/rankedu"
FILE, NOTEBOOK = "book/chapters/01_rank_based_metrics.md", "notebooks/01_rank_based_metrics.ipynb"


@pytest.mark.parametrize(
    ("given", "found"), [("", ""), (GITHUB, GITHUB), (f"{GITHUB}/", GITHUB), (f"{GITHUB}.git", GITHUB)]
)
def test_the_address_comes_from_one_place(monkeypatch, given, found):
    monkeypatch.setenv("RANKEDU_REPOSITORY", given)
    monkeypatch.setattr(page_links.importlib.metadata, "metadata", lambda name: NoUrls())
    assert page_links.address() == found


def test_without_a_variable_the_projects_own_urls_decide(monkeypatch):
    monkeypatch.delenv("RANKEDU_REPOSITORY", raising=False)
    monkeypatch.setattr(page_links.importlib.metadata, "metadata", lambda name: NoUrls(f"Repository, {GITHUB}"))
    assert page_links.address() == GITHUB


class NoUrls:
    def __init__(self, *urls):
        self.urls = urls

    def get_all(self, name):
        return list(self.urls) or None


@pytest.mark.parametrize("wrong", ["github.com/someone/rankedu", "http://github.com/a/b", "https://github.com/someone"])
def test_an_address_that_would_give_dead_links_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("RANKEDU_REPOSITORY", wrong)
    with pytest.raises(ValueError, match="RANKEDU_REPOSITORY must read https://host/owner/name"):
        page_links.address()


def test_on_github_a_page_can_be_edited_and_launched_and_elsewhere_no_address_is_guessed(monkeypatch):
    monkeypatch.setenv("RANKEDU_REPOSITORY", GITHUB)
    found = page_links.about("chapters/01_rank_based_metrics")
    assert found["edit"] == f"{GITHUB}/edit/main/{FILE}" and found["history"] == f"{GITHUB}/commits/main/{FILE}"
    assert found["launch"] == f"https://mybinder.org/v2/gh/someone/rankedu/main?urlpath=lab/tree/{NOTEBOOK}"
    assert page_links.about("glossary")["launch"] == ""
    monkeypatch.setenv("RANKEDU_REPOSITORY", "https://forge.example.org/a/b")
    found = page_links.about("chapters/01_rank_based_metrics")
    assert "edit" not in found and not found["launch"]


def test_a_page_is_made_of_its_text_and_its_notebook():
    assert page_links.sources("chapters/01_rank_based_metrics") == [FILE, NOTEBOOK]
    assert page_links.sources("how-to-read") == ["book/how-to-read.md"]
    assert page_links.sources("genindex") == []


def test_a_chapter_has_notebooks_to_take_and_a_page_has_none():
    found = page_links.about("chapters/01_rank_based_metrics")["downloads"]
    assert found == {
        "Notebook": "_static/notebooks/01_rank_based_metrics.ipynb",
        "Exercises": "_static/notebooks/exercises/01_rank_based_metrics.ipynb",
    }
    assert list(page_links.about("labs/retrieval")["downloads"].values()) == ["_static/notebooks/labs/retrieval.ipynb"]
    assert page_links.about("glossary")["downloads"] == page_links.about("genindex")["downloads"] == {}


def test_a_notebook_to_take_has_the_cells_and_no_outputs(tmp_path):
    page_links.write_notebooks(tmp_path)
    addresses = page_links.about("chapters/01_rank_based_metrics")["downloads"].values()
    for address, original in zip(addresses, [NOTEBOOK, NOTEBOOK.replace("/", "/exercises/")], strict=True):
        made, was = (nbformat.read(path, as_version=4) for path in (tmp_path / address, page_links.ROOT / original))
        assert [cell.source for cell in made.cells] == [cell.source for cell in was.cells]
        assert not any(cell.get("outputs") for cell in made.cells) and set(made.metadata) == {"kernelspec"}
        nbformat.validate(made)
