"""Every registered figure is drawn, described, and written as PNG and SVG."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from rankbook.ch01_rank_based_metrics.figures import depth_curves
from rankbook.ch02_blackbox_differentiation.figures import lower_envelope
from rankbook.ch03_ranking_is_a_solver.figures import swap_path
from rankbook.datasets.figures import glyphs
from rankbook.kit import short_runs, style
from rankbook.kit.figures import all_figures, show, write_all
from rankbook.lab_hierarchical_retrieval import figures as hierarchical_retrieval
from rankbook.lab_retrieval import figures as retrieval

FIGURES = all_figures()
CHAPTERS = Path(__file__).resolve().parents[3] / "book" / "chapters"
TEXTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted(CHAPTERS.glob("*.md")))
#: Chapters draw these, and `show` refuses what is not described: to draw them here too would prove nothing more.
BY_A_CHAPTER = {source for source, draw in FIGURES.items() if re.search(rf"\b{draw.__name__}\(", TEXTS)}


@pytest.mark.parametrize(
    "source", ["RaMBO Fig. 1", "RaMBO supp. Fig. 1a", "RaMBO supp. Fig. 2a", "RaMBO supp. Fig. 2b"]
)
def test_the_printed_figures_of_the_first_chapters_are_regenerated(source):
    assert source in FIGURES


def test_most_figures_are_drawn_by_their_chapter():
    assert len(BY_A_CHAPTER) > 12


@pytest.fixture
def trained_for_four_steps(monkeypatch):
    """Networks that are trained for four steps and not for a hundred are drawn alike."""
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


def test_write_all(tmp_path, monkeypatch):
    quick = ["RaMBO Fig. 1", "HAPPIER Fig. 2"]
    monkeypatch.setattr("rankbook.kit.figures.all_figures", lambda: {source: FIGURES[source] for source in quick})
    written = write_all(tmp_path / "made")
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert len(written) == 2 * len(quick)
    assert (tmp_path / "made" / "rambo_fig_1.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "made" / "rambo_fig_1.svg").read_bytes()


@pytest.mark.parametrize("draw", [depth_curves, lower_envelope, swap_path, glyphs], ids=lambda draw: draw.__name__)
def test_a_figure_is_drawn_alike_twice(draw):
    assert style.png(draw()) == style.png(draw())


def test_an_undescribed_figure_is_not_shown():
    made, _ = style.figure()
    with pytest.raises(ValueError, match=r"must be described, got none: call style\.describe"):
        show(made)
