"""Searches: equal for all methods, on the validation split alone, and to be gone on with."""

import json
import math
import random
import re
import statistics
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab.datasets import held_out
from ranklab.experiments import detection, hierarchical_retrieval, retrieval
from ranklab.experiments._experiment import chosen_settings
from ranklab.methods import METHODS, find_method
from ranklab.methods.space import as_parameters, space_of
from ranklab.runs import SweepError
from ranklab.runs import search as searches
from ranklab.runs.search import Between, Search, Trial, importances, search

PARAMETERS = """\
loss: str = "none"  # the method
lr: float = 0.1  # how fast
settings: str = ""  # more
test_split: str = "val"  # what it is tested on
seed: int = 0  # of the draw"""
BODY = """\
from ranklab.runs import save_result
_ = save_result({"lab": "tiny", "parameters": {"lr": lr}, "metrics": {"score": -abs(lr - 0.01)}})"""
SPACE = {"lr": Between(1e-3, 1e-1, log=True)}


@pytest.fixture
def where(tmp_path, write_lab):
    (tmp_path / "labs" / "presets").mkdir(parents=True)
    write_lab(tmp_path / "labs" / "tiny.ipynb", PARAMETERS, BODY)
    return {"labs": tmp_path / "labs", "runs": tmp_path / "runs", "metric": "score"}


@pytest.fixture
def done(monkeypatch):
    """The runs that were asked for; rates above 0.05 fail, as a training that diverges."""
    asked = []

    def run_all(planned, preset, **how):
        asked.append([run.parameters for run in planned])
        rates = {run.folder: run.parameters["lr"] for run in planned}
        results = {folder: {"metrics": {"score": -abs(lr - 0.01)}} for folder, lr in rates.items() if lr < 0.05}
        runs = [replace(run, result=results[run.folder]) for run in planned if run.folder in results]
        if len(runs) < len(planned):
            raise SweepError("some failed", runs, [])
        return runs

    monkeypatch.setattr(searches, "run_all", run_all)
    return asked


def test_the_trials_fill_the_space_evenly_and_the_best_is_taken(where, done):
    found = search("tiny", SPACE, trials=16, **where)
    logs = sorted(math.log10(trial.point["lr"]) for trial in found.trials)
    assert [math.floor(8 * (value + 3)) for value in logs] == list(range(16)), "one in each sixteenth of two decades"
    values = [trial.value for trial in found.trials]
    assert [value is None for value in values] == [trial.point["lr"] >= 0.05 for trial in found.trials]
    assert found.best.value == max(value for value in values if value is not None)
    spread = found.spread()
    assert spread["failed"] == values.count(None) > 0 and spread["worst"] <= spread["median"] <= spread["best"]


def test_the_same_call_goes_on_and_more_trials_are_added(where, done):
    few, more = (search("tiny", SPACE, trials=trials, **where) for trials in (3, 6))
    assert more.trials[:3] == few.trials and len({trial.run for trial in more.trials}) == 6
    assert search("tiny", SPACE, trials=6, **where) == more
    failed = {trial.run for trial in few.trials if trial.value is None}
    assert len(done[1]) == 6 - len(failed), "what failed is not tried again"
    assert len(search("tiny", SPACE, trials=3, **where).trials) == 3
    [kept] = (where["runs"] / "searches").glob("*.json")
    assert len(json.loads(kept.read_text(encoding="utf-8"))["trials"]) == 3
    other = search("tiny", {"lr": Between(1e-3, 2e-1, log=True)}, trials=2, **where)
    assert other.trials[0].point != few.trials[0].point


@pytest.mark.parametrize("split", ["test", "held_out"])
def test_nothing_but_the_validation_split_chooses(split, where, done):
    message = f"test_split must be 'val' in a search, got '{split}': what is chosen on a split"
    with held_out.opened(), pytest.raises(ValueError, match=message):
        search("tiny", SPACE, parameters={"test_split": split}, **where)
    assert not done and not where["runs"].exists()


def test_a_search_of_the_labs_cannot_reach_the_held_out_letters(tmp_path):
    """Not even as a trial's own parameter: the door is shut, whoever asks."""
    protocol = {"train_split": "fit", "test_split": "val"}
    with pytest.raises(PermissionError, match="choose on 'val'"):
        search(
            "retrieval",
            SPACE,
            trials=1,
            parameters=protocol,
            runs=tmp_path,
            as_parameters=lambda point, _: {**point, "test_split": "held_out"},
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": 0}, "trials must be >= 1, got 0"),
        ({"metric": "scor"}, r"metric 'scor' is unknown \(did you mean 'score'\?\); there are: score"),
        ({"space": {}}, "space must have a setting to search for"),
    ],
)
def test_bad_input_is_named(change, message, where, done):
    with pytest.raises(ValueError, match=message):
        search("tiny", **{"space": {"lr": Between(0.001, 0.01)}, "trials": 2, **where, **change})


def test_a_search_in_which_all_failed_has_no_best():
    found = Search("tiny", "score", [Trial({}, {}, None, "a")])
    assert found.spread() == {"failed": 1}
    with pytest.raises(ValueError, match="must have a trial that did not fail, got 1 that did"):
        _ = found.best


def test_trials_are_ordinary_runs(where, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found = search("tiny", SPACE, trials=2, workers=2, progress=False, **where)
    for trial in found.trials:
        manifest = json.loads((where["runs"] / "tiny" / trial.run / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["status"] == "completed" and manifest["parameters"]["lr"] == trial.point["lr"]
        assert trial.value == pytest.approx(-abs(trial.point["lr"] - 0.01))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("lab", [retrieval, hierarchical_retrieval], ids=["flat", "levels"])
def test_every_method_has_a_space_of_settings_that_it_has(name, lab):
    space = space_of(name)
    assert next(iter(space)) == "lr" and len(space) <= 3
    assert (len(space) == 1) == (not {*METHODS[name].settings} - {"memory", "exclude_self"})
    defaults = lab.DEFAULTS | {"loss": name}
    for end in ("low", "high"):
        point = {setting: int(b.low) if b.whole else getattr(b, end) for setting, b in space.items()}
        parameters = defaults | as_parameters(point, defaults)
        settings, notes = chosen_settings(parameters)
        find_method(name).check(settings)
        assert not notes and all(settings.get(s, parameters.get(s)) == value for s, value in point.items())
    published = {s: v for s, v in METHODS[name].settings.items() if s in space}
    assert all(space[s].low <= value <= space[s].high for s, value in published.items())


@pytest.mark.parametrize("name", detection.LOSSES)
def test_losses_of_detection_have_a_space_of_parameters_of_the_lab(name):
    space = space_of(name)
    assert next(iter(space)) == "lr" and {*space} <= {*detection.DEFAULTS}
    assert all(between.low <= detection.DEFAULTS[setting] <= between.high for setting, between in space.items())
    notes = detection.check(detection.DEFAULTS | {"loss": name} | {setting: b.high for setting, b in space.items()})
    assert not notes


def test_what_decides_gets_most_of_the_importance_and_chance_often_half():
    space = {"rate": Between(1e-4, 1e-1, log=True), "idle": Between(0.0, 1.0), "bins": Between(2, 9, whole=True)}
    deciding, by_chance = [], []
    for seed in range(5):
        draw = random.Random(seed)
        points = [
            {"rate": 10 ** draw.uniform(-4, -1), "idle": draw.random(), "bins": draw.randint(2, 9)} for _ in range(20)
        ]
        tried = [(point, -((math.log10(point["rate"]) + 2) ** 2)) for point in points]
        found = importances(space, [*tried, (points[0], None)])
        assert list(found) == list(space) and sum(found.values()) == pytest.approx(1)
        deciding.append(found["rate"])
        by_chance.append(max(importances(space, [(point, draw.random()) for point in points]).values()))
    assert 0.7 < statistics.median(deciding) < 0.95 and 0.4 < statistics.median(by_chance) < 0.65
    alone = importances({"rate": space["rate"]}, [({"rate": 1e-2}, 0.1), ({"rate": 1e-3}, 0.3)])
    assert alone == {"rate": pytest.approx(1)}
    with pytest.raises(ValueError, match="trials must hold two that did not fail, got 1"):
        importances(space, tried[:1])


def test_what_is_held_is_not_searched_for():
    assert {*space_of("rambo_log", without=["margin"])} == {"lr", "lam"}


def test_the_command_tells_what_was_chosen(where, done):
    given = ["--labs", str(where["labs"]), "--runs", str(where["runs"]), "--metric", "score"]
    told = CliRunner().invoke(app, ["search", "tiny", "--method", "fast_ap", "--trials", "3", *given])
    assert told.exit_code == 0, told.output
    assert re.search(r"fast_ap: score -0\.0\d+ on the validation split with lr=.* bins=\d+", told.output)
    assert "failed 0 of 3 trials" in told.output
    bad = CliRunner().invoke(app, ["search", "tiny", "--method", "fast_ap", "-p", "test_split=test", *given])
    assert bad.exit_code == 2 and "test_split must be 'val' in a search, got 'test'" in bad.output
