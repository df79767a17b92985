"""The command line, run as a reader runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import fresh
import numpy as np
import pytest
from typer.testing import CliRunner

import rankedu
from rankedu.cli import app, doctor

run = CliRunner().invoke


def test_doctor_reports_versions_and_leaves_with_0():
    done = run(app, ["doctor"])
    assert done.exit_code == 0
    for subject in ("Python", "torch", "numpy", "GPU", "fonts", "browser", "notebook kernel"):
        assert subject in done.stdout


def test_doctor_as_json():
    findings = json.loads(run(app, ["doctor", "--json"]).stdout)
    assert {"subject", "found", "ok", "fix", "essential"} == set(findings[0])


@pytest.mark.parametrize(("missing", "code"), [("torch", 1), ("nbval", 0)])
def test_doctor_names_what_is_missing_and_its_fix(missing, code, monkeypatch):
    installed = doctor.importlib.metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise doctor.importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    done = run(app, ["doctor"])
    assert done.exit_code == code, "only the core is essential"
    assert f"✗ {missing}" in done.stdout
    assert "pip install 'rankedu" in done.stdout


def test_doctor_without_a_browser(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    assert "install Chromium" in run(app, ["doctor"]).stdout


def test_version():
    assert run(app, ["--version"]).stdout.strip() == rankedu.__version__


def test_without_typer_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from rankedu.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'rankedu[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_with_typer_alone_help_doctor_and_evaluate_work(tmp_path):
    """The extra `cli`: torch, NumPy and Typer."""
    others = ["scipy", "matplotlib", "sympy", "tqdm", "PIL", "papermill", "dask", "filelock", "nbclient", "yaml"]
    others += ["jupyter_client", "torchvision", "platformdirs", "psutil", "pytorch_metric_learning"]
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(4, 3)))
    np.save(tmp_path / "y.npy", np.array([0, 0, 1, 1]))
    asked = {"evaluate": ["--help"], "torch": ["doctor"], "map@r": ["evaluate", "x.npy", "y.npy"]}
    code = f"""if True:
        import sys
        sys.modules.update(dict.fromkeys({others}))
        from rankedu.__main__ import main
        for arguments in {list(asked.values())}:
            sys.argv[1:] = arguments
            try:
                main()
            except SystemExit as end:
                assert not end.code, arguments
            print("and then")
    """
    done = fresh.run([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split("and then\n")
    assert all(said in part for said, part in zip(asked, parts, strict=False)) and len(parts) == len(asked) + 1


def test_help_and_the_package_import_without_torch():
    code = "import sys, rankedu, rankedu.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_core_imports_with_torch_and_numpy_alone():
    """Everything heavier is imported inside the functions that need it."""
    heavy = ["scipy", "matplotlib", "sympy", "ipywidgets", "typer", "tqdm", "PIL", "IPython", "sphinx", "docutils"]
    rooms = "ranks, blackbox, solvers, rankers, metrics, landscapes"
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({heavy}, None)); "
        f"from rankedu import {rooms}, proofs, reference; "
        "from rankbook import exercises"
    )
    done = fresh.run([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr


def test_run_says_what_was_wrong_and_what_exists(tmp_path):
    for arguments, message in [
        (["sodeap"], "did you mean 'sodeep'?"),
        (["sodeep", "--preset", "sodeep_quik"], "did you mean 'sodeep_quick'"),
        (["sodeep", "-p", "step=1"], "did you mean 'steps'?"),
        (["sodeep", "-p", "steps=x"], "'steps' must be int, got 'x'"),
        (["retrieval", "-p", "loss=smothap"], "loss 'smothap' is unknown (did you mean 'smooth_ap'"),
        (["detection", "-p", "dataset=voc7"], "dataset 'voc7' is unknown (did you mean 'voc07'"),
        (["sodeep", "--labs", str(tmp_path)], "--labs DIR"),
        (["sodeep", "--timeout", "0"], "timeout must be > 0"),
    ]:
        done = run(app, ["run", *arguments, "--runs", str(tmp_path / "runs")])
        assert done.exit_code == 2 and message in done.output, arguments
        assert "Traceback" not in done.output
    assert not (tmp_path / "runs").exists()


def test_run_lists_parameters_and_presets():
    done = run(app, ["run", "sodeep", "--list"])
    assert done.exit_code == 0
    assert "  steps: int = " in done.stdout and "sodeep_quick" in done.stdout.splitlines()[-1]


def test_run_passes_on_what_it_is_given_and_reports(tmp_path, monkeypatch):
    from ranklab import runs

    given = {}

    def run_lab(lab, **options):
        given.update(options, lab=lab)
        if options["timeout"] == 5:
            raise runs.LabError("lab 'x' failed: here it stands", tmp_path / "x.ipynb")
        if options["timeout"] == 6:
            raise KeyboardInterrupt
        result = {"metrics": {"R@1": 0.25, "fine": {"AP": None}}}
        return runs.Run("x", tmp_path / "x.ipynb", {}, tmp_path, skipped=not options["force"], result=result)

    monkeypatch.setattr(runs, "run_lab", run_lab)
    done = run(app, ["run", "x", "--preset", "y", "-p", "a=1", "-p", "b=2", "--runs", "z", "--force"])
    assert done.exit_code == 0 and done.stdout.splitlines() == ["Done.", "R@1      0.25", "fine/AP  —", str(tmp_path)]
    assert given["lab"] == "x" and given["preset"] == "y" and list(given["assignments"]) == ["a=1", "b=2"]
    assert str(given["runs"]) == "z" and given["force"] and given["timeout"] == 3600
    assert "Nothing to do" in run(app, ["run", "x"]).stdout
    done = run(app, ["run", "x", "--timeout", "5"])
    assert done.exit_code == 1 and "here it stands" in done.output and "Traceback" not in done.output
    done = run(app, ["run", "x", "--timeout", "6"])
    assert done.exit_code == 130 and "stopped; the same command goes on" in done.stderr
