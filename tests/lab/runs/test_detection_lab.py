"""The lab `detection`: its presets are the papers' rows, and what a run leaves behind is enough to draw from."""

import re

import pytest
import torch

from rankedu_lab.detections import evaluate_detections
from rankedu_lab.experiments import detection
from rankedu_lab.experiments.detection_data import KEPT, count_objects, first_of, halves, open_data, thin_out
from rankedu_lab.runs import find_labs, plan

#: Rows of RaMBO's Tables 5 and 8, with the steps that 12 epochs take.
ROWS = {
    **{f"voc07_r50_{loss}": 7517 for loss in ("ce", "rambo", "rambo_no_margin", "rambo_lam01", "rambo_lam25")},
    **{f"voc0712_{model}_{loss}": 24827 for model in ("r50", "r101", "x101") for loss in ("ce", "rambo")},
}
SMALL = {"train_images": 12, "test_images": 6, "steps": 3, "batch_size": 2, "lr": 1e-3}


def test_a_row_of_a_table_has_the_published_settings_and_its_source():
    for name, steps in ROWS.items():
        found = plan("detection", preset=name).parameters
        assert (found["dataset"], found["batch_size"], found["decay"]) == (name.split("_")[0], 8, 0.1), name
        assert (found["steps"], found["milestones"][0] / steps) == (steps, pytest.approx(9 / 12, abs=1e-4)), name
        assert (found["optimizer"], found["weight_decay"], found["image_size"]) == ("sgd", 1e-4, 600), name
        about = (find_labs() / "presets" / f"{name}.yaml").read_text(encoding="utf-8").partition("\ndataset")[0]
        assert re.search(r"RaMBO Tab\. [58]", " ".join(about.split("\n# "))), name
        loss = detection.make_loss(found)
        if name.endswith("_ce"):
            assert loss is None and found["lr"] == 0.01, name
            continue
        assert found["lr"] == 0.1 and found["memory"] == loss.loss.memory.length == 7, name
        assert found["margin"] == (0.0 if "no_margin" in name else 0.15), name
        assert found["lam"] == {"lam01": 0.1, "lam25": 2.5}.get(name.split("_")[-1], 0.5), name
        assert loss.loss.class_agnostic_weight == pytest.approx(1 / 3), name
        assert found["normalized"] and loss.scores == "log-odds" and found["weight"] == 1.0, "what is not printed"
        inner = loss.loss.average_precision
        assert (inner.ranker.lam, inner.ranker.normalized, inner.margin) == (found["lam"], True, found["margin"]), name
        bare = detection.make_loss(found | {"memory": 0, "scores": "logit"})
        assert bare.loss.memory is None and bare.scores == "logit", name


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Of a short run by cross entropy."""
    folder = tmp_path_factory.mktemp("detection")
    return detection.run(SMALL | {"loss": "cross_entropy", "margin": 0.0}, folder, progress=False)


@pytest.mark.filterwarnings("ignore::rankedu.metrics.UndefinedMetricWarning")
def test_metrics_are_those_of_the_whole_test_split_and_of_halves_of_its_classes(outcome):
    targets = [outcome.data.test.target(index) for index in range(len(outcome.data.test))]
    for name, kind in {"AP50": "all-point", "AP50 11-point": "11-point"}.items():
        found = evaluate_detections(outcome.detections, targets, n_classes=20, interpolation=kind)
        assert outcome.metrics[name] == pytest.approx(found["AP"])
    missing = int(outcome.ap.isnan().sum())
    assert "cross entropy has no margin: 0.0 is not used" in outcome.notes
    assert f"{missing} of 20 classes have no object in the test, and no AP50" in outcome.notes
    assert [*outcome.series()] == ["classifier's loss"] and len(outcome.rows) == 3
    found = halves(torch.tensor([5, 1, 9]))
    assert (found["frequent classes"].tolist(), found["rare classes"].tolist()) == ([3, 1], [2])
    rare, perfect = halves(outcome.data.frequency)["rare classes"], []
    for target in targets:
        kept = ~torch.isin(target["labels"], rare)
        found = {name: target[name][kept] for name in ("boxes", "labels")}
        perfect.append(found | {"scores": torch.ones(int(kept.sum()))})
    metrics, ap = detection.measure(perfect, outcome.data)
    assert metrics["AP50 of frequent classes"] == 1 and metrics["AP50 of rare classes"] == 0
    assert 0 < metrics["AP50"] < 1 and ap.shape == (20,)


def test_data_are_as_large_as_asked_for_and_counted_without_difficult_objects():
    data = open_data(detection.DEFAULTS | {"train_images": 30, "test_images": 5, "test_split": "val"})
    assert (data.train.split, data.test.split, len(data.train), len(data.test)) == ("train", "val", 30, 5)
    targets = [data.train.target(index) for index in range(30)]
    counted = torch.cat([target["labels"][~target["difficult"]] for target in targets]).bincount(minlength=21)[1:]
    assert torch.equal(count_objects(data.train), counted) and torch.equal(data.frequency, counted)
    part = first_of(data.train, 7)
    assert len(part) == 7 and torch.equal(part[6][0], data.train[6][0]) and first_of(part, 9) is part
    assert torch.equal(part.target(6)["boxes"], data.train.target(6)["boxes"])
    with pytest.raises(IndexError):
        part.target(7)


def test_proposals_are_thinned_out():
    labels = torch.tensor([0] * (3 * KEPT) + [-1] * 5 + [2, 1])
    kept = thin_out(torch.randn(len(labels), 4), labels)
    assert (kept.labels == 0).sum() == KEPT and (kept.labels > 0).sum() == 2 and not (kept.labels < 0).any()
    assert kept.weights.sum() == 3 * KEPT + 2 and kept.weights[kept.labels > 0].tolist() == [1, 1]
    assert len(thin_out(torch.randn(3, 4), torch.tensor([-1, -1, -1])).labels) == 0
