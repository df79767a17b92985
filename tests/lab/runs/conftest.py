"""Labs of a few lines; a lab's cells run without a kernel, which takes seconds to start; and errors, a row each."""

import json
import re
import signal
import sys

import nbformat
import pytest

from rankedu_lab.datasets import UnicodeGlyphs
from rankedu_lab.experiments import _experiment
from rankedu_lab.experiments.retrieval_data import Data
from rankedu_lab.runs import find_labs, load_result, plan

PARAMETERS = """\
n: int = 3  # how many
lr: float = 0.5  # how fast
name: str = "x"  # what it is called
loud: bool = False  # whether
kinds: list[str] = ["a", "b"]  # which
loss: str = "none"  # the method
settings: str = ""  # more
test_split: str = "val"  # what it is tested on
gate: str = ""  # file to wait for, if n is 2
device: str = "cpu"  # where
how: str = "well"  # how it ends, time by time
seed: int = 0  # of the draw"""
BODY = """\
import os, time
from pathlib import Path
with open("starts", "a") as file: _ = file.write("|")
print("begun", n, lr, kinds)
end = how.split()[len(Path("starts").read_text()) % len(how.split()) - 1]
if end == "raising": raise ZeroDivisionError("of its own making")
if end == "slow": time.sleep(60)
if end == "dying": os._exit(1)
while n == 2 and gate and not Path(gate).exists(): time.sleep(0.05)"""
END = """\
from rankedu_lab.runs import save_result
_ = save_result({"lab": "tiny", "parameters": {"n": n}, "metrics": {"value": n * lr + seed}})"""


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


@pytest.fixture
def where(tmp_path, write_lab, monkeypatch):
    """Two labs, "tiny" with the preset "fast" and "other" with "deep", and a folder for their runs."""
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER", raising=False)
    labs = tmp_path / "labs"
    write_lab(labs / "tiny.ipynb", PARAMETERS, BODY, END)
    write_lab(labs / "other.ipynb", "depth: int = 1  # of the net", "pass")
    (labs / "presets").mkdir()
    (labs / "presets" / "fast.yaml").write_text("lr: 2\nkinds: [a]\n")
    (labs / "presets" / "deep.yaml").write_text("depth: 9\n")
    return {"labs": labs, "runs": tmp_path / "runs"}


@pytest.fixture
def few(monkeypatch):
    """A few characters on both sides, which the retrieval labs open instead of all."""
    train, test = (UnicodeGlyphs("all", characters=characters) for characters in ("ABCDEFGHeéèзӞ", "KLMNOPQRoóò"))
    data = Data(train, test, None, "some glyphs", ("script", "base letter", "character"))
    opened = _experiment.open_data
    monkeypatch.setattr(_experiment, "open_data", lambda given: data if given["dataset"] == "glyphs" else opened(given))
    return data


@pytest.fixture
def interruptible():
    """Ctrl-C is heard, also where a shell has started the tests in the background, which makes it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
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
                source = re.sub(r"\A%%predict.*\n", "", cell.source)  # a magic needs a kernel
                exec(compile(source, f"{lab}.ipynb", "exec"), names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= given
        result = load_result(tmp_path / lab / "result.json")
        assert result["parameters"] == given
        return result

    return run
