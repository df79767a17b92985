"""What installs the environment says what is wrong before it begins, and in one sentence when nobody answers."""

from __future__ import annotations

import ast
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
    ast.parse(Path(install.__file__).read_text(encoding="utf-8"), feature_version=(3, 6))  # an old Python can read it
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


def test_without_a_network_one_sentence_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(install, "python_of", lambda folder: sys.executable)
    monkeypatch.setattr(install.subprocess, "check_output", lambda *_, **__: "pip 26.0 from here")
    monkeypatch.setattr(install.subprocess, "call", lambda *_, **__: 1)
    assert install.install(str(tmp_path), "lab") == 1
    assert "The first time needs the network" in capsys.readouterr().err


def test_the_doctor_looks_at_what_the_book_needs(monkeypatch):
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert all(f" {subject} " in done.stdout for subject in ("sphinx", "browser", "notebook kernel"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "install Chromium" in CliRunner().invoke(app, ["doctor"]).stdout
