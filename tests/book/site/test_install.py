"""What installs the environment says what is wrong before it begins, and in one sentence when nobody answers."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest
from tools import install
from typer.testing import CliRunner

from rankedu.cli import app

Usage = namedtuple("Usage", "total used free")


def test_an_obstacle_is_named_with_its_remedy_and_an_environment_that_is_there_has_none(tmp_path):
    for name, value, told in (
        ("sys.version_info", (3, 9, 18), "Python >= 3.10 is needed"),
        ("find_spec", lambda name: None, "apt-get install python3-venv"),
        ("shutil.disk_usage", lambda _: Usage(1, 1, 1_200_000_000), "3 GB are needed, 1.2 are free"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"tools.install.{name}", value)
            [found] = install.obstacles(str(tmp_path / ".venv"))
            assert told in found
            with pytest.raises(SystemExit, match=told):
                install.install(str(tmp_path / ".venv"), "lab")
            assert not (tmp_path / ".venv").exists()
            assert name != "shutil.disk_usage" or install.obstacles(sys.prefix) == []


def test_without_a_network_one_sentence_says_so(monkeypatch, tmp_path, capfd):
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
    for name, value in {**nowhere, "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(install, "python_of", lambda folder: sys.executable)
    monkeypatch.setattr(install, "ROOT", str(tmp_path))
    (tmp_path / "constraints.txt").write_text("", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[build-system]\nrequires = ['hatchling>=99']", encoding="utf-8")
    assert install.install(str(tmp_path), "lab") != 0
    assert "The first time needs the network" in capfd.readouterr().err


def test_a_python_that_is_too_old_can_read_it():
    """What is a syntax error there could not say that it is too old."""
    ast.parse(Path(install.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))


def test_the_doctor_looks_at_what_the_book_needs(monkeypatch):
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert all(f" {subject} " in done.stdout for subject in ("sphinx", "browser", "notebook kernel"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "install Chromium" in CliRunner().invoke(app, ["doctor"]).stdout
