"""The figures of the lab `speed` draw every contender, on logarithmic axes, and say what they show."""

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
