"""The tables that are committed, and the page that tells what is in them."""

import contextlib
import io
import json
import re

from ranklab.runs import collect_runs, keep_runs
from ranklab.runs.folders import find_records

RECORDS = find_records()
TABLES = sorted(RECORDS.glob("*.jsonl"))
PAGE = (RECORDS / "README.md").read_text(encoding="utf-8")


def test_a_table_is_as_it_would_be_written(tmp_path):
    for table in TABLES:
        records, skipped = collect_runs(table)
        assert records and skipped == [] and f"| `{table.name}` | {len(records)} " in PAGE
        keep_runs(reversed(records), tmp_path / table.name)
        assert (tmp_path / table.name).read_bytes() == table.read_bytes(), table.name


def test_the_page_names_every_field():
    lines = [json.loads(line) for table in TABLES for line in table.read_text(encoding="utf-8").split("\n")[:-1]]
    searches = [json.loads(path.read_text(encoding="utf-8")) for path in RECORDS.glob("searches_*.json")]
    arms = [arm for found in searches for arm in found["arms"].values()]
    for table in (lines, [line.get("evidence", {}) for line in lines], [line["machine"] for line in lines], arms):
        fields = {name for entry in table for name in entry}
        assert fields and {name for name in fields if f"`{name}`" not in PAGE} == set()


def test_what_the_page_runs_prints_what_it_says(monkeypatch):
    code, text = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1] for kind in ("python", "text"))
    monkeypatch.chdir(RECORDS.parent.parent)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue() == text
