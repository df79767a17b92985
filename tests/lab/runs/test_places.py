"""Where a run of a notebook leaves its files, which parameters it refuses, and what the job for a GPU compares."""

import json
import re
import sys
from pathlib import Path

import gpu_job
import pytest
import yaml

from rankedu_book.kit.lab import begin
from rankedu_lab.runs import find_labs, list_labs, list_presets
from rankedu_lab.runs.results import choose_folder, papermill_output

BANDS = find_labs() / "presets" / "bands"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.delenv("RANKEDU_RESULT_FOLDER", raising=False)
    monkeypatch.chdir(tmp_path)


def papermill(monkeypatch, *words: str, folder: Path) -> None:
    """Let papermill with this command line be the process that has started this one."""

    class Process:
        def parent(self):
            return self

        def cmdline(self):
            return [sys.executable, *words]

        def cwd(self):
            return str(folder)

    monkeypatch.setattr("psutil.Process", Process)


def test_each_run_of_one_command_has_a_folder_of_its_own_and_an_interrupted_one_keeps_its_folder(tmp_path, monkeypatch):
    papermill(monkeypatch, "bin/papermill", "labs/retrieval.ipynb", "out/x-{seed}.ipynb", "-p", "seed", folder=tmp_path)
    first = choose_folder("retrieval", {"seed": 7})
    assert first == tmp_path / "out" / "x-7" and first.is_dir()
    assert choose_folder("retrieval", {"seed": 7}) == first, "it holds no result yet, so the run goes on there"
    (first / "result.json").write_text("{}", encoding="utf-8")
    assert choose_folder("retrieval", {"seed": 7}) == tmp_path / "out" / "x-7-2"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("-m", "papermill", "a.ipynb", "b/c.ipynb"), "b/c"),
        (("bin/papermill", "--cwd", "b", "a.ipynb", "c.ipynb"), "c"),
        (("bin/papermill", "a.ipynb", "s3://b/c.ipynb"), None),
        (("bin/rankedu", "run", "retrieval"), None),
    ],
)
def test_the_folder_is_beside_the_notebook_that_papermill_writes(tmp_path, monkeypatch, words, found):
    papermill(monkeypatch, *words, folder=tmp_path / "b" if "--cwd" in words else tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    assert papermill_output({}) == (found and tmp_path / found)


def test_without_papermill_it_is_in_the_current_folder_and_of_rankedu_run_it_is_this_folder(monkeypatch):
    papermill(monkeypatch, "-m", "ipykernel", folder=Path())
    assert choose_folder("sodeep", {}) == Path("sodeep")
    Path("manifest.json").write_text(json.dumps({"lab": "sodeep", "status": "running"}), encoding="utf-8")
    assert choose_folder("sodeep", {}) == Path() and choose_folder("speed", {}) == Path("speed")


def test_a_parameter_that_papermill_has_set_and_the_lab_does_not_have_is_refused(monkeypatch):
    papermill(monkeypatch, "-m", "ipykernel", folder=Path())
    cells = ["", "x = 3", "# Parameters\nsteps = 20\nstepz = 30\n", "later = 1"]
    with pytest.raises(ValueError, match=r"parameter 'stepz' is unknown to lab 'sodeep' \(did you mean 'steps'\?\)"):
        begin("sodeep", {"In": cells, "steps": 20, "stepz": 30, "later": 1})
    lab = begin("sodeep", {"In": ["# Parameters\nsteps = 20\n"], "steps": 20, "words": "of another cell"})
    assert lab.parameters["steps"] == 20 and "words" not in lab.parameters
    with pytest.raises(TypeError, match=r"must be int, got 2\.5"):
        begin("sodeep", {"steps": 2.5})
    with pytest.raises(ValueError, match="loss 'rambo' is unknown"):
        begin("retrieval", {"loss": "rambo"})


def test_a_band_is_of_a_preset_and_the_page_lists_every_preset_for_a_gpu():
    presets = {preset for lab in list_labs(find_labs()) for preset in list_presets(lab, find_labs())}
    for path in BANDS.glob("*.yaml"):
        assert path.stem in presets
        assert all(0 < low < high < 1 for low, high in yaml.safe_load(path.read_text(encoding="utf-8")).values())
    page = (find_labs().parents[1] / "book" / "on-a-gpu.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert rows == {name for name in presets if "gpu" in name} | {path.stem for path in BANDS.glob("*.yaml")}


def test_a_job_needs_its_device_and_its_band_is_around_what_was_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("papermill.execute_notebook", lambda *_, **__: pytest.fail("it was started"))
    for words, message in (
        (["retrieval", "--preset", "glyphs_gpu"], "got 'cuda' (torch finds no GPU on this machine)"),
        (["retrieval", "--preset", "glyphs_gpuu", "--device", "cpu"], "did you mean 'glyphs_gpu'"),
    ):
        monkeypatch.setattr(sys, "argv", ["gpu_job.py", *words, "--out", str(tmp_path)])
        assert gpu_job.main() == 2 and message in capsys.readouterr().err
    band = yaml.safe_load(gpu_job.proposed({"R@1": 0.5, "seconds": 3.0, "loss share": 0.1}))
    assert band == {"R@1": [0.45, 0.55]} and gpu_job.outside({"R@1": 0.5}, band) == []
    assert gpu_job.outside({"R@1": 0.6}, band) == ["R@1 is 0.6, and its band is 0.45 to 0.55"]


def test_a_result_is_not_written_over(tmp_path, monkeypatch, capsys):
    (kept := tmp_path / "retrieval-glyphs_quick" / "result.json").parent.mkdir()
    kept.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(
        sys, "argv", ["gpu_job.py", "retrieval", "--preset", "glyphs_quick", "--device", "cpu", "--out", str(tmp_path)]
    )
    assert gpu_job.main() == 2 and "name another folder with --out" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "{}"
