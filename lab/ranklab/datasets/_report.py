"""What a check of a data set found, and how it is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Count", "Report", "complaint"]


@dataclass(frozen=True)
class Count:
    """How many there are of something in one part of a data set, and how many there should be, if it is known."""

    part: str
    what: str
    found: int
    published: int | None = None

    @property
    def ok(self) -> bool:
        return self.published in (None, self.found)


@dataclass(frozen=True)
class Report:
    """What :func:`ranklab.datasets.check` found."""

    name: str
    title: str
    folder: Path | None
    counts: tuple[Count, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counted_by: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything is as published."""
        return not self.problems and all(count.ok for count in self.counts)

    def __str__(self) -> str:
        lines = [f"{self.title}{f' in {self.folder}' if self.folder else ''}"]
        for count in self.counts:
            if count.published is None:
                note = "no published count"
            else:
                note = "as published" if count.ok else f"published: {count.published:,}"
            mark = "✗" if not count.ok else "✓" if count.published else " "
            lines.append(f"{mark} {count.part:16}{count.what:16}{count.found:>9,}  {note}")
        lines += [f"✗ {problem}" for problem in self.problems] + [f"  {note}" for note in self.notes]
        if self.counted_by:
            lines.append(f"  Published counts: {self.counted_by}.")
        wrong = sum(not count.ok for count in self.counts) + len(self.problems)
        differ = "1 thing differs." if wrong == 1 else f"{wrong} things differ."
        return "\n".join([*lines, differ if wrong else "Nothing differs."])


def complaint(paths: Sequence[Path], one: str, many: str, remedy: str) -> list[str]:
    """A complaint about files that names the first three."""
    if not paths:
        return []
    names = ", ".join(map(str, paths[:3])) + (", …" if len(paths) > 3 else "")
    return [f"{len(paths):,} {one if len(paths) == 1 else many}: {names} ({remedy})"]
