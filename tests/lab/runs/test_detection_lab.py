"""The lab `detection`: every preset can be run, the quick one is, and what it leaves behind is enough to draw from."""

import re
import signal

import pytest
import torch
import yaml

from rankedu.losses import OnProposals
from ranklab.experiments import detection
from ranklab.experiments.detection_data import KEPT, Findings, count_objects, first_of, halves, open_data, thin_out
from ranklab.runs import find_labs, list_presets, plan, read_parameters

LABS = find_labs()
#: Rows of RaMBO's Tables 5 and 8, with the steps that 12 epochs take.
ROWS = {
    **{f"voc07_r50_{loss}": 7517 for loss in ("ce", "rambo", "rambo_no_margin", "rambo_lam01", "rambo_lam25")},
    **{f"voc0712_{model}_{loss}": 24827 for model in ("r50", "r101", "x101") for loss in ("ce", "rambo")},
}
SMALL = {"train_images": 12, "test_images": 6, "steps": 3, "batch_size": 2, "lr": 1e-3}
MEASURED = {"AP50", "AP50 11-point", "AP50 of frequent classes", "AP50 of rare classes"}


def preset(name):
    return yaml.safe_load((LABS / "presets" / f"{name}.yaml").read_text(encoding="utf-8"))


def test_the_notebook_has_the_defaults_of_the_module():
    declared = read_parameters(LABS / "detection.ipynb")
    assert {name: parameter.default for name, parameter in declared.items()} == detection.DEFAULTS


def test_the_presets_are_those_of_the_lab_and_its_alone():
    fitting = list_presets("detection", LABS)
    assert {*ROWS, "scenes_quick", "scenes_cpu", "scenes_gpu"} <= set(fitting)
    assert all(name.startswith(("scenes_", "voc07")) for name in fitting)
    assert not set(fitting) & set(list_presets("retrieval", LABS))


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_a_table_has_the_published_settings_and_its_source(name, tmp_path):
    found = plan("detection", preset=name, runs=tmp_path).parameters
    assert (found["dataset"], found["batch_size"], found["decay"]) == (name.split("_")[0], 8, 0.1)
    assert (found["steps"], found["milestones"][0] / found["steps"]) == (ROWS[name], pytest.approx(9 / 12, abs=1e-4))
    assert (found["optimizer"], found["weight_decay"], found["image_size"]) == ("sgd", 1e-4, 600)
    about = (LABS / "presets" / f"{name}.yaml").read_text(encoding="utf-8").partition("\ndataset")[0]
    assert re.search(r"RaMBO Tab\. [58]", " ".join(about.split("\n# ")))
    loss = detection.make_loss(found)
    if name.endswith("_ce"):
        assert loss is None and found["lr"] == 0.01
    else:
        assert found["lr"] == 0.1 and found["memory"] == loss.loss.memory.length == 7
        assert found["margin"] == (0.0 if "no_margin" in name else 0.15)
        assert found["lam"] == {"lam01": 0.1, "lam25": 2.5}.get(name.split("_")[-1], 0.5)
        assert loss.loss.class_agnostic_weight == pytest.approx(1 / 3)
        assert found["normalized"] and loss.scores == "log-odds" and found["weight"] == 1.0, "what is not printed"


def test_parameters_reach_the_loss():
    given = {"lam": 2.0, "normalized": True, "margin": 0.25, "memory": 0, "class_agnostic_weight": 0.5}
    loss = detection.make_loss(detection.DEFAULTS | given | {"scores": "log-odds"})
    assert isinstance(loss, OnProposals) and loss.scores == "log-odds" and loss.loss.memory is None
    inner = loss.loss.average_precision
    assert (inner.ranker.lam, inner.ranker.normalized, inner.margin) == (2.0, True, 0.25)


@pytest.mark.parametrize(
    ("change", "moves"),
    [
        ({}, False),
        ({"normalized": True}, False),
        ({"normalized": True, "margin": 0.0}, True),
        ({"normalized": True, "scores": "log-odds"}, True),
    ],
    ids=["published", "code's scale", "code's scale, no margin", "code's scale, log-odds"],
)
def test_an_untrained_classifier_gets_a_gradient_only_by_long_steps(change, moves):
    """As the lab's text says. So many proposals, of such a spread, are in a first batch of scenes."""
    generator = torch.Generator().manual_seed(0)
    logits = (0.17 * torch.randn(512, 21, generator=generator)).requires_grad_()
    labels = torch.randint(1, 21, (512,), generator=generator) * (torch.rand(512, generator=generator) < 0.14)
    published = {"lam": 0.5, "normalized": False, "scores": "probability", "memory": 7}
    detection.make_loss(detection.DEFAULTS | published | change)(logits, labels).backward()
    assert bool(logits.grad.any()) == moves


# --- A run ----------------------------------------------------------------------------------------------------------


def test_the_quick_lab_runs(execute, tmp_path):
    found = execute("detection", "scenes_quick", SMALL | {"evaluate_every": 3})
    shares = {"loss share", "waiting share", "evaluation share"}
    assert MEASURED | shares | {"seconds"} == set(found["metrics"])
    assert all(0 <= found["metrics"][name] <= 1 for name in MEASURED | shares)
    assert [row["step"] for row in found["rows"]] == [1, 2, 3] and "AP50 of a part" in found["rows"][-1]
    assert {"loss", "classifier's loss", "cross entropy"} < set(found["rows"][0])
    assert {path.name for path in tmp_path.iterdir()} == {"result.json", "net.pt", "detections.npz"}
    kept = Findings.load(tmp_path / "detections.npz")
    assert kept.parameters["loss"] == "rambo_map" and "data_root" not in kept.parameters and len(kept.after) == 6


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Of a short run by cross entropy."""
    folder = tmp_path_factory.mktemp("detection")
    return detection.run(SMALL | {"loss": "cross_entropy", "margin": 0.0}, folder, progress=False)


def test_metrics_are_those_of_the_whole_test_split(outcome):
    from rankedu.metrics import evaluate_detections

    targets = [outcome.data.test.target(index) for index in range(len(outcome.data.test))]
    for name, kind in {"AP50": "all-point", "AP50 11-point": "11-point"}.items():
        found = evaluate_detections(outcome.detections, targets, n_classes=20, interpolation=kind)
        assert outcome.metrics[name] == pytest.approx(found["AP"])
    missing = int(outcome.ap.isnan().sum())
    assert "cross entropy has no margin: 0.0 is not used" in outcome.notes
    assert f"{missing} of 20 classes have no object in the test, and no AP50" in outcome.notes
    assert [*outcome.series()] == ["classifier's loss"] and len(outcome.rows) == 3


def test_the_halves_of_the_classes_are_measured_apart(outcome):
    targets = [outcome.data.test.target(index) for index in range(len(outcome.data.test))]
    groups = halves(outcome.data.frequency)
    rare = set(groups["rare classes"].tolist())
    perfect = []
    for target in targets:
        kept = torch.tensor([int(label) not in rare for label in target["labels"]])
        perfect.append(
            {name: target[name][kept] for name in ("boxes", "labels")} | {"scores": torch.ones(int(kept.sum()))}
        )
    metrics, ap = detection.measure(perfect, outcome.data)
    assert metrics["AP50 of frequent classes"] == 1 and metrics["AP50 of rare classes"] == 0
    assert 0 < metrics["AP50"] < 1 and ap.shape == (20,)


@pytest.mark.parametrize("loss", ["rambo_map"])
def test_a_run_that_was_killed_goes_on_to_the_same_numbers(loss, tmp_path, monkeypatch):
    from ranklab.training import detection as training

    parameters = SMALL | {"steps": 4, "loss": loss, "memory": 2, "checkpoint_every": 1, "pictures": False}
    expected = detection.run(parameters, tmp_path / "whole", progress=False)
    steps, one_step = [], training.detector_step

    def stopping(*arguments, **options):
        steps.append(None)
        if len(steps) == 3:
            signal.raise_signal(signal.SIGINT)
        return one_step(*arguments, **options)

    monkeypatch.setattr(training, "detector_step", stopping)
    with pytest.raises(KeyboardInterrupt):
        detection.run(parameters, tmp_path / "killed", progress=False)
    found = detection.run(parameters | {"pictures": True}, tmp_path / "killed", progress=False)
    assert found.history.losses == expected.history.losses and found.history.interrupted == [2]
    assert torch.equal(found.ap.nan_to_num(2), expected.ap.nan_to_num(2))
    assert expected.findings is None and found.findings is not None


BAD = {
    "parameter": ({"marginn": 0.1}, r"parameter 'marginn' is unknown \(did you mean 'margin'\?\)"),
    "loss": ({"loss": "rambo"}, r"loss 'rambo' is unknown.*; there are: cross_entropy, rambo_map"),
    "dataset": ({"dataset": "glyphs"}, "dataset 'glyphs' is unknown.*; there are: scenes, voc07, voc0712"),
    "model": ({"model": "resnet50"}, r"model 'resnet50' is unknown \(did you mean 'resnet50_fpn'"),
    "lam": ({"lam": 0.0}, "lam must be finite and > 0, got 0.0"),
    "scores": ({"scores": "odds"}, "scores must be one of"),
    "share": ({"class_agnostic_weight": 2.0}, r"class_agnostic_weight must be finite and in \[0, 1\], got 2.0"),
    "recipe": ({"optimizer": "adm"}, "optimizer must be one of .*, got 'adm'"),
    "weight": ({"weight": -1.0}, "weight must be finite and > 0, got -1.0"),
    "device": ({"device": "cuda:99"}, "device must be one of 'auto', 'cpu'"),
    "split": ({"test_split": "vall"}, r"test_split 'vall' is unknown \(did you mean 'val'\?\)"),
    "door": ({"test_split": "held_out"}, "split must not be 'held_out' before the end"),
    "photographs": (
        {"dataset": "voc07", "test_split": "val"},
        "test_split must be 'test' for 'voc07', got 'val'",
    ),
    "data": ({"dataset": "voc07", "data_root": "/nowhere"}, r"VOC.* is missing .*host.robots.ox.ac.uk"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(change, message, tmp_path):
    with pytest.raises((ValueError, TypeError, FileNotFoundError, PermissionError), match=message):
        detection.run(SMALL | {"pictures": False} | change, tmp_path, progress=False)
    assert not list(tmp_path.rglob("*.pt"))


# --- What is kept ---------------------------------------------------------------------------------------------------


def test_data_are_as_large_as_asked_for_and_counted_without_difficult_objects():
    data = open_data(detection.DEFAULTS | {"train_images": 30, "test_images": 5})
    assert (len(data.train), len(data.test), data.test[0][0].shape) == (30, 5, (3, 128, 128))
    counted = torch.zeros(20, dtype=torch.int64)
    for index in range(30):
        target = data.train.target(index)
        for label, difficult in zip(target["labels"].tolist(), target["difficult"].tolist(), strict=True):
            counted[label - 1] += not difficult
    assert torch.equal(count_objects(data.train), counted) and torch.equal(data.frequency, counted)
    part = first_of(data.train, 7)
    assert len(part) == 7 and torch.equal(part[6][0], data.train[6][0]) and first_of(part, 9) is part
    assert torch.equal(part.target(6)["boxes"], data.train.target(6)["boxes"])
    with pytest.raises(IndexError):
        part.target(7)


def test_another_split_is_measured_where_it_is_asked_for():
    data = open_data(detection.DEFAULTS | {"train_images": 2, "test_images": 2, "test_split": "val"})
    assert (data.train.split, data.test.split) == ("train", "val") and len(data.test) == 2


def test_proposals_are_thinned_out_and_stand_for_the_others():
    labels = torch.tensor([0] * (3 * KEPT) + [-1] * 5 + [2, 1])
    kept = thin_out(torch.randn(len(labels), 4), labels)
    assert (kept.labels == 0).sum() == KEPT and (kept.labels > 0).sum() == 2 and not (kept.labels < 0).any()
    assert kept.weights.sum() == 3 * KEPT + 2 and kept.weights[kept.labels > 0].tolist() == [1, 1]
    assert len(thin_out(torch.randn(3, 4), torch.tensor([-1, -1, -1])).labels) == 0


def test_findings_are_kept_whole(outcome, tmp_path):
    path = outcome.findings.save(tmp_path / "detections.npz")
    assert [found.name for found in tmp_path.iterdir()] == [path.name] and path.stat().st_size < 300_000
    found = Findings.load(path)
    assert found.names == outcome.findings.names and found.parameters["loss"] == "cross_entropy"
    for name in ("frequency", "ap"):
        assert torch.equal(getattr(found, name).nan_to_num(2), getattr(outcome.findings, name).nan_to_num(2))
    for when in ("before", "after"):
        for one, other in zip(getattr(found, when), getattr(outcome.findings, when), strict=True):
            assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
        one, other = (getattr(each, f"proposals_{when}") for each in (found, outcome.findings))
        assert all(torch.equal(value, vars(other)[name]) for name, value in vars(one).items())
