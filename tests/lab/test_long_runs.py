"""The long runs of `lab/long_runs.py` go on where they stopped, and their rules are older than their rows."""

import functools
import subprocess

import long_runs
import pytest
from long_runs import FACTORS, FIRST, HERE, METHODS, Job, add_rows, all_jobs, read_rows, run, still_to_do


def git(*words):
    return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=False)


def test_a_table_that_is_not_finished_is_continued_and_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(long_runs, "MEASURED", (0, 2))
    table, jobs = tmp_path / "long.csv", [Job("start", 0, 0.0), Job("contrastive", 0, 1.0), Job("fast_ap", 0, 1 / 3)]
    made = functools.partial(run, folder=tmp_path, steps=2, start_steps=2)
    for job in jobs[:2]:
        add_rows(table, made(job))
    assert still_to_do(jobs, table) == jobs[2:]
    add_rows(table, made(jobs[2]))
    rows = read_rows(table)
    assert not still_to_do(jobs, table) and [row["step"] for row in rows] == ["0", "0", "2", "0", "2"]
    assert len({row["start"] for row in rows}) == 1 and rows[1]["test map@r"] == rows[3]["test map@r"]
    again, same = made(jobs[1])[-1], ("val recall@1", "val map@r", "test recall@1", "test map@r", "rate", "settings")
    assert [again[name] for name in same] == [rows[2][name] for name in same], "a run is not equal when it is repeated"


def row_of(row):
    return row["method"], row["split"], row["factor"]


def test_the_table_has_runs_of_the_rules_only_and_the_rules_are_older_than_each_of_its_rows():
    rows, jobs = read_rows(HERE / "records" / "long.csv"), all_jobs()
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false" or not rows:
        pytest.skip("needs the history and at least one row")
    assert len(set(jobs)) == len(jobs) == 16 * (2 + len(FACTORS) * len(METHODS)) + FIRST * len(METHODS)
    assert len(still_to_do(jobs, HERE / "records" / "long.csv")) == len(jobs) - len({row_of(row) for row in rows})
    [rules] = git("log", "--diff-filter=A", "--format=%H", "--", "records/long.md").stdout.split()
    for commit in {row["commit"] for row in rows}:
        assert not git("merge-base", "--is-ancestor", rules, commit).returncode, commit
