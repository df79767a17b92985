"""Labs: what is given is checked, what runs is recorded, what fails is kept, what is done is not done twice."""

import pickle

import nbformat
import pytest
import yaml

from ranklab.runs import (
    LabError,
    find_labs,
    list_labs,
    list_presets,
    load_result,
    plan,
    read_parameters,
    run_lab,
    save_result,
)
from ranklab.runs.parameters import check_parameters

LABS = find_labs()
PARAMETERS = """\
n: int = 3  # how many
rate: float = 0.5  # how fast
name: str = "x"  # what it is called
loud: bool = False  # whether
kinds: list[str] = ["a", "b"]  # which
seed: int = 0  # of the draw
how: str = "well"  # how it ends"""
BODY = """\
import os, time
from pathlib import Path
starts = len(Path("starts").read_text()) if Path("starts").exists() else 0
_ = Path("starts").write_text("|" * (starts + 1))
print("begun", n, rate, kinds)
if how == "raising": raise ZeroDivisionError("of its own making")
if how == "slow": time.sleep(60)
if how == "dying at first" and not starts: os._exit(1)"""
END = """\
from ranklab.runs import save_result
if how == "silent": raise SystemExit(0)
_ = save_result({"lab": "tiny", "parameters": {"n": n}, "metrics": {"value": n * rate}})"""


@pytest.fixture
def labs(tmp_path, write_lab):
    folder = tmp_path / "labs"
    (folder / "presets").mkdir(parents=True)
    write_lab(folder / "tiny.ipynb", PARAMETERS, BODY, END)
    write_lab(folder / "other.ipynb", "depth: int = 1  # of the net", "pass")
    (folder / "presets" / "fast.yaml").write_text("rate: 2\nkinds: [a]\n")
    (folder / "presets" / "deep.yaml").write_text("depth: 9\n")
    return folder


@pytest.fixture
def where(labs, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER", raising=False)
    return {"labs": labs, "runs": tmp_path / "runs", "progress": False}


def only_run(where):
    (folder,) = (where["runs"] / "tiny").iterdir()
    return folder


def printed(notebook):
    outputs = [output for cell in nbformat.read(notebook, 4).cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


def test_a_run_leaves_notebook_result_and_manifest_and_is_not_repeated(where, manifest):
    run = run_lab("tiny", preset="fast", assignments=["n=4"], **where)
    assert not run.skipped and run.folder == only_run(where) and run.result["metrics"] == {"value": 8.0}
    assert {path.name for path in run.folder.iterdir()} == {"tiny.ipynb", "result.json", "manifest.json", "starts"}
    assert "begun 4 2.0 ['a']" in printed(run.notebook)
    record = manifest(run.folder)
    assert record["status"] == "completed" and record["attempts"] == 1 and record["seed"] == 0
    assert record["preset"] == "fast" and record["parameters"]["n"] == 4 and record["parameters"]["rate"] == 2.0
    assert {"python", "torch", "numpy", "rankedu", "papermill"} == set(record["versions"])
    assert record["device"] and record["seconds"] > 0 and record["peak_memory_mib"] > 1 and "git" in record
    again = run_lab("tiny", parameters={"n": 4, "rate": 2.0, "kinds": ["a"], "loud": False}, **where)
    assert again.skipped and again.folder == run.folder and again.result == run.result
    assert (run.folder / "starts").read_text() == "|"
    assert not run_lab("tiny", preset="fast", assignments=["n=4"], force=True, **where).skipped
    assert (run.folder / "starts").read_text() == "||"


def test_a_lab_that_fails_keeps_what_had_run_and_says_where(where, manifest):
    with pytest.raises(LabError) as caught:
        run_lab("tiny", assignments=["how=raising"], **where)
    folder = only_run(where)
    assert caught.value.notebook == folder / "tiny.ipynb"
    message = str(caught.value)
    assert "lab 'tiny' failed after" in message and "In [3]: ZeroDivisionError: of its own making" in message
    assert str(folder / "tiny.ipynb") in message
    assert "begun 3 0.5" in printed(folder / "tiny.ipynb")
    record = manifest(folder)
    assert record["status"] == "failed" and record["attempts"] == 1 and "ZeroDivisionError" in record["error"]
    assert not (folder / "result.json").exists()
    assert plan("tiny", assignments=["how=raising"], labs=where["labs"], runs=where["runs"]).finished() is None
    with pytest.raises(LabError, match="2 attempts"):
        run_lab("tiny", assignments=["how=raising"], **where)
    assert manifest(folder)["attempts"] == 2, "over all that were made"
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.notebook) == (message, caught.value.notebook)


@pytest.mark.parametrize(
    ("how", "timeout", "status", "attempts"),
    [("slow", 3, "timed out", 2), ("silent", 60, "failed", 1)],
)
def test_what_hangs_is_tried_twice_and_the_rest_once(where, how, timeout, status, attempts, manifest):
    with pytest.raises(LabError, match=f"lab 'tiny' {status} after"):
        run_lab("tiny", assignments=[f"how={how}"], timeout=timeout, **where)
    record = manifest(only_run(where))
    assert record["status"] == status and record["attempts"] == attempts and record["error"]
    assert (only_run(where) / "tiny.ipynb").exists()
    if how != "slow":
        assert (only_run(where) / "starts").read_text() == "|" * attempts


def test_a_second_attempt_may_go_well(where, manifest):
    """Here after a kernel that died."""
    run = run_lab("tiny", assignments=["how=dying at first"], **where)
    assert manifest(run.folder)["status"] == "completed" and manifest(run.folder)["attempts"] == 2


def test_one_folder_for_each_content_and_parameters(labs, tmp_path):
    def folder(**options):
        return plan("tiny", labs=labs, runs=tmp_path, **options).folder

    first = folder()
    assert first == folder(parameters={"n": 3}) == folder(assignments=["rate=0.5"])
    assert len({first, folder(parameters={"n": 4}), folder(preset="fast"), folder(parameters={"kinds": ["b"]})}) == 4
    book = nbformat.read(labs / "tiny.ipynb", 4)
    book.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    book.cells.append(nbformat.v4.new_markdown_cell("In other words"))
    nbformat.write(book, labs / "tiny.ipynb")
    assert folder() == first, "neither an output nor a text is code"
    book.cells[1].source += "\npass"
    nbformat.write(book, labs / "tiny.ipynb")
    assert folder() != first


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "manifest.json").write_text('{"status": "running"}'),
        lambda folder: (folder / "manifest.json").unlink(),
        lambda folder: (folder / "result.json").unlink(),
        lambda folder: (folder / "result.json").write_text('{"lab": '),
        lambda folder: (folder / "result.json").write_text('{"lab": "tiny"}'),
    ],
)
def test_a_run_that_is_not_whole_does_not_count(labs, tmp_path, spoil):
    run = plan("tiny", labs=labs, runs=tmp_path)
    save_result({"lab": "tiny", "parameters": {}, "metrics": {}}, folder=run.folder)
    (run.folder / "manifest.json").write_text('{"status": "completed"}')
    assert run.finished()["lab"] == "tiny"
    spoil(run.folder)
    assert run.finished() is None


BAD = {
    "lab": ({"lab": "tinyy"}, ValueError, r"lab 'tinyy' is unknown \(did you mean 'tiny'\?\); there are: other, tiny"),
    "preset": (
        {"preset": "fats"},
        ValueError,
        r"preset 'fats' of lab 'tiny' is unknown \(did you mean 'fast'\?\); there are: fast",
    ),
    "preset_of_another": ({"preset": "deep"}, ValueError, "parameters that lab 'tiny' has not: depth; there are: fast"),
    "unknown": (
        {"parameters": {"rates": 1.0}},
        ValueError,
        r"parameter 'rates' is unknown to lab 'tiny' \(did you mean 'rate'\?\); it has:\n  n: int = 3  # how many\n",
    ),
    "unknown_text": ({"assignments": ["sed=1"]}, ValueError, "'sed' is unknown .*did you mean 'seed'"),
    "type": ({"parameters": {"n": 3.5}}, TypeError, r"parameter 'n' must be int, got 3.5, float \(how many\)"),
    "bool": ({"parameters": {"n": True}}, TypeError, "must be int, got True, bool"),
    "bool_as_int": ({"parameters": {"loud": 1}}, TypeError, "must be bool, got 1, int"),
    "yaml_float": ({"parameters": {"rate": "1e-3"}}, TypeError, "must be float, got '1e-3', str .*1.0e-3 is a number"),
    "list": ({"parameters": {"kinds": "a"}}, TypeError, r"must be list\[str\], got 'a'"),
    "items": ({"parameters": {"kinds": ["a", 1]}}, TypeError, r"must be list\[str\], got \['a', 1\]"),
    "text": ({"assignments": ["n=three"]}, ValueError, r"parameter 'n' must be int, got 'three' \(how many\)"),
    "text_bool": ({"assignments": ["loud=1"]}, ValueError, "must be bool, got '1'"),
    "no_equals": ({"assignments": ["n"]}, ValueError, "-p must be followed by key=value, got 'n'"),
}


@pytest.mark.parametrize(("options", "error", "message"), BAD.values(), ids=BAD)
def test_bad_parameters_stop_before_anything_starts(labs, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        run_lab(**{"lab": "tiny", **options}, labs=labs, runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_texts_are_read_as_the_parameters_type(labs):
    texts = ["n=-2", "rate=1e-3", "name=1", "loud=True", "kinds=b, c"]
    found = plan("tiny", labs=labs, assignments=texts).parameters
    expected = {"n": -2, "rate": 0.001, "name": "1", "loud": True, "kinds": ["b", "c"], "seed": 0, "how": "well"}
    assert found == expected and type(found["rate"]) is float
    assert plan("tiny", labs=labs, assignments=["name=a=b", "kinds="]).parameters["name"] == "a=b"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("n = 3  # how many", "'n = 3' must be declared as `name: type = value  # help`"),
        ("n: int = 3", "'n: int = 3' must be declared as"),
        ("n: complex = 3  # how many", "of type int, float, str, bool or list"),
        ("n: int = 2 + 1  # how many", r"must have a literal as its default, got 2 \+ 1"),
        ("# nothing", "must have a cell tagged 'parameters' that declares some"),
    ],
)
def test_a_lab_must_declare_its_parameters(tmp_path, write_lab, cell, message):
    write_lab(tmp_path / "odd.ipynb", cell)
    with pytest.raises(ValueError, match=message):
        read_parameters(tmp_path / "odd.ipynb")


def test_labs_are_found_in_the_checkout_and_missed_with_advice(tmp_path):
    assert find_labs() == LABS
    with pytest.raises(FileNotFoundError, match=r"found none in .*nowhere \(name one with --labs DIR\)"):
        find_labs(tmp_path / "nowhere")


GOOD = {"lab": "tiny", "parameters": {"n": 3}, "metrics": {"a": 1, "b": {"c": 0.5, "d": None}}}


def test_a_result_is_plain_and_says_where_it_was_measured(tmp_path, monkeypatch):
    import numpy as np
    import torch

    rows = ({"name": "x", "value": np.float32(0.5), "count": np.int64(3), "loud": True},)
    metrics = {"torch": torch.tensor(2.0), "nan": float("nan"), "inf": np.inf}
    monkeypatch.setenv("RANKEDU_RESULT_FOLDER", str(tmp_path / "made"))
    path = save_result({**GOOD, "metrics": metrics, "rows": rows, "notes": "ü"})
    assert path == tmp_path / "made" / "result.json"
    found = load_result(path)
    assert found["metrics"] == {"torch": 2.0, "nan": None, "inf": None}
    assert found["rows"] == [{"name": "x", "value": 0.5, "count": 3, "loud": True}]
    assert found["machine"]["device"] and found["machine"]["threads"] >= 1
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER")
    monkeypatch.chdir(tmp_path)
    assert save_result(GOOD).resolve() == tmp_path / "result.json"


@pytest.mark.parametrize(("used", "device"), [([0, 0], "CPU"), ([0, 2**21], "GPU 1")])
def test_a_result_names_a_gpu_only_if_it_was_used(tmp_path, monkeypatch, used, device):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda gpu=0: f"GPU {gpu}")
    monkeypatch.setattr("torch.cuda.max_memory_allocated", lambda gpu=0: used[gpu])
    machine = load_result(save_result(GOOD, folder=tmp_path))["machine"]
    assert (machine["device"], machine.get("peak_gpu_memory_mib")) == (device, 2.0 if used[1] else None)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"lab": ""}, ValueError, r"result\['lab'\] must be a string"),
        ({"metrics": [1]}, ValueError, r"result\['metrics'\] must be an object of numbers"),
        ({"metrics": {"a": "high"}}, ValueError, r"result\['metrics'\] must be an object of numbers"),
        ({"metrics": {"a": True}}, ValueError, r"result\['metrics'\] must be"),
        ({"rows": [{"a": {}}]}, ValueError, r"result\['rows'\] must be a list of flat objects"),
        ({"rows": [3]}, ValueError, r"result\['rows'\] must be a list of flat objects"),
        ({"metric": {}}, ValueError, r"result must have the keys 'lab', .* alone, got 'metric'"),
        ({"parameters": {"f": print}}, TypeError, "result must hold numbers, .* got <built-in function print>"),
    ],
)
def test_a_result_that_is_none_is_refused(tmp_path, change, error, message):
    with pytest.raises(error, match=message):
        save_result({**GOOD, **change}, folder=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["lab", "parameters", "metrics"])
def test_a_result_needs_its_keys(tmp_path, key):
    with pytest.raises(ValueError, match=f"result must have the key '{key}'"):
        save_result({name: value for name, value in GOOD.items() if name != key}, folder=tmp_path)


def test_a_full_disk_leaves_the_old_result(tmp_path, monkeypatch):
    save_result(GOOD, folder=tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rankedu.files.os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        save_result({**GOOD, "lab": "other"}, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert load_result(tmp_path / "result.json")["lab"] == "tiny"


@pytest.mark.parametrize("lab", list_labs(LABS))
def test_every_lab_declares_its_parameters_and_has_a_preset(lab):
    assert "seed" in read_parameters(LABS / f"{lab}.ipynb")
    assert list_presets(lab, LABS)


@pytest.fixture(scope="module")
def presets():
    """Every lab with its presets and the parameters that it declares."""
    return {lab: (list_presets(lab, LABS), read_parameters(LABS / f"{lab}.ipynb")) for lab in list_labs(LABS)}


@pytest.mark.parametrize("preset", sorted((LABS / "presets").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_preset_fits_a_lab(preset, presets):
    fitting = {lab: declared for lab, (names, declared) in presets.items() if preset.stem in names}
    assert fitting
    values = yaml.safe_load(preset.read_text(encoding="utf-8"))
    for lab, declared in fitting.items():
        check_parameters(values, declared, lab=lab)


def test_the_lab_sodeep_runs(execute):
    found = execute("sodeep", "sodeep_quick", {"steps": 2, "lists": 20, "n": 5})
    assert found["lab"] == "sodeep" and list(found["metrics"]) == ["lstm", "gru", "conv", "mlp"]
    assert all(row["steps"] == 2 and row["error, uniform"] > 0 and row["guessing"] == 1.2 for row in found["rows"])
