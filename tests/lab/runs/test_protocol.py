"""Runs on the splits of the protocol: what they leave for their judges, the start they name, the code they know."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ranklab.experiments import hierarchical_retrieval, retrieval
from ranklab.experiments._weights import keep_weights, weights_hash
from ranklab.runs import Record, keep_runs, tabulate
from ranklab.runs import code as codes
from ranklab.runs.packing import pack, unpack
from ranklab.runs.selection import admit, of_one_code

#: The letters-only tree, so that a run takes a second.
SMALL = {"train_split": "fit", "test_split": "val", "salt": "claims", "letters": True}
SMALL |= {"steps": 2, "batch_size": 16, "dim": 8, "pictures": False}


@pytest.fixture(scope="module")
def flat(tmp_path_factory, opened_once):
    outcome = retrieval.run(SMALL, tmp_path_factory.mktemp("flat"), progress=False)
    outcome.close()
    return outcome


def mean(outcome, name):
    found = outcome.evidence
    return float(np.average(unpack(found["means"][name]), weights=unpack(found["queries"])))


def test_the_metrics_and_first_results_can_be_recomputed_from_what_is_packed(flat, refused):
    first = unpack(flat.evidence["first"])
    assert len(first) == len(flat.data.test) and (first == 3).mean() == pytest.approx(flat.metrics["R@1"], abs=1e-9)
    assert mean(flat, "mAP@R") == pytest.approx(flat.metrics["mAP@R"], abs=1e-7)
    assert unpack(flat.evidence["letters"]).tolist() == flat.data.labels[:, 1].unique().tolist()
    assert len(flat.evidence["first"]["data"]) < 2000 and len(flat.evidence["curve"]["loss"]) == 2
    share = flat.data.test.twins.double().mean()
    parts = share * flat.metrics["mAP@R of twins"] + (1 - share) * flat.metrics["mAP@R of others"]
    assert float(parts) == pytest.approx(flat.metrics["mAP@R"])
    scores = flat.embeddings.double() @ flat.embeddings.double().T
    nearest = scores.fill_diagonal_(-2).argmax(1)
    common = (flat.data.labels == flat.data.labels[nearest]).sum(1)
    order = flat.data.labels[:, 1].argsort(stable=True)
    assert (unpack(flat.evidence["first"]) == common[order].numpy()).mean() > 0.999  # but for scores that tie
    message = "values must be finite, of shape .* and fit "
    for values, dtype in (([256], "uint8"), ([-1], "uint16"), ([float("nan")], "float32"), ([[1]], "uint8")):
        refused([(lambda values=values, dtype=dtype: pack(values, dtype), ValueError, message + dtype)])


def test_the_hierarchical_lab_leaves_as_much_and_another_salt_deals_other_letters(tmp_path, flat):
    outcome = hierarchical_retrieval.run(SMALL | {"super_classes": 2}, tmp_path, progress=False)
    for name in ("H-AP", "AP of characters", "AP, mean of levels"):
        assert mean(outcome, name) == pytest.approx(outcome.metrics[name], abs=1e-7)
    assert (unpack(outcome.evidence["first"]) >= 2).mean() == pytest.approx(outcome.metrics["R@1 of base letters"])
    other = retrieval.run(SMALL | {"salt": "1", "steps": 0}, tmp_path, progress=False)
    assert other.data.names == flat.data.names
    assert set(other.data.labels[:, 1].tolist()) != set(flat.data.labels[:, 1].tolist())


def test_a_start_is_found_by_its_hash(flat, tmp_path, monkeypatch, refused):
    """In `weights` beside the labs' folders, as a run in runs/<lab>/<hash>/ finds it."""
    here = tmp_path / "retrieval" / "0123"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    torch.save(flat.net.state_dict(), here / "net.pt")
    body = keep_weights(here / "net.pt", tmp_path / "weights", head=False)
    whole = keep_weights(here / "net.pt", tmp_path / "weights")
    assert whole == f"sha256:{weights_hash(flat.net.state_dict())}" != body
    measured = retrieval.run(SMALL | {"weights": whole, "steps": 0}, here, progress=False)
    assert torch.equal(measured.embeddings, flat.embeddings) and measured.evidence["start"] == whole[7:]
    started = retrieval.run(SMALL | {"weights": body, "steps": 0, "dim": 4, "seed": 1}, here, progress=False)
    assert torch.equal(started.net.features[0].weight, flat.net.features[0].weight)
    assert started.embeddings.shape[1] == 4 and "head new" in started.notes[0]
    with torch.no_grad():
        flat.net.state_dict()["embed.bias"][0] += 1
    torch.save(flat.net.state_dict(), tmp_path / "weights" / f"{whole[7:]}.pt")
    changed = f"must have the hash {whole[7:]}, got .*: it was changed"
    again = SMALL | {"weights": whole, "steps": 0}
    refused([(lambda: retrieval.run(again, here, progress=False), ValueError, changed)])


def test_a_run_knows_its_code_by_what_it_imports(tmp_path, monkeypatch):
    package = tmp_path / "rankedu"
    package.mkdir()
    files = {"a": "from rankedu import b\n", "b": "def f():\n    '''Said.'''\n    return 1\n", "c": "x = 1\n"}

    def hashed(**changed):
        for name, text in {**files, **changed}.items():
            (package / f"{name}.py").write_text(text, encoding="utf-8")
        for kept in (codes.code_hash, codes._counted, codes._imported_by):
            kept.cache_clear()
        return codes.code_hash("rankedu.a")

    monkeypatch.setattr(codes, "PACKAGES", {"rankedu": tmp_path})
    first = hashed()
    assert hashed(b="def f():  # why\n    '''Other words.'''\n    return 1\n") == first == hashed(c="x = 2\n")
    assert hashed(b="def f():\n    return 2\n") != first != hashed(a="from rankedu import b, c\n")
    with pytest.raises(ValueError, match=r"module must be of rankedu, got 'rankedu\.d'"):
        codes.code_hash("rankedu.d")
    codes.code_hash.cache_clear()


ABOUT = {"preset": None, "seconds": 1.0, "machine": {}, "versions": {}, "git": None, "started": "1"}
RECORD = Record("lab", "a", parameters={"salt": "x"}, metrics={"R@1": 0.5}, **ABOUT, evidence={"code": "1"})


def test_a_record_of_other_code_never_enters_a_table(tmp_path):
    other = replace(RECORD, run="b", evidence={"code": "2"}, metrics={"R@1": 0.75}, started="2")
    old = replace(RECORD, run="c", evidence={}, parameters={"salt": "y"})
    kept, left_out = of_one_code([RECORD, other, old])
    assert kept == [other, old] and left_out == ["lab/a: has code '1' and not '2'"]
    keep_runs([RECORD, other], tmp_path / "kept.jsonl")
    made = tabulate([tmp_path / "kept.jsonl"])
    assert "0.750" in made.text and "0.500" not in made.text and made.skipped == left_out
    said = ["lab/a: has salt 'x' and not 'y', code '1' and not None"]
    assert admit([RECORD, old], salt="y", code=None) == ([old], said)
