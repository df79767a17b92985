"""Every registered figure is drawn, described, and written as PNG and SVG, in the book's one look."""

import re
from functools import partial
from pathlib import Path

import pytest

from rankbook.kit import short_runs, style
from rankbook.kit.figures import all_figures
from rankbook.lab_hierarchical_retrieval import figures as hierarchical_retrieval
from rankbook.lab_retrieval import figures as retrieval

FIGURES = all_figures()
CHAPTERS = Path(__file__).resolve().parents[3] / "book" / "chapters"
TEXTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted(CHAPTERS.glob("*.md")))
#: Chapters draw these, and `show` refuses what is not described: to draw them here too would prove nothing more.
BY_A_CHAPTER = {source for source, draw in FIGURES.items() if re.search(rf"\b{draw.__name__}\(", TEXTS)}


@pytest.fixture
def trained_for_four_steps(monkeypatch):
    for module in (retrieval, hierarchical_retrieval):
        for run in (short_runs.characters, short_runs.letters):
            monkeypatch.setattr(module, run.__name__, partial(run, steps=4), raising=False)
    retrieval.letter_queries.cache_clear()
    yield
    retrieval.letter_queries.cache_clear()


@pytest.mark.usefixtures("trained_for_four_steps")
@pytest.mark.parametrize("source", [source for source in FIGURES if source not in BY_A_CHAPTER])
def test_every_other_figure_is_described(source):
    assert len(style.description(FIGURES[source]()).split()) > 10
