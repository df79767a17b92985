"""The four lectures of `data/lectures.yaml`, with texts of the chapters, and their plans on the page for teachers."""

import re
from functools import cache
from typing import Any, NamedTuple

import yaml

from tools.site import form, labels
from tools.site.reading import BOOK, chapters

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
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
    """A lecture."""

    number: int
    title: str
    chapters: tuple[int, ...]
    aims: tuple[str, ...]
    slides: tuple[Question | Picture, ...]
    exercises: tuple[str, ...]


@cache
def lectures() -> tuple[Lecture, ...]:
    """Return all lectures, in order."""
    listed = yaml.safe_load((BOOK / "data" / "lectures.yaml").read_text(encoding="utf-8"))
    return tuple(
        Lecture(number, **{**one, "slides": tuple(map(_slide, one["slides"]))}) for number, one in enumerate(listed, 1)
    )


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
