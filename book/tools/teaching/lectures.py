"""The four lectures of `data/lectures.yaml`: what is said there, joined with what the chapters say."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tools.site import labels
from tools.site.reading import BOOK, chapters, minutes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREDICT = re.compile(
    r"^(?P<fence>:{3,})\{admonition\} Predict\n:class: predict \w+\n(?P<question>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
GRADES = {"hand": "by hand", "code": "with code", "research": "open-ended"}


@dataclass(frozen=True)
class Question:
    """A prediction to put to the audience."""

    chapter: int
    section: str
    text: str  # MyST
    given: str = ""  # what the audience must be told first


@dataclass(frozen=True)
class Picture:
    """A figure of a chapter, and what to see in it."""

    label: str
    draw: str  # below rankbook.kit.figures
    say: str

    @property
    def caption(self) -> str:
        """As the chapter has it, in MyST."""
        return labels.labels()[self.label].title

    def figure(self) -> Figure:
        """Drawn afresh."""
        module, _, name = self.draw.rpartition(".")
        made: Figure = getattr(importlib.import_module(f"rankbook.kit.figures.{module}"), name)()
        return made


@dataclass(frozen=True)
class Lecture:
    """One of the lectures."""

    number: int
    title: str
    chapters: tuple[int, ...]
    aims: tuple[str, ...]
    slides: tuple[Question | Picture, ...]
    exercises: tuple[str, ...]

    @property
    def minutes(self) -> int:
        """What reading its chapters takes."""
        return sum(minutes(f"ch-{number:02d}") for number in self.chapters)


@cache
def lectures() -> tuple[Lecture, ...]:
    """All of them, in order."""
    listed = yaml.safe_load((BOOK / "data" / "lectures.yaml").read_text(encoding="utf-8"))
    return tuple(
        Lecture(
            number,
            one["title"],
            tuple(one["chapters"]),
            tuple(one["aims"]),
            tuple(_slide(slide) for slide in one["slides"]),
            tuple(one["exercises"]),
        )
        for number, one in enumerate(listed, 1)
    )


def _slide(entry: Mapping[str, Any]) -> Question | Picture:
    if "predict" in entry:
        return find_question(**{("chapter" if name == "predict" else name): value for name, value in entry.items()})
    return Picture(**{("label" if name == "figure" else name): value for name, value in entry.items()})


def find_question(chapter: int, words: str, given: str = "") -> Question:
    """The one prediction of a chapter that has these words."""
    text = chapters()[chapter].text
    found = [match for match in _PREDICT.finditer(text) if words in " ".join(match["question"].split())]
    if len(found) != 1:
        raise ValueError(
            f"words must be those of one prediction of chapter {chapter}, got {words!r}, which {len(found)} have: "
            "correct data/lectures.yaml"
        )
    section = _HEADING.findall(text[: found[0].start()])[-1]
    return Question(chapter, section, found[0]["question"].strip(), given)


def markdown() -> str:
    """What the page for teachers includes: a plan of each lecture."""
    return "\n\n".join(map(_plan, lectures())) + "\n"


def _plan(lecture: Lecture) -> str:
    """Aims, reading, course and exercises of a lecture."""
    read = ", ".join(f"{{ref}}`{number} {chapters()[number].title} <ch-{number:02d}>`" for number in lecture.chapters)
    aims = "\n".join(f"* {aim}" for aim in lecture.aims)
    course = "\n".join(f"1. {_step(slide)}" for slide in lecture.slides)
    exercises = "\n".join(
        f"* {{ref}}`{label}`, *{labels.labels()[label].title}*, {GRADES[label.split('-')[2]]}"
        for label in lecture.exercises
    )
    link = f'<p><a href="_static/slides/{file_name(lecture)}">Slides of lecture {lecture.number}</a></p>'
    parts = [
        f"## Lecture {lecture.number}: {lecture.title}",
        f"```{{raw}} html\n{link}\n```",
        f"**Prepare** with {_chapters(lecture.chapters)} {read}: {lecture.minutes} minutes of reading.",
        f"**Aims.** Afterwards the audience can\n\n{aims}",
        f"**Course.**\n\n{course}",
        f"**Exercises to set.**\n\n{exercises}",
    ]
    return "\n\n".join(parts)


def _chapters(numbers: Sequence[int]) -> str:
    return "chapter" if len(numbers) == 1 else "chapters"


def _step(slide: Question | Picture) -> str:
    if isinstance(slide, Picture):
        return f"{slide.say}: {{numref}}`{slide.label}`."
    text = " ".join(slide.text.split())
    first = re.match(r".*?[.?!](?=\s|$)", text)
    where = f"{{ref}}`chapter {slide.chapter} <ch-{slide.chapter:02d}>`, {slide.section}"
    return f"*Predict* ({where}): {first[0] if first else text} …"


def file_name(lecture: Lecture) -> str:
    """The file of its slides."""
    return f"lecture-{lecture.number}.html"


def needs() -> list[Path]:
    """The files that decide what the slides show."""
    shown = {number for lecture in lectures() for number in lecture.chapters}
    texts = [BOOK / "chapters" / f"{chapters()[number].stem}.md" for number in sorted(shown)]
    own = [BOOK / "tools" / name for name in ("teaching/lectures.py", "teaching/slides.py", "site/typeset.py")]
    own.append(BOOK / "data" / "lectures.yaml")
    return [*texts, *own, BOOK / "_templates" / "slides.html"]
