"""The tables of first losses on the page "Use it in your project", made from their record, `data/first_loss.json`.

The record has a column per kind of pictures and start of the network, and in it for each loss the learning rate that
the validation classes chose and mAP@R of the test classes of ten draws. The script that trained the networks is part
of the third edition; the page says how it is run again.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rankedu_book.kit.compare import interval

RECORD = Path(__file__).resolve().parents[2] / "data" / "first_loss.json"
PAGE = RECORD.parents[1] / "use-it.md"
BEGIN, BEGIN_16, END = "<!-- made by first_loss -->", "<!-- made by first_loss, 16 bits -->", "<!-- until here -->"
#: Learning rates that were tried; a star marks the lowest and the highest.
RATES = (0.0003, 0.001, 0.003, 0.01)
DATA, STARTS = ("outlines", "characters"), ("plain", "normalised", "trained")
FIRST = "triplet, semi-hard"
#: What to begin with: the page compares these two.
BOTH = "contrastive", "`ROADMAPLoss()`"


def tables(record: dict[str, Any]) -> str:
    """What was reached, in percent, a table for each kind of data; then whether a first loss learns at all."""
    found = []
    for data in DATA:
        starts = {start: f"{data}, {start}" for start in STARTS}
        found += table(record, f"{data}: mAP@R", starts, losses(record), marks)
    plain = "outlines, plain"
    batches = {"batches of 16": f"{plain}, batches of 16", "batches of 64": plain}
    batches["batches of 128"] = f"{plain}, batches of 128"
    few = [name for name in losses(record) if name in record[batches["batches of 16"]]]
    found += table(record, f"{plain}: mAP@R", batches, few, marks)
    return "\n".join([*found, *against(record)])


def losses(record: dict[str, Any]) -> list[str]:
    """The names of all losses; the one with the settings of the paper comes last."""
    names = [name for name in record["outlines, plain"] if name != "before"]
    return sorted(names, key=lambda name: "normalized=True" in name)


def against(record: dict[str, Any]) -> list[str]:
    """The two that the page advises, one less the other: a line for each kind of data."""
    lines = [f"| {BOTH[0]} less {BOTH[1]}: mAP@R | {' | '.join(STARTS)} |", "|---|---:|---:|---:|"]
    for data in DATA:
        columns = (record[f"{data}, {start}"] for start in STARTS)
        found = [interval(np.subtract(*(row[name]["test"] for name in BOTH)), comparisons=5) for row in columns]
        lines.append(f"| {data} | " + " | ".join(f"{100 * one.mean:+.1f}±{100 * one.half:.1f}" for one in found) + " |")
    return [line.replace(" -", " −") for line in lines]


def table(
    record: dict[str, Any], head: str, columns: dict[str, str], names: Iterable[str], note: Callable[[Any, str], str]
) -> list[str]:
    """The lines of one; columns are their titles and what they hold, and a note follows each number."""
    rows = [record[at] for at in columns.values()]
    lines = [f"| {head} | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    lines.append(f"| *before* | {' | '.join(cell(row['before']) for row in rows)} |")
    lines += [f"| {n} | {' | '.join(cell(row[n]['test']) + note(row, n) for row in rows)} |" for n in names]
    return [*lines, ""]


def table_of_16_bits(record: dict[str, Any]) -> str:
    """By how much gradients are off, in percent."""
    lines = ["| gradient of the parameters, off by % | untrained | trained |", "|---|---:|---:|"]
    for name, row in record["16 bits"].items():
        lines.append("| " + " | ".join([name, *(f"{100 * share:.0f}" for share in row)]) + " |")
    return "\n".join(lines)


def cell(values: Any) -> str:
    """Mean and its 95 % interval, in percent."""
    found = interval(np.array(values))
    return f"{100 * found.mean:.1f}±{100 * found.half:.1f}"


def marks(column: dict[str, Any], name: str) -> str:
    """▲ or ▼: above or below the first loss, by 99 %; *: the rate is the first or last of the sweep."""
    found = interval(np.subtract(column[name]["test"], column[FIRST]["test"]), comparisons=5)
    edge = "*" if column[name]["rate"] in (RATES[0], RATES[-1]) else ""
    return ("" if not found.clear else "▲" if found.mean > 0 else "▼") + edge


def main() -> None:
    """Put the tables into the page, each between its comments."""
    record, text = json.loads(RECORD.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    for begin, made in ((BEGIN, tables(record)), (BEGIN_16, table_of_16_bits(record))):
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made}\n\n{rest[rest.index(END) :]}"
    PAGE.write_text(text, encoding="utf-8")
