"""What the lab `speed` has measured, and the tables of its notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankedu.lab.experiments._speed_backbone import PRINTED as PRINTED_MS
from rankedu.lab.experiments._speed_tables import (
    compare,
    counts,
    duration,
    exponent_text,
    metrics_of,
    pivot,
    ratio_table,
    size_text,
)

__all__ = ["Speed", "beside", "table"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Speed:
    """What was measured.

    Attributes
    ----------
    rows : list of dict
        ``device``, ``part``, ``work``, ``contender``, ``size``, what was found, and a ``note`` where it was not.
    machine : dict
        The processor by its name, the GPU if one was used, and torch's threads.
    """

    rows: list[Row]
    machine: dict[str, Any]

    @property
    def metrics(self) -> dict[str, Any]:
        """All numbers, nested by device, part, what was done, who did it, and size."""
        return metrics_of(self.rows)

    def of(self, part: str, device: str = "cpu") -> list[Row]:
        """The rows of one part on one device."""
        return [row for row in self.rows if (row["part"], row["device"]) == (part, device)]

    def devices(self, part: str) -> list[str]:
        """Where a part was measured, at least some of it."""
        timed = (row["device"] for row in self.rows if row["part"] == part and row.get("seconds") is not None)
        return list(dict.fromkeys(timed))

    def notes(self) -> list[str]:
        """Why something was not measured, a line each."""
        lines = []
        for row in self.rows:
            if row.get("note"):
                what = ", ".join(filter(None, (row["device"], row["part"], row["work"], row["contender"])))
                at = f" at {size_text(row['size'])}" if row["size"] else ""
                lines.append(f"{what}{at}: {row['note']}")
        return lines

    def ratios(self, part: str) -> str:
        """Our time over everybody else's, with verdicts, and how many there are of each."""
        found = [row for row in compare(self.rows) if row["part"] == part]
        return f"{table(ratio_table(found))}\n\n{counts(found)}" if found else "not measured"

    def table(self, part: str, device: str) -> list[dict[str, str]]:
        """Seconds: a line for each contender, a column for each size."""
        return pivot(self.rows, part, device)

    def memory_table(self) -> list[Row]:
        """Bytes a score: a line for each loss."""
        return [
            {"on": row["device"], "loss": row["work"], "by": row["contender"], size_text(row["size"]): found}
            for row in self.rows
            if (found := row.get("bytes a score")) is not None
        ]

    def growth_table(self, device: str) -> list[dict[str, str]]:
        """Exponents: a line for each method that was measured."""
        return [
            {
                "method": row["work"],
                "printed": row["printed"] or "–",
                "n": exponent_text(row["n"], row["n margin"]),
                "n claimed": f"{row['n claimed']:.2f}",
                "p": exponent_text(row["p"], row["p margin"]),
                "p claimed": f"{abs(row['p claimed']):.2f}",
                "lists": f"{size_text(row['from'])} to {size_text(row['to'])}",
                "the largest": duration(row["seconds"]),
            }
            for row in self.of("growth", device)
            if row.get("n") is not None
        ]

    def backbone_table(self, device: str) -> list[dict[str, str]]:
        """Milliseconds of the network and of each loss, printed and here."""
        return beside(self.of("backbone", device))


def beside(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Table S2: what is printed, what was measured, and the loss as a part of the network's time.

    Parameters
    ----------
    rows : sequence of mapping
        Those of the part "backbone" on one device.

    Returns
    -------
    list of dict
        Texts.

    Examples
    --------
    >>> rows = [{"work": "backbone", "contender": "convnet", "seconds": 0.1},
    ...         {"work": "FastAP", "contender": "ours", "seconds": 0.002}]
    >>> [line["of the network"] for line in beside(rows)]
    ['', '2 % (printed: 0.6 %)']
    """
    network = next((row["seconds"] for row in rows if row["work"] == "backbone"), None)
    lines = []
    for row in rows:
        printed = PRINTED_MS[row["work"]]
        line = {"work": row["work"], "by": row["contender"], "printed": f"{printed:g} ms"}
        line["here"] = "not measured" if row["seconds"] is None else duration(row["seconds"])
        line["of the network"] = ""
        if row["work"] != "backbone" and row["seconds"] is not None and network:
            parts = 100 * row["seconds"] / network, 100 * printed / PRINTED_MS["backbone"]
            line["of the network"] = "{:.2g} % (printed: {:.1g} %)".format(*parts)
        lines.append(line)
    return lines


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as aligned text; numbers with three digits, words to the left.

    Parameters
    ----------
    rows : sequence of mapping
        The columns are the keys of the first.

    Returns
    -------
    str

    Examples
    --------
    >>> print(table([{"by": "ours", "1,000": "1 ms"}, {"by": "theirs", "1,000": "20 ms"}]))
    by      1,000
    ours     1 ms
    theirs  20 ms
    """
    if not rows:
        return "not measured"
    names = list(rows[0])
    lines = [names, *([_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(names))]
    left = [all(line[place][:1].isalpha() for line in lines) for place in range(len(names))]
    texts = []
    for line in lines:
        cells = zip(line, widths, left, strict=True)
        texts.append("  ".join(f"{cell:<{width}}" if words else f"{cell:>{width}}" for cell, width, words in cells))
    return "\n".join(text.rstrip() for text in texts)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
