"""What the lab `speed` found, as rows, as the nested metrics of a record, as tables, and as ratios."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankedu_lab.experiments.speed.published import PRINTED_MS

Row = dict[str, Any]
#: Keys of a row that say what it is; all others are what was found.
NAMES = ("device", "part", "work", "contender", "size")


def metrics_of(rows: Iterable[Row]) -> dict[str, Any]:
    """Nest the numbers of rows: device → part → work → contestant → size → the numbers."""
    nested: dict[str, Any] = {}
    for row in rows:
        inner = nested
        for name in NAMES:
            inner = inner.setdefault(str(row[name]), {})
        inner.update({key: value for key, value in row.items() if key not in NAMES and not isinstance(value, str)})
    return nested


def rows_of(metrics: Mapping[str, Any]) -> list[Row]:
    """Bring the metrics of a record, flat as `rankedu_lab.runs.records.flatten` leaves them, back to rows."""
    rows: dict[tuple[str, ...], Row] = {}
    for path, value in metrics.items():
        *names, what = path.split("/")
        if len(names) == len(NAMES):
            row = rows.setdefault(tuple(names), dict(zip(NAMES, names, strict=True)))
            row["size"] = int(names[-1]) if names[-1] else 0
            row[what] = value
    return list(rows.values())


def ratios(rows: Iterable[Row], part: str) -> list[dict[str, str]]:
    """Divide our times by those of all other contestants at the same size, and by the limits.

    A line for each of ours and each other, a column for each size.
    """
    cells = []
    for ours, other in itertools.permutations([row for row in rows if row.get("seconds") is not None], 2):
        place = {"device": ours["device"], "part": part, "size": ours["size"]}
        limit = other["work"] == "limit" and "value alone" not in ours["work"]  # a value alone needs no gradient
        alike = ours["part"] == part and place.items() <= other.items() and (limit or other["work"] == ours["work"])
        if alike and ours["contender"] == "ours":
            ratio = ours["seconds"] / other["seconds"]
            names = {"ours": ours["work"], "over": other["contender"], "on": ours["device"]}
            cells.append((names, ours["size"], f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"))
    return _by_size(cells)


def _by_size(cells: Sequence[tuple[dict[str, str], int, str]]) -> list[dict[str, str]]:
    """Cells (of which line, in which column, the text): a line for each name, a column for each size."""
    heads = {size: size_text(size) for size in sorted({size for _, size, _ in cells})}
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for names, size, text in cells:
        lines.setdefault(tuple(names.values()), names | dict.fromkeys(heads.values(), "–"))[heads[size]] = text
    return list(lines.values())


def pivot(rows: Iterable[Row], part: str, device: str) -> list[dict[str, str]]:
    """Lay out the seconds of a part: a line for each contender, a column for each size."""
    cells = []
    for row in rows:
        if (row["part"], row["device"]) == (part, device) and "seconds" in row:
            cell = _not(row) if row["seconds"] is None else duration(row["seconds"])
            cells.append(({"work": row["work"], "by": row["contender"]}, row["size"], cell))
    return _by_size(cells)


def _not(row: Mapping[str, Any]) -> str:
    """Say that something was not tried, and what older records expected it to need."""
    size, taken = row.get("expected bytes"), row.get("expected seconds")
    needs = [f"{size / 2**30:,.0f} GiB"] if size and size > 2**30 else []
    needs += [duration(taken)] if taken else []
    return f"not tried ({', '.join(needs)})" if needs else "not tried"


def beside(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Lay out Table S2: what is printed, what was measured, and the loss as a part of the network's time.

    >>> rows = [{"work": "backbone", "contender": "convnet", "seconds": 0.1},
    ...         {"work": "FastAP", "contender": "ours", "seconds": 0.002}]
    >>> [line["of the network"] for line in beside(rows)]
    ['', '2 % (printed: 0.6 %)']
    """
    network = next((row["seconds"] for row in rows if row["work"] == "backbone"), None)
    lines = []
    for row in rows:
        printed, seconds, part = PRINTED_MS[row["work"]], row["seconds"], ""
        if row["work"] != "backbone" and seconds and network:
            part = f"{100 * seconds / network:.2g} % (printed: {100 * printed / PRINTED_MS['backbone']:.1g} %)"
        names = {"work": row["work"], "by": row["contender"], "printed": f"{printed:g} ms"}
        here = "not measured" if seconds is None else duration(seconds)
        lines.append({**names, "here": here, "of the network": part})
    return lines


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Write rows as aligned text; the first's keys are the columns.

    >>> print(table([{"by": "ours", "1,000": "1 ms"}, {"by": "theirs", "1,000": "20 ms"}]))
    by      1,000
    ------  -------
    ours    1 ms
    theirs  20 ms
    """
    from tabulate import tabulate

    return tabulate(rows, headers="keys", disable_numparse=True) if rows else "not measured"


def size_text(size: int) -> str:
    """Write a number with commas."""
    return f"{size:,}"


def duration(seconds: float) -> str:
    """Write seconds with three digits, in the unit that suits them."""
    scale, unit = (1e6, "µs") if seconds < 999.5e-6 else (1e3, "ms") if seconds < 999.5e-3 else (1.0, "s")
    value = scale * seconds
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"
