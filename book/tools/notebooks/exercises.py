"""Starter notebooks, derived from the chapters: `notebooks/exercises/NN_slug.ipynb`.

A starter has a chapter's imports, its cells tagged `setup`, and its exercises, each with room for an answer.
"""

import re
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tools.notebooks.pairs import ROOT

from rankedu_book.kit.check import find
from rankedu.files import written

STARTERS, SOLUTIONS = Path("notebooks/exercises"), Path("notebooks/solutions")
_HOW = (
    "Run all cells once: every `check` then says that nothing is returned yet. Put your code in place of the three dots "
    "and run the cell again. The answer to a wrong function names an input on which it is wrong, and in which way."
)
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_OBJECTIVES = re.compile(r"^## Objectives\n+(.*?)(?=^## |^<a id|\Z)", re.DOTALL | re.MULTILINE)
_EXERCISE = re.compile(r"^### (Exercise [\d.]+ \(([\w ]+)\): .*?)\n\n\[Solution\]\([^)]*\)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")


def notebook(path: Path) -> NotebookNode:
    """Make the starter notebook of a chapter from the chapter's text."""
    chapter = jupytext.read(path).cells
    text = "\n\n".join(cell.source for cell in chapter if cell.cell_type == "markdown")
    opening = [
        f"# Exercises to chapter {int(path.stem[:2])}: {_TITLE.search(text)[1]}",
        f"[Read the chapter](../{path.stem}.ipynb) · [Solutions](../{SOLUTIONS.name}/{path.stem}.ipynb)",
        *(_HOW, "## Objectives", _moved(_OBJECTIVES.search(text)[1].strip(), path.stem)),
    ]
    cells, waiting = [new_markdown_cell("\n\n".join(opening))], ""
    for cell in chapter:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and {"imports", "setup"} & {*tags}:
            cells.append(_code(cell.source, "setup"))
        elif cell.cell_type == "code" and "exercise" in tags:
            name = re.search(r'check\("(\w+)"', cell.source)[1]
            call, _, what = find(name).statement.partition(": ")
            cells += [new_markdown_cell(f"{waiting}\n\n*What is checked:* `{call}`: {what}"), _code(cell.source, "exercise")]
        elif cell.cell_type == "markdown":
            for asked, grade in _EXERCISE.findall(cell.source):
                waiting = _moved(f"## {asked}", path.stem)
                if grade != "with code":
                    cells += [new_markdown_cell(waiting), new_markdown_cell("*Your answer:*")]
                if grade == "research":
                    cells.append(new_code_cell("# Your experiment."))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:03d}"
    return new_notebook(cells=cells, metadata={"kernelspec": _KERNEL})


def _code(source: str, tag: str) -> NotebookNode:
    return new_code_cell(source, metadata={"tags": [tag]})


def _moved(text: str, stem: str) -> str:
    """Rewrite links for a folder below that of the chapters."""
    return _LINK.sub(lambda match: f"](../{match[1] or f'{stem}.ipynb'}{match[2] or ''})", text)


def derived() -> dict[Path, str]:
    """Return the content of every starter notebook by its path from the root of the repository."""
    chapters = sorted((ROOT / "book" / "chapters").glob("*.md"))
    return {STARTERS / f"{path.stem}.ipynb": nbformat.writes(notebook(path)) + "\n" for path in chapters}


def main() -> None:
    """Write all starter notebooks, and remove those whose chapter is gone."""
    wanted = derived()
    for path in (ROOT / STARTERS).glob("*.ipynb"):
        if path.relative_to(ROOT) not in wanted:
            path.unlink()
    for path, content in wanted.items():
        with written(ROOT / path) as part:
            part.write_text(content, encoding="utf-8")
