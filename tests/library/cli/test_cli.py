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

run = CliRunner().invoke


def python(code, **options):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options)


def test_doctor_names_what_is_missing_and_its_fix(monkeypatch):
    assert run(app, ["--version"]).stdout.strip() == rankedu.__version__
    done = run(app, ["doctor"])
    assert done.exit_code == 0 and all(subject in done.stdout for subject in ("Python", "torch", "numpy", "GPU"))
    installed = metadata.version
    for missing, code in (("torch", 1), ("nbval", 0)):

        def version(name, missing=missing):
            if name == missing:
                raise metadata.PackageNotFoundError(name)
            return installed(name)

        monkeypatch.setattr(metadata, "version", version)
        done = run(app, ["doctor"])
        assert done.exit_code == code, "only the core is essential"
        assert f"✗ {missing}" in done.stdout and "pip install 'rankedu" in done.stdout


def test_without_typer_the_command_says_what_to_install():
    done = python("import sys; sys.modules['typer'] = None; from rankedu.__main__ import main; main()")
    assert done.returncode == 1 and "pip install 'rankedu[cli]'" in done.stderr and "Traceback" not in done.stderr


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


COMMANDS = [name for names in PACKAGES.values() for name in names]
ASKED = ["--help", "doctor --json", "evaluate x.npy y.npy", "run sodeep -p steps=1 --force", "data --help", "nun"]
OTHERS = ["scipy", "matplotlib", "sympy", "tqdm", "PIL", "papermill", "dask", "filelock", "nbclient", "yaml"]
OTHERS += ["jupyter_client", "torchvision", "platformdirs", "psutil", "pytorch_metric_learning"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What commands say in a plain install: there is the library, and beside it torch, NumPy and Typer."""
    folder = tmp_path_factory.mktemp("plain")
    shutil.copytree(Path(rankedu.__file__).parent, folder / "rankedu", ignore=shutil.ignore_patterns("__pycache__"))
    np.save(folder / "x.npy", np.eye(4, 3))
    np.save(folder / "y.npy", np.array([0, 0, 1, 1]))
    code = f"""if True:
        import json, sys
        sys.modules.update(dict.fromkeys({OTHERS}))
        from rankedu.cli import app
        from typer.testing import CliRunner
        done = [CliRunner().invoke(app, command.split()) for command in {ASKED}]
        print(json.dumps([[d.exit_code, d.stdout, d.stderr] for d in done]))
    """
    libraries = os.pathsep.join(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))
    environment = os.environ | {"PYTHONPATH": libraries}
    command = [sys.executable, "-S", "-c", code]  # -S: no file there puts the checkout on the path
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(ASKED, json.loads(done.stdout), strict=True))


def test_help_in_a_plain_install_has_two_commands_and_names_the_others_which_a_checkout_has(plain):
    listed, _, more = plain["--help"][1].partition("Commands:")[2].partition("A checkout of the repository has more")
    assert re.findall(r"^  (\S+)  ", listed, re.MULTILINE) == ["doctor", "evaluate"]
    assert re.findall(r"[\w-]+", more)[1:] == COMMANDS
    assert {*typer.main.get_command(app).commands} == {"doctor", "evaluate", *COMMANDS}


def test_commands_in_a_plain_install(plain):
    """Those of a checkout say so; doctor asks for no more than the library needs."""
    where = "in a checkout of the repository (install it there: pip install -e '.[lab]')"
    for command in ("run sodeep -p steps=1 --force", "data --help"):
        assert plain[command] == [2, "", f"rankedu {command.split()[0]}: this command works {where}\n"]
    assert "No such command 'nun'" in plain["nun"][2]
    findings = json.loads(plain["doctor --json"][1])
    assert {"subject", "found", "ok", "fix", "essential"} == set(findings[0])
    assert {finding["subject"] for finding in findings} == {"Python", "torch", "numpy", "processor", "GPU"}
    code, said, _ = plain["evaluate x.npy y.npy"]
    assert code == 0 and "map@r" in said
