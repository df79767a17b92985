"""How the book can be read: which chapter needs which, how long a section takes, and paths through both.

All of it comes from the front matter of the chapters, `rankedu: {chapter, needs, read, run}`, and from their words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tools.site import labels

ROOT = Path(__file__).resolve().parents[3]
BOOK = ROOT / "book"
#: What the minutes of a chapter do not count: exercises take as long as they take, the rest is for looking up.
LATER = ("Exercises", "Self-test", "Paper map", "Further reading")
#: Minutes for a prediction or an explorable on a page; a chapter counts them in the minutes that it states.
TO_TRY = 2
#: Minutes that the story of a chapter may take, without what `LATER` names.
MOST = 25
_TRY = re.compile(r"\{(?:explorable|live)\}|^:class: predict ", re.MULTILINE)
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"\{(ref|eq|numref|prf:ref)\}`(?:[^`<]*<)?([\w-]+)>?`")


@dataclass(frozen=True)
class Chapter:
    """A chapter as its front matter tells it."""

    number: int
    stem: str
    title: str
    needs: tuple[int, ...]
    read: int  # minutes

    @property
    def text(self) -> str:
        """Its text, without front matter."""
        return _FRONT.sub("", (BOOK / "chapters" / f"{self.stem}.md").read_text(encoding="utf-8"), count=1)


@cache
def chapters() -> Mapping[int, Chapter]:
    """All chapters by their number."""
    found = {}
    for path in sorted((BOOK / "chapters").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        match, title = _FRONT.match(text), re.search(r"^# (.+)$", _CELL.sub("", text), re.MULTILINE)
        if not match or not title:
            raise ValueError(f"{path.name} must begin with a front matter and have a title")
        about: dict[str, Any] = yaml.safe_load(match[1])["rankedu"]
        number = about["chapter"]
        found[number] = Chapter(number, path.stem, title[1], tuple(about["needs"]), about["read"])
    return found


def behind(number: int) -> set[int]:
    """All chapters that a chapter builds on, however indirectly."""
    needs = chapters()[number].needs
    return {*needs, *(far for near in needs for far in behind(near))}


def superfluous(number: int) -> set[int]:
    """What a chapter says it needs although another of its needs brings it along."""
    needs = chapters()[number].needs
    return {one for one in needs for other in needs if one in behind(other)}


@cache
def homes() -> Mapping[str, int]:
    """Label → chapter in which it stands."""
    of = {one.stem: number for number, one in chapters().items()}
    return {label: of[target.file.stem] for label, target in labels.labels().items() if target.file.stem in of}


def leans_on(number: int, *, firmly: bool = True) -> set[int]:
    """Earlier chapters whose equations, statements and figures a chapter uses.

    Not firmly, it is enough to point at a section or at the whole of a chapter. What comes after *Further reading*
    never counts.
    """
    text = chapters()[number].text.partition("\n## Further reading")[0]
    labels = {label for role, label in _REFERENCE.findall(text) if not firmly or role != "ref"}
    return {home for label in labels if (home := homes().get(label, number)) < number}


def pace(words: int, formulas: int) -> float:
    """Minutes that a student with a pencil takes: 130 words a minute, and 20 seconds for a display formula."""
    return words / 130 + formulas / 3


def words(text: str) -> int:
    """How many words there are to read; code is not counted."""
    return len(_CELL.sub("", text).split())


def section(label: str) -> tuple[Chapter, str, str]:
    """The chapter, the title and the text of a section that bears a label."""
    chapter = chapters()[homes()[label]]
    match = re.search(rf"^\({label}\)=\n(#+) (.+)$", chapter.text, re.MULTILINE)
    if not match:
        raise ValueError(f"label must stand before a heading, got {label!r} in {chapter.stem}.md")
    rest = chapter.text[match.end() :]
    return (
        chapter,
        match[2],
        re.split(rf"^#{{1,{len(match[1])}}} ", _CELL.sub("", rest), maxsplit=1, flags=re.MULTILINE)[0],
    )


def minutes(step: str) -> int:
    """Minutes that a chapter, a section of one, or a page takes to read, from the minutes that chapters state."""
    if match := re.fullmatch(r"ch-(\d\d)", step):
        return chapters()[int(match[1])].read
    if step in homes():
        chapter, _, text = section(step)
        return max(1, round(words(text) / rate(chapter)))
    every = chapters().values()
    mean = sum(rate(chapter) * chapter.read for chapter in every) / sum(chapter.read for chapter in every)
    text = (BOOK / f"{step}.md").read_text(encoding="utf-8")
    return max(1, round(words(text) / mean + TO_TRY * len(_TRY.findall(text))))


def rate(chapter: Chapter) -> float:
    """Words a minute, by what a chapter says of itself."""
    parts = re.split(r"^## (.+)$", _CELL.sub("", chapter.text), flags=re.MULTILINE)
    counted = [text for title, text in zip(["", *parts[1::2]], parts[::2], strict=True) if title not in LATER]
    return sum(map(words, counted)) / chapter.read


@dataclass(frozen=True)
class Way:
    """A path through the book."""

    name: str
    title: str
    purpose: str
    steps: tuple[str, ...]

    @property
    def minutes(self) -> int:
        """What all its steps take together."""
        return sum(map(minutes, self.steps))


@cache
def ways() -> tuple[Way, ...]:
    """The reading paths, in the order of `data/paths.yaml`."""
    listed = yaml.safe_load((BOOK / "data" / "paths.yaml").read_text(encoding="utf-8"))
    return tuple(Way(one["name"], one["title"], one["for"], tuple(one["steps"])) for one in listed)
