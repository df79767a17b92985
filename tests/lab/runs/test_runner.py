"""Labs: what is given is checked, what runs is recorded, what fails is kept, what is done is not done twice."""

import pickle
import threading

import nbformat
import numpy as np
import pytest
import torch
from nbclient.exceptions import DeadKernelError

from rankedu_lab.runs import LabError, find_labs, load_result, plan, read_parameters, run_lab, runner, save_result
from rankedu_lab.runs.runner import is_locked, lock_run

QUIETLY = {"progress": False}
GOOD = {"lab": "tiny", "parameters": {"n": 3}, "metrics": {"a": 1, "b": {"c": 0.5, "d": None}}}


def only_run(where):
    (folder,) = (where["runs"] / "tiny").iterdir()
    return folder


def printed(notebook):
    outputs = [output for cell in nbformat.read(notebook, 4).cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


def test_a_run_leaves_notebook_result_and_manifest_and_is_not_repeated(where, manifest):
    run = run_lab("tiny", preset="fast", assignments=["n=4"], **where, **QUIETLY)
    assert not run.skipped and run.folder == only_run(where) and run.result["metrics"] == {"value": 8.0}
    assert {path.name for path in run.folder.iterdir()} == {"tiny.ipynb", "result.json", "manifest.json", "starts"}
    assert "begun 4 2.0 ['a']" in printed(run.notebook)
    record = manifest(run.folder)
    assert record["status"] == "completed" and record["attempts"] == 1 and record["seed"] == 0
    assert record["preset"] == "fast" and record["parameters"]["n"] == 4 and record["parameters"]["lr"] == 2.0
    assert {"python", "torch", "numpy", "rankedu", "papermill"} == set(record["versions"])
    assert record["device"] and record["seconds"] > 0 and record["peak_memory_mib"] > 1 and "git" in record
    again = run_lab("tiny", parameters={"n": 4, "lr": 2.0, "kinds": ["a"], "loud": False}, **where)
    assert again.skipped and again.folder == run.folder and again.result == run.result
    assert (run.folder / "starts").read_text() == "|"


def test_a_lab_that_fails_keeps_what_had_run_and_what_dies_or_hangs_is_tried_twice(where, manifest):
    given = {"assignments": ["how=raising dying slow"], **where}
    with pytest.raises(LabError) as caught:
        run_lab("tiny", **given, **QUIETLY)
    folder, message = only_run(where), str(caught.value)
    assert str(folder / "tiny.ipynb") in message
    assert "lab 'tiny' failed after" in message and "In [3]: ZeroDivisionError: of its own making" in message
    assert "begun 3 0.5" in printed(folder / "tiny.ipynb") and not (folder / "result.json").exists()
    record = manifest(folder)
    assert record["status"] == "failed" and record["attempts"] == 1 and "ZeroDivisionError" in record["error"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == message, "it reaches the caller from another process"
    assert plan("tiny", **given).finished() is None and (folder / "starts").read_text() == "|", "not tried again"
    with pytest.raises(LabError, match=r"lab 'tiny' timed out after .* 3 attempts"):  # over all that were made
        run_lab("tiny", timeout=3, **given, **QUIETLY)
    record = manifest(folder)
    assert record["status"] == "timed out" and record["attempts"] == 3 and "longer than 3 s" in record["error"]


def test_a_second_attempt_may_go_well_and_force_runs_again(where, manifest, monkeypatch):
    attempts = []

    def executed(source, notebook, **_):
        attempts.append(notebook)
        if len(attempts) == 1:
            raise DeadKernelError("it died")
        save_result({**GOOD, "metrics": {"attempt": len(attempts)}}, folder=only_run(where))

    monkeypatch.setattr("papermill.execute_notebook", executed)
    first, same, forced = (run_lab("tiny", force=force, **where) for force in (False, False, True))
    assert [run.result["metrics"]["attempt"] for run in (first, same, forced)] == [2, 2, 3]
    assert [run.skipped for run in (first, same, forced)] == [False, True, False]
    assert manifest(only_run(where))["status"] == "completed" and manifest(only_run(where))["attempts"] == 1
    monkeypatch.setattr("papermill.execute_notebook", lambda *_, **__: None)
    with pytest.raises(LabError, match="it saved no result"):  # and does not take the last one's for its own
        run_lab("tiny", force=True, **where)


def test_a_run_is_left_to_whoever_holds_its_lock(where, monkeypatch):
    run, found, waits = plan("tiny", **where), [], threading.Event()
    monkeypatch.setattr(runner.warnings, "warn", lambda message, **_: waits.set() if "waiting" in message else None)
    thread = threading.Thread(target=lambda: found.append(run_lab("tiny", **where, **QUIETLY)))
    with lock_run(run.folder):
        assert is_locked(run.folder) and not is_locked(run.folder.with_name("another"))
        thread.start()
        assert waits.wait(60), "it did not wait"
        save_result({"lab": "tiny", "parameters": {}, "metrics": {"value": 7}}, folder=run.folder)
        (run.folder / "manifest.json").write_text('{"status": "completed"}')
    thread.join(timeout=60)
    assert found[0].skipped and found[0].result["metrics"] == {"value": 7}
    assert not (run.folder / "starts").exists() and not is_locked(run.folder)


def test_a_folder_is_of_one_content_and_its_run_whole_or_does_not_count(where):
    def folder(**options):
        return plan("tiny", **where, **options).folder

    run = plan("tiny", **where)
    manifest, result = run.folder / "manifest.json", run.folder / "result.json"
    assert run.folder == folder(parameters={"n": 3}) == folder(assignments=["lr=0.5"])
    others = folder(parameters={"n": 4}), folder(preset="fast"), folder(parameters={"kinds": ["b"]})
    assert len({run.folder, *others}) == 4
    broken = {manifest: ('{"status": "running"}', "[", None), result: (None, '{"lab": ', '{"lab": "tiny"}')}
    for path, text in ((path, text) for path, texts in broken.items() for text in texts):
        save_result({**GOOD, "parameters": {}}, folder=run.folder)
        manifest.write_text('{"status": "completed"}')
        assert run.finished().result["lab"] == "tiny"
        path.unlink() if text is None else path.write_text(text)
        assert run.finished() is None, (path, text)
    manifest.write_text('{"status": "completed"}')
    save_result({**GOOD, "evidence": {"code": "another"}}, folder=run.folder)
    assert run.finished() is None
    book = nbformat.read(where["labs"] / "tiny.ipynb", 4)
    book.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    book.cells.append(nbformat.v4.new_markdown_cell("In other words"))
    nbformat.write(book, where["labs"] / "tiny.ipynb")
    assert folder() == run.folder, "neither an output nor a text is code"
    book.cells[1].source += "\npass"
    nbformat.write(book, where["labs"] / "tiny.ipynb")
    assert folder() != run.folder


def test_bad_parameters_stop_before_anything_starts(where, refused):
    rows = (
        ({"lab": "tinyy"}, r"lab 'tinyy' is unknown \(did you mean 'tiny'\?\); there are: other, tiny"),
        ({"preset": "fats"}, r"preset of tiny 'fats' is unknown \(.*'fast'\?\); there are: fast"),
        ({"preset": "deep"}, "parameter 'depth' is unknown to lab 'tiny'"),
        ({"parameters": {"names": "y"}}, r"'names' is unknown .*did you mean 'name'\?\); it has:\n  n: int"),
        ({"parameters": {"n": 3.5}}, r"parameter 'n' must be int, got 3.5, float \(how many\)"),
        ({"parameters": {"n": True}}, "must be int, got True, bool"),
        ({"parameters": {"loud": 1}}, "must be bool, got 1, int"),
        ({"parameters": {"lr": "1e-3"}}, "must be float, got '1e-3', str .*1.0e-3 is a number"),
        ({"parameters": {"kinds": "a"}}, r"must be list\[str\], got 'a'"),
        ({"parameters": {"kinds": ["a", 1]}}, r"must be list\[str\], got \['a', 1\]"),
        ({"assignments": ["sed=1"]}, "'sed' is unknown .*did you mean 'seed'"),
        ({"assignments": ["n=three"]}, r"parameter 'n' must be int, got 'three' \(how many\)"),
        ({"assignments": ["loud=1"]}, "must be bool, got '1'"),
        ({"assignments": ["n"]}, "-p must be followed by key=value, got 'n'"),
    )
    errors = (ValueError, TypeError)
    refused((lambda g=g: run_lab(**{"lab": "tiny", **where, **g}), errors, message) for g, message in rows)
    none = r"found none in .*runs \(name one with --labs DIR\)"
    refused([(lambda: find_labs(where["runs"]), FileNotFoundError, none)])
    assert not where["runs"].exists()


def test_texts_are_read_as_the_parameters_type_which_a_lab_must_declare(where, tmp_path, write_lab, refused):
    texts = ["n=-2", "lr=1e-3", "name=1", "loud=True", "kinds=b, c"]
    found = plan("tiny", labs=where["labs"], assignments=texts).parameters
    expected = {"n": -2, "lr": 0.001, "name": "1", "loud": True, "kinds": ["b", "c"], "seed": 0, "how": "well"}
    assert expected.items() <= found.items() and type(found["lr"]) is float
    assert plan("tiny", labs=where["labs"], assignments=["name=a=b", "kinds="]).parameters["name"] == "a=b"
    cells = {
        "n = 3  # how many": "'n = 3' must be declared as `name: type = literal  # help`",
        "n: int = 3": "'n: int = 3' must be declared as",
        "n: complex = 3  # how many": "of type int, float, str, bool or list",
        "n: int = 2 + 1  # how many": r"'n: int = 2 \+ 1' must be declared as",
        "# nothing": "must have a cell tagged 'parameters' that declares some",
    }

    def read(cell):
        write_lab(tmp_path / "odd.ipynb", cell)
        read_parameters(tmp_path / "odd.ipynb")

    refused((lambda cell=cell: read(cell), ValueError, message) for cell, message in cells.items())


def test_a_result_is_plain_and_says_where_it_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda gpu=0: f"GPU {gpu}")
    for used, device, peak in (([0, 0], "CPU", None), ([0, 2**21], "GPU 1", 2.0)):
        monkeypatch.setattr("torch.cuda.max_memory_allocated", lambda gpu=0, used=used: used[gpu])
        machine = load_result(save_result(GOOD, folder=tmp_path))["machine"]
        assert (machine["device"], machine.get("peak_gpu_memory_mib")) == (device, peak)
    rows = ({"name": "x", "value": np.float32(0.5), "count": np.int64(3), "loud": True},)
    metrics = {"torch": torch.tensor(2.0), "nan": float("nan"), "inf": np.inf}
    monkeypatch.setenv("RANKEDU_RESULT_FOLDER", str(tmp_path / "made"))
    path = save_result({**GOOD, "metrics": metrics, "rows": rows, "notes": "ü"})
    found = load_result(path)
    assert path == tmp_path / "made" / "result.json"
    assert found["metrics"] == {"torch": 2.0, "nan": None, "inf": None}
    assert found["rows"] == [{"name": "x", "value": 0.5, "count": 3, "loud": True}]
    assert found["machine"]["device"] and found["machine"]["threads"] >= 1
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER")
    monkeypatch.chdir(tmp_path)
    assert save_result(GOOD).resolve() == tmp_path / "result.json"


def test_a_result_that_is_none_is_refused(tmp_path, refused):
    rows = [
        ({"lab": ""}, r"result\.lab is wrong"),
        *(({"metrics": odd}, r"result\.metrics.* is wrong") for odd in ([1], {"a": "high"}, {"a": True})),
        *(({"rows": [odd]}, r"result\.rows\[0\].* is wrong") for odd in ({"a": {}}, 3)),
        ({"metric": {}}, "'metric' was unexpected"),
        ({"parameters": {"f": print}}, "result must hold numbers, .* got <built-in function print>"),
    ]
    wrong = [({**GOOD, **change}, message) for change, message in rows]
    wrong += [({name: GOOD[name] for name in GOOD if name != key}, f"'{key}' is a required property") for key in GOOD]
    errors = (ValueError, TypeError)
    refused((lambda result=result: save_result(result, folder=tmp_path), errors, message) for result, message in wrong)
    assert not list(tmp_path.iterdir())
