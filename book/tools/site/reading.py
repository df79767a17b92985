"""The ways through the book: needs of chapters, minutes of steps, and reading paths, also for the pages' script.

The front matter of the chapters says it, `rankedu: {chapter, needs, read, run}`, and `data/paths.yaml`.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.site import form, labels

BOOK = labels.ROOT / "book"
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_PREDICT = re.compile(r"^:class: predict\b", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)


class Chapter(NamedTuple):
    """A chapter as its front matter describes it; `read` is in minutes."""

    number: int
    stem: str
    title: str
    needs: tuple[int, ...]
    read: int

    @property
    def text(self) -> str:
        """Return its text without front matter."""
        return _FRONT.sub("", form.text(BOOK / "chapters" / f"{self.stem}.md"), count=1)

    @property
    def plain(self) -> str:
        """Return its text as it is written, without front matter."""
        return _FRONT.sub("", (BOOK / "chapters" / f"{self.stem}.md").read_text(encoding="utf-8"), count=1)


@cache
def chapters() -> Mapping[int, Chapter]:
    """Return all chapters by their numbers."""
    found = {}
    for path in sorted((BOOK / "chapters").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        front, title = _FRONT.match(text), _TITLE.search(_CELL.sub("", text))
        about = yaml.safe_load(front[1])["rankedu"]
        found[about["chapter"]] = Chapter(about["chapter"], path.stem, title[1], tuple(about["needs"]), about["read"])
    return found


def behind(number: int) -> set[int]:
    """Return all chapters on which a chapter builds, directly or indirectly."""
    needs = chapters()[number].needs
    return {*needs, *(far for near in needs for far in behind(near))}


@cache
def homes() -> Mapping[str, int]:
    """Return the number of the chapter that contains each label."""
    of = {one.stem: number for number, one in chapters().items()}
    return {label: of[target.file.stem] for label, target in labels.labels().items() if target.file.stem in of}


class Way(NamedTuple):
    """A path through the book."""

    name: str
    title: str
    purpose: str
    steps: tuple[str, ...]

    @property
    def minutes(self) -> int:
        """Return the minutes to read a chapter, a section or a page on a path."""
        return sum(map(minutes, self.steps))


@cache
def ways() -> tuple[Way, ...]:
    """Return the reading paths, in the order of `data/paths.yaml`."""
    return tuple(Way(one["name"], one["title"], one["for"], tuple(one["steps"])) for one in _listed())


def minutes(step: str) -> int:
    """Return the minutes to read a chapter, a section or a page on a path."""
    return stated().get(step) or chapters()[int(step.removeprefix("ch-"))].read


@cache
def stated() -> dict[str, int]:
    """Return the stated minutes of sections and pages on the paths."""
    return {name: time for one in _listed() for name, time in one["steps"].items() if time}


def _listed() -> list[dict[str, Any]]:
    return yaml.safe_load((BOOK / "data" / "paths.yaml").read_text(encoding="utf-8"))


def times() -> dict[str, int]:
    """Return the minutes of every page with a stated time."""
    found = {f"chapters/{one.stem}.html": one.read for one in chapters().values()}
    return found | {f"{step}.html": time for step, time in stated().items() if step not in homes()}


def script_data() -> dict[str, Any]:
    """Return every path with its steps, and every page with its minutes and number of predictions."""
    pages = {
        page: {"minutes": time, "predictions": len(_PREDICT.findall(_text(page.removesuffix(".html"))))}
        for page, time in sorted(times().items())
    }
    listed = [{"name": way.name, "title": way.title, "steps": list(map(_step, way.steps))} for way in ways()]
    return {"ways": listed, "pages": pages}


def _text(page: str) -> str:
    return form.text(BOOK / f"{page}.md")


def _step(step: str) -> dict[str, Any]:
    """Return the address of a step from the root of the book, its title and its minutes."""
    if step not in homes():
        return {"address": f"{step}.html", "title": _TITLE.findall(_text(step))[0], "minutes": minutes(step)}
    chapter, whole = chapters()[homes()[step]], step.startswith("ch-")
    title = f"{chapter.number}. {chapter.title}" if whole else labels.labels()[step].title
    address = f"chapters/{chapter.stem}.html" + ("" if whole else f"#{step}")
    return {"address": address, "title": re.sub(r"[$`*]", "", title), "minutes": minutes(step)}


def write_script(folder: Path) -> None:
    """Write the data as a script, because a page from the file system can load nothing else."""
    encoded = json.dumps(script_data(), ensure_ascii=False, indent=1)
    text = f"/* Made by book/tools/site/reading.py. */\nwindow.bookPaths = {encoded};\n"
    (folder / "paths.js").write_text(text, encoding="utf-8")
