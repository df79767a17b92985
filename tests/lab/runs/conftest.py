"""Labs of a few lines; and a lab's cells run without a kernel, which takes seconds to start."""

from __future__ import annotations

import json
import sys

import nbformat
import pytest

from ranklab.datasets import held_out
from ranklab.experiments import _experiment
from ranklab.runs import find_labs, load_result, plan


@pytest.fixture
def write_lab():
    """A function that writes a notebook: the cell of parameters, then others."""

    def write(path, *cells):
        code = [nbformat.v4.new_code_cell(source) for source in cells]
        code[0].metadata["tags"] = ["parameters"]
        book = nbformat.v4.new_notebook(cells=code)
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(book, path)

    return write


@pytest.fixture(scope="module")
def opened_once():
    """Each split is opened once for all runs of a module; the held-out one only while its door is open."""
    opened, kept = _experiment.open_data, {}

    def once(parameters):
        named = ("dataset", "data_root", "train_split", "test_split", "salt", "letters")
        key = tuple(parameters.get(name) for name in named)
        if key not in kept:
            kept[key] = opened(parameters)
        elif "held_out" in key:
            held_out.check_open("held_out")
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_experiment, "open_data", once)
        yield


@pytest.fixture
def manifest():
    """A function that reads the manifest of a run's folder."""
    return lambda folder: json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture
def execute(tmp_path, monkeypatch, capsys):
    """A function that runs a lab in an empty folder, the current one, and returns what it saved."""
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER", raising=False)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "ps1", "In: ", raising=False)  # IPython sets it for good; here it goes with the test
    monkeypatch.chdir(tmp_path)

    def run(lab, preset, parameters):
        names = {}
        given = plan(lab, preset=preset, parameters=parameters, runs=tmp_path).parameters
        for cell in nbformat.read(find_labs() / f"{lab}.ipynb", 4).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{lab}.ipynb", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= given
        result = load_result(tmp_path / "result.json")
        assert result["parameters"] == given
        return result

    return run
