"""Every registered figure is drawn, described, and written as PNG and SVG."""

from __future__ import annotations

import pytest

from rankedu.figures import all_figures, show, style, write_all

FIGURES = all_figures()


@pytest.mark.parametrize(
    "source", ["RaMBO Fig. 1", "RaMBO supp. Fig. 1a", "RaMBO supp. Fig. 2a", "RaMBO supp. Fig. 2b"]
)
def test_the_printed_figures_of_the_first_chapters_are_regenerated(source):
    assert source in FIGURES


@pytest.mark.parametrize("source", FIGURES)
def test_every_figure_is_described(source):
    assert len(style.description(FIGURES[source]()).split()) > 10


def test_write_all(tmp_path):
    written = write_all(tmp_path / "made")
    assert {path.suffix for path in written} == {".png", ".svg"}
    assert len(written) == 2 * len(FIGURES)
    assert (tmp_path / "made" / "rambo_fig_1.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "made" / "rambo_fig_1.svg").read_bytes()


def test_an_undescribed_figure_is_not_shown():
    made, _ = style.figure()
    with pytest.raises(ValueError, match=r"must be described, got none: call style\.describe"):
        show(made)
