"""The labs: each preset fits one and names its source, the quick ones run, and bad input is named before anything."""

import re
import signal
from itertools import count

import pytest
import torch
import yaml

import rankedu_lab.training.detection
from rankedu_lab.experiments import detection, hierarchical_retrieval, minibatch_statistics, retrieval, speed
from rankedu_lab.experiments._experiment import chosen_settings
from rankedu_lab.methods import make_loss
from rankedu_lab.runs import find_labs, list_labs, list_presets, read_parameters
from rankedu_lab.runs.parameters import check_parameters

LABS = find_labs()
TRAINING = {"retrieval": retrieval, "hierarchical_retrieval": hierarchical_retrieval}
TRAINING |= {"minibatch_statistics": minibatch_statistics, "detection": detection}
MODULES = {**TRAINING, "speed": speed}
SHARES = {"loss share", "waiting share", "evaluation share"}
ERRORS = (ValueError, TypeError, FileNotFoundError, PermissionError)
SCENES = {"train_images": 12, "test_images": 6, "batch_size": 2, "lr": 1e-3}
QUICK = {
    "retrieval": ("glyphs_quick", {"margin": 0.05, "test_images": 300}, {"R@1", "R@100", "mAP", "mAP@R", *SHARES}),
    "hierarchical_retrieval": ("glyphs_happier_quick", {"test_images": 300}, {"H-AP", "ASI", "NDCG", "AP of scripts"}),
    "minibatch_statistics": (
        "glyphs_minibatch_quick",
        {"test_images": 600, "batch_sizes": [16, 32], "images": 64, "batches": 4},
        {"mAP", "mAP of batches of 32", "P of batches of 16", "P of a run with batches of 16"},
    ),
    "detection": (
        "scenes_quick",
        SCENES | {"evaluate_every": 3},
        {"AP50", "AP50 11-point", "AP50 of frequent classes", "AP50 of rare classes", *SHARES},
    ),
}


def test_notebooks_have_the_defaults_of_their_modules_and_each_preset_fits_one_and_names_its_source():
    for lab in list_labs(LABS):
        declared = {name: parameter.default for name, parameter in read_parameters(LABS / f"{lab}.ipynb").items()}
        assert "seed" in declared and list_presets(lab, LABS), lab
        assert lab not in MODULES or declared == MODULES[lab].DEFAULTS, lab
    fitting = {lab: list_presets(lab, LABS) for lab in list_labs(LABS)}
    every = sorted(path.stem for path in (LABS / "presets").glob("*.yaml"))
    assert sorted(preset for presets in fitting.values() for preset in presets) == every
    for lab, presets in fitting.items():
        declared = read_parameters(LABS / f"{lab}.ipynb")
        for preset in presets:
            text = (LABS / "presets" / f"{preset}.yaml").read_text(encoding="utf-8")
            values = check_parameters(yaml.safe_load(text), declared, lab=lab)
            if lab in TRAINING:
                about = " ".join(text[: text.index("\ndataset")].split("\n# "))
                assert preset.startswith(("glyphs", "scenes")) or re.search(r"(Tab|Sec)\. ", about), preset
                MODULES[lab].check(values)
            if lab in TRAINING and lab != "detection":
                assert values["batch_size"] % (values["per_class"] * max(1, values["super_classes"])) == 0, preset
                settings, notes = chosen_settings(values)
                assert not notes, preset
                make_loss(values["loss"], dim=4, labels=torch.tensor([[0, 0, 0], [0, 1, 1]]), **settings)
            if lab == "speed":
                assert values["parts"] == list(speed.PARTS)
                speed.check(values)
                assert preset == "speed_quick" or values["lengths"] == list(speed.PRINTED["cpu"])
                assert preset == "speed_quick" or values["batch"] == 112


@pytest.mark.filterwarnings("ignore::rankedu.hierarchy.FlatHierarchyWarning")
@pytest.mark.parametrize("lab", QUICK)
def test_the_quick_lab_runs(lab, execute, tmp_path):
    preset, smaller, measured = QUICK[lab]
    found = execute(lab, preset, {"steps": 3, **smaller})
    assert measured <= set(found["metrics"]) and all(0 <= found["metrics"][name] <= 1 for name in measured)
    assert [row["step"] for row in found["rows"]][-1] == 3 and found["metrics"]["seconds"] > 0
    files = {path.name for path in (tmp_path / lab).iterdir()}
    assert {name for name in files if not name.endswith(".png")} == {"result.json", "net.pt"}, "no checkpoint"
    assert any(name.endswith(".png") for name in files)
    if lab == "detection":
        assert [row["step"] for row in found["rows"]] == [1, 2, 3] and "AP50 of a part" in found["rows"][-1]


def test_the_lab_sodeep_runs(execute):
    found = execute("sodeep", "sodeep_quick", {"steps": 2, "lists": 20, "n": 5})
    assert found["lab"] == "sodeep" and list(found["metrics"]) == ["lstm", "gru", "conv", "mlp"]
    assert all(row["steps"] == 2 and row["error, uniform"] > 0 and row["guessing"] == 1.2 for row in found["rows"])


@pytest.mark.usefixtures("interruptible")
def test_a_run_that_was_killed_goes_on_to_the_same_numbers(tmp_path, monkeypatch):
    """In the lab of detection; what retrieval leaves to go on with is tested with its training."""
    detector_step, steps = rankedu_lab.training.detection.detector_step, count(1)

    def measured(folder, **changed):
        given = SCENES | {"memory": 2, "steps": 4, "checkpoint_every": 1, "pictures": False} | changed
        outcome = detection.run(given, folder, progress=False)
        return outcome, {name: value for name, value in outcome.metrics.items() if name not in {"seconds", *SHARES}}

    def stopping(*arguments, **options):
        if next(steps) == 3:
            signal.raise_signal(signal.SIGINT)
        return detector_step(*arguments, **options)

    whole, expected = measured(tmp_path / "whole")
    monkeypatch.setattr(rankedu_lab.training.detection, "detector_step", stopping)
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path / "killed")
    outcome, found = measured(tmp_path / "killed", pictures=True)
    assert found == pytest.approx(expected, abs=0, rel=0, nan_ok=True)
    assert outcome.history.losses == whole.history.losses and outcome.history.interrupted == [2]
    assert torch.equal(outcome.ap.nan_to_num(2), whole.ap.nan_to_num(2))
    assert whole.findings is None and outcome.findings is not None, "pictures change no number"
    outcome.close()
    assert sorted(path.name for path in (tmp_path / "killed").iterdir()) == ["net.pt"]


@pytest.mark.usefixtures("few")
def test_bad_input_is_named_and_nothing_is_kept(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("rankedu_lab.training.loop.one_step", lambda *_: pytest.fail("it was trained"))
    given = {
        retrieval: {"steps": 1, "pictures": False},
        detection: {"train_images": 6, "test_images": 4, "steps": 1, "pictures": False},
        minibatch_statistics: {"steps": 6, "batch_sizes": [16], "batch_size": 16, "images": 0, "memories": []},
    }

    def row(lab, message, **change):
        return lambda: lab.run({**given[lab], **change}, tmp_path, progress=False), ERRORS, message

    refused(
        [
            row(
                retrieval, r"parameter 'marginn' is unknown to lab 'retrieval' \(did you mean 'margin'\?\)", marginn=0.1
            ),
            row(retrieval, r"loss 'rambo_lok' is unknown \(did you mean 'rambo_log'", loss="rambo_lok"),
            row(retrieval, r"dataset 'glyph' is unknown .*'glyphs'\?\); there are: glyphs, cub", dataset="glyph"),
            row(retrieval, "settings of 'rambo_log' must be among margin, lam, mem.*, got 'bins'", settings="bins=3"),
            row(retrieval, "step must be one of", loss="hap", settings="step=x", margin=0.1, lam=1.0),
            row(retrieval, "must be train and test, or two of pretrain, fit, val, held_out", test_split="val"),
            row(retrieval, "else a letter may be in both", train_split="fit", test_split="fit"),
            row(retrieval, "salt is for dataset 'glyphs' alone, got it with 'sop'", salt="x", dataset="sop"),
            row(detection, "loss 'rambo' is unknown.*; there are: cross_entropy, rambo_map", loss="rambo"),
            row(detection, "dataset 'glyphs' is unknown.*; there are: scenes, voc07, voc0712", dataset="glyphs"),
            row(detection, r"test_split 'vall' is unknown \(did you mean 'val'\?\)", test_split="vall"),
            row(detection, "must be 'test' for 'voc07', got 'val'", dataset="voc07", test_split="val"),
            row(minibatch_statistics, "must be multiples of per_class=4, got 18", batch_sizes=[18]),
            row(minibatch_statistics, r"longest of memories, got \[1, 2, 3, 8\]: no 4", memories=[0, 5]),
            row(minibatch_statistics, "at most the 2 steps long, got 3", memories=[0, 3], steps=2),
            row(minibatch_statistics, "at most 44, got 64: 11 classes of the test split have 4", batch_sizes=[16, 64]),
            row(minibatch_statistics, "the 132 test images, got 144", memories=[8], ages=[*range(1, 9)], steps=8),
        ]
    )
    assert not list(tmp_path.rglob("*.pt"))
