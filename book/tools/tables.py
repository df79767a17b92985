"""Tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], left: int | None = None) -> str:
    """Return a table with these heads; the first `left` columns hold text, by default all of them.

    >>> print(table(["loss", "R@1"], [["AP loss", 0.5]], left=1))
    | loss | R@1 |
    |---|---:|
    | AP loss | 0.5 |
    """
    left = len(heads) if left is None else left
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * left}{'---:|' * (len(heads) - left)}"]
    lines += [f"| {' | '.join(str(cell) or ' ' for cell in row)} |" for row in rows]
    return "\n".join(lines)


def of_rows(rows: Sequence[Mapping[str, object]], left: int | None = None) -> str:
    """Return a table whose heads are the keys of its rows."""
    return table(list(rows[0]), [list(row.values()) for row in rows], left)
