"""The command that runs a lab, as a reader runs it."""

from __future__ import annotations

from typer.testing import CliRunner

from rankedu.cli import app

run = CliRunner().invoke


def test_run_says_what_was_wrong_and_what_exists(tmp_path):
    for arguments, message in [
        (["sodeap"], "did you mean 'sodeep'?"),
        (["sodeep", "--preset", "sodeep_quik"], "did you mean 'sodeep_quick'"),
        (["sodeep", "-p", "step=1"], "did you mean 'steps'?"),
        (["sodeep", "-p", "steps=x"], "'steps' must be int, got 'x'"),
        (["sodeep", "-p", "architectures", "[gru, conv]"], "key=value in one word, got 'architectures [gru, conv]'"),
        (
            ["minibatch_statistics", "-p", "batch_sizes=[8, x]"],
            "'batch_sizes' must be list[int], entries separated by com",
        ),
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
