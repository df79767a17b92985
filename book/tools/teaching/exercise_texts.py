"""Read the exercises of a chapter: the task, the reader's stub and the solution."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from tools.site import form, labels

GRADES = {"hand": "by hand", "code": "with code", "research": "research"}
_DIRECTIVE = re.compile(
    r"^:::\{(?P<kind>exercise|solution|solution-start|solution-end)\} ?(?P<argument>[^\n]*)\n(?P<body>.*?)^:::[ ]*$",
    re.DOTALL | re.MULTILINE,
)
_OPTIONS = re.compile(r"\A(?::[\w-]+:[^\n]*\n)+")


@dataclass
class Exercise:
    """An exercise of a chapter; the parts of its solution are ("markdown" or "code", source)."""

    label: str
    number: str
    title: str
    text: str
    stub: str = ""
    solution: list[tuple[str, str]] = field(default_factory=list)

    @property
    def grade(self) -> str:
        """Return the grade: hand, code or research."""
        return self.label.split("-")[2]

    @property
    def code(self) -> list[str]:
        """Return the cells of code of the solution."""
        return [source for kind, source in self.solution if kind == "code"]


class Chapter(NamedTuple):
    """A chapter with its exercises."""

    stem: str
    title: str
    exercises: tuple[Exercise, ...]

    @property
    def number(self) -> int:
        """Return the number of the chapter."""
        return int(self.stem[:2])


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return all chapters, in the order of the book."""
    return tuple(read(path) for path in sorted((labels.ROOT / "book" / "chapters").glob("*.md")))


def read(path: Path) -> Chapter:
    """Read the exercises of a chapter."""
    title = labels.labels()[f"ch-{path.stem[:2]}"].title
    return Chapter(path.stem, title, tuple(_exercises(form.book(path).cells)))


def _exercises(cells: list[NotebookNode]) -> list[Exercise]:
    found: dict[str, Exercise] = {}
    current, solving = "", ""
    for cell in cells:
        if cell.cell_type == "code":
            if "exercise" in cell.metadata.get("tags", []):
                found[current].stub = cell.source
            elif solving:
                found[solving].solution.append(("code", cell.source))
            continue
        for kind, argument, text in _directives(cell.source):
            if kind == "exercise":
                current = re.search(r"ch\d\d-ex-\w+-\d+", text)[0]
                number = labels.labels()[current].number
                found[current] = Exercise(current, number, argument, _OPTIONS.sub("", text).strip())
            elif kind in ("solution-start", "solution-end"):
                solving = argument  # the end has no argument
            elif kind == "solution" or solving:
                found[argument or solving].solution.append(("markdown", _OPTIONS.sub("", text).strip()))
    return list(found.values())


def _directives(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield directives and the text between them, as (kind, argument, body)."""
    at = 0
    for match in [*_DIRECTIVE.finditer(source), None]:
        if between := source[at : match.start() if match else None].strip():
            yield "text", "", between
        if match:
            yield match["kind"], match["argument"].strip(), match["body"]
            at = match.end()
