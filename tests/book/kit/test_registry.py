"""Every registered figure is drawn, described, and written as PNG and SVG, in the book's one look."""

import inspect
import re
from functools import partial
from pathlib import Path

import pytest

from rankedu_book.kit import short_runs, style
from rankedu_book.kit.figures import _TAKES, SETTINGS, all_figures, write_figures
from rankedu_book.lab_hierarchical_retrieval import figures as hierarchical_retrieval
from rankedu_book.lab_retrieval import figures as retrieval

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


def test_figures_are_drawn_by_name_with_the_settings_that_they_depend_on(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "svg", lambda _: b"")
    monkeypatch.setattr(style, "png", lambda _: b"")
    asked = {"lam": 0.5, "alpha": 3.0}
    first, second = write_figures(tmp_path, "RaMBO Fig. 1; HAPPIER Fig. 2", asked)
    assert first.used == {"lam": 0.5} and "λ = 0.5" in style.description(first.figure)
    assert second.used == {"alpha": 3.0}
    assert style.description(second.figure) != style.description(FIGURES["HAPPIER Fig. 2"]())
    assert {path.name for path in tmp_path.iterdir()} == {path.name for one in (first, second) for path in one.paths}
    for only, settings, message in (
        ("RaMBO Fig. 9", {}, r"figure 'RaMBO Fig\. 9' is unknown .*; there are: HAPPIER Fig\. 1; HAPPIER Fig\. 2"),
        ("RaMBO Fig. 1", {"alpha": 3.0}, r"alpha changes none of the chosen figures; it changes: HAPPIER Fig\. 1"),
    ):
        with pytest.raises(ValueError, match=message):
            list(write_figures(tmp_path, only, settings))


def test_every_setting_changes_a_figure_and_is_taken_by_its_function():
    values = {"lam": 0.5, "margin": 0.3, "alpha": 2.0, "batch_sizes": [8, 16], "seed": 5}
    assert {name for takes in _TAKES.values() for name in takes} == set(SETTINGS) == set(values)
    for source, takes in _TAKES.items():
        passed = {key: value for name, given in takes.items() for key, value in given(values[name]).items()}
        inspect.signature(FIGURES[source]).bind(**passed)
