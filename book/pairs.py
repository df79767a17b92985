"""The pairs of the book: `book/chapters/*.md`, which a person edits, and `notebooks/*.ipynb`, which is executed.

Labs are pairs too, and so is a page beside the chapters that computes what it says (`PAGES`).

`python book/pairs.py check` compares them by content; `python book/pairs.py execute [NN ...]` runs the chapters whose
notebook is stale (or those named) and writes the notebooks; `execute --all` runs every one. Where nothing but the text
between the cells has changed, `execute` without a name takes it over and keeps the outputs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from jupytext.compare import NotebookDifference, compare_notebooks
from nbformat import NotebookNode

from rankedu._files import written

ROOT = Path(__file__).resolve().parent.parent
#: Seconds that one cell may take. A chapter must run in 60 s on two cores; a machine under load gets more.
CELL_TIMEOUT = 120
#: Pages beside the chapters that are notebooks as well: `book/<name>.md` and `notebooks/<name>.ipynb`.
PAGES = ("errata",)


def pairs() -> dict[Path, Path]:
    """Text → notebook, for chapters, labs and pages."""
    texts = sorted((ROOT / "book" / "chapters").glob("*.md")) + sorted((ROOT / "book" / "labs").glob("*.md"))
    texts += [ROOT / "book" / f"{name}.md" for name in PAGES]
    return {text: _notebook_of(text) for text in texts}


def address(text: Path) -> str:
    """Where the built page lies in the book, such as `chapters/01_rank_based_metrics.html` or `errata.html`."""
    return text.relative_to(ROOT / "book").with_suffix(".html").as_posix()


def _notebook_of(text: Path) -> Path:
    folder = ROOT / "notebooks" / ("labs" if text.parent.name == "labs" else "")
    return folder / f"{text.stem}.ipynb"


def problem(text: Path, notebook: Path) -> str | None:
    """Why the notebook is not the executed form of the text; None where it is."""
    if not notebook.exists():
        return "has never been executed"
    wanted, found = jupytext.read(text), nbformat.read(notebook, as_version=4)
    try:
        compare_notebooks(found, wanted, fmt="md:myst", compare_outputs=False)
    except NotebookDifference as difference:
        return f"differs: {difference}"
    if wanted.metadata.get("rankedu") != found.metadata.get("rankedu"):
        return "has another `rankedu` in its front matter"
    for number, cell in enumerate(found.cells):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if cell.execution_count is None:
            return f"cell {number} was never executed"
        for output in cell.outputs:
            if output.output_type == "error":
                return f"cell {number} ended in {output.ename}"
            if "application/vnd.jupyter.widget-view+json" in output.get("data", {}):
                return f"cell {number} holds a live widget, which is dead without its kernel"
    return None


def retold(text: Path, notebook: Path) -> bool:
    """Take over what was written between the cells, if the cells themselves are those of the notebook; else False."""
    if not notebook.exists():
        return False
    wanted, found = jupytext.read(text), nbformat.read(notebook, as_version=4)
    code = [[cell for cell in book.cells if cell.cell_type == "code"] for book in (wanted, found)]
    if [_as_run(cell) for cell in code[0]] != [_as_run(cell) for cell in code[1]]:
        return False
    for new, old in zip(*code, strict=True):
        new.outputs, new.execution_count = old.outputs, old.execution_count
    found.cells = wanted.cells
    if "rankedu" in wanted.metadata:
        found.metadata["rankedu"] = wanted.metadata["rankedu"]
    _write(found, notebook)
    return problem(text, notebook) is None


def _as_run(cell: NotebookNode) -> tuple[str, list[str]]:
    """What decides on the outputs of a cell, and what is done with them."""
    return cell.source, sorted(cell.metadata.get("tags", []))


def execute(text: Path, notebook: Path) -> float:
    """Run a chapter and write its notebook in one step; returns the seconds that it took.

    A chapter that fails leaves the notebook as it was; what had run of it is kept in `book/_build/partial/`.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    book: NotebookNode = jupytext.read(text)
    os.environ["RANKEDU_EXPLORABLES"] = "static"
    os.environ["RANKEDU_RESULT_FOLDER"] = str(ROOT / "book" / "_build" / "results" / text.stem)  # of a lab
    client = NotebookClient(
        book,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    notebook.parent.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    try:
        client.execute()
    except CellExecutionError:
        partial = ROOT / "book" / "_build" / "partial" / notebook.name
        partial.parent.mkdir(parents=True, exist_ok=True)
        _write(book, partial)
        print(f"{text.name} failed; what had run stands in {partial.relative_to(ROOT)}", file=sys.stderr)
        raise
    book.metadata.pop("language_info", None)
    _write(book, notebook)
    return time.perf_counter() - started


def _write(book: NotebookNode, path: Path) -> None:
    """Write atomically, with cell ids that depend on the position alone."""
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number:03d}"
    with written(path) as part:
        nbformat.write(book, part)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["check", "execute"])
    parser.add_argument("chapters", nargs="*", help="numbers or names; default: those that are stale")
    parser.add_argument("--all", action="store_true", help="every chapter, stale or not")
    arguments = parser.parse_args()
    stale = {text: why for text, notebook in pairs().items() if (why := problem(text, notebook))}
    if arguments.action == "check":
        for text, why in stale.items():
            print(f"{text.relative_to(ROOT)}: {why}; run `make notebooks`", file=sys.stderr)
        return 1 if stale else 0
    for text, notebook in pairs().items():
        named = any(text.stem.startswith(name) for name in arguments.chapters)
        if named or arguments.all or (not arguments.chapters and text in stale):
            retaken = not named and not arguments.all and retold(text, notebook)
            print(f"{text.stem}: " + ("text taken over" if retaken else f"{execute(text, notebook):.1f} s"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
