"""Read the exercises of a chapter: the task and the solution, in the form of the pages."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jupytext

from tools.site import form, labels

GRADES = {"hand": "by hand", "code": "with code", "research": "research"}


@dataclass
class Exercise:
    """An exercise of a chapter; the parts of its solution are ("markdown" or "code", source)."""

    label: str
    number: str
    title: str
    text: str
    solution: list[tuple[str, str]]

    @property
    def grade(self) -> str:
        """Return the grade: hand, code or research."""
        return self.label.split("-")[2]


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
    known = labels.labels()
    solutions = form.solved(jupytext.read(path.parents[1] / "solutions" / path.name))
    texts = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "markdown"]
    found = []
    for match in (match for text in texts for match in form.EXERCISE.finditer(text)):
        label, text = match["label"], form.markdown(match["body"]).strip()
        solution = [(cell.cell_type, cell.source) for cell in solutions[label]]
        found.append(Exercise(label, known[label].number, match["title"], text, solution))
    return Chapter(path.stem, known[f"ch-{path.stem[:2]}"].title, tuple(found))
