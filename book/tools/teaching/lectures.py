"""Four lectures (`data/lectures.yaml`) and twelve meetings (`data/syllabus.yaml`), and their plans for teachers."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import yaml
from tabulate import tabulate

from rankedu_book.figures import FIGURES
from tools.site import form, labels
from tools.site.figures import pages
from tools.site.reading import BOOK, chapters

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
#: A prediction, or a figure to play with, and the minutes for each of them, added to those of the text.
TO_TRY, TRYING = re.compile(r"\{play\}|^play\(|^:class: predict\b", re.MULTILINE), 2
GRADES = {"hand": "by hand", "code": "with code", "research": "open-ended"}


class Question(NamedTuple):
    """A prediction for the audience, and the facts that the audience needs for it."""

    chapter: int
    section: str
    text: str
    given: str = ""


class Picture(NamedTuple):
    """A figure of a chapter, and what to see in it."""

    label: str
    say: str

    @property
    def chapter(self) -> int:
        """Return the number of its chapter."""
        return int(self.label[4:6])


class Lecture(NamedTuple):
    """A lecture, or a meeting, with the chapters to read before it and the exercises after it."""

    number: int
    title: str
    chapters: tuple[int, ...]
    exercises: tuple[str, ...]
    aims: tuple[str, ...] = ()
    slides: tuple[Question | Picture, ...] = ()


@cache
def lectures() -> tuple[Lecture, ...]:
    """Return all lectures, in order."""
    listed = yaml.safe_load((BOOK / "data" / "lectures.yaml").read_text(encoding="utf-8"))
    return tuple(
        Lecture(number, **{**one, "slides": tuple(map(_slide, one["slides"]))}) for number, one in enumerate(listed, 1)
    )


def meetings() -> tuple[Lecture, ...]:
    """Return the twelve meetings of a term."""
    listed = yaml.safe_load((BOOK / "data" / "syllabus.yaml").read_text(encoding="utf-8"))
    return tuple(Lecture(number, **one) for number, one in enumerate(listed, 1))


def _slide(entry: dict[str, Any]) -> Question | Picture:
    """Return a figure, or the only prediction of a chapter that contains certain words."""
    if "figure" in entry:
        return Picture(entry["figure"], entry["say"])
    chapter, words = entry["predict"], entry["words"]
    text = chapters()[chapter].plain
    found = [match for match in form.PREDICT.finditer(text) if words in " ".join(form.asked(match).split())]
    if len(found) != 1:
        wanted = f"words must be those of one prediction of chapter {chapter}"
        raise ValueError(f"{wanted}, got {words!r}, which {len(found)} have: correct data/lectures.yaml")
    section = _HEADING.findall(text[: found[0].start()])[-1]
    return Question(chapter, section, form.asked(found[0]), entry.get("given", ""))


def exercises(lecture: Lecture) -> list[tuple[str, str, str]]:
    """Return label, title and grade of each exercise of a lecture."""
    return [(label, labels.labels()[label].title, GRADES[label.split("-")[2]]) for label in lecture.exercises]


def markdown() -> str:
    """Return the plans of all lectures for the page for teachers."""
    return "\n\n".join(map(_plan, lectures())) + "\n"


def _plan(lecture: Lecture) -> str:
    """Return aims, reading, course and exercises of a lecture."""
    read = ", ".join(f"{{ref}}`{number} {chapters()[number].title} <ch-{number:02d}>`" for number in lecture.chapters)
    needed = f"chapter{'s' if len(lecture.chapters) > 1 else ''}"
    minutes = sum(chapters()[number].read for number in lecture.chapters)
    link = f'<p><a href="_static/slides/lecture-{lecture.number}.html">Slides of lecture {lecture.number}</a></p>'
    parts = [
        f"## Lecture {lecture.number}: {lecture.title}",
        f"```{{raw}} html\n{link}\n```",
        f"**Prepare** with {needed} {read}: {minutes} minutes for the text alone.",
        "**Aims.** Afterwards the audience can",
        "\n".join(f"* {aim}" for aim in lecture.aims),
        "**Course.**",
        "\n".join(f"1. {_step(slide)}" for slide in lecture.slides),
        "**Exercises to set.**",
        "\n".join(f"* {{ref}}`{label}`, *{title}*, {grade}" for label, title, grade in exercises(lecture)),
    ]
    return "\n\n".join(parts)


def _step(slide: Question | Picture) -> str:
    if isinstance(slide, Picture):
        return f"{slide.say}: {{numref}}`{slide.label}`."
    text = form.markdown(" ".join(slide.text.split()))
    first = re.match(r".*?[.?!](?=\s|$)", text)
    where = f"{{ref}}`chapter {slide.chapter} <ch-{slide.chapter:02d}>`, {slide.section}"
    return f"*Predict* ({where}): {first[0] if first else text} …"


def table(plan: Iterable[Lecture]) -> str:
    """Return a table with a row per meeting: what to read, the figures to move with everybody, and what to hand in."""
    rows, captions = [], {}
    for name, page in pages().items():
        if page.startswith("chapters/"):
            captions.setdefault(int(page[9:11]), FIGURES[name].caption)  # short chapters have none
    for one in plan:
        parts = [chapters()[number] for number in one.chapters]
        read = "; ".join(
            f"{{ref}}`{part.number} {part.title} <ch-{part.number:02d}>`, {part.read} min" for part in parts
        )
        tries = sum(len(TO_TRY.findall(part.text)) for part in parts)
        read += f"; {tries} to try: in all {sum(part.read for part in parts) + TRYING * tries} min"
        moved = " ".join(captions[number] for number in one.chapters if number in captions)
        handed = "; ".join(f"{{ref}}`{title} <{label}>`" for label, title, _ in exercises(one))
        rows.append((f"{one.number}. {one.title}", read, moved, handed))
    return tabulate(rows, ["meeting", "to read before it", "with everybody", "to hand in"], tablefmt="github") + "\n"
