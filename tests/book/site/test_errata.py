"""The errata page: every row is complete, and its numbers are those of its definitions and of the tables."""

import math
import re
from itertools import product

import torch
from tools.notebooks import pairs

from rankbook.errata import study
from rankbook.errata.best_step import flattery

TEXT = (pairs.ROOT / "book" / "errata.md").read_text(encoding="utf-8")
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
    assert {f"errata-{name}" for name in AS_READ} == set(re.findall(r"\]\((errata-[\w-]+)\)", HEAD))
    parts = re.findall(r"^\((errata-[\w-]+)\)=\n## ", TEXT, re.MULTILINE)
    linked = re.findall(r"\]\((errata-[\w-]+)\)", TEXT.split("## Contents")[1].split("```")[0])
    assert sorted(linked) == sorted([*(f"errata-{name}" for name in TEN), *parts])


def test_a_column_of_a_printed_table():
    for table, data, metric, method, expected in (
        ("happier_tab_1", "iNat-full", "H-AP", "HAPPIER", 47.9),
        ("rambo_tab_7", "In-shop", "R@1", "No margin", None),  # a cell without a number
    ):
        assert study.values(table, data, metric).get(method) == expected


def test_a_verdict_is_what_numbers_of_more_decimals_allow():
    for gain in study.GAINS:
        given, text = round(1000 * gain.given), round(1000 * gain.text)
        half = 500 if gain.text.is_integer() else 50
        unrounded = [given + a - b for a, b in product(range(-49, 50), repeat=2)]  # of numbers that round to these
        possible = any(text - half <= difference < text + half for difference in unrounded)
        assert (gain.verdict in ("same", "rounded")) == possible, gain
        assert (gain.verdict == "cut") == (not possible and gain.text == math.floor(gain.given)), gain


def test_noise_flatters_by_the_mean_of_its_maximum_and_two_sets_that_agree_nobody():
    """Of m uniform numbers the largest is m/(m + 1) in the mean, and the choice is worth nothing elsewhere."""
    generator = torch.Generator().manual_seed(1)
    curve = torch.rand(5, 1, 9, dtype=torch.float64, generator=generator)
    found = flattery(curve.expand(-1, 2, -1))
    assert found.too_good == found.half_width == 0 and found.reported == found.elsewhere > 0
    found = flattery(torch.rand(20_000, 2, 9, dtype=torch.float64, generator=generator))
    assert abs(found.too_good - 100 * (0.9 - 0.5)) < 0.8 and abs(found.elsewhere) < 0.8
    assert abs(found.reported - found.too_good) < 0.8
