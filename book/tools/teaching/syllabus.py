"""The syllabi of four and of twelve meetings, from `data/lectures.yaml`, `data/syllabus.yaml` and the chapters."""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import yaml
from tabulate import tabulate

from rankedu_book.figures import FIGURES
from tools.site import labels
from tools.site.figures import pages
from tools.site.reading import BOOK, chapters
from tools.teaching import lectures

#: A prediction, or a figure to play with.
TO_TRY = re.compile(r"\{play\}|^play\(|^:class: predict\b", re.MULTILINE)
#: Minutes for each of them, added to those of the text.
TRYING = 2


class Meeting(NamedTuple):
    """The reading before a meeting, and the exercises after it."""

    title: str
    chapters: tuple[int, ...]
    exercises: tuple[str, ...]


def four() -> list[Meeting]:
    """Return the meetings of the four lectures."""
    return [Meeting(one.title, one.chapters, one.exercises) for one in lectures.lectures()]


def twelve() -> list[Meeting]:
    """Return the meetings of a term."""
    listed = yaml.safe_load((BOOK / "data" / "syllabus.yaml").read_text(encoding="utf-8"))
    return [Meeting(one["title"], tuple(one["chapters"]), tuple(one["exercises"])) for one in listed]


def table(meetings: Iterable[Meeting]) -> str:
    """Return a table with a row per meeting."""
    rows = []
    for number, one in enumerate(meetings, 1):
        read = "; ".join(
            f"{{ref}}`{chapters()[n].number} {chapters()[n].title} <ch-{n:02d}>`, {chapters()[n].read} min"
            for n in one.chapters
        )
        tries = sum(len(TO_TRY.findall(chapters()[n].text)) for n in one.chapters)
        read += f"; {tries} to try: in all {sum(chapters()[n].read for n in one.chapters) + TRYING * tries} min"
        moved = " ".join(pictures()[n] for n in one.chapters if n in pictures())
        handed = "; ".join(f"{{ref}}`{labels.labels()[label].title} <{label}>`" for label in one.exercises)
        rows.append((f"{number}. {one.title}", read, moved, handed))
    return tabulate(rows, ["meeting", "to read before it", "with everybody", "to hand in"], tablefmt="github") + "\n"


@cache
def pictures() -> dict[int, str]:  # short chapters have none
    """Return the caption of the figure to play with of each chapter that has one."""
    found: dict[int, str] = {}
    for name, page in pages().items():
        if page.startswith("chapters/"):
            found.setdefault(int(page[9:11]), FIGURES[name].caption)
    return found


def blocks() -> dict[str, str]:
    """Return the blocks that the page includes."""
    return {"syllabus_four": table(four()), "syllabus_twelve": table(twelve())}
