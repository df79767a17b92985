"""Results: finished runs become small records, records become tables; and the tables that are committed."""

import csv
import json
import math
import re
import threading
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from rankedu.cli import app
from rankedu_lab import claims
from rankedu_lab.runs import Record, Value, collect_runs, keep_runs, save_result, summarise
from rankedu_lab.runs.records import chosen, flatten
from rankedu_lab.runs.tables import best, metric_names, render

ABOUT = {"preset": None, "machine": {"device": "CPU"}, "versions": {}, "git": None, "seconds": 2.0}


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


def record(metrics, seed=0, started="2026", lab="lab", **parameters):
    parameters, run = {**parameters, "seed": seed}, f"{parameters} {seed} {started}"
    return Record(lab, run, parameters=parameters, metrics=metrics, **ABOUT, started=started)


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


def test_a_run_becomes_a_record_without_the_folders_of_the_machine(tmp_path):
    make_run(tmp_path, "a1", {"R@1": 0.5, "AP": float("nan"), "fine": {"AP": 0.25}})
    ([found], skipped), table = collect_runs(tmp_path), tmp_path / "kept.jsonl"
    assert skipped == [] and (found.lab, found.run, found.preset, found.seconds) == ("retrieval", "a1", "glyphs", 40.0)
    expected = {"loss": "smooth_ap", "margin": 0.05, "kinds": ["a", "b"], "weights": "w.pt", "seed": 0}
    assert found.parameters == expected
    assert found.metrics == {"R@1": 0.5, "AP": None, "fine/AP": 0.25} == flatten(found.metrics)
    assert found.machine == {"device": "CPU", "threads": 1, "peak_memory_mib": 300.0}
    assert keep_runs([found], table) == [found] and keep_runs([found], table) == [], "there is nothing to do"
    text = table.read_text(encoding="utf-8")
    assert json.loads(text)["run"] == "a1" and "/me" not in text and str(tmp_path) not in text
    assert collect_runs(table) == ([found], []) == collect_runs(table, tmp_path)


def test_what_is_damaged_or_unfinished_is_named_and_skipped(runs):
    for name, text, reason in (
        ("manifest", '{"status": ', "line 1 column 12"),
        ("manifest", "{}", "'status'"),
        ("manifest", '{"status": "running"}', "running"),
        ("manifest", '{"status": "failed", "error": "E"}', "failed: E"),
        ("manifest", None, "No such file.*manifest.json"),
        ("result", None, "No such file.*result.json"),
        ("result", '{"lab": 3}', "result is wrong: 'parameters' is a required"),
    ):
        path = make_run(runs, "bad", {"R@1": 1.0}) / f"{name}.json"
        path.unlink() if text is None else path.write_text(text)
        records, [skipped] = collect_runs(runs)
        assert len(records) == 6 and re.search(rf"/bad: .*{reason}", skipped), skipped
    done = results("--runs", runs, "--where", "loss=rambo_log")
    assert done.exit_code == 0 and f"skipped {skipped}" in done.output and "0.310 ± 0.010" in done.output


def test_a_table_holds_a_line_a_run_in_order_and_gives_back_what_was_kept(tmp_path):
    odd = "a\u2028b\x85c λ\n"  # ends no line of a table
    kept = [record({"AP": place / 3, "lost": None}, lab=lab, loss=odd) for place, lab in enumerate("bca")]
    table = tmp_path / "new" / "kept.jsonl"
    assert keep_runs(kept[:2], table) == kept[:2] and keep_runs(kept, table) == kept[2:]
    assert collect_runs(table) == ([kept[2], kept[0], kept[1]], [])
    before = table.read_bytes().split(b"\n")
    assert before[-1] == b"" and [json.loads(line)["lab"] for line in before[:-1]] == ["a", "b", "c"]
    changed = replace(kept[0], evidence={"code": "1"})
    assert keep_runs([*kept[1:], changed], table) == [changed]
    after = table.read_bytes().split(b"\n")
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True, True]
    assert collect_runs(table)[0][1] == changed and [b"evidence" in line for line in after[:-1]] == [False, True, False]
    other = tmp_path / "other.jsonl"
    keep_runs(kept[:1], other)
    assert [collect_runs(*places)[0][1] for places in ((table, other), (other, table))] == [changed, kept[0]]


def test_a_damaged_line_is_named_and_stays_and_two_that_keep_at_a_time_lose_nothing(tmp_path, refused):
    table, together = tmp_path / "kept.jsonl", tmp_path / "together" / "kept.jsonl"
    first, last, new = (replace(record({"AP": 0.5}), run=run) for run in ("a", "c", "b"))
    keep_runs([first, last], table)
    one, other = table.read_bytes().splitlines()
    for line in (b'{"lab": "x", ', b"[1]", b'{"lab": "x"}', b""):
        before = b"\n".join([one, line, other, b""])
        table.write_bytes(before)
        message = r"kept\.jsonl, line 2 is no record"
        refused(
            [(call, ValueError, message) for call in (lambda: collect_runs(table), lambda: keep_runs([new], table))]
        )
        assert table.read_bytes() == before

    def keep(name):
        for number in range(20):
            keep_runs([replace(new, run=f"{name}{number:02}")], together)

    threads = [threading.Thread(target=keep, args=name) for name in "ab"]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    found, skipped = collect_runs(together)
    assert [record.run for record in found] == [f"{name}{number:02}" for name in "ab" for number in range(20)]
    assert skipped == [] and sorted(path.name for path in together.parent.iterdir()) == [".locks", "kept.jsonl"]


def test_tables_and_runs_become_a_table_a_lab(runs, tmp_path):
    old, table = tmp_path / "old.jsonl", tmp_path / "kept.jsonl"
    keep_runs([record({"AP": 0.5})], old)
    places = ["--runs", old, "--runs", runs]
    done = results(*places, "--keep", table)
    assert done.exit_code == 0 and "7 of 7 records written" in done.output
    assert done.output.count("### ") == 2 and collect_runs(table) == collect_runs(old, runs)
    done = results(*places, "--keep", tmp_path / "old")
    assert done.exit_code == 2 and "table must be a file that ends in .jsonl, got" in done.output
    assert not (tmp_path / "old").exists()
    options = ["--by", "loss", "--where", "margin=0.05", "--metrics", "R@1", "--lab", "retrieval"]
    of_runs, of_table = (results("--runs", place, *options) for place in (runs, table))
    assert of_runs.stdout == of_table.stdout and re.search(
        r"\| smooth_ap +\| +3 \| +\*\*0.410 ± 0.010\*\* \|", of_runs.stdout
    )


def test_mean_and_deviation_are_of_the_seeds_that_have_a_number_and_settings_are_never_averaged(runs):
    first, second = summarise(collect_runs(runs)[0])
    assert (first.parameters, second.parameters) == ({"loss": "rambo_log"}, {"loss": "smooth_ap"})
    found = first.value("R@1")
    assert (found.mean, found.sd, found.n) == (pytest.approx(0.31), pytest.approx(0.01), 3)
    assert found.text() == "0.310 ± 0.010" and found.text(100, 1) == "31.0 ± 1.0"
    [one] = summarise([record({"AP": 0.5}, loss="x")])
    assert one.value("AP").text() == "0.500" and math.isnan(one.value("AP").sd)
    [some] = summarise([record({"AP": 0.5}, 0), record({"AP": None}, 1), record({}, 2), record({"AP": 0.7}, 3)])
    assert some.value("AP").text() == "0.600 ± 0.141 (2 of 4 runs)" and some.value("R@1").text() == "—"
    mixed = [record({"AP": 0.5}, loss="x", margin=margin) for margin in (0.0, 0.1)]
    assert [row.parameters for row in summarise(mixed)] == [{"margin": 0.0}, {"margin": 0.1}]
    [row] = summarise([record({"AP": 0.9}, started="2026-03"), record({"AP": 0.1}, started="2026-02")])
    assert row.value("AP").text() == "0.900"
    records = collect_runs(runs)[0]
    assert metric_names(records, "AP, mean,R@1") == ["AP, mean", "R@1"], "a name of a metric may have a comma"
    assert metric_names(records) == ["R@1", "AP, mean", "seconds"]
    for name, value, count in (
        ("seed", "1.0", 2), ("seed", "x", 0), ("kinds", "a,b", 6), ("loss", "SMOOTH_AP", 3), ("other", 1, 0)
    ):  # fmt: skip
        assert len(chosen(records, {name: value})) == count, (name, value)


def test_the_best_stands_first_and_is_bold_with_those_that_are_not_worse(runs):
    for means, sd, less, expected in (
        ([0.5, 0.4, 0.3], 0.01, False, {0}),
        ([0.5, 0.4, 0.3], 0.01, True, {2}),
        ([0.5, 0.45, 0.3], 0.06, False, {0, 1}),
        ([0.5, 0.5, 0.3], math.nan, False, {0, 1}),
        ([0.5], 0.1, False, set()),
        ([], 0.1, False, set()),
    ):
        found = best([*(Value(mean, sd, 3) for mean in means), None, Value(math.nan, math.nan, 0)], less=less)
        assert found == expected, (means, sd, less)
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
        records, skipped = collect_runs(table)
        assert records and skipped == [] and f"| `{table.name}` | {len(records)} " in PAGE
        keep_runs(reversed(records), tmp_path / table.name)
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
