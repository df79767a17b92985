"""The pairs of the book: `book/chapters/*.md`, which a person edits, and `notebooks/*.ipynb`, which is executed.

A notebook, of a chapter, a lab or a page that computes what it says, is current if it holds the cells of its text,
executed, and if what its outputs were made from is still the same: cells, code, data and pinned libraries. It says so
itself, in its metadata (`MADE_FROM`): whoever has a clone can tell without running it. What the text refers to outside
of itself, its figures, numbers and works stand in the notebook as plain Markdown, since JupyterLab knows none of them.

`python book/tools notebooks check` tells which are not; `… notebooks execute [NN ...]` runs these (or those named) on
all cores, `execute --all` every one. Where nothing but the text between the cells has changed, `execute` without a name
takes it over and keeps the outputs.
"""

import argparse
import copy
import json
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import as_completed
from collections.abc import Iterable
from pathlib import Path

from tools.site import cores, form, labels
import jupytext
import nbformat
from tools.site.plain import plain
from tools.notebooks.closure import ROOT, closure, pins
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from jupytext.compare import NotebookDifference, compare_notebooks
from nbformat import NotebookNode

from rankedu.files import written
from ranklab.runs.code import hashed

#: Seconds after which a cell is said to hang. The longest takes 45 s on a quiet machine, and took over 120 on a busy one.
CELL_TIMEOUT = 900
#: Where a notebook's metadata say what its outputs were made from.
MADE_FROM = "made_from"
#: Pages beside the chapters that are notebooks as well: `book/<name>.md` and `notebooks/<name>.ipynb`.
PAGES = ("claims", "errata")


def pairs() -> dict[Path, Path]:
    """Text → notebook, for chapters, labs, solutions and pages."""
    book, notebooks = ROOT / "book", ROOT / "notebooks"
    folders = {book / "chapters": notebooks, book / "labs": notebooks / "labs"}
    folders[book / "solutions"] = notebooks / "solutions"
    found = {text: to / f"{text.stem}.ipynb" for folder, to in folders.items() for text in sorted(folder.glob("*.md"))}
    return found | {book / f"{name}.md": notebooks / f"{name}.ipynb" for name in PAGES}


def pages() -> list[Path]:
    """The texts that are pages of the book. Solutions are not: they are folded on the page of their chapter."""
    return [text for text in pairs() if text.parent.name != "solutions"]


def address(text: Path) -> str:
    """Where the built page lies in the book, such as `chapters/01_rank_based_metrics.html` or `errata.html`."""
    return text.relative_to(ROOT / "book").with_suffix(".html").as_posix()


def made_from(text: Path, book: NotebookNode) -> dict[str, str]:
    """What the outputs of a chapter hang on: its cells, and all else that is imported and read."""
    cells = list(map(_as_run, code_cells(book)))
    return {"cells": hashed([], json.dumps(cells)), "package": hashed(closure(text) - {text}, pins())}


def problem(text: Path, notebook: Path) -> str | None:
    """Why the notebook is not the executed form of the text; None where it is."""
    if not notebook.exists():
        return "has never been executed"
    wanted, found = jupytext.read(text), nbformat.read(notebook, as_version=4)
    try:
        compare_notebooks(found, for_reading(text, wanted, found), fmt="md:myst", compare_outputs=False)
    except NotebookDifference as difference:
        return f"differs: {difference}"
    if wanted.metadata.get("rankedu") != found.metadata.get("rankedu"):
        return "has another `rankedu` in its front matter"
    for cell in filter(lambda cell: cell.source.strip(), code_cells(found)):
        if cell.execution_count is None:
            return f"{cell.id} was never executed"
    then, now = found.metadata.get(MADE_FROM, {}), made_from(text, wanted)
    if then.get("cells") != now["cells"]:
        return "has cells that were not executed as they stand"
    if then.get("package") != now["package"]:
        return "was made with other code of the package, other data or other libraries"
    return None


def stale() -> dict[Path, str]:
    """Text → why its notebook has to be executed."""
    return {text: why for text, notebook in pairs().items() if (why := problem(text, notebook))}


def for_reading(text: Path, book: NotebookNode, ran: NotebookNode) -> NotebookNode:
    """The cells of a text as JupyterLab can show them, with the numbers of a notebook that has run."""
    if form.is_plain(text):
        return book
    shown, own = copy.deepcopy(book), labels.numbers(ran)
    folder = next((to.parent for one, to in pairs().items() if one.stem == text.stem), ROOT / "notebooks")
    for cell in shown.cells:
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source, text.stem, folder.relative_to(ROOT), own)
    return shown


def with_outputs(text: Path, notebook: Path) -> NotebookNode | None:
    """The cells of a text with what they printed in its notebook; None where they have not run as they stand."""
    if not notebook.exists():
        return None
    wanted, found = jupytext.read(text), nbformat.read(notebook, as_version=4)
    new, old = code_cells(wanted), code_cells(found)
    if list(map(_as_run, new)) != list(map(_as_run, old)):
        return None
    for cell, ran in zip(new, old, strict=True):
        cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    found.cells = wanted.cells
    found.metadata["jupytext"] = wanted.metadata["jupytext"]
    if "rankedu" in wanted.metadata:
        found.metadata["rankedu"] = wanted.metadata["rankedu"]
    return found


def page(text: Path) -> NotebookNode | None:
    """A text with what its cells printed, as a page of the book is made of it; None where it has not run as it is."""
    chapter = with_outputs(text, pairs()[text])
    solutions = ROOT / "book" / "solutions" / text.name
    if chapter is None or not form.is_plain(text):
        return chapter
    return form.for_page(chapter, with_outputs(solutions, pairs()[solutions]) if solutions.exists() else None)


def retold(text: Path, notebook: Path) -> bool:
    """Take over what was written between the cells, if the cells themselves are those of the notebook; else False."""
    book = with_outputs(text, notebook)
    if book is None:
        return False
    write(for_reading(text, book, book), notebook)
    return problem(text, notebook) is None


def code_cells(book: NotebookNode) -> list[NotebookNode]:
    """The cells of code."""
    return [cell for cell in book.cells if cell.cell_type == "code"]


def _as_run(cell: NotebookNode) -> tuple[str, list[str]]:
    """What decides on the outputs of a cell, and what is done with them."""
    return cell.source, sorted(cell.metadata.get("tags", []))


def execute(text: Path, notebook: Path) -> float:
    """Run a chapter and write its notebook in one step; returns the seconds that it took.

    It runs with empty caches, so that nothing is shown that older code has made. A chapter that fails leaves the
    notebook as it was; what had run of it is kept in `book/_build/partial/`.
    """
    book: NotebookNode = jupytext.read(text)
    notebook.parent.mkdir(parents=True, exist_ok=True)
    record, started = made_from(text, book), time.perf_counter()
    runner = NotebookClient(
        book,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            runner.execute(env={**os.environ, **surroundings(Path(folder))})
        except CellExecutionError:
            partial = ROOT / "book" / "_build" / "partial" / notebook.name
            partial.parent.mkdir(parents=True, exist_ok=True)
            write(book, partial)
            print(f"{text.name} failed; what had run stands in {partial.relative_to(ROOT)}", file=sys.stderr)
            raise
    book.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}  # what jupytext writes into the text
    book.metadata[MADE_FROM] = record
    write(for_reading(text, book, book), notebook)
    return time.perf_counter() - started


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a kernel that makes a notebook; what it keeps goes into a folder that is empty."""
    return {
        "RANKEDU_EXPLORABLES": "static",
        "RANKEDU_RESULT_FOLDER": str(folder / "results"),
        "RANKEDU_DATA": str(folder / "data"),
        "OMP_NUM_THREADS": "1",  # those that check it have two, so that a sum that hangs on it is found
    }


def execute_all(texts: Iterable[Path]) -> None:
    """Execute chapters on all cores, and tell what is left; those that fail are told at the end.

    Those that measure how long something takes, `timed` in their front matter, come afterwards and alone.
    """
    waiting = list(texts)
    if waiting:
        print(f"executing {len(waiting)} of {len(pairs())} notebooks on {cores.CORES} cores", flush=True)
    alone = [text for text in waiting if jupytext.read(text).metadata.get("rankedu", {}).get("timed")]
    failed, left = [], len(waiting)
    for some, workers in (([text for text in waiting if text not in alone], cores.CORES), (alone, 1)):
        with cores.pool(workers) as pool:
            running = {pool.submit(execute, text, pairs()[text]): text.stem for text in some}
            for done in as_completed(running):
                left -= 1
                name, error = running[done], done.exception()
                print(f"{name}: {'FAILED' if error else f'{done.result():.1f} s'}; {left or 'none'} left", flush=True)
                failed += [f"{name}: {type(error).__name__}: {error}"] if error else []
    if failed:
        raise SystemExit("\n".join(failed))


def renew(texts: Iterable[Path]) -> None:
    """Bring notebooks up to date: take over what is only written between the cells, execute the rest."""
    run = []
    for text in texts:
        if retold(text, pairs()[text]):
            print(f"{text.stem}: text taken over")
        else:
            run.append(text)
    execute_all(run)


def write(book: NotebookNode, path: Path) -> None:
    """Write atomically, with cell ids that depend on the position alone.

    A notebook in which somebody has changed or added a cell since it was written is kept in `changed/` beside it.
    """
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number:03d}"
    if formats := book.metadata.get("jupytext", {}).get("formats"):
        book.metadata["jupytext"] = {"formats": formats}  # all that jupytext keeps in a notebook
    if path.exists():
        there = nbformat.read(path, as_version=4)
        if there.metadata.get(MADE_FROM, {}).get("sources", sources := _sources(there)) != sources:
            aside = path.parent / "changed" / f"{path.stem}-{sources[:8]}.ipynb"
            aside.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, aside)
            print(f"{path.stem} had changes of its own, which stand in {aside}", file=sys.stderr)
    if MADE_FROM in book.metadata:
        book.metadata[MADE_FROM]["sources"] = _sources(book)
    with written(path) as part:
        nbformat.write(book, part)


def _sources(book: NotebookNode) -> str:
    return hashed([], json.dumps([cell.source for cell in book.cells]))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["check", "execute"])
    parser.add_argument("chapters", nargs="*", help="numbers or names; default: those that are stale")
    parser.add_argument("--all", action="store_true", help="every chapter, stale or not")
    arguments = parser.parse_args()
    if arguments.action == "check":
        found = stale()
        for text, why in found.items():
            print(f"{text.relative_to(ROOT)}: {why}; run `make notebooks`", file=sys.stderr)
        return 1 if found else 0
    for name in arguments.chapters:
        if not any(text.stem.startswith(name) for text in pairs()):
            parser.error(f"chapters must begin a name such as 07_recall_loss, got {name!r}")
    if arguments.all or arguments.chapters:
        execute_all(text for text in pairs() if arguments.all or text.stem.startswith(tuple(arguments.chapters)))
    else:
        renew(stale())
    return 0
