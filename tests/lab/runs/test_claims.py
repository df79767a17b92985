"""The first round: its verdicts are of the records, and of what the searches chose."""

import os
import shutil
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab.claims import deals as running
from ranklab.claims import read_claims, read_protocol, verdict, verdicts
from ranklab.claims.deals import ROUNDS
from ranklab.claims.protocol import DEALT, with_needs
from ranklab.datasets import held_out
from ranklab.methods import METHODS
from ranklab.runs import Record, collect_runs, keep_runs
from ranklab.runs.folders import find_records
from ranklab.runs.judging import judge
from ranklab.runs.packing import pack
from ranklab.runs.planning import plan
from ranklab.runs.results import write_json

ABOUT = {"source": "RaMBO, Table 1", "claim": "It is better.", "experiment": "both"}
CLAIMS = [
    {"id": name, "family": family, **ABOUT, "rule": f"It is larger than {'-1 point' if name == 'on-par' else '0'}."}
    for name, family in {"milder": "f", "on-par": "f", "batches": "f", "elsewhere": "f", "boxes": "h"}.items()
]
PLAN = {
    "scales": {
        "cpu": {"presets": {"hierarchical_retrieval": ""}, "trials": 2, "seeds": 2, "starts": 1, "searching": 7},
        "detection": {"presets": {"detection": ""}, "trials": 1, "seeds": 2, "starts": 0, "searching": 7},
    },
    "arms": {
        "rambo_map": {"lab": "detection"},
        "five times λ": {"method": "rambo_map", "lab": "detection", "like": "rambo_map", "times": {"lam": 5}},
        "later": {"method": "smooth_ap", "letters": True, "after": "happier", "like": "smooth_ap"},
        "happier": {"letters": True},
        "smooth_ap": {"letters": True, "measure": [16, 64]},
    },
    "claims": {
        "milder": [{"plus": "happier", "milder": "smooth_ap"}],
        "on-par": [{"plus": "happier", "minus": ["smooth_ap", "happier"], "metric": "H-AP"}],
        "batches": [{"of": "smooth_ap", "metrics": ["mAP of batches of 16", "mAP of batches of 64"]}],
        "boxes": [{"plus": "five times λ", "minus": ["rambo_map"], "metric": "AP50"}],
    },
    "missing": {"elsewhere": "a telescope"},
}


def a_record(arm, seed, lab, rng):
    """A network's record, of five queries of two base letters."""
    about = {"preset": None, "seconds": 1.5, "machine": {}, "versions": {}, "git": None, "started": ""}
    evidence = {"arm": arm, "code": "abc", "levels": 3, "first": pack(rng.integers(0, 4, 5), "uint8")}
    evidence |= {"letters": pack([0, 1], "int32"), "queries": pack([3, 2], "uint16")}
    means = {name: rng.random(2) for name in ("H-AP", "AP of characters")}
    evidence["means"] = {name: pack(values, "float32") for name, values in means.items()}
    metrics = {name: float(values @ [3, 2] / 5) for name, values in means.items()} | {"AP50": float(rng.random())}
    metrics |= {f"mAP of batches of {size}": float(rng.random()) for size in (16, 64)}
    given = {**DEALT, "seed": seed} if lab != "detection" else {"test_split": "held_out", "seed": seed}
    return Record(lab, f"{arm}-{seed}", parameters=given, metrics=metrics, evidence=evidence, **about)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The data of a book with five claims, with records and searches that were made up."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    for name, content in {"claims": CLAIMS, "claims_plan": PLAN}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    for name in ROUNDS:
        shutil.copy(find_records() / f"{name}.yaml", folder)
    for scale, lab in (("cpu", "hierarchical_retrieval"), ("detection", "detection")):
        protocol = read_protocol(scale, folder)
        keep_runs(
            [a_record(arm, seed, lab, rng) for arm in protocol.arms for seed in (0, 1)], folder / protocol.records
        )
        chosen = {arm: {"val": {"H-AP": float(rng.random())}, "seconds": 3.0} for arm in protocol.arms}
        write_json(folder / protocol.searches, {"code": "abc", "starts": [], "arms": chosen})
    return folder


def by_arm(data, protocol):
    """The records of each arm, seed by seed."""
    records = {record.run: record for record in collect_runs(data / protocol.records)[0]}
    return {name: [records[f"{name}-{seed}"] for seed in (0, 1)] for name in protocol.arms}


def test_verdicts_are_of_the_records(data):
    told, protocol = read_claims(data), read_protocol("cpu", data)
    records, found = by_arm(data, protocol), verdicts(told, protocol, data)
    assert sorted(protocol.arms) == ["happier", "later", "smooth_ap"] and list(protocol.arms)[-1] == "later"
    assert set(found.judged) == {"milder", "on-par", "batches"} and not found.left_out
    assert found.judged["on-par"].estimate.threshold == -0.01
    assert found.judged == judge(found.contrasts, family=3), "what cannot be tested is not in the family"
    sizes = [record.metrics for record in records["smooth_ap"]]
    expected = sum(of["mAP of batches of 16"] - of["mAP of batches of 64"] for of in sizes) / 2
    assert found.judged["batches"].estimate.mean == pytest.approx(expected)
    letters = {name: [part.sums.shape[1] > 1 for part in parts] for name, parts in found.contrasts.items()}
    assert letters == {"milder": [True], "on-par": [True], "batches": [False]}
    scenes = read_protocol("detection", data)
    boxes, one = verdicts(scenes.of(told), scenes, data).judged["boxes"], by_arm(data, scenes)
    difference = [
        a.metrics["AP50"] - b.metrics["AP50"] for a, b in zip(one["five times λ"], one["rambo_map"], strict=True)
    ]
    assert boxes.estimate.mean == pytest.approx(np.mean(difference))


def test_the_best_of_several_is_so_in_the_metric_of_the_rule_and_the_slope_is_that_of_a_line(data):
    records = by_arm(data, read_protocol("cpu", data))
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


def test_a_record_of_other_code_split_or_salt_is_named_and_left_out(data, tmp_path):
    protocol = read_protocol("cpu", data)
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
    for claim in told:
        assert bool(claim.parts) != bool(claim.missing) and (claim in protocol.of(told)) != (claim in scenes.of(told))
        assert claim.threshold == (-0.01 if "-1 point" in claim.rule else 0.0)
    arms = protocol.arms | scenes.arms
    for arm in protocol.arms.values():
        assert arm.method in METHODS and arm.lab in running.LABS, arm.name
    # What the page says of the memory's control is in no rule.
    controls = {"rambo_log with batches of 512", "rambo_log beside the control", "memory beside the control"}
    compared = {name for claim in told for name in [*claim.arms, *(n for a in claim.arms for n in arms[a].needs)]}
    assert set(arms) - compared == controls
    for lab, preset in (protocol.presets | scenes.presets).items():
        found = plan("retrieval" if lab == "start" else lab, preset=preset).parameters
        assert found["test_split"] == "val", preset
        if lab == "detection":
            assert found["dataset"] == "scenes"
        else:
            split = ("pretrain" if lab == "start" else "fit", "claims", lab == "hierarchical_retrieval")
            assert (found["train_split"], found["salt"], found["letters"]) == split, preset


def test_the_command_judges_and_opens_the_door_arm_by_arm(data, tmp_path, monkeypatch):
    def claims(*more, folder=data):
        return CliRunner().invoke(app, ["claims", "--data", str(folder), "--runs", str(tmp_path / "runs"), *more])

    judged = claims()
    assert judged.exit_code == 0 and "no question can be answered yet" in judged.output
    assert "elsewhere: cannot be tested here: a telescope" in judged.output and "boxes: " in judged.output
    unknown = claims("--repeat", "happier-0")
    assert unknown.exit_code == 2 and "there is none at" in unknown.output
    seen, Seen = [], namedtuple("Seen", "name")
    door = lambda: os.environ.get(held_out.VARIABLE)  # noqa: E731

    def run(self, done):
        assert not done, "there are no records yet"
        for name in ("first", "second"):
            seen.append(("searched", name, door()))
            yield Seen(name)

    monkeypatch.setattr(running.Deals, "run", run)
    monkeypatch.setattr(
        running.Deals, "measure", lambda self, arm, table: seen.append(("measured", arm.name, door())) or 2
    )
    told = claims("--run")
    steps = (("searched", None), ("measured", "open"))
    assert seen == [(step, name, state) for name in ("first", "second") for step, state in steps]
    assert "first: 2 networks were measured on the held-out letters" in told.output


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
        "scale must be one of cpu, detection, got 'tpu'": lambda: read_protocol("tpu", data),
    }
    refused((call, ValueError, message) for message, call in calls.items())
