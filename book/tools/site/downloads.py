"""The notebooks that a page offers: its own without outputs, to be run anew, and its exercises to be solved."""

from __future__ import annotations

from pathlib import Path

import nbformat

from tools.notebooks import pairs

ROOT = pairs.ROOT


def of_page(page: str) -> dict[str, str]:
    """Name → address, from the root of the book, of every notebook that belongs to a page."""
    made = pairs.pairs().get(ROOT / "book" / f"{page}.md")
    found = {"Notebook": made, "Exercises": ROOT / "notebooks" / "exercises" / made.name} if made else {}
    return {name: _address(path) for name, path in found.items() if path.exists()}


def _address(notebook: Path) -> str:
    return f"_static/notebooks/{notebook.relative_to(ROOT / 'notebooks').as_posix()}"


def write(source: Path) -> None:
    """Put the notebooks among the files of the book, a twentieth of their size without outputs."""
    starters = (ROOT / "notebooks" / "exercises").glob("*.ipynb")
    for notebook in [*pairs.pairs().values(), *starters]:
        made = nbformat.read(notebook, as_version=4)
        made.metadata = {"kernelspec": made.metadata["kernelspec"]}
        for cell in made.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        target = source / _address(notebook)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(made, target)
