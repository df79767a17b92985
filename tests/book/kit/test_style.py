"""The book's one look: what can be told apart without colour."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankbook.kit import style


def test_relevant_and_irrelevant_differ_without_colour():
    disc, square = style.mark(True), style.mark(False)
    assert disc["markerfacecolor"] == disc["color"] and square["markerfacecolor"] == "white"
    assert disc["marker"] != square["marker"]
    assert style.area(False)["hatch"] and not style.area(True)["hatch"]


def test_items_are_drawn_with_their_names_in_the_marks():
    _, axes = style.figure()
    style.draw_items(axes, [0, 1], [2, 3], "AB", torch.tensor([True, False]))
    assert [line.get_markerfacecolor() for line in axes.lines] == [style.POSITIVE, "white"]
    assert [(text.get_text(), *text.get_position()) for text in axes.texts] == [("A", 0, 2), ("B", 1, 3)]


def test_looks_differ_by_marker_and_by_line_or_colour():
    looks = style.looks(map(str, range(7)))
    assert len({look["marker"] for look in looks.values()}) == 7
    assert len({(look["color"], look["linestyle"]) for look in looks.values()}) == 7
    assert style.looks("abcdefgh")["h"] == style.looks("a")["a"], "then they begin anew"


def test_the_spread_is_the_middle_half():
    _, axes = style.figure()
    middle = style.draw_spread(axes, np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), "runs")
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (middle.item(), heights.min(), heights.max()) == (2, 1, 3)


@pytest.mark.parametrize(("count", "words"), [(0, "no"), (3, "three"), (10, "ten"), (11, "11")])
def test_small_numbers_are_words(count, words):
    assert style.in_words(count) == words
