"""What `make bench` and the command for a GPU measure, keep and tell."""

import importlib
import json
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks import gpu, works
from benchmarks.rows import Row, rows
from ranklab.experiments.speed import contestants

ROOT = Path(__file__).resolve().parents[2]


def test_every_kept_row_is_measured_again_and_every_goal_is_of_something_that_is_found():
    declared = {row.name: row for row in rows()}
    kept = {row["work"]: row["found"] for row in json.loads(bench.RECORD.read_text(encoding="utf-8"))["rows"]}
    assert len(declared) == len(rows()) and set(kept) <= set(declared)
    for name, row in declared.items():
        assert name not in kept or all(bench.value(kept[name], what) is not None for what in row.goals), name


@pytest.mark.filterwarnings("ignore")
def test_a_row_can_be_measured(monkeypatch):
    def told_here(module, call, **_):
        return json.loads(json.dumps(eval(call, vars(importlib.import_module(module)))))

    for module in (contestants, works):
        monkeypatch.setattr(module, "told", told_here)
    for row in rows(64):
        if row.name[:5] not in ("train", "start"):
            found = bench.measure(row._replace(rounds=1, seconds=0.01))
            timed = any(name.startswith("ratio to") for name in found["found"])
            assert (found["seconds"] or 0) > 0 if timed else found["seconds"] is None, row.name
            assert all(number == number for number in found["found"].values()), row.name
            assert all(bench.value(found["found"], what) is not None for what in row.goals), row.name


@pytest.fixture
def trial(tmp_path, monkeypatch, capsys):
    """Run the benchmarks with rows that find what is said here; what is kept and what is told."""
    path = tmp_path / "speed.json"

    def run(*arguments, **found):
        def make(value):
            return lambda: ({}, lambda: {"ratio to theirs": value} if value else 1 / 0)

        declared = [Row(name, make(value), {"theirs": 1.0}) for name, value in found.items()]
        monkeypatch.setattr(bench, "rows", lambda: declared)
        failed = bench.main(["--record", str(path), *arguments])
        kept = json.loads(path.read_text())["rows"] if path.exists() else []
        return failed, {row["work"]: row["found"]["ratio to theirs"] for row in kept}, capsys.readouterr().out

    return run


def test_a_row_that_fails_does_not_lose_the_others_and_goals_are_met_missed_or_not_measured(trial):
    assert trial(a=0.5, b=0.6)[:2] == (False, {"a": 0.5, "b": 0.6})
    assert trial("b", a=0.7, b=0.65)[1] == {"a": 0.5, "b": 0.65}
    failed, kept, told = trial(a=0, b=0.5)
    assert failed and kept == {"a": 0.5, "b": 0.5} and "FAILED a" in told and "ZeroDivisionError" in told
    *_, told = trial("b", "c", a=0.1, b=0.9, c=1.2)
    verdicts = [line.split()[-1] for line in told.splitlines() if "theirs" in line and " of " in line]
    assert verdicts == ["measured", "pass", "MISS"]


@pytest.mark.filterwarnings("ignore")
def test_the_command_for_a_gpu_keeps_what_every_part_of_it_finds(tmp_path):
    path = tmp_path / "speed_gpu.json"
    assert gpu.main(["--quick", "--out", str(path)]) == 0
    found = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert {row["part"] for row in found} == set(gpu.PARTS)
    assert all(row["seconds"] > 0 for row in found if not row["note"]) and sum(not row["note"] for row in found) > 20
