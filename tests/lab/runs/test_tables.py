"""Results: finished runs become rows of pandas, rows become tables; and the tables that are committed."""

import csv
import json
import re
import threading

import pandas as pd
import pytest
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu_lab import claims
from rankedu_lab.runs import save_result
from rankedu_lab.runs.records import collect_runs, keep_runs
from rankedu_lab.runs.tables import best, find_runs, metric_names, metrics_of, render, summarise, tabulate, text_of

ABOUT = {"preset": None, "machine": {"device": "CPU"}, "versions": {}, "git": None, "seconds": 2.0}
NAN = float("nan")


def make_run(runs, name, metrics, seed=0, lab="retrieval", **parameters):
    """What the runner leaves of a completed run."""
    told = {"loss": "smooth_ap", "margin": 0.05, "kinds": ["a", "b"], "data_root": "/me/data", "weights": "/me/w.pt"}
    told |= {"seed": seed, **parameters}
    manifest = {"lab": lab, "preset": "glyphs", "parameters": told, "versions": {"torch": "2.13.0"}, "git": None}
    manifest |= {"started": "2026", "status": "completed", "seconds": 40.0 + seed, "attempts": 1}
    manifest |= {"device": "CPU", "threads": 1, "peak_memory_mib": 300.0}
    save_result({"lab": lab, "parameters": told, "metrics": metrics}, folder=runs / lab / name)
    (runs / lab / name / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return runs / lab / name


def record(metrics, seed=0, started="2026", lab="lab", run="", code=None, **parameters):
    found = {"lab": lab, "run": run or f"{parameters} {seed} {started}", "parameters": {**parameters, "seed": seed}}
    return {**found, "metrics": metrics, **ABOUT, "started": started, "evidence": {"code": code} if code else {}}


def frame(*records):
    return pd.DataFrame(records, dtype=object)


def names(runs):
    return [*runs["run"]]


def results(*arguments):
    return CliRunner().invoke(app, ["results", *map(str, arguments)])


@pytest.fixture
def runs(tmp_path):
    """Two losses with three seeds each, as the runner leaves them."""
    for place, loss in enumerate(["rambo_log", "smooth_ap"]):
        for seed in range(3):
            metrics = {"R@1": 0.3 + 0.1 * place + 0.01 * seed, "AP, mean": 0.2, "seconds": 30 - place}
            make_run(tmp_path / "runs", f"{place}{seed}", metrics, seed, loss=loss)
    return tmp_path / "runs"


def test_a_run_becomes_a_row_without_the_folders_of_the_machine_and_a_line_of_a_table(tmp_path):
    make_run(tmp_path, "a1", {"R@1": 0.5, "AP": NAN, "fine": {"AP": 0.25}})
    (runs, skipped), table = collect_runs(tmp_path), tmp_path / "new" / "kept.jsonl"
    [found] = runs.itertuples()
    assert skipped == [] and (found.lab, found.run, found.preset, found.seconds) == ("retrieval", "a1", "glyphs", 40.0)
    expected = {"loss": "smooth_ap", "margin": 0.05, "kinds": ["a", "b"], "weights": "w.pt", "seed": 0}
    assert found.parameters == expected and found.metrics == {"R@1": 0.5, "AP": None, "fine/AP": 0.25}
    assert found.machine == {"device": "CPU", "threads": 1, "peak_memory_mib": 300.0}
    assert (keep_runs(runs, table), keep_runs(runs, table)) == (1, 0), "there is nothing to do"
    text = table.read_text(encoding="utf-8")
    assert json.loads(text)["run"] == "a1" and "/me" not in text and str(tmp_path) not in text
    for places in ([table], [table, tmp_path]):
        assert collect_runs(*places)[0].to_dict() == runs.to_dict()
    with pytest.raises(FileNotFoundError, match="there is none at"):
        collect_runs(tmp_path / "nowhere")


def test_what_is_damaged_or_unfinished_is_named_and_skipped(runs):
    for name, text, reason in (
        ("manifest", '{"status": ', "line 1 column 12"),
        ("manifest", "{}", "'status'"),
        ("manifest", '{"status": "failed", "error": "E"}', "failed: E"),
        ("manifest", None, "No such file.*manifest.json"),
        ("result", '{"lab": 3}', "result is wrong: 'parameters' is a required"),
    ):
        path = make_run(runs, "bad", {"R@1": 1.0}) / f"{name}.json"
        path.unlink() if text is None else path.write_text(text)
        found, [skipped] = collect_runs(runs)
        assert len(found) == 6 and re.search(rf"/bad: .*{reason}", skipped), skipped
    done = results("--runs", runs, "--where", "loss=rambo_log")
    assert done.exit_code == 0 and f"skipped {skipped}" in done.output and "0.310 ± 0.010" in done.output


def test_a_table_holds_a_line_a_run_in_order_and_a_damaged_line_is_named_and_stays(tmp_path, refused):
    odd = "a\u2028b\x85c λ\n"  # ends no line of a table
    kept = [record({"AP": place / 3, "lost": None}, run=run, loss=odd) for place, run in enumerate("bca")]
    table = tmp_path / "kept.jsonl"
    assert keep_runs(frame(*kept[:2]), table) == 2 and keep_runs(frame(*kept), table) == 1
    changed = {**kept[0], "evidence": {"code": "1"}}
    assert keep_runs(frame(*kept[1:], changed), table) == 1
    lines = table.read_bytes().splitlines()
    assert [json.loads(line) for line in lines if b"evidence" in line] == [changed]
    assert collect_runs(table)[0].to_dict("records") == [kept[2], changed, kept[1]]
    for line in (b'{"lab": "x", ', b"[1]", b'{"lab": "x"}', b""):
        before = b"\n".join([lines[0], line, lines[1], b""])
        table.write_bytes(before)
        calls = (lambda: collect_runs(table), lambda: keep_runs(frame(kept[1]), table))
        refused([(call, ValueError, r"kept\.jsonl, line 2 is no record") for call in calls])
        assert table.read_bytes() == before
    refused(
        [(lambda: keep_runs(frame(*kept), tmp_path / "old"), ValueError, "table must be a file that ends in .json")]
    )


def test_two_that_keep_at_a_time_lose_nothing(tmp_path):
    def keep(name):
        for number in range(20):
            keep_runs(frame(record({"AP": 0.5}, run=f"{name}{number:02}")), tmp_path / "kept.jsonl")

    threads = [threading.Thread(target=keep, args=name) for name in "ab"]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    assert names(collect_runs(tmp_path / "kept.jsonl")[0]) == [f"{name}{at:02}" for name in "ab" for at in range(20)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".locks", "kept.jsonl"]


def test_tables_and_runs_become_a_table_a_lab(runs, tmp_path):
    old, table = tmp_path / "old.jsonl", tmp_path / "kept.jsonl"
    keep_runs(frame(record({"AP": 0.5})), old)
    done = results("--runs", old, "--runs", runs, "--keep", table)
    assert done.exit_code == 0 and "7 of 7 records written" in done.output and done.output.count("### ") == 2
    options = ["--by", "loss", "--where", "margin=0.05", "--metrics", "R@1", "--lab", "retrieval"]
    of_runs, of_table = (results("--runs", place, *options) for place in (runs, table))
    assert of_runs.stdout == of_table.stdout
    assert re.search(r"\| smooth_ap +\| +3 \| +\*\*0.410 ± 0.010\*\* \|", of_runs.stdout)
    _, [note] = tabulate(frame(record({}, code="1"), record({}, seed=1, code="2")))
    assert note == "nothing of lab, but its runs were made by 2 versions of the code"


def test_mean_and_deviation_are_of_the_seeds_that_have_a_number_and_settings_are_never_averaged(runs, refused):
    found = collect_runs(runs)[0]
    [(first, of_first), (second, _)] = summarise(found)
    assert (first, second) == ({"loss": "rambo_log"}, {"loss": "smooth_ap"})
    values = metrics_of(of_first)["R@1"]
    assert [*values] == pytest.approx([0.3, 0.31, 0.32]) and text_of(values, 100, 1) == "31.0 ± 1.0"
    mixed = frame(*(record({"AP": 0.5}, loss="x", margin=margin) for margin in (0.0, 0.1)))
    assert [setting for setting, _ in summarise(mixed)] == [{"margin": 0.0}, {"margin": 0.1}]
    older = frame(record({"AP": 0.5}, run="a"), record({"AP": 0.5}, run="b", steps=1000000))
    assert [setting for setting, _ in summarise(older)] == [{"steps": None}, {"steps": 1000000}]
    refused([(lambda: summarise(mixed, ["loss"]), ValueError, r"differ in 'margin' \(0, 0.1\) .*--by loss,margin")])
    [(_, latest)] = summarise(frame(*(record({"AP": 0.9}, started=date) for date in ("2026-03", "2026-02"))))
    assert [*latest["started"]] == ["2026-03"]
    assert metric_names(found, "AP, mean,R@1") == ["AP, mean", "R@1"], "a name of a metric may have a comma"
    assert metric_names(found) == ["R@1", "AP, mean", "seconds"]


def test_runs_are_chosen_by_parameters_which_may_be_texts(runs, refused):
    for name, value, count in (
        ("seed", "1.0", 2),
        ("margin", "0.050", 6),
        ("kinds", "a,b", 6),
        ("loss", "SMOOTH_AP", 3),
    ):
        assert len(find_runs([runs], where={name: value})[0]) == count, (name, value)
    refused(
        [
            (lambda: find_runs([runs], where={"seed": "x"}), ValueError, "no run has seed=x; there are: 0, 1, 2"),
            (lambda: find_runs([runs], where={"other": 1}), ValueError, "parameter 'other' is unknown"),
            (lambda: find_runs([runs], "retrievel"), ValueError, "lab 'retrievel' is unknown .*did you mean"),
            (lambda: find_runs([runs / "retrieval"]), ValueError, "runs must hold a finished run, found none in"),
        ]
    )


def test_the_best_stands_first_and_is_bold_with_those_that_are_not_worse(runs):
    for means, sd, less, expected in (
        ([0.5, 0.4, 0.3], 0.01, False, {0}),
        ([0.5, 0.4, 0.3], 0.01, True, {2}),
        ([0.5, 0.45, 0.3], 0.06, False, {0, 1}),
        ([0.5, 0.5, 0.3], 0.0, False, {0, 1}),
        ([0.5], 0.1, False, set()),
        ([], 0.1, False, set()),
    ):
        cells = [[mean - sd, mean, mean + sd] for mean in means]
        assert best([*cells, [None], []], less=less) == expected, (means, sd, less)
    lines = render(summarise(collect_runs(runs)[0]), ["R@1", "seconds"]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["loss", "runs", "R@1", "seconds", "s a run", "device"] and len(lines) == 4
    assert cells[2][:4] == ["smooth_ap", "3", "**0.410 ± 0.010**", "**29.000 ± 0.000**"], "of seconds, less is better"
    assert cells[3] == ["rambo_log", "3", "0.310 ± 0.010", "30.000 ± 0.000", "41 ± 1", "CPU"]


RECORDS = claims.RECORDS
TABLES = sorted(RECORDS.glob("*.jsonl"))
PAGE = (RECORDS / "README.md").read_text(encoding="utf-8")


def test_a_table_is_as_it_would_be_written_and_the_page_names_its_fields(tmp_path):
    for table in TABLES:
        runs, skipped = collect_runs(table)
        assert len(runs) and skipped == [] and f"| `{table.name}` | {len(runs)} " in PAGE
        keep_runs(runs[::-1], tmp_path / table.name)
        assert (tmp_path / table.name).read_bytes() == table.read_bytes(), table.name
    lines = [json.loads(line) for table in TABLES for line in table.read_text(encoding="utf-8").split("\n")[:-1]]
    for part in (lines, [line.get("evidence", {}) for line in lines], [line["machine"] for line in lines]):
        fields = {name for entry in part for name in entry}
        assert fields and {name for name in fields if f"`{name}`" not in PAGE} == set()
    for table in RECORDS.glob("claims_*.csv"):
        with table.open(encoding="utf-8", newline="") as rows:
            columns = next(csv.reader(rows))
        assert f"`{table.name}`" in PAGE and {name for name in columns if not described(name)} == set(), table.name


def described(column):
    """Whether the data dictionary has a column, or its ending for all metrics: "… of twins"."""
    endings = ("on val", "of twins", "of others", "of frequent classes", "of rare classes")
    ended = any(column.endswith(f" {ending}") and f"`… {ending}`" in PAGE for ending in endings)
    batches = re.sub(r"\d+$", "32", column)
    return ended or any(f"`{name}`" in PAGE for name in (column, batches))
