"""The commands of the labs, as a reader gives them: what is passed on, what is told, and what was wrong."""

import pytest
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu_lab import runs


@pytest.fixture
def given(where, monkeypatch):
    """A function that gives a command, for the runs of `where`, and of its labs if it is theirs."""
    monkeypatch.chdir(where["runs"].parent)
    labs = ["--labs", str(where["labs"])]

    def give(*arguments):
        more = labs if "tiny" in arguments else []
        return CliRunner().invoke(app, [*arguments, *more, "--runs", str(where["runs"])])

    return give


def test_run_lists_parameters_passes_on_what_it_is_given_and_reports(given, tmp_path, monkeypatch):
    listed, passed = given("run", "tiny", "--list").stdout, {}
    assert "  n: int = 3  # how many\n" in listed and listed.splitlines()[-1] == "Presets: fast"

    def run_lab(lab, **options):
        passed.update(options, lab=lab)
        if options["timeout"] == 5:
            raise runs.LabError("lab 'x' failed: here it stands")
        if options["timeout"] == 6:
            raise KeyboardInterrupt
        result = {"metrics": {"R@1": 0.25, "fine": {"AP": None}}}
        return runs.Run("x", tmp_path / "x.ipynb", {}, tmp_path, skipped=not options["force"], result=result)

    monkeypatch.setattr(runs, "run_lab", run_lab)
    done = given("run", "x", "--preset", "y", "-p", "a=1", "-p", "b=2", "--force")
    assert done.exit_code == 0 and done.stdout.splitlines() == ["Done.", "R@1      0.25", "fine/AP  —", str(tmp_path)]
    expected = {"lab": "x", "preset": "y", "runs": tmp_path / "runs", "force": True, "timeout": 3600, "labs": None}
    assert passed == expected | {"assignments": ["a=1", "b=2"]}
    assert "Nothing to do" in given("run", "x").stdout
    failed, stopped = (given("run", "x", "--timeout", seconds) for seconds in "56")
    assert failed.exit_code == 1 and "here it stands" in failed.output and "Traceback" not in failed.output
    assert stopped.exit_code == 130 and "stopped; the same command goes on" in stopped.stderr
