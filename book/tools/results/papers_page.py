"""The papers' tables on the results page: printed numbers and ours side by side, and the origin of ours."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

import torch

from rankedu.metrics import spearman
from rankedu_lab.runs.records import Record, collect_runs
from rankedu_lab.runs.tables import Row, Value, best
from tools.results.papers import RUNS, Parameters, Table, find, tables
from tools.results.papers_lists import all_sweeps, figure_4, mini_batches, origin, severity, whole_preset
from tools.results.papers_speed import blocks as speed_blocks
from tools.site.templates import filled


class Column(NamedTuple):
    """A column with its group and heading, and a value, a text or nothing for each row."""

    group: str
    heading: str
    values: Sequence[Value | str | None]
    printed: bool = False


def blocks() -> dict[str, str]:
    """Return the Markdown of every table and list of the page by its name."""
    records = collect_runs(RUNS)[0]
    made = {table.name: block(table, records) for table in tables()}
    lists = {"mini_batches": mini_batches(records), "mistakes": severity(records), "longer": whole_preset(records)}
    return {**made, **lists, **speed_blocks(records), "happier_fig_4": figure_4(), "sweeps": all_sweeps()}


def block(table: Table, records: Sequence[Record]) -> str:
    """Return a table with its notes, the agreement of the orders, and the origin of the runs."""
    scales = {scale: on_ours(table, records, scale) for scale in table.scales()}
    first = next(iter(scales))
    scales = {scale: here for scale, here in scales.items() if scale == first or _used(here)}
    columns = list(printed_columns(table))
    for scale, here in scales.items():
        columns += our_columns(table, here, scale, table.metrics())
    columns += elsewhere_columns(table, records)
    notes = [table.printed["note"], table.beside.get("note", "")]
    notes += [f"{row['method']}: {row['note']}." for row in table.rows() if "note" in row]
    parts = [f"{table.printed['title']}.", html(table, columns), " ".join(filter(None, notes))]
    for scale, here in scales.items():
        commands = "\n".join(sweep.command() for sweep in table.sweeps(scale))
        parts += [agreement(table, here, scale), origin(_used(here), scale), f"```sh\n{commands}\n```"]
    return "\n\n".join(filter(None, parts)) + "\n"


Rows = Mapping[str, Sequence[Row | None]]  # by the title of the variant


def on_ours(table: Table, records: Sequence[Record], scale: str) -> Rows:
    """Return the runs of every row on the book's own data."""
    return {
        title: [find(table, row, table.on_ours(row, variant, scale), records) for row in table.rows()]
        for title, variant in table.variants().items()
    }


def _used(here: Rows) -> list[Record]:
    return [record for rows in here.values() for row in rows if row for record in row.records]


def printed_columns(table: Table) -> Iterator[Column]:
    """Yield the columns of the paper."""
    at = itertools.count()
    for data, metrics in table.printed["columns"].items():
        for metric in metrics:
            place = next(at)
            numbers = [row["values"][place] for row in table.rows()]
            values = [None if number is None else Value(number / 100, math.nan, 1) for number in numbers]
            yield Column(f"{data}, printed", metric, values, printed=True)


def elsewhere_columns(table: Table, records: Sequence[Record]) -> Iterator[Column]:
    """Yield the columns of our runs on the papers' data sets; without runs, one column says so."""
    for data in table.beside["data"]:
        here = {
            title: [find(table, row, table.elsewhere(row, variant, data), records) for row in table.rows()]
            for title, variant in table.variants().items()
        }
        columns = list(our_columns(table, here, f"{data}, here", table.metrics(data)))
        heading = next(iter(table.metrics(data)))
        yield from columns if _used(here) else [Column(columns[0].group, heading, columns[0].values)]


def our_columns(table: Table, here: Rows, group: str, metrics: Mapping[str, str]) -> Iterator[Column]:
    """Yield the columns of our runs on one data set."""
    for title, rows in here.items():
        for heading, metric in metrics.items():
            cells = [_cell(ours, metric) if row["ours"] else None for row, ours in zip(table.rows(), rows, strict=True)]
            yield Column(group, " ".join(filter(None, (title, heading))), cells)


def _cell(row: Row | None, metric: str) -> Value | str:
    if row is None:
        return "not run"
    value = row.value(metric)
    return value if value.n else "not finite"


def html(table: Table, columns: Sequence[Column]) -> str:
    """Return the table as HTML with two rows of headings; the best value of a column is bold."""
    bold = [best([v if isinstance(v, Value) else None for v in column.values]) for column in columns]
    rows = [
        (_method(row), [_html_cell(c, place, place in b) for c, b in zip(columns, bold, strict=True)])
        for place, row in enumerate(table.rows())
    ]
    groups = [(group, len(list(columns_of))) for group, columns_of in itertools.groupby(columns, key=lambda c: c.group)]
    return filled("printed-table.html", groups=groups, headings=[column.heading for column in columns], rows=rows)


def _html_cell(column: Column, place: int, bold: bool) -> str:
    value = column.values[place]
    if not isinstance(value, Value):
        return f"<td>{value or '–'}</td>"
    text = value.text(100, digits=1)
    if column.printed and round(100 * value.mean, 1) != round(100 * value.mean, 2):
        text = value.text(100, digits=2)  # as it is printed
    text = text.replace(" ", "\u00a0")  # in one line
    return f"<td><strong>{text}</strong></td>" if bold else f"<td>{text}</td>"


def _method(row: Parameters) -> str:
    """Return the printed name of a method with its backbone, dimension and group."""
    name = re.sub(r"_(\w+)$", r"<sub>\1</sub>", escape(row["method"]))
    about = ", ".join(str(row[key]) for key in ("backbone", "dim", "group") if row.get(key))
    return f'{name} <small style="font-weight: normal">{about}</small>' if about else name


def agreement(table: Table, here: Rows, scale: str) -> str:
    """Return Spearman's correlation of the printed order of methods with ours, per data set and variant."""
    agreements = []
    first, metric = next(iter(table.metrics().items()))
    leading = {column.group: column for column in reversed([*printed_columns(table)])}
    for column, (title, rows) in itertools.product(reversed(leading.values()), here.items()):
        pairs = [
            (value.mean, row.value(metric).mean)
            for value, row in zip(column.values, rows, strict=True)
            if isinstance(value, Value) and row and row.value(metric).n
        ]
        if len(pairs) > 3:  # the order of three says nothing
            data = column.group.removesuffix(", printed")
            measured = " ".join(filter(None, (title, first)))
            rho = f"{spearman(*torch.tensor(pairs, dtype=torch.float64).T):.2f}".replace("-", "−")
            agreements.append(f"{column.heading} on {data} against {measured}, {rho} ({len(pairs)} methods)")
    said = f"Rank correlation (Spearman) of the printed numbers with ours ({scale}): {'; '.join(agreements)}."
    return said if agreements else ""
