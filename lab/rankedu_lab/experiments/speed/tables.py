"""What the lab `speed` found, as rows, as the nested metrics of a record, as tables, and as ratios with a verdict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rankedu_lab.experiments.speed.published import PRINTED_MS

Row = dict[str, Any]
#: Keys of a row that say what it is; all others are what was found.
NAMES = ("device", "part", "work", "contender", "size")
#: Two times are level if neither is more than so much longer: runs differ by that much.
LEVEL = 1.05
_UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


def metrics_of(rows: Iterable[Row]) -> dict[str, Any]:
    """Nest rows: device → part → work → contestant → size → the numbers.

    Numbers alone are kept; of what is missing the seconds, None, which say that it was not tried.
    """
    nested: dict[str, Any] = {}
    for row in rows:
        inner = nested
        for name in NAMES:
            inner = inner.setdefault(str(row.get(name, "")), {})
        numbers = {key: value for key, value in row.items() if key not in NAMES and not isinstance(value, str)}
        inner.update({key: value for key, value in numbers.items() if value is not None or key == "seconds"})
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
    timed = [row for row in rows if row.get("seconds") is not None and row["part"] != "growth"]
    found = []
    for ours in [row for row in timed if row["contender"] == "ours"]:
        bounds = () if "value alone" in ours["work"] else ("limit",)  # a value alone needs no product with a gradient
        names = {name: ours[name] for name in ("device", "part", "work", "size")}
        for other in timed:
            same = all(ours[name] == other[name] for name in ("device", "part", "size"))
            if same and other is not ours and other["work"] in (ours["work"], *bounds):
                ratio = ours["seconds"] / other["seconds"]
                verdict = "ahead" if ratio < 1 / LEVEL else "behind" if ratio > LEVEL else "level"
                against = {"against": other["contender"], "limit": other["work"] == "limit"}
                found.append({**names, **against, "ratio": ratio, "verdict": verdict})
    return found


def ratio_table(ratios: Sequence[Row], sizes: Mapping[int, str] | None = None) -> list[dict[str, str]]:
    """Lay out ratios with their verdicts: a line for each of ours and each other, a column for each size."""
    cells = [
        (
            {"ours": row["work"], "over": row["against"], "on": row["device"]},
            row["size"],
            f"{ratio_text(row['ratio'])} {row['verdict']}",
        )
        for row in ratios
    ]
    return _by_size(cells, sizes)


def _by_size(
    cells: Sequence[tuple[dict[str, str], int, str]], sizes: Mapping[int, str] | None = None
) -> list[dict[str, str]]:
    """Cells (of which line, in which column, the text): a line for each name, a column for each size."""
    heads = sizes or {size: size_text(size) for size in sorted({size for _, size, _ in cells})}
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for names, size, text in cells:
        line = lines.setdefault(tuple(names.values()), names | dict.fromkeys(heads.values(), "–"))
        if size in heads:
            line[heads[size]] = text
    return list(lines.values())


def counts(ratios: Sequence[Row]) -> str:
    """In how many ratios we are ahead, level and behind: of rivals, and of what bounds us.

    >>> counts([{"verdict": "ahead", "limit": False}, {"verdict": "behind", "limit": True}])
    'Of 1 ratio to rivals we are ahead in 1; of 1 to a limit we are behind in 1.'
    """
    sentences: list[str] = []
    for limit, others in ((False, "to rivals"), (True, "to a limit")):
        verdicts = [row["verdict"] for row in ratios if row["limit"] is limit]
        if verdicts:
            found = [f"{word} in {verdicts.count(word)}" for word in ("ahead", "level", "behind") if word in verdicts]
            noun = "" if sentences else " ratio" if len(verdicts) == 1 else " ratios"
            sentences.append(f"of {len(verdicts)}{noun} {others} we are {', '.join(found)}")
    text = "; ".join(sentences)
    return f"{text[:1].upper()}{text[1:]}."


def pivot(
    rows: Iterable[Row], part: str, device: str, what: str = "seconds", text: Callable[[float], str] | None = None
) -> list[dict[str, str]]:
    """Lay out a part as a table: a line for each contender, a column for each size."""
    cells = []
    for row in rows:
        if (row["part"], row["device"]) == (part, device) and what in row:
            cell = _not(row) if row[what] is None else (text or duration)(row[what])
            cells.append(({"work": row["work"], "by": row["contender"]}, row["size"], cell))
    return _by_size(cells)


def _not(row: Mapping[str, Any]) -> str:
    """That something was not tried, and what it was expected to need."""
    size, taken = row.get("expected bytes"), row.get("expected seconds")
    needs = [f"{size / 2**30:,.0f} GiB"] if size and size > 2**30 else []
    needs += [duration(taken)] if taken else []
    return f"not tried ({', '.join(needs)})" if needs else "not tried"


def beside(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Table S2: what is printed, what was measured, and the loss as a part of the network's time.

    >>> rows = [{"work": "backbone", "contender": "convnet", "seconds": 0.1},
    ...         {"work": "FastAP", "contender": "ours", "seconds": 0.002}]
    >>> [line["of the network"] for line in beside(rows)]
    ['', '2 % (printed: 0.6 %)']
    """
    rows = list(rows)
    network = next((row["seconds"] for row in rows if row["work"] == "backbone"), None)
    lines = []
    for row in rows:
        printed, seconds, part = PRINTED_MS[row["work"]], row["seconds"], ""
        if row["work"] != "backbone" and seconds is not None and network:
            part = f"{100 * seconds / network:.2g} % (printed: {100 * printed / PRINTED_MS['backbone']:.1g} %)"
        names = {"work": row["work"], "by": row["contender"], "printed": f"{printed:g} ms"}
        here = "not measured" if seconds is None else duration(seconds)
        lines.append({**names, "here": here, "of the network": part})
    return lines


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as aligned text: the first's keys are the columns; numbers have three digits, words stand to the left.

    >>> print(table([{"by": "ours", "1,000": "1 ms"}, {"by": "theirs", "1,000": "20 ms"}]))
    by      1,000
    ours     1 ms
    theirs  20 ms
    """
    if not rows:
        return "not measured"
    columns = []
    for name in rows[0]:
        values = [row.get(name) for row in rows]
        cells = ["–" if v is None else f"{v:.3g}" if isinstance(v, float) else str(v) for v in values]
        column = [name, *cells]
        width, words = max(map(len, column)), all(cell[:1].isalpha() for cell in column)
        columns.append([cell.ljust(width) if words else cell.rjust(width) for cell in column])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def ratio_text(ratio: float) -> str:
    """Two digits or three.

    >>> [ratio_text(ratio) for ratio in (0.0068, 0.5, 1.66, 112.0)]
    ['0.0068', '0.50', '1.7', '112']
    """
    digits = 0 if ratio >= 10 else 1 if ratio >= 1 else 2
    return f"{ratio:.{digits}f}" if ratio >= 0.095 else f"{ratio:.2g}"


def size_text(size: int) -> str:
    """A number with commas."""
    return f"{size:,}"


def duration(seconds: float) -> str:
    """Seconds with three digits, in the unit that suits them."""
    unit = next((unit for unit, size in _UNITS.items() if seconds < 999.5 * size), "s")
    value = seconds / _UNITS[unit]
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {unit}"


def seconds_of(text: str) -> float:
    """Read what :func:`duration` writes, and papers print."""
    value, unit = text.split()
    return round(float(value) * _UNITS[unit], 9)
