"""The figure of a sweep says in words what it shows."""

from __future__ import annotations

import pytest

from rankbook.kit import style
from rankbook.results.figures import compare_settings
from ranklab.runs import Record, Row


def row(loss, *values):
    about = {"preset": None, "seconds": 1.0, "machine": {}, "versions": {}, "git": None, "started": ""}
    records = [Record("lab", "", parameters={"loss": loss}, metrics={"R@1": value}, **about) for value in values]
    return Row({"loss": loss}, records)


def test_settings_are_compared_in_numbers_and_each_seed_is_drawn():
    made = compare_settings([row("rambo_log", 0.3, 0.32), row("smooth_ap", 0.4, 0.42), row("csl", None)], "R@1")
    told = style.description(made)
    assert "R@1 of 2 settings" in told and "smooth_ap: 0.410 ± 0.014; rambo_log: 0.310 ± 0.014." in told
    [axes] = made.axes
    strokes = [
        sorted(line.get_xdata()) for line in axes.lines if line.get_marker() == "|" and len(line.get_xdata()) == 2
    ]
    assert [0.3, 0.32] in strokes and [0.4, 0.42] in strokes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["rambo_log", "smooth_ap"]


def test_a_metric_that_nobody_measured_is_refused():
    with pytest.raises(ValueError, match="metric 'AP' must be measured by a run, got none"):
        compare_settings([row("rambo_log", 0.3)], "AP")
