"""The labs of the retrieval experiments: every preset can be run, the quick ones are, and bad input is named."""

import copy
import re
import signal
import subprocess
import sys
from dataclasses import replace

import nbformat
import pytest
import torch
import yaml

from rankedu.metrics import evaluate_retrieval
from ranklab.datasets import UnicodeGlyphs
from ranklab.experiments import hierarchical_retrieval, minibatch_statistics, retrieval
from ranklab.experiments._experiment import chosen_settings
from ranklab.experiments._minibatches import batch_metrics
from ranklab.experiments.retrieval_data import Data
from ranklab.methods import METHODS, find_method, make_loss, parse_settings
from ranklab.runs import find_labs, list_presets, load_result, read_parameters

LABS = find_labs()
MODULES = {
    "retrieval": retrieval,
    "hierarchical_retrieval": hierarchical_retrieval,
    "minibatch_statistics": minibatch_statistics,
}
#: Presets that are executed, with what makes them smaller still, and what they must have measured.
QUICK = {
    "hierarchical_retrieval": (
        "glyphs_happier_quick",
        {"steps": 4, "test_images": 300},
        {"H-AP", "ASI", "NDCG", "AP of characters", "AP of scripts", "R@1 of base letters", "AP, mean of levels"},
    ),
    "minibatch_statistics": (
        "glyphs_minibatch_quick",
        {"steps": 4, "test_images": 600, "batch_sizes": [16, 32], "images": 64, "batches": 4},
        {"mAP", "mAP of batches of 32", "P of batches of 16", "P of a run with batches of 16"},
    ),
}
PATHS = torch.tensor([[i // 8, 10 + i // 4, 100 + 2 * (i // 2)] for i in range(16)])  # ids with gaps


def presets():
    others = ("sodeep", "scenes", "voc", "speed")
    return sorted(path.stem for path in (LABS / "presets").glob("*.yaml") if not path.stem.startswith(others))


@pytest.fixture(scope="module")
def declared():
    return {lab: read_parameters(LABS / f"{lab}.ipynb") for lab in MODULES}


@pytest.mark.parametrize("lab", MODULES)
def test_the_notebook_has_the_defaults_of_the_module(lab, declared):
    assert {name: parameter.default for name, parameter in declared[lab].items()} == MODULES[lab].DEFAULTS


def test_each_preset_belongs_to_one_lab_names_its_source_and_can_be_made(declared):
    fitting = {lab: list_presets(lab, LABS) for lab in MODULES}
    assert sorted(preset for found in fitting.values() for preset in found) == presets()
    for lab, found in fitting.items():
        for preset in found:
            text = (LABS / "presets" / f"{preset}.yaml").read_text(encoding="utf-8")
            about, values = text[: text.index("\ndataset")], MODULES[lab].DEFAULTS | yaml.safe_load(text)
            assert about.startswith("# ") and (preset.startswith("glyphs") or re.search(r"(Tab|Sec)\. ", about)), preset
            assert values["batch_size"] % (values["per_class"] * max(1, values["super_classes"])) == 0, preset
            settings, notes = chosen_settings(values)
            find_method(values["loss"]).check(settings)
            assert not notes, preset
            make_loss(values["loss"], dim=4, labels=PATHS, **settings)


@pytest.mark.parametrize("lab", QUICK)
def test_the_quick_lab_runs(lab, execute, tmp_path):
    preset, smaller, measured = QUICK[lab]
    found = execute(lab, preset, smaller)
    assert measured <= set(found["metrics"]) and all(0 <= found["metrics"][name] <= 1 for name in measured)
    assert (found["rows"][-1]["step"], found["metrics"]["seconds"] > 0) == (4, True)
    assert {path.name for path in tmp_path.iterdir()} == {"result.json", "net.pt"}, "the checkpoint is given up"


def test_papermill_alone_runs_the_lab(tmp_path, monkeypatch):
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER", raising=False)
    given = ["-f", str(LABS / "presets" / "glyphs_quick.yaml"), "-p", "margin", "0.05", "-p", "steps", "3"]
    command = [sys.executable, "-m", "papermill", "--no-progress-bar", str(LABS / "retrieval.ipynb"), "out.ipynb"]
    command += [*given, "-p", "test_images", "300"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-2000:]
    found = load_result(tmp_path / "result.json")
    assert found["parameters"]["margin"] == 0.05 and len(found["rows"]) == found["parameters"]["steps"] == 3
    measured = {"R@1", "R@10", "R@100", "mAP", "mAP@R", "loss share", "waiting share", "evaluation share"}
    assert measured < set(found["metrics"]) and all(0 <= found["metrics"][name] <= 1 for name in measured)
    assert {"result.json", "net.pt", "out.ipynb"} == {path.name for path in tmp_path.iterdir()}
    assert sum(bool(cell.get("outputs")) for cell in nbformat.read(tmp_path / "out.ipynb", 4).cells) >= 5


@pytest.fixture(scope="module")
def few():
    """A few characters on both sides."""
    train, test = (UnicodeGlyphs("all", characters=characters) for characters in ("ABCDEFGHeéèзӞ", "KLMNOPQRoóò"))
    return Data(train, test, None, "some glyphs", ("script", "base letter", "character"))


@pytest.fixture
def small(few, monkeypatch):
    """The parameters of a run that takes a moment."""
    monkeypatch.setattr("ranklab.experiments._experiment.open_data", lambda parameters: few)
    return {"steps": 6, "batch_size": 16, "dim": 8, "pictures": False}


def test_metrics_are_those_of_the_whole_test_split(small, tmp_path):
    outcome = retrieval.run(small | {"recall_at": [1, 5], "evaluate_every": 3}, tmp_path, progress=False)
    expected = evaluate_retrieval(
        outcome.embeddings, outcome.data.test.labels[:, -1], metrics=("recall_at_5", "map_at_r")
    )
    assert outcome.metrics["R@5"] == expected["recall_at_5"] and outcome.metrics["mAP@R"] == expected["map_at_r"]
    assert [row["step"] for row in outcome.rows if "R@1 of a part" in row] == [3, 6] and len(outcome.rows) == 6
    assert {"seconds", "loss share", "waiting share", "evaluation share"} < set(outcome.metrics)
    assert retrieval.chance(outcome) == pytest.approx(11 / (11 * 12 - 1))


def test_levels_agree_with_the_flat_lab(small, tmp_path):
    flat = retrieval.run(small, tmp_path, progress=False).metrics
    found = hierarchical_retrieval.run(small | {"loss": "rambo_log"}, tmp_path, progress=False).metrics
    assert found["R@1 of characters"] == flat["R@1"] and found["AP of characters"] == flat["mAP"]
    levels = [found[f"AP of {name}"] for name in ("scripts", "base letters", "characters")]
    assert found["AP, mean of levels"] == pytest.approx(sum(levels) / 3)


@pytest.mark.parametrize("lab", ["retrieval", "minibatch_statistics"])
def test_a_run_that_was_killed_goes_on_to_the_same_numbers(lab, small, tmp_path, monkeypatch):
    parameters = small | {"loss": "smooth_ap", "memory": 1, "checkpoint_every": 1}
    if lab == "minibatch_statistics":
        del parameters["pictures"]
        parameters |= {"batch_sizes": [16], "batches": 3, "images": 32, "memories": [1], "ages": [1, 4], "memory": 0}
    run = MODULES[lab].run

    def metrics(folder):
        outcome = run(parameters, folder, progress=False)
        outcome = getattr(outcome, "outcome", outcome)
        return outcome, {
            name: value for name, value in outcome.metrics.items() if "share" not in name and name != "seconds"
        }

    _, expected = metrics(tmp_path / "whole")
    from ranklab.training import loop

    steps, one_step = [], loop.one_step

    def stopping(*arguments):
        steps.append(None)
        if len(steps) == 4:
            signal.raise_signal(signal.SIGINT)
        return one_step(*arguments)

    monkeypatch.setattr(loop, "one_step", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(parameters, tmp_path / "killed", progress=False)
    outcome, found = metrics(tmp_path / "killed")
    assert found == expected and outcome.history.interrupted == [3]
    outcome.close()
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["net.pt"]


def test_what_a_method_has_not_is_noted_and_not_used():
    settings, notes = chosen_settings(retrieval.DEFAULTS | {"loss": "fast_ap", "margin": 0.05, "settings": "bins=7"})
    assert settings == {"bins": 7} and notes == ["FastAP has no margin: 0.05 is not used"]
    settings, notes = chosen_settings(retrieval.DEFAULTS | {"loss": "smooth_ap", "margin": 0.0, "memory": 3})
    assert settings == {"margin": 0.0, "memory": 3} and notes == []


BAD = {
    "parameter": ({"marginn": 0.1}, r"parameter 'marginn' is unknown \(did you mean 'margin'\?\)"),
    "type": ({"milestones": "[8, 16]"}, r"parameter 'milestones' must be list\[int\], got '\[8, 16\]', str"),
    "loss": ({"loss": "rambo_lok"}, r"loss 'rambo_lok' is unknown \(did you mean 'rambo_log'"),
    "dataset": (
        {"dataset": "glyph"},
        r"dataset 'glyph' is unknown \(did you mean 'glyphs'\?\); there are: glyphs, cub",
    ),
    "model": ({"model": "resnet5"}, r"model 'resnet5' is unknown \(did you mean 'resnet50'"),
    "setting": ({"settings": "bins=3"}, "settings of 'rambo_log' must be among margin, lam, memory.*, got 'bins'"),
    "text": ({"settings": "bins"}, "settings must be name=value each, got 'bins'"),
    "value": (
        {"margin": 0.1, "lam": 1.0, "temperature": 0.1, "loss": "hap", "settings": "step=x"},
        "step must be one of",
    ),
    "recipe": ({"optimizer": "adm"}, "optimizer must be one of .*, got 'adm'"),
    "device": ({"device": "cuda:99"}, "device must be one of 'auto', 'cpu'"),
    "batch": ({"batch_size": 20000}, "batch_size must be at most"),
    "super_class": ({"super_classes": 50, "batch_size": 200}, "super"),
    "data": (
        {"dataset": "sop", "data_root": "/nowhere"},
        r"Stanford_Online_Products.* is missing .*https://cvgl.stanford.edu",
    ),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(change, message, few, tmp_path, monkeypatch):
    if "dataset" not in change:
        monkeypatch.setattr("ranklab.experiments._experiment.open_data", lambda parameters: few)
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
        retrieval.run({"steps": 1, "pictures": False, **change}, tmp_path, progress=False)
    assert not list(tmp_path.rglob("*.pt"))


def test_a_class_with_one_image_trains_nothing_and_asks_nothing(few, small, tmp_path, monkeypatch):
    train, test = (_with_one_of_the_first_class(part) for part in (few.train, few.test))
    alone = replace(few, train=train, test=test)
    monkeypatch.setattr("ranklab.experiments._experiment.open_data", lambda parameters: alone)
    outcome = retrieval.run(small, tmp_path, progress=False)
    assert outcome.notes[0] == "1 of 13 classes have fewer than 4 images and train nothing"
    assert "1 at level 1 of 121 queries have no relevant item" in outcome.notes[1]


def _with_one_of_the_first_class(data):
    part, keep = copy.copy(data), torch.ones(len(data), dtype=torch.bool)
    keep[1:12] = False
    part.images, part.labels = data.images[keep], data.labels[keep]
    return part


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_a_gradient_whatever_the_class_ids(name):
    torch.manual_seed(0)
    embeddings = torch.nn.functional.normalize(torch.randn(16, 5), dim=1).requires_grad_()
    torch.manual_seed(1)
    loss = make_loss(name, dim=5, labels=PATHS)
    labels = PATHS if loss.takes_paths else PATHS[:, -1]
    torch.manual_seed(2)  # some miners draw
    value = loss(embeddings, labels)
    value.backward()
    assert value.ndim == 0 and value.isfinite() and embeddings.grad.isfinite().all() and embeddings.grad.any()
    assert METHODS[name].proxies == bool(list(loss.parameters()))
    shifted = PATHS + torch.tensor([0, 0, 1000])
    torch.manual_seed(1)
    other = make_loss(name, dim=5, labels=shifted)
    torch.manual_seed(2)
    assert torch.equal(other(embeddings, shifted if other.takes_paths else shifted[:, -1]), value)


def test_methods_are_the_papers_and_say_what_is_missing():
    assert {method.title for method in METHODS.values() if "HAPPIER Tab. 1" in method.source} == {
        *("Triplet SH", "NSM", "NCA++", "Smooth-AP", "ROADMAP", "CSL", "HAPPIER"),
        *("Σ Triplet SH", "Σ NSM", "Σ NCA++"),
    }
    assert METHODS["happier"].settings["alpha"] == 1.0 and METHODS["happier_f"].settings["alpha"] == 5.0
    with pytest.raises(ValueError, match=r"labels must be the paths .* for 'sum_smooth_ap', got None"):
        make_loss("sum_smooth_ap", dim=4)
    with pytest.raises(ValueError, match="n_classes must be given"):
        make_loss("happier", dim=4)
    with pytest.raises(ValueError, match="of the 8 classes of the training set, got 7"):
        make_loss("normalized_softmax", dim=5, labels=PATHS)(torch.randn(2, 5), torch.tensor([100, 7]))
    assert parse_settings("a=1 b=x, c=false") == {"a": 1, "b": "x", "c": False}


def test_metrics_of_a_batch_are_those_of_the_definition():
    generator = torch.Generator().manual_seed(0)
    embeddings = torch.nn.functional.normalize(torch.randn(40, 6, generator=generator), dim=1)
    labels = torch.arange(40) // 4
    whole = batch_metrics(embeddings, labels, 40, 1)[0]
    expected = evaluate_retrieval(embeddings, labels, metrics=("average_precision", "recall_at_1"))
    assert whole.tolist() == pytest.approx([expected["average_precision"], expected["recall_at_1"]])
    longer = batch_metrics(embeddings, labels, 10, 3, memory=[embeddings, embeddings])
    same = batch_metrics(embeddings, labels, 10, 3, memory=[embeddings] * 2)
    assert torch.equal(longer, same) and (longer[:, 0] < batch_metrics(embeddings, labels, 10, 3)[:, 0]).all()
    with pytest.raises(ValueError, match="at most the 40 test images, got 20 with 2 remembered"):
        batch_metrics(embeddings, labels, 20, memory=[embeddings] * 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_sizes": [18]}, "batch_sizes must be multiples of per_class=4, got 18"),
        ({"memories": [0, 5]}, r"ages must have all up to the longest of memories, got \[1, 2, 3, 8\]: no 4"),
        ({"memories": [0, 5], "ages": [1, 2, 3, 4, 5], "steps": 2}, "memories must be at most the 2 steps long, got 5"),
    ],
)
def test_statistics_that_cannot_be_had_are_named(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        minibatch_statistics.run(change, tmp_path, progress=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_sizes": [16, 64]}, "batch_sizes must be at most 44, got 64: 11 classes of the test split have 4"),
        ({"memories": [8], "ages": [1, 2, 3, 4, 5, 6, 7, 8], "steps": 8}, "at most the 132 test images, got 144"),
    ],
    ids=["batch", "memory"],
)
def test_batches_that_cannot_be_had_are_named_before_training(change, message, small, tmp_path, monkeypatch):
    monkeypatch.setattr("ranklab.training.loop.one_step", lambda *_: pytest.fail("it was trained"))
    given = {name: value for name, value in small.items() if name != "pictures"}
    given |= {"batch_sizes": [16], "images": 0, "memories": [], "ages": [1]}
    with pytest.raises(ValueError, match=message):
        minibatch_statistics.run(given | change, tmp_path, progress=False)


def test_with_other_ages_a_run_begins_anew(small, tmp_path):
    given = {name: value for name, value in small.items() if name != "pictures"}
    given |= {"batch_sizes": [16], "images": 0, "memories": [], "batches": 2}
    for ages in ([1], [1, 4]):
        found = minibatch_statistics.run(given | {"ages": ages}, tmp_path, progress=False)
        assert [*found.staleness] == ages


def test_a_separate_gallery_is_retrieved_from():
    train, query, gallery = (UnicodeGlyphs("all", characters=c) for c in ("AB", "CD", "CDE"))
    apart = Data(train, query, gallery, "", ("script", "base letter", "character"))
    assert len(apart.labels) == 60 and apart.candidates.sum() == 36
    part = Data(train, query, query, "", ("character",)).part(12)
    assert len(part.test) == 24, "two classes at least"
