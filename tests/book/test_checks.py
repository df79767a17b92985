"""What the book adds to the doctor's report."""

import shutil

from typer.testing import CliRunner

from rankedu.cli import app


def test_the_doctor_looks_at_what_the_book_needs(monkeypatch):
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    assert all(f" {subject} " in done.stdout for subject in ("sphinx", "browser", "notebook kernel"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "install Chromium" in CliRunner().invoke(app, ["doctor"]).stdout
