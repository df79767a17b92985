"""Read the exercises out of a chapter's text: what is asked, the reader's stub, the solution, what it needs."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.site import form, labels
from nbformat import NotebookNode

GRADES = {"hand": "by hand", "code": "with code", "research": "research"}
_DIRECTIVE = re.compile(
    r"^:::\{(?P<kind>exercise|solution|solution-start|solution-end)\} ?(?P<argument>[^\n]*)\n(?P<body>.*?)^:::[ ]*$",
    re.DOTALL | re.MULTILINE,
)
_OPTIONS = re.compile(r"\A(?::[\w-]+:[^\n]*\n)+")


@dataclass
class Exercise:
    """One exercise of a chapter; parts of a solution are ("markdown" or "code", source)."""

    label: str
    number: str
    title: str
    text: str
    stub: str = ""
    solution: list[tuple[str, str]] = field(default_factory=list)

    @property
    def grade(self) -> str:
        """hand, code or research."""
        return self.label.split("-")[2]

    @property
    def code(self) -> list[str]:
        """The cells of the solution."""
        return [source for kind, source in self.solution if kind == "code"]


class Chapter(NamedTuple):
    """What the exercises of a chapter are made from."""

    stem: str
    title: str
    objectives: str
    exercises: tuple[Exercise, ...]
    setup: str  #: What they need of it.

    @property
    def number(self) -> int:
        """Its number in the book."""
        return int(self.stem[:2])


@cache
def chapters() -> tuple[Chapter, ...]:
    """All chapters, in the order of the book."""
    return tuple(read(path) for path in sorted((labels.ROOT / "book" / "chapters").glob("*.md")))


def read(path: Path) -> Chapter:
    """One chapter."""
    cells = form.book(path).cells
    target = labels.labels()[f"ch-{path.stem[:2]}"]
    pattern = re.compile(r"^## Objectives\n+(.*?)(?=^## |^\(|\Z)", re.DOTALL | re.MULTILINE)
    objectives = next(filter(None, (pattern.search(cell.source) for cell in cells)))
    exercises = _exercises(cells)
    return Chapter(path.stem, target.title, objectives[1].strip(), tuple(exercises), _setup(cells, exercises))


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
                solving = argument  # the end has none
            elif kind == "solution" or solving:
                found[argument or solving].solution.append(("markdown", _OPTIONS.sub("", text).strip()))
    return list(found.values())


def _directives(source: str) -> Iterator[tuple[str, str, str]]:
    """Directives and the text between them, as (kind, argument, body)."""
    at = 0
    for match in [*_DIRECTIVE.finditer(source), None]:
        if between := source[at : match.start() if match else None].strip():
            yield "text", "", between
        if match:
            yield match["kind"], match["argument"].strip(), match["body"]
            at = match.end()


def _setup(cells: list[NotebookNode], exercises: list[Exercise]) -> str:
    """The chapter's imports, as far as the exercises need them, and its cells that are tagged `setup`."""
    code = [(cell.source, cell.metadata.get("tags", [])) for cell in cells if cell.cell_type == "code"]
    shared = [source for source, tags in code if "setup" in tags]
    sources = (source for exercise in exercises for source in [exercise.stub, *exercise.code])
    nodes = [node for source in [*shared, *sources] for node in ast.walk(ast.parse(source))]
    needed = {node.id for node in nodes if isinstance(node, ast.Name)}
    lines: dict[str, None] = {}
    for source, tags in code:
        if "solution" not in tags:
            for node in ast.parse(re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE)).body:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    node.names = [one for one in node.names if (one.asname or one.name.split(".")[0]) in needed]
                    lines |= {ast.unparse(node): None} if node.names else {}
    return "\n\n\n".join(filter(None, ["\n".join(lines), *shared]))
