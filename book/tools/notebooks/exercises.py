"""Starter notebooks, derived from the exercises in the chapters' texts: `notebooks/exercises/NN_slug.ipynb`.

The solutions are notebooks of their own: `book/solutions/NN_slug.md` and `notebooks/solutions/NN_slug.ipynb` are pairs.
"""

import contextlib
import io
import re
import shutil
from pathlib import Path

import nbformat
from tools.notebooks.exercise_texts import GRADES, Chapter, Exercise, chapters
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tools.notebooks import pairs
from tools.site.plain import plain, quoted

from rankbook.kit.check import check, find
from rankedu.files import written

ROOT = pairs.ROOT
STARTERS, SOLUTIONS = Path("notebooks/exercises"), Path("notebooks/solutions")
_HOW = (
    "Run all cells once: every `check` then says that nothing is returned yet. Put your code in place of the three dots "
    "and run the cell again. The answer to a wrong function names an input on which it is wrong, and in which way."
)
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(chapter: Chapter) -> NotebookNode:
    """The starter notebook of a chapter."""
    cells = [new_markdown_cell(_opening(chapter))]
    if chapter.setup:
        cells.append(_code(chapter.setup, "setup"))
    for exercise in chapter.exercises:
        cells += _cells(exercise, chapter)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:03d}"
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL})


def _opening(chapter: Chapter) -> str:
    text = [
        f"# Exercises to chapter {chapter.number}: {chapter.title}",
        f"[Read the chapter](../{chapter.stem}.ipynb) · [Solutions](../{SOLUTIONS.name}/{chapter.stem}.ipynb)",
        _HOW,
        "## Objectives",
        plain(chapter.objectives, chapter.stem, STARTERS),
    ]
    return "\n\n".join(text)


def _cells(exercise: Exercise, chapter: Chapter) -> list[NotebookNode]:
    heading = f"## Exercise {exercise.number} ({GRADES[exercise.grade]}): {exercise.title}"
    text = plain(exercise.text, chapter.stem, STARTERS)
    parts = [heading, text, quoted(exercise.text, STARTERS), _asked(exercise)]
    return [new_markdown_cell("\n\n".join(filter(None, parts))), *_empty(exercise)]


def _code(source: str, *tags: str) -> NotebookNode:
    return new_code_cell(source, metadata={"tags": list(tags)})


def _asked(exercise: Exercise) -> str:
    """What `check` asks for, in its own words."""
    if exercise.grade != "code":
        return ""
    name = re.search(r'check\("(\w+)"', exercise.stub)[1]
    call, _, what = find(name).statement.partition(": ")
    return f"*What is checked:* `{call}`: {what}"


def _empty(exercise: Exercise) -> list[NotebookNode]:
    """Where the reader works."""
    if exercise.grade == "code":
        return [_code(exercise.stub, "exercise")]
    cells = [new_markdown_cell("*Your answer:*")]
    return cells + ([new_code_cell("# Your experiment.")] if exercise.grade == "research" else [])


def derived() -> dict[Path, str]:
    """Every starter notebook as it should be: path from the root of the repository → content."""
    return {STARTERS / f"{one.stem}.ipynb": nbformat.writes(notebook(one)) + "\n" for one in chapters()}


def block() -> str:
    """The list of all exercises, for the page of the book."""
    lines = []
    for chapter in chapters():
        offered = {"starter notebook": "exercises", "solutions": "solutions"}
        files = (f"{{download}}`{name} <_generated/{kind}_{chapter.stem}.ipynb>`" for name, kind in offered.items())
        lines += [f"### {chapter.number}. {chapter.title}", "", " · ".join(files), ""]
        for grade, title in GRADES.items():
            asked = [one for one in chapter.exercises if one.grade == grade]
            listed = " · ".join(f"{{ref}}`{one.number} {one.title} <{one.label}>`" for one in asked)
            lines += [f"{title.capitalize()}", f": {listed}", ""]
    return "\n".join(lines)


def feedback() -> str:
    """What `check` says to the example on the page."""
    with contextlib.redirect_stdout(io.StringIO()):  # where `check` prints outside of a notebook
        answer = check("rank_min", lambda scores: (scores[None, :] >= scores[:, None]).sum(axis=1))
    return "".join(f"> {line}".rstrip() + "\n" for line in answer._repr_markdown_().splitlines())


def write_blocks(folder: Path) -> None:
    """Write what the page includes, and the notebooks that it hands out."""
    (folder / "exercises.md").write_text(block(), encoding="utf-8")
    (folder / "exercises_feedback.md").write_text(feedback(), encoding="utf-8")
    for path, content in derived().items():
        (folder / f"exercises_{path.name}").write_text(content, encoding="utf-8")
        shutil.copy(ROOT / SOLUTIONS / path.name, folder / f"solutions_{path.name}")


def main() -> None:
    """Write all of them, and remove those that belong to no chapter."""
    wanted = derived()
    for path in (ROOT / STARTERS).glob("*.ipynb"):
        if path.relative_to(ROOT) not in wanted:
            path.unlink()
    for path, content in wanted.items():
        with written(ROOT / path) as part:
            part.write_text(content, encoding="utf-8")
