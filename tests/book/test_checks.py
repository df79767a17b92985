"""What the book adds to the doctor's report."""

from __future__ import annotations

import shutil

from typer.testing import CliRunner

from rankedu.cli import app


def test_the_doctor_looks_at_what_the_book_needs():
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    for subject in ("sphinx", "browser", "notebook kernel"):
        assert f" {subject} " in done.stdout


def test_doctor_without_a_browser(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "install Chromium" in CliRunner().invoke(app, ["doctor"]).stdout
