"""The figures of the lab `speed` draw every contender, on logarithmic axes, and say what they show."""

import pytest

from rankbook.kit import style
from rankbook.lab_speed import figures

PRINTED = {10**5: 0.033, 10**6: 0.331}


def rows(part, works, sizes, contenders):
    return [
        {"device": "cpu", "part": part, "work": work, "contender": who, "size": size, "seconds": 1e-8 * size * k}
        for work in works
        for k, who in enumerate(contenders, 1)
        for size in sizes
    ]


LISTS = [
    *rows("long lists", ["AP", "recall"], [10**5, 10**6], ["ours", "transcription"]),
    *rows("long lists", ["limit"], [10**5, 10**6], ["one copy", "one np.sort"]),
]


def test_a_list_has_a_line_for_each_contender_and_limit_and_the_printed_points():
    figure = figures.list_times(LISTS, PRINTED)
    left, right = figure.axes
    assert [axes.get_xscale() + axes.get_yscale() for axes in (left, right)] == ["loglog"] * 2
    assert len(left.lines) == 2 + 2 + 1 and len(right.lines) == 2 + 2, "AP alone is printed"
    assert list(left.lines[-1].get_ydata()) == list(PRINTED.values())
    told = style.description(figure)
    assert "AP, ours: 1.00 ms at 100,000 to 10.0 ms at 1,000,000" in told and "331 ms at 1,000,000" in told
    assert "one np.sort: 20.0 ms at 1,000,000" in told


@pytest.mark.parametrize("count", [1, 4, 7])
def test_every_loss_of_a_batch_has_a_panel(count):
    works = [f"loss {number}" for number in range(count - 1)] + ["AP, value alone"]
    found = rows("batches", works, [128, 256], ["ours", "scikit-learn"])
    found += rows("batches", ["limit"], [128, 256], ["product"])
    figure = figures.batch_times(found)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in panels] == works
    assert [len(axes.lines) for axes in panels] == [3] * (count - 1) + [2], "a value alone has no product beside it"
    assert {text.get_text() for text in figure.legends[0].get_texts()} >= {"ours", "scikit-learn"}


def test_what_was_not_tried_is_left_out():
    untried = [{**row, "seconds": None} for row in rows("long lists", ["AP"], [10**7], ["transcription"])]
    left, _ = figures.list_times([*LISTS, *untried]).axes
    assert max(max(line.get_xdata()) for line in left.lines) == 10**6


def growth(name, n, p):
    claimed = {"n claimed": 1.08, "p claimed": -1e-12}
    return {"part": "growth", "work": name, "n": n, "n margin": 0.1, "p": p, "p margin": 0.2, **claimed}


def test_exponents_have_their_intervals():
    figure = figures.exponents([growth("RaMBO", 1.05, 0.01), growth("Chen et al.", 1.0, 0.9), {"work": "x", "n": None}])
    left, right = figure.axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["RaMBO", "Chen et al."]
    [bars] = [found for found in right.collections if len(found.get_segments()) == 2]
    assert [segment[:, 0].round(6).tolist() for segment in bars.get_segments()] == [[-0.19, 0.21], [0.7, 1.1]]
    assert "RaMBO: n 1.05 ± 0.10, by the formula 1.08; p 0.01 ± 0.20, by the formula 0.00" in style.description(figure)


def test_nothing_cannot_be_drawn():
    for draw in (figures.list_times, figures.batch_times, figures.exponents):
        with pytest.raises(ValueError, match="rows must hold a"):
            draw([{"work": "AP", "contender": "ours", "size": 10, "seconds": None}])
