"""Results: finished runs become small records, records become tables, and nothing is averaged that should not be."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import statistics
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
from typer.testing import CliRunner

from rankedu.cli import app
from ranklab.runs import Record, Value, collect_runs, keep_runs, save_result, summarise, tabulate
from ranklab.runs.records import flatten
from ranklab.runs.selection import metric_names
from ranklab.runs.summaries import best
from ranklab.runs.tables import render

SETTINGS = {
    "loss": "smooth_ap",
    "margin": 0.05,
    "kinds": ["a", "b"],
    "data_root": "/home/me/data",
    "weights": "/me/w.pt",
}


def make_run(runs, name, metrics, seed=0, lab="retrieval", **changed):
    """What the runner leaves of a completed run."""
    folder = runs / lab / name
    manifest = {
        "lab": lab,
        "preset": "glyphs",
        "parameters": {**SETTINGS, "seed": seed},
        "versions": {"torch": "2.13.0"},
        "git": {"revision": "abc", "modified": False},
        "started": "2026-01-01T00:00:00+00:00",
        "status": "completed",
        "seconds": 40.0 + seed,
        "device": "CPU",
        "threads": 1,
        "peak_memory_mib": 300.0,
    }
    manifest["parameters"] |= changed.pop("parameters", {})
    save_result({"lab": lab, "parameters": manifest["parameters"], "metrics": metrics}, folder=folder)
    (folder / "manifest.json").write_text(json.dumps(manifest | changed), encoding="utf-8")
    return folder


def record(metrics, seed=0, started="2026", lab="lab", **parameters):
    about = {"preset": None, "seconds": 2.0, "machine": {"device": "CPU"}, "versions": {}, "git": None}
    return Record(lab, f"{parameters} {seed} {started}", parameters={**parameters, "seed": seed}, metrics=metrics,
                  started=started, **about)  # fmt: skip


@pytest.fixture
def runs(tmp_path):
    """Two losses with three seeds each, as the runner leaves them."""
    for place, loss in enumerate(["rambo_log", "smooth_ap"]):
        for seed in range(3):
            metrics = {"R@1": 0.3 + 0.1 * place + 0.01 * seed, "AP, mean": 0.2, "seconds": 30 - place}
            make_run(tmp_path / "runs", f"{place}{seed}", metrics, seed, parameters={"loss": loss})
    return tmp_path / "runs"


def test_a_run_becomes_a_record_without_the_folders_of_the_machine(tmp_path):
    make_run(tmp_path, "a1", {"R@1": 0.5, "AP": float("nan"), "fine": {"AP": 0.25}})
    ([found], skipped) = collect_runs(tmp_path)
    assert skipped == [] and (found.lab, found.run, found.preset, found.seconds) == ("retrieval", "a1", "glyphs", 40.0)
    expected = {"loss": "smooth_ap", "margin": 0.05, "kinds": ["a", "b"], "weights": "w.pt", "seed": 0}
    assert found.parameters == expected
    assert found.metrics == {"R@1": 0.5, "AP": None, "fine/AP": 0.25} == flatten(found.metrics)
    assert found.machine == {"device": "CPU", "threads": 1, "peak_memory_mib": 300.0}
    table = tmp_path / "kept.jsonl"
    assert keep_runs([found], table) == [found]
    text = table.read_text(encoding="utf-8")
    assert json.loads(text)["run"] == "a1" and "/me" not in text and str(tmp_path) not in text
    assert collect_runs(table) == ([found], []) == collect_runs(table, tmp_path)
    assert keep_runs([found], table) == [], "the second time there is nothing to do"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda folder: (folder / "manifest.json").write_text('{"status": '), "no JSON, "),
        (lambda folder: (folder / "manifest.json").write_text("{}"), "no 'status'"),
        (lambda folder: (folder / "manifest.json").write_text('{"status": "running"}'), "running"),
        (lambda folder: (folder / "manifest.json").write_text('{"status": "failed", "error": "E"}'), "failed: E"),
        (lambda folder: (folder / "manifest.json").unlink(), "no manifest.json"),
        (lambda folder: (folder / "result.json").unlink(), "no result.json"),
        (lambda folder: (folder / "result.json").write_text('{"lab": 3}'), "result must have the key"),
        (lambda folder: folder.with_suffix(".json").write_text('{"lab": "x"}'), "missing .* required"),
    ],
)
def test_what_is_damaged_or_unfinished_is_named_and_skipped(runs, spoil, reason):
    spoil(make_run(runs, "bad", {"R@1": 1.0}))
    records, skipped = collect_runs(runs)
    assert len(records) >= 6 and len(skipped) == 1
    assert "bad" in skipped[0].split(":")[0]
    with pytest.raises(ValueError, match=reason):
        raise ValueError(skipped[0])
    done = CliRunner().invoke(app, ["results", "--runs", str(runs), "--where", "loss=rambo_log"])
    assert done.exit_code == 0 and f"skipped {skipped[0]}" in done.output and "0.310 ± 0.010" in done.output


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
    assert collect_runs(table)[0][1] == changed


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"lab": "x", ', "no JSON, .* at character 13"),
        (b"\xff\xfe", "can't decode"),
        (b"[1]", "must be a mapping, not list"),
        (b'{"lab": "x"}', "missing .* required"),
        (b"", "no JSON"),
        (None, r"lab/a has a line before"),
    ],
)
def test_a_damaged_line_is_named_skipped_and_stays(tmp_path, line, reason):
    table = tmp_path / "kept.jsonl"
    first, last, new = (replace(record({"AP": 0.5}), run=run) for run in ("a", "c", "b"))
    keep_runs([first, last], table)
    one, other = table.read_bytes().splitlines()
    line = one if line is None else line
    table.write_bytes(b"\n".join([one, line, other, b""]))
    found, [skipped] = collect_runs(table)
    assert found == [first, last] and re.search(rf"kept\.jsonl, line 2: .*{reason}", skipped)
    before = table.read_bytes()
    with pytest.raises(ValueError, match=r"table must be whole to be written anew, got .*, line 2: "):
        keep_runs([new], table)
    assert table.read_bytes() == before


KEEPS = """
import sys
from ranklab.runs import Record, keep_runs
about = {"preset": None, "seconds": 1.0, "machine": {}, "versions": {}, "git": None, "started": ""}
for number in range(20):
    run = f"{sys.argv[1]}{number:02}"
    keep_runs([Record("lab", run, parameters={}, metrics={"AP": 0.5}, **about)], sys.argv[2])
"""


def test_two_processes_that_keep_at_a_time_lose_nothing(tmp_path):
    table = tmp_path / "kept.jsonl"
    begun = [subprocess.Popen([sys.executable, "-c", KEEPS, name, str(table)]) for name in "ab"]
    assert [process.wait(120) for process in begun] == [0, 0]
    found, skipped = collect_runs(table)
    assert [record.run for record in found] == [f"{name}{number:02}" for name in "ab" for number in range(20)]
    assert skipped == [] and sorted(path.name for path in tmp_path.iterdir()) == [".locks", "kept.jsonl"]


def test_single_records_and_runs_become_a_table(runs, tmp_path):
    """A folder `<lab>/<hash>.json` is read; a table is written."""
    old, table = tmp_path / "old" / "lab" / "x.json", tmp_path / "kept.jsonl"
    [single] = [replace(record({"AP": 0.5}), run="x")]
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps(asdict(single), indent=1), encoding="utf-8")
    places = ["--runs", str(tmp_path / "old"), "--runs", str(runs)]
    done = CliRunner().invoke(app, ["results", *places, "--keep", str(table)])
    assert done.exit_code == 0 and "7 of 7 records written" in done.output
    assert collect_runs(table) == collect_runs(tmp_path / "old", runs) and single in collect_runs(table)[0]
    done = CliRunner().invoke(app, ["results", *places, "--keep", str(tmp_path / "old")])
    assert done.exit_code == 2 and "table must be a file that ends in .jsonl, got" in done.output
    assert [path.name for path in old.parent.iterdir()] == ["x.json"]


def test_mean_and_deviation_are_those_of_the_seeds(runs):
    values = [0.3, 0.31, 0.32]
    first, second = summarise(collect_runs(runs)[0])
    assert (first.parameters, second.parameters) == ({"loss": "rambo_log"}, {"loss": "smooth_ap"})
    found = first.value("R@1")
    assert found.mean == pytest.approx(statistics.mean(values)) and found.sd == pytest.approx(statistics.stdev(values))
    assert found.text() == "0.310 ± 0.010" and found.text(100, 1) == "31.0 ± 1.0"
    assert first.seconds().text(digits=0) == "41 ± 1" and first.devices() == "CPU"


def test_one_seed_has_no_deviation_and_a_lost_number_is_told():
    [one] = summarise([record({"AP": 0.5}, loss="x")])
    assert one.value("AP").text() == "0.500" and math.isnan(one.value("AP").sd)
    [some] = summarise([record({"AP": 0.5}, 0), record({"AP": None}, 1), record({}, 2), record({"AP": 0.7}, 3)])
    assert some.value("AP").text() == "0.600 ± 0.141 (2 of 4 runs)"
    assert some.value("R@1").text() == "—"


def test_settings_are_never_averaged():
    mixed = [record({"AP": 0.5}, loss="x", margin=margin) for margin in (0.0, 0.1)]
    assert [row.parameters for row in summarise(mixed)] == [{"margin": 0.0}, {"margin": 0.1}]
    with pytest.raises(ValueError, match=r"loss=x differ in 'margin' \(0, 0.1\) .*--by loss,margin.*--where margin="):
        summarise(mixed, ["loss"])
    with pytest.raises(
        ValueError, match=r"parameter 'los' is unknown \(did you mean 'loss'\?\); there are: loss, margin"
    ):
        summarise(mixed, ["los"])


def test_of_runs_of_the_same_parameters_the_last_counts():
    [row] = summarise([record({"AP": 0.1}, started="2026-02"), record({"AP": 0.9}, started="2026-03")])
    assert row.value("AP").text() == "0.900"


@pytest.mark.parametrize(
    ("means", "sd", "less", "expected"),
    [
        ([0.5, 0.4, 0.3], 0.01, False, {0}),
        ([0.5, 0.4, 0.3], 0.01, True, {2}),
        ([0.5, 0.45, 0.3], 0.06, False, {0, 1}),
        ([0.5, 0.5, 0.3], math.nan, False, {0, 1}),
        ([0.5], 0.1, False, set()),
        ([], 0.1, False, set()),
    ],
)
def test_the_best_and_those_that_are_not_worse(means, sd, less, expected):
    assert best([*(Value(mean, sd, 3) for mean in means), None], less=less) == expected


def test_the_forms_of_a_table_agree(runs):
    rows = summarise(collect_runs(runs)[0])
    lines = render(rows, ["R@1", "seconds"]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["loss", "runs", "R@1", "seconds", "s a run", "device"] and len(lines) == 4
    assert cells[2][:4] == ["smooth_ap", "3", "**0.410 ± 0.010**", "**29.000 ± 0.000**"], "the best stands first"
    assert cells[3][:4] == ["rambo_log", "3", "0.310 ± 0.010", "30.000 ± 0.000"], "of seconds, less is better"
    read = list(csv.DictReader(io.StringIO(render(rows, ["R@1"], "csv"))))
    assert [row["loss"] for row in read] == ["smooth_ap", "rambo_log"] and float(read[0]["R@1 mean"]) == 0.41
    loaded = json.loads(render(rows, ["R@1"], "json"))
    assert loaded[1]["parameters"] == {"loss": "rambo_log"} and loaded[1]["seeds"] == [0, 1, 2]
    assert loaded[1]["metrics"]["R@1"] == {"mean": pytest.approx(0.31), "sd": pytest.approx(0.01), "n": 3}
    assert next(row["loss"] for row in csv.DictReader(io.StringIO(render(rows, ["seconds"], "csv")))) == "smooth_ap"


def test_a_name_of_a_metric_may_have_a_comma(runs):
    records = collect_runs(runs)[0]
    assert metric_names(records, "AP, mean,R@1") == ["AP, mean", "R@1"] and metric_names(records, "R@1") == ["R@1"]
    assert metric_names(records) == ["R@1", "AP, mean", "seconds"]
    with pytest.raises(ValueError, match=r"metric 'R@2' is unknown \(did you mean 'R@1'\?\); there are: R@1; AP, mean"):
        metric_names(records, "R@1,R@2")


def test_every_lab_has_its_own_table(runs):
    make_run(runs, "x", {"error": 0.5}, lab="sodeep")
    text = tabulate([runs]).text
    assert text.count("### ") == 2 and "| runs | error |" in text.split("### sodeep")[1]
    with pytest.raises(ValueError, match="format csv is for one lab, got retrieval, sodeep"):
        tabulate([runs], form="csv")


BAD = {
    "no_folder": (["--runs", "nowhere"], "there is none at nowhere (make some: rankedu run)"),
    "lab": (["--lab", "retrievall"], "'retrievall' has no finished runs (did you mean 'retrieval'?)"),
    "parameter": (["--where", "los=x"], "'los' is unknown (did you mean 'loss'?)"),
    "value": (["--where", "loss=x"], "no run has loss=x; there are: rambo_log, smooth_ap"),
    "no_value": (["--where", "loss"], "--where must be followed by KEY=VALUE, got 'loss'"),
    "by": (["--by", "loss,los"], "'los' is unknown"),
    "too_few": (["--by", "margin"], "differ in 'loss' (rambo_log, smooth_ap)"),
    "metric": (["--metrics", "mAP@R"], "metric 'mAP@R' is unknown"),
    "format": (["--format", "html"], "format must be one of 'markdown', 'csv', 'json', got 'html'"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_the_command_says_what_is_wrong(runs, monkeypatch, arguments, message):
    monkeypatch.chdir(runs.parent)
    done = CliRunner().invoke(app, ["results", *arguments])
    assert done.exit_code == 2 and message in done.output and "Traceback" not in done.output


def test_the_command_says_that_nothing_is_there(tmp_path):
    done = CliRunner().invoke(app, ["results", "--runs", str(tmp_path)])
    assert done.exit_code == 2 and f"found none in {tmp_path} (make some: rankedu run LAB)" in done.output


def test_the_command_tabulates_and_keeps(runs, tmp_path):
    kept = tmp_path / "kept.jsonl"
    options = ["--by", "loss", "--where", "margin=0.05", "--metrics", "R@1", "--format", "csv"]
    done = CliRunner().invoke(app, ["results", "--runs", str(runs), *options, "--keep", str(kept)])
    assert (
        done.exit_code == 0
        and "6 of 6 records written" in done.output
        and "smooth_ap,3,0.41,0.01,41,CPU" in done.output
    )
    again = CliRunner().invoke(app, ["results", "--runs", str(kept), *options])
    assert again.stdout == "".join(line for line in done.stdout.splitlines(True) if "written" not in line)
