"""The command line, run as a reader runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import rankedu
from rankedu.cli import PACKAGES, app

COMMANDS = [name for names in PACKAGES.values() for name in names]
run = CliRunner().invoke


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)


def test_doctor_and_version():
    done = run(app, ["doctor"])
    assert done.exit_code == 0
    assert all(subject in done.stdout for subject in ("Python", "torch", "numpy", "GPU"))
    findings = json.loads(run(app, ["doctor", "--json"]).stdout)
    assert {"subject", "found", "ok", "fix", "essential"} == set(findings[0])
    assert run(app, ["--version"]).stdout.strip() == rankedu.__version__


@pytest.mark.parametrize(("missing", "code"), [("torch", 1), ("nbval", 0)])
def test_doctor_names_what_is_missing_and_its_fix(missing, code, monkeypatch):
    installed = metadata.version

    def version(name: str) -> str:
        if name == missing:
            raise metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(metadata, "version", version)
    done = run(app, ["doctor"])
    assert done.exit_code == code, "only the core is essential"
    assert f"✗ {missing}" in done.stdout
    assert "pip install 'rankedu" in done.stdout


def test_without_typer_the_command_says_what_to_install():
    done = python("import sys; sys.modules['typer'] = None; from rankedu.__main__ import main; main()")
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
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for said, part in zip(asked, done.stdout.split("and then\n")[:-1], strict=True):
        assert said in part


def test_what_is_heavy_is_imported_where_it_is_needed():
    """Help and the package without torch; the core with torch and NumPy alone."""
    heavy = ["scipy", "matplotlib", "sympy", "ipywidgets", "tqdm", "PIL", "IPython", "sphinx", "docutils"]
    code = f"""if True:
        import sys
        sys.modules.update(dict.fromkeys({heavy}))
        import rankedu, rankedu.cli
        assert "torch" not in sys.modules
        sys.modules["typer"] = None
        from rankedu import ranks, blackbox, solvers, rankers, metrics, landscapes, proofs, reference
        import rankbook.kit.check, torch
        rankedu.losses.SmoothAPLoss()(torch.rand(4), torch.tensor([True, False, False, True]))
        assert "torch._dynamo" not in sys.modules, "the compiler"
    """
    done = python(code)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Run the command as a plain install does: of the repository the library alone is there."""
    folder = tmp_path_factory.mktemp("plain")
    shutil.copytree(Path(rankedu.__file__).parent, folder / "rankedu", ignore=shutil.ignore_patterns("__pycache__"))
    libraries = os.pathsep.join(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))

    def installed(*arguments: str):
        """With -S no file there can put the checkout on the path, as an editable install does."""
        command = [sys.executable, "-S", "-m", "rankedu", *arguments]
        environment = os.environ | {"PYTHONPATH": libraries}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    return installed


def test_help_in_a_plain_install_has_two_commands_and_names_the_others_which_a_checkout_has(installed):
    done = installed("--help")
    listed, _, more = done.stdout.partition("Commands:")[2].partition("A checkout of the repository has more commands:")
    assert re.findall(r"^  (\S+)  ", listed, re.MULTILINE) == ["doctor", "evaluate"]
    assert re.findall(r"[\w-]+", more) == COMMANDS
    assert {*typer.main.get_command(app).commands} == {"doctor", "evaluate", *COMMANDS}


def test_a_command_of_a_checkout_says_so_in_a_plain_install(installed):
    for name, *arguments in (["new-chapter"], ["run", "sodeep", "-p", "steps=1", "--force"], ["data", "--help"]):
        done = installed(name, *arguments)
        assert done.returncode == 2 and done.stdout == "", done.stderr
        where = "in a checkout of the repository (install it there: pip install -e '.[lab]')"
        assert done.stderr == f"rankedu {name}: this command works {where}\n"
    assert "No such command 'nun'" in installed("nun").stderr


def test_doctor_and_evaluate_work_in_a_plain_install(installed, tmp_path):
    found = {finding["subject"] for finding in json.loads(installed("doctor", "--json").stdout)}
    assert found == {"Python", "torch", "numpy", "processor", "GPU"}  # no more than the library needs
    np.save(tmp_path / "x.npy", np.eye(4, 3))
    np.save(tmp_path / "y.npy", np.array([0, 0, 1, 1]))
    done = installed("evaluate", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"))
    assert done.returncode == 0 and "map@r" in done.stdout, done.stderr
