"""What the lab `speed` found, as rows, as the nested metrics of a record, as tables, and as ratios with a verdict."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankedu_lab.experiments.speed.published import PRINTED_MS

Row = dict[str, Any]
#: Keys of a row that say what it is; all others are what was found.
NAMES = ("device", "part", "work", "contender", "size")
#: Two times are level if neither is more than so much longer: runs differ by that much.
LEVEL = 1.05


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


def compare(rows: Iterable[Row]) -> list[Row]:
    """Divide our times by those of all other contestants at the same size, and by the bounds."""
    found = []
    for ours, other in itertools.permutations([row for row in rows if row.get("seconds") is not None], 2):
        names = {name: ours[name] for name in ("device", "part", "size")}
        limit = other["work"] == "limit" and "value alone" not in ours["work"]  # a value alone needs no gradient
        alike = names.items() <= other.items() and (limit or other["work"] == ours["work"])
        if alike and ours["contender"] == "ours":
            ratio = ours["seconds"] / other["seconds"]
            verdict = "ahead" if ratio < 1 / LEVEL else "behind" if ratio > LEVEL else "level"
            against = {"work": ours["work"], "against": other["contender"], "limit": limit}
            found.append({**names, **against, "ratio": ratio, "verdict": verdict})
    return found


def ratio_table(ratios: Sequence[Row]) -> list[dict[str, str]]:
    """Lay out ratios with their verdicts: a line for each of ours and each other, a column for each size."""
    cells = []
    for row in ratios:
        names = {"ours": row["work"], "over": row["against"], "on": row["device"]}
        ratio = f"{row['ratio']:.2g}" if row["ratio"] < 10 else f"{row['ratio']:.0f}"
        cells.append((names, row["size"], f"{ratio} {row['verdict']}"))
    return _by_size(cells)


def _by_size(cells: Sequence[tuple[dict[str, str], int, str]]) -> list[dict[str, str]]:
    """Cells (of which line, in which column, the text): a line for each name, a column for each size."""
    heads = {size: size_text(size) for size in sorted({size for _, size, _ in cells})}
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for names, size, text in cells:
        lines.setdefault(tuple(names.values()), names | dict.fromkeys(heads.values(), "–"))[heads[size]] = text
    return list(lines.values())


def counts(ratios: Sequence[Row]) -> str:
    """Count the ratios in which we are ahead, level and behind: of rivals, and of what bounds us.

    >>> counts([{"verdict": "ahead", "limit": False}, {"verdict": "behind", "limit": True}])
    'Ratios to rivals: 1 ahead. Ratios to a limit: 1 behind.'
    """
    sentences = []
    for limit, others in ((False, "rivals"), (True, "a limit")):
        verdicts = [row["verdict"] for row in ratios if row["limit"] is limit]
        found = [f"{verdicts.count(word)} {word}" for word in ("ahead", "level", "behind") if word in verdicts]
        sentences += [f"Ratios to {others}: {', '.join(found)}."] if found else []
    return " ".join(sentences)


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
