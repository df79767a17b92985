"""The errata page: every row is complete, and its numbers are those of its definitions and of the tables."""

import re

from tools.notebooks import pairs
from tools.site import form

TEXT = form.text(pairs.ROOT / "book" / "errata.md")
HEAD, *_ = TEXT.split("## Contents")
_ROW = re.compile(r"^\((errata-[\w-]+)\)=\n### ([^\n]+)\n(.*?)(?=^\(errata-|\Z)", re.DOTALL | re.MULTILINE)
ROWS = {label: body for label, _, body in _ROW.findall(TEXT)}

PARTS = ["Seen", "For you", "In `rankedu`"]
#: One of these says in which text, or whether in a program as it was read or run.
VERSIONS = r"version|both|as read|as run|supplementary material|Sec\. |Eq\. |Fig\. |published formula"
#: The ten, in their order.
TEN = ["pseudo-code", "self", "pml", "lambda", "memory", "shape", "hrank", "bound", "h-ap-2", "inverted"]
#: Rows that have nothing to compute.
AS_READ = {"no-settings", "cuda-only", "no-ap", "matlab", "unused-margin", "no-weights"}


def test_every_row_is_complete():
    assert len(ROWS) >= 67 and list(ROWS)[:10] == [f"errata-{name}" for name in TEN]
    for label, body in ROWS.items():
        found = [re.search(rf"^\*\*{part}:\*\* (.+?)\n(?:\n|\Z)", body, re.DOTALL | re.MULTILINE) for part in PARTS]
        assert all(found), (label, PARTS)
        assert [part.start() for part in found] == sorted(part.start() for part in found), label
        assert re.search(VERSIONS, found[0].group(1)), f"{label} says in which version it was seen"
        cells = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", body, re.DOTALL | re.MULTILINE)
        if label.removeprefix("errata-") in AS_READ:
            assert "as read" in found[0].group(1) and not cells, label
        else:
            assert any("assert " in cell and "print(" in cell for cell in cells), f"{label}: no cell asserts and prints"


def test_the_head_names_the_rows_without_a_cell_and_the_contents_lead_to_the_ten_and_to_every_part():
    assert {f"errata-{name}" for name in AS_READ} == set(re.findall(r"<(errata-[\w-]+)>`", HEAD))
    parts = re.findall(r"^\((errata-[\w-]+)\)=\n## ", TEXT, re.MULTILINE)
    linked = re.findall(r"<(errata-[\w-]+)>`", TEXT.split("## Contents")[1].split("```")[0])
    assert sorted(linked) == sorted([*(f"errata-{name}" for name in TEN), *parts])
