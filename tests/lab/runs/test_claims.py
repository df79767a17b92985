"""From a claim to its verdict: in the protocol's order, each step once, and the door opened at the end."""

import os
import shutil
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab import claims as made
from ranklab.claims import Campaign, read_claims, read_protocol, verdict, verdicts
from ranklab.claims import campaign as running
from ranklab.claims.campaign import LABS
from ranklab.claims.protocol import with_needs
from ranklab.datasets import held_out
from ranklab.methods import METHODS
from ranklab.runs import collect_runs, keep_runs, save_result
from ranklab.runs import search as searches
from ranklab.runs.planning import plan
from ranklab.runs.results import write_json
from ranklab.runs.sweep_plan import with_result

ABOUT = {"source": "RaMBO, Table 1", "claim": "It is better.", "experiment": "both"}
CLAIMS = [
    {"id": name, "family": family, **ABOUT, "rule": f"It is larger than {'-1 point' if name == 'on-par' else '0'}."}
    for name, family in {"milder": "f", "on-par": "f", "batches": "f", "elsewhere": "g", "boxes": "h"}.items()
]
TINY = {"steps": 2, "batch_size": 16, "dim": 8, "letters": True, "test_images": 400}
TINY_SCENES = {"train_images": 6, "test_images": 4, "batch_size": 2, "steps": 2, "test_split": "val"}
PRESETS = {"start": "start", "retrieval": "", "hierarchical_retrieval": ""}
PLAN = {
    "scales": {
        "cpu": {"presets": PRESETS, "trials": 2, "seeds": 2, "starts": 1, "searching": 7},
        "detection": {"presets": {"detection": ""}, "trials": 1, "seeds": 2, "starts": 0, "searching": 7},
    },
    "arms": {
        "rambo_map": {"lab": "detection"},
        "five times λ": {"method": "rambo_map", "lab": "detection", "like": "rambo_map", "times": {"lam": 5}},
        "later": {"method": "smooth_ap", "letters": True, "after": "happier"}
        | {"like": "smooth_ap", "hold": {"margin": 0.05}},
        "happier": {"letters": True, "hold": {"loss_lr": 2.0}},
        "smooth_ap": {"letters": True, "measure": [16, 64], "times": {"steps": 0.5}},
    },
    "claims": {
        "milder": [{"plus": "happier", "milder": "smooth_ap"}],
        "on-par": [{"plus": "happier", "minus": ["smooth_ap", "happier"], "metric": "H-AP"}],
        "batches": [{"of": "smooth_ap", "metrics": ["mAP of batches of 16", "mAP of batches of 64"]}],
        "boxes": [{"plus": "five times λ", "minus": ["rambo_map"], "metric": "AP50"}],
    },
    "missing": {"elsewhere": "a telescope"},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The data of a book with five claims, whose runs take a second each."""
    folder = tmp_path_factory.mktemp("data")
    for name, content in {"claims": CLAIMS, "claims_plan": PLAN}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return folder


def do(run):
    """A run in this process, as the notebook does it."""
    run.folder.mkdir(parents=True, exist_ok=True)
    found = LABS[run.lab].run(run.parameters, run.folder, progress=False)
    about = {"lab": run.lab, "parameters": run.parameters, "metrics": found.metrics, "evidence": found.evidence}
    save_result(about, folder=run.folder)
    found.close()
    told = {"parameters": run.parameters, "versions": {}, "git": None, "started": "", "seconds": 1.5}
    write_json(run.folder / "manifest.json", {"status": "completed", **told})
    return with_result(run)


@contextmanager
def doing_here():
    """Runs are done here, at once, and are small; those that were."""
    begun = []

    def run_all(planned, *_, **how):
        runs = [with_result(run) for run in planned]
        begun.extend(run for run in runs if not run.skipped)
        return [run if run.skipped else do(run) for run in runs]

    def small(lab, *, preset=None, parameters=None, runs="runs", **more):
        split = {"train_split": "pretrain" if preset == "start" else "fit", "test_split": "val", "salt": "claims"}
        told = TINY_SCENES if lab == "detection" else TINY | split
        return plan(lab, parameters={"pictures": False, **told, **(parameters or {})}, runs=runs, **more)

    with pytest.MonkeyPatch.context() as patch:
        for module in (running, searches):
            patch.setattr(module, "run_all", run_all)
            patch.setattr(module, "plan", small)
        yield begun


@pytest.fixture(scope="module")
def protocol(data):
    return read_protocol("cpu", data)


@pytest.fixture(scope="module")
def campaign(data, protocol, opened_once):
    """What was searched, trained and measured, and the runs of it."""
    campaign = Campaign(protocol, data / "runs", data)
    with doing_here() as campaign.begun:
        campaign.train()
        with pytest.raises(PermissionError, match="choose on 'val'"):
            campaign.measure()
        with held_out.opened():
            assert len(campaign.measure()) == 6
    return campaign


def by_arm(data, protocol):
    """The records of each arm, seed by seed."""
    records = {record.run: record for record in collect_runs(data / protocol.records)[0]}
    return {name: [records[f"{name}-{seed}"] for seed in (0, 1)] for name in protocol.arms}


def test_every_step_is_chosen_on_the_validation_split_and_nothing_is_done_twice(campaign, data, protocol):
    here = [run.parameters for run in campaign.begun]
    assert sorted(protocol.arms) == ["happier", "later", "smooth_ap"] and list(protocol.arms)[-1] == "later"
    assert {given["test_split"] for given in here} == {"val"} and {given["seed"] for given in here} == {0, 1, 7}
    [start] = campaign.starts
    happier = {(given["weights"], given["loss_lr"]) for given in here if given["loss"] == "happier"}
    assert happier == {(start, 2.0)} and {given["steps"] for given in here if given["loss"] == "smooth_ap"} == {1, 2}
    found, later = campaign.chosen["smooth_ap"]["parameters"], campaign.trained["later"]
    assert all(run.parameters[name] == found[name] for run in later for name in ("lr", "temperature")), "taken over"
    assert {run.parameters["margin"] for run in later} == {0.05} != {found["margin"]}
    before = [running.keep_weights(run.folder / "net.pt", campaign._weights) for run in campaign.trained["happier"]]
    assert [run.parameters["weights"] for run in later] == before, "the start follows the seed"
    again = Campaign(protocol, data / "runs", data)
    with doing_here() as begun, held_out.opened():
        again.train()
        assert again.measure() == []
    assert not begun and again.chosen == campaign.chosen


def test_a_record_is_made_again_from_nothing(campaign, data, protocol, tmp_path, refused):
    kept = [data / protocol.records, data / protocol.searches]
    before = {path: path.read_bytes() for path in kept}
    again = Campaign(protocol, tmp_path / "runs", data)
    with doing_here() as begun:
        was, run = again.retrain("later-1")
        with held_out.opened():
            now = again.measured("later", run)
    assert [run.parameters["seed"] for run in begun] == [0, 1, 1]  # the start, the arm that comes before, and its own
    assert {**was.metrics, "seconds": 0} == {**now.metrics, "seconds": 0}
    assert was.evidence["first"] == now.evidence["first"] and {path: path.read_bytes() for path in kept} == before
    unknown = r"record 'later-9' is unknown \(did you mean 'later-"
    refused([(lambda: again.retrain("later-9"), ValueError, unknown)])


def test_scenes_are_searched_trained_and_measured(data):
    protocol = read_protocol("detection", data)
    campaign = Campaign(protocol, data / "runs", data)
    with doing_here() as begun:
        campaign.train()
        with pytest.raises(PermissionError, match="choose on 'val'"):
            campaign.measure()
        with held_out.opened():
            assert len(campaign.measure()) == 4 and campaign.measure() == []
    assert {run.parameters["test_split"] for run in begun} == {"val"} and campaign.starts == []
    assert len(begun) == 5, "one trial, and two seeds of each arm"
    found = campaign.chosen["rambo_map"]["parameters"]
    assert {*found} == {"lr", "weight", "margin", "lam"}
    assert campaign.chosen["five times λ"]["parameters"] == found | {"lam": 5 * found["lam"]}
    assert {run.parameters["lam"] for run in campaign.trained["five times λ"]} == {5 * found["lam"]}
    of_arm, measured = by_arm(data, protocol), campaign.trained["rambo_map"][0]
    one, other = ([record.metrics["AP50"] for record in of_arm[name]] for name in ("five times λ", "rambo_map"))
    judged = verdicts(protocol.of(read_claims(data)), protocol, data)
    assert [*judged.judged] == ["boxes"] and not judged.left_out
    assert judged.judged["boxes"].estimate.mean == pytest.approx(np.mean(one) - np.mean(other))
    record = of_arm["rambo_map"][0]
    assert record.evidence["trained"] == measured.folder.name and record.parameters["test_split"] == "held_out"
    assert record.evidence["start"] == measured.result["evidence"]["start"]
    assert len(record.evidence["curve"]["loss"]) == 2


def test_a_training_that_fails_stops_no_other(campaign, data, protocol, monkeypatch):
    again = Campaign(protocol, data / "runs", data / "failing")
    with doing_here():
        run_all = running.run_all

        def failing(planned, **how):
            runs = run_all(planned, **how)
            if len(runs) == protocol.seeds and runs[0].parameters["loss"] == "happier":
                raise running.SweepError("one failed", runs[:1], [(runs[1], "it diverged")])
            return runs

        monkeypatch.setattr(running, "run_all", failing)
        again.train()
    assert again.failures == ["happier: seed 1: it diverged"]
    assert {name: len(runs) for name, runs in again.trained.items()} == {"smooth_ap": 2, "happier": 1, "later": 2}


def test_verdicts_are_of_the_records(campaign, data, protocol):
    told, records = read_claims(data), by_arm(data, protocol)
    found = verdicts(told, protocol, data)
    assert set(found.judged) == {"milder", "on-par", "batches"} and not found.left_out
    assert found.judged["on-par"].estimate.threshold == -0.01
    late = replace(told[0], parts=({"plus": "later", "milder": "smooth_ap"},))
    [hours] = verdicts([late], protocol, data).hours.values()
    assert found.hours["batches"] == pytest.approx(4 * 1.5 / 3600)
    assert hours == pytest.approx(10 * 1.5 / 3600), "the search whose settings it takes over, and its start, count too"
    sizes = [record.metrics for record in records["smooth_ap"]]
    expected = sum(of["mAP of batches of 16"] - of["mAP of batches of 64"] for of in sizes) / 2
    assert found.judged["batches"].estimate.mean == pytest.approx(expected)
    letters = {name: [part.sums.shape[1] > 1 for part in parts] for name, parts in found.contrasts.items()}
    assert letters == {"milder": [True], "on-par": [True], "batches": [False]}
    chosen = {name: campaign.chosen[name] for name in ("smooth_ap", "happier")}
    assert all(found["val"]["H-AP"] == found["value"] for found in chosen.values())
    best = max(chosen, key=lambda name: chosen[name]["value"])
    one, other = (np.mean([record.metrics["H-AP"] for record in records[name]]) for name in ("happier", best))
    assert found.judged["on-par"].estimate.mean == pytest.approx(one - other, abs=1e-6)


def test_the_best_of_several_is_so_in_the_metric_of_the_rule_and_the_slope_is_that_of_a_line(campaign, data, protocol):
    records = by_arm(data, protocol)
    val = {"happier": {"H-AP": 0.3, "R@1 of characters": 0.1}, "smooth_ap": {"H-AP": 0.2, "R@1 of characters": 0.4}}
    chosen = {name: {"val": metrics} for name, metrics in val.items()}
    for metric, best in (("H-AP", "happier"), ("R@1", "smooth_ap")):
        rule = {"plus": "happier", "metric": metric}
        parts = [rule | {"minus": minus} for minus in (["happier", "smooth_ap"], [best])]
        several, one = (verdict._contrast(part, 0.0, records, chosen) for part in parts)
        assert np.array_equal(several.sums, one.sums) and (best == "smooth_ap") == several.sums.any()
    part = {"slope": {1: "smooth_ap", 2: "happier", 5: "later"}, "metric": "AP of characters"}
    values = [[record.metrics["AP of characters"] for record in records[name]] for name in part["slope"].values()]
    found = verdict._contrast(part, 0.0, records, {})
    assert found.mean == pytest.approx(np.polyfit([1, 2, 5], values, 1)[0].mean(), abs=1e-6)


def test_a_record_of_other_code_split_or_salt_is_named_and_left_out(campaign, data, protocol, tmp_path):
    shutil.copy(data / protocol.searches, tmp_path)
    for name, value in (("code", "0123"), ("salt", "other"), ("test_split", "val")):
        table = shutil.copy(data / protocol.records, tmp_path)
        [record] = [record for record in collect_runs(table)[0] if record.run == "happier-0"]
        (record.evidence if name == "code" else record.parameters)[name] = value
        keep_runs([record], table)
        found = verdicts(read_claims(data), protocol, tmp_path)
        assert set(found.judged) == {"batches"} and len(found.left_out) == 1
        assert found.left_out[0].startswith(f"hierarchical_retrieval/happier-0: has {name} '{value}' and not "), name


def test_the_plan_and_the_presets_fit_the_claims_and_the_methods():
    told, protocol, scenes = read_claims(), read_protocol(), read_protocol("detection")
    assert read_protocol("gpu").arms == protocol.arms
    for claim in told:
        assert bool(claim.parts) != bool(claim.missing) and (claim in protocol.of(told)) != (claim in scenes.of(told))
        assert claim.threshold == (-0.01 if "-1 point" in claim.rule else 0.0)
    arms = protocol.arms | scenes.arms
    for arm in arms.values():
        assert arm.method in METHODS | running.detection.LOSSES and arm.lab in LABS, arm.name
    # What the page says of the memory's control is in no rule.
    controls = {"rambo_log with batches of 512", "rambo_log beside the control", "memory beside the control"}
    compared = {name for claim in told for name in [*claim.arms, *(n for a in claim.arms for n in arms[a].needs)]}
    assert set(arms) - compared == controls
    for scale, device in (("cpu", "cpu"), ("gpu", "cuda"), ("detection", "cpu")):
        for lab, preset in read_protocol(scale).presets.items():
            found = plan("retrieval" if lab == "start" else lab, preset=preset).parameters
            assert (found["test_split"], found["device"]) == ("val", device), preset
            if lab == "detection":
                assert found["dataset"] == "scenes"
            else:
                split = ("pretrain" if lab == "start" else "fit", "claims", lab == "hierarchical_retrieval")
                assert (found["train_split"], found["salt"], found["letters"]) == split, preset


def test_the_command_plans_and_judges(data, tmp_path):
    def claims(*more):
        return CliRunner().invoke(app, ["claims", *more])

    planned, scenes, strange = claims(), claims("--scale", "detection"), claims("--scale", "tpu")
    assert planned.exit_code == 0 and "rambo_log with memory" in planned.output
    assert "hours of one core or GPU" in planned.output
    assert scenes.exit_code == 0 and "start" not in scenes.output and "110 runs" in scenes.output
    assert strange.exit_code == 2 and "scale must be one of cpu, gpu, detection, got 'tpu'" in strange.output
    for name in ("claims.yaml", "claims_plan.yaml"):
        shutil.copy(data / name, tmp_path)
    judged = claims("--judge", "--data", str(tmp_path)).output.splitlines()
    assert judged[:3] == [f"{name}: not judged yet" for name in ("milder", "on-par", "batches")]
    assert judged[3:] == ["elsewhere: cannot be tested here: a telescope"]


def test_the_door_stays_shut_until_everything_is_chosen(data, monkeypatch):
    """The command measures after the training of all arms, and never if only some were asked for."""
    seen, Seen = [], namedtuple("Seen", "evidence metrics parameters")
    was = Seen({"arm": "happier", "code": "older"}, {"R@1": 0.5, "seconds": 3.0}, {"weights": "one"})
    now = Seen({"code": "newer"}, {"R@1": 0.25, "seconds": 4.0}, {"weights": "other"})
    answers = {"train": None, "measure": [], "retrain": (was, "a run"), "measured": now}

    def watch(step):
        def watched(self, what=None, *_):
            seen.append((step, what, os.environ.get(held_out.VARIABLE)))
            return answers[step]

        return watched

    steps = {"__init__": lambda *_, **__: None, "failures": (), **{step: watch(step) for step in answers}}
    monkeypatch.setattr(made, "Campaign", type("Watched", (), steps))
    invoke = CliRunner().invoke
    for more in ([], ["--arm", "happier"]):
        assert invoke(app, ["claims", "--run", "--data", str(data), *more]).exit_code == 0
    done = invoke(app, ["claims", "--repeat", "happier-1", "--data", str(data)])
    assert "happier-1 was recorded by other code" in done.stderr
    assert "happier-1 began from one, now from other" in done.stderr
    assert done.stdout.splitlines() == ["happier-1  recorded       now", "R@1         0.50000   0.25000"]
    trained = [("train", None, None), ("measure", None, "open"), ("train", ["happier"], None)]
    assert seen == [*trained, ("retrain", "happier-1", None), ("measured", "happier", "open")]


def test_what_cannot_be_planned_is_named(data, tmp_path, refused):
    def written(**changed):
        (tmp_path / "claims.yaml").write_text(yaml.safe_dump(CLAIMS), encoding="utf-8")
        (tmp_path / "claims_plan.yaml").write_text(yaml.safe_dump({**PLAN, **changed}), encoding="utf-8")
        return tmp_path

    strange = {"x": {"method": "smooth_ap", "like": "nobody"}}
    rule, arms = replace(read_claims(data)[0], rule="It is good."), read_protocol("cpu", data).arms
    calls = {
        r"'elsewhere' must have parts in claims_plan\.yaml, or what is": lambda: read_claims(written(missing={})),
        "arm 'nobody' is unknown": lambda: read_protocol("cpu", written(arms=strange)),
        r"arm 'hapier' is unknown \(did you mean 'happier'\?\)": lambda: with_needs(["hapier"], arms),
        "rule of milder must say what the difference is larger than": lambda: rule.threshold,
    }
    refused((call, ValueError, message) for message, call in calls.items())
