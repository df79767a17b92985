"""Every registered figure is drawn, described, and written as PNG and SVG, in the book's one look."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from rankbook.ch01_rank_based_metrics.figures import depth_curves
from rankbook.ch02_blackbox_differentiation.figures import lower_envelope
from rankbook.ch03_ranking_is_a_solver.figures import swap_path
from rankbook.datasets.figures import glyphs
from rankbook.kit import relief, short_runs, style
from rankbook.kit.figures import all_figures, write_all
from rankbook.lab_hierarchical_retrieval import figures as hierarchical_retrieval
from rankbook.lab_retrieval import figures as retrieval

FIGURES = all_figures()
CHAPTERS = Path(__file__).resolve().parents[3] / "book" / "chapters"
TEXTS = "\n".join(path.read_text(encoding="utf-8") for path in sorted(CHAPTERS.glob("*.md")))
#: Chapters draw these, and `show` refuses what is not described: to draw them here too would prove nothing more.
BY_A_CHAPTER = {source for source, draw in FIGURES.items() if re.search(rf"\b{draw.__name__}\(", TEXTS)}


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
    assert {path.suffix for path in written} == {".png", ".svg"} and len(written) == 2 * len(quick)
    assert (tmp_path / "made" / "rambo_fig_1.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "made" / "rambo_fig_1.svg").read_bytes()


def test_a_figure_is_drawn_alike_twice():
    for draw in (depth_curves, lower_envelope, swap_path, glyphs):
        assert style.png(draw()) == style.png(draw()), draw.__name__


def test_relevant_and_irrelevant_differ_without_colour_and_items_have_their_names():
    disc, square = style.mark(True), style.mark(False)
    assert disc["markerfacecolor"] == disc["color"] and square["markerfacecolor"] == "white"
    assert disc["marker"] != square["marker"]
    assert style.area(False)["hatch"] and not style.area(True)["hatch"]
    _, axes = style.figure()
    style.draw_items(axes, [0, 1], [2, 3], "AB", torch.tensor([True, False]))
    assert [line.get_markerfacecolor() for line in axes.lines] == [style.POSITIVE, "white"]
    assert [(text.get_text(), *text.get_position()) for text in axes.texts] == [("A", 0, 2), ("B", 1, 3)]


def test_looks_differ_by_marker_and_by_line_or_colour():
    looks = style.looks(map(str, range(7)))
    assert len({look["marker"] for look in looks.values()}) == 7
    assert len({(look["color"], look["linestyle"]) for look in looks.values()}) == 7
    assert style.looks("abcdefgh")["h"] == style.looks("a")["a"], "then they begin anew"


def test_small_numbers_are_words():
    assert [style.in_words(count) for count in (0, 3, 10, 11)] == ["no", "three", "ten", "11"]


@pytest.mark.parametrize("stepped", [True, False])
def test_a_relief_is_seen_from_the_front_and_above(stepped):
    levels = np.zeros((80, 80))
    levels[:20] = 1.0  # a wall in front hides what lies behind it
    inside = np.ones_like(levels, dtype=bool)
    image, floor = (relief.relief(each, inside, 1.0, stepped=stepped)[:, 40] for each in (levels, 0 * levels))
    column = image[(image < 1).any(-1)]
    assert len(column) > (floor < 1).any(-1).sum() - 20
    np.testing.assert_allclose(column[-1], relief.STEEL)
    seen = relief.view(60)
    assert seen.staircase.shape == seen.inside.shape == (60, 60)
    assert 0.4 < seen.inside.mean() < 1, "a turned square does not fill its frame"
