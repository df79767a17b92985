"""Searches: equal for all methods, on the validation split alone, and to be gone on with."""

import math
import re
from dataclasses import replace
from itertools import product

import pytest
from optuna.distributions import FloatDistribution
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu_lab.experiments import detection, hierarchical_retrieval, retrieval
from rankedu_lab.experiments._experiment import chosen_settings
from rankedu_lab.methods import METHODS, find_method
from rankedu_lab.methods.space import as_parameters, space_of
from rankedu_lab.runs import SweepError
from rankedu_lab.runs import search as searches
from rankedu_lab.runs.search import search

SPACE = {"lr": FloatDistribution(1e-3, 1e-1, log=True)}


@pytest.fixture
def done(monkeypatch):
    """The runs that were asked for, and how; rates above 0.05 fail, as a training that diverges."""
    asked = []

    def run_all(planned, preset, **how):
        asked.append(([run.parameters for run in planned], {"preset": preset, **how}))
        rates = {run.folder: run.parameters["lr"] for run in planned}
        results = {folder: {"metrics": {"score": -abs(lr - 0.01)}} for folder, lr in rates.items() if lr < 0.05}
        runs = [replace(run, result=results[run.folder]) for run in planned if run.folder in results]
        if len(runs) < len(planned):
            raise SweepError("some failed", runs)
        return runs

    monkeypatch.setattr(searches, "run_all", run_all)
    return asked


def try_out(where, space=SPACE, **more):
    """The rate and the value of each trial."""
    study = search("tiny", space, **{"metric": "score", **where, **more})
    return [(trial.params["lr"], trial.value) for trial in study.trials]


def test_the_trials_fill_the_space_evenly_and_the_command_tells_the_best(where, done):
    found = try_out(where, trials=16, preset="fast", how={"timeout": 5, "workers": 2})
    logs = sorted(math.log10(rate) for rate, _ in found)
    assert [math.floor(8 * (value + 3)) for value in logs] == list(range(16)), "one in each sixteenth of two decades"
    assert [value is None for _, value in found] == [rate >= 0.05 for rate, _ in found]
    [(asked, how)] = done
    assert how == {"preset": "fast", "timeout": 5, "workers": 2}
    assert [given["lr"] for given in asked] == [rate for rate, _ in found]
    assert {tuple(given["kinds"]) for given in asked} == {("a",)}, "the preset's"


def test_the_same_call_continues_and_more_trials_are_added(where, done):
    few, more = (try_out(where, trials=trials) for trials in (3, 6))
    assert more[:3] == few and len({rate for rate, _ in more}) == 6
    assert try_out(where, trials=6) == more == try_out(where, trials=3)
    assert [len(asked) for asked, _ in done] == [3, 3, 0, 0], "what is finished, or failed, is not tried again"
    [kept] = (where["runs"] / "searches").iterdir()
    other = try_out(where, {"lr": FloatDistribution(1e-3, 2e-1, log=True)}, trials=2)
    assert other[0][0] != few[0][0]
    assert len([*kept.parent.iterdir()]) == 2, "another space is another search"


def test_a_search_that_is_interrupted_continues_with_the_points_that_were_drawn(where, done, monkeypatch):
    whole, run_all = try_out(where, trials=4, parameters={"n": 4}), searches.run_all
    points = [given["lr"] for given in done[0][0]]

    def stopped(planned, preset):
        assert [run.parameters["lr"] for run in planned] == points
        raise KeyboardInterrupt

    monkeypatch.setattr(searches, "run_all", stopped)
    with pytest.raises(KeyboardInterrupt):
        try_out(where, trials=4)
    monkeypatch.setattr(searches, "run_all", run_all)
    assert try_out(where, trials=4) == whole


def test_nothing_but_the_validation_split_chooses_and_bad_input_is_named(where, done, tmp_path, refused):
    for split in ("test", "held_out"):
        message = f"test_split must be 'val' in a search, got '{split}': what is chosen on a split"
        refused([(lambda split=split: try_out(where, parameters={"test_split": split}), ValueError, message)])
    assert not done and not where["runs"].exists()
    unknown = r"metric 'scor' is unknown \(did you mean 'score'\?\); there are: score"
    narrow, failing = {"lr": FloatDistribution(0.001, 0.01)}, {"lr": FloatDistribution(0.06, 0.1)}
    rows = (
        (lambda: try_out(where, trials=0), "trials must be >= 1, got 0"),
        (lambda: try_out(where, narrow, trials=2, metric="scor"), unknown),
        (lambda: try_out(where, {}), "space must have a setting to search for"),
        (lambda: try_out(where, failing, trials=2), "some failed"),
    )
    refused((call, (ValueError, SweepError), message) for call, message in rows)


def test_every_method_has_a_space_of_settings_that_it_has():
    for name in METHODS:
        space = space_of(name)
        assert next(iter(space)) == "lr" and len(space) <= 3, name
        assert (len(space) == 1) == (not {*METHODS[name].settings} - {"memory", "exclude_self"}), name
        published = {s: v for s, v in METHODS[name].settings.items() if s in space}
        assert all(space[s].low <= value <= space[s].high for s, value in published.items()), name
        for lab, end in product((retrieval, hierarchical_retrieval), ("low", "high")):
            defaults = lab.DEFAULTS | {"loss": name}
            point = {setting: getattr(b, end) for setting, b in space.items()}
            parameters = defaults | as_parameters(point, defaults)
            settings, notes = chosen_settings(parameters)
            find_method(name).check(settings)
            assert not notes, name
            assert all(settings.get(s, parameters.get(s)) == value for s, value in point.items()), name
    assert {*space_of("rambo_log", without=["margin"])} == {"lr", "lam"}, "what is held is not searched for"
    for name in detection.LOSSES:
        space = space_of(name)
        assert next(iter(space)) == "lr" and {*space} <= {*detection.DEFAULTS}, name
        assert all(b.low <= detection.DEFAULTS[setting] <= b.high for setting, b in space.items()), name
        highest = {setting: b.high for setting, b in space.items()}
        assert not detection.check(detection.DEFAULTS | {"loss": name} | highest), name


def test_the_command_tells_what_was_chosen(where, done):
    given = ["--labs", str(where["labs"]), "--runs", str(where["runs"]), "--metric", "score"]
    told = CliRunner().invoke(app, ["search", "tiny", "--method", "fast_ap", "--trials", "3", *given])
    assert re.search(r"fast_ap: score -0\.0\d+ on the validation split with lr=.* bins=\d+", told.output)
    assert re.search(r"best -.*; upper quartile -.*; median -.*; worst -.*; failed 0 of 3 trials", told.output)
