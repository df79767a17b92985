"""The pairs of the book: a text that a person edits, and an executed notebook with the same cells.

`jupytext --sync` keeps the cells of both alike. This module keeps the outputs current. A notebook says in its metadata,
under `made_from`, what its outputs were made from: one hash of its own cells of code, and one of the code, the data and
the libraries on which they depend (see `closure.py`). If both are as they are now, the notebook is current.

`python book/tools notebooks check` names the notebooks that are not current. `… notebooks execute` takes over texts
where only the text differs, and executes the rest on all cores; `execute NN …` and `execute --all` execute anyway.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import as_completed
from pathlib import Path

import jupytext
import nbformat
from jupytext.compare import NotebookDifference, compare_notebooks
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from tools import closure
from tools.closure import ROOT, hashed, pins
from tools.site import cores, form

from rankedu.files import written

#: Seconds after which a cell counts as hanging. The longest takes 45 s on a quiet machine, and took over 120 on a busy one.
CELL_TIMEOUT = 900
#: The key in a notebook's metadata for the hashes of everything that its outputs depend on.
MADE_FROM = "made_from"
#: Other pages that are notebooks as well: `book/<name>.md` and `notebooks/<name>.ipynb`.
PAGES = ("claims", "errata")


def pairs() -> dict[Path, Path]:
    """Return the notebook of each text: of chapters, labs, solutions and pages."""
    book, notebooks = ROOT / "book", ROOT / "notebooks"
    folders = {book / "chapters": notebooks, book / "labs": notebooks / "labs"}
    folders[book / "solutions"] = notebooks / "solutions"
    found = {text: to / f"{text.stem}.ipynb" for folder, to in folders.items() for text in sorted(folder.glob("*.md"))}
    return found | {book / f"{name}.md": notebooks / f"{name}.ipynb" for name in PAGES}


def pages() -> list[Path]:
    """Return the texts that are pages of the book; solutions are folded on the page of their chapter."""
    return [text for text in pairs() if text.parent.name != "solutions"]


def address(text: Path) -> str:
    """Return the address of a page in the built book, such as `chapters/01_rank_based_metrics.html`."""
    return text.relative_to(ROOT / "book").with_suffix(".html").as_posix()


def made_from(text: Path, book: NotebookNode) -> dict[str, str]:
    """Return two hashes: one of the cells of code, one of everything that these import and read."""
    return {"cells": hashed([], json.dumps(_as_run(book))), "package": hashed(closure.made_from(text), pins())}


def problem(text: Path, notebook: Path) -> str | None:
    """Say why the notebook is not the executed form of the text; None if it is."""
    if not notebook.exists():
        return "has never been executed"
    wanted, found = jupytext.read(text), nbformat.read(notebook, as_version=4)
    try:
        compare_notebooks(found, wanted, fmt="md:myst", compare_outputs=False)
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
    """Return the texts whose notebooks have to be executed, each with the reason."""
    return {text: why for text, notebook in pairs().items() if (why := problem(text, notebook))}


def with_outputs(text: Path, notebook: Path) -> NotebookNode | None:
    """Return the cells of a text with the outputs in its notebook; None if the cells of code differ."""
    if not notebook.exists():
        return None
    wanted, found = jupytext.read(text), nbformat.read(notebook, as_version=4)
    if _as_run(wanted) != _as_run(found):
        return None
    for cell, ran in zip(code_cells(wanted), code_cells(found), strict=True):
        cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
    wanted.metadata = found.metadata | {name: wanted.metadata[name] for name in wanted.metadata if name != "kernelspec"}
    return wanted


def page(text: Path) -> NotebookNode | None:
    """Return a text with its outputs in the form of a page of the book; None if it has not been executed."""
    chapter = with_outputs(text, pairs()[text])
    solutions = ROOT / "book" / "solutions" / text.name
    if chapter is None or not form.is_plain(text):
        return chapter
    return form.for_page(chapter, with_outputs(solutions, pairs()[solutions]) if solutions.exists() else None)


def take_over(text: Path, notebook: Path) -> bool:
    """Take over a text whose cells are those of the notebook; return whether the notebook is current afterwards."""
    book = with_outputs(text, notebook)
    if book is None:
        return False
    write(book, notebook)
    return problem(text, notebook) is None


def code_cells(book: NotebookNode) -> list[NotebookNode]:
    """Return the cells of code."""
    return [cell for cell in book.cells if cell.cell_type == "code"]


def _as_run(book: NotebookNode) -> list[tuple[str, list[str]]]:
    """Return what the outputs of the cells and their use depend on."""
    return [(cell.source, sorted(cell.metadata.get("tags", []))) for cell in code_cells(book)]


def execute(text: Path, notebook: Path) -> float:
    """Execute a text, write its notebook atomically, and return the seconds that it took.

    It runs with empty caches, so that no output comes from older code. A chapter that fails leaves the
    notebook as it was; the cells that ran are kept in `book/_build/partial/`.
    """
    book: NotebookNode = jupytext.read(text)
    notebook.parent.mkdir(parents=True, exist_ok=True)
    record, started = made_from(text, book), time.perf_counter()
    runner = NotebookClient(
        book,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    with tempfile.TemporaryDirectory() as folder:
        kept = {f"RANKEDU_{name}": str(Path(folder) / name.lower()) for name in ("RESULT_FOLDER", "DATA")}
        # The checks run with two threads, so that they find a sum that depends on the number of threads.
        kernel = {**os.environ, **kept, "RANKEDU_EXPLORABLES": "static", "OMP_NUM_THREADS": "1"}
        try:
            runner.execute(env=kernel)
        except CellExecutionError:
            partial = ROOT / "book" / "_build" / "partial" / notebook.name
            partial.parent.mkdir(parents=True, exist_ok=True)
            write(book, partial)
            print(f"{text.name} failed; the cells that ran are in {partial.relative_to(ROOT)}", file=sys.stderr)
            raise
    book.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}  # as jupytext writes it into the text
    book.metadata[MADE_FROM] = record
    write(book, notebook)
    return time.perf_counter() - started


def execute_all(texts: Iterable[Path]) -> None:
    """Execute texts on all cores, and afterwards, one by one, those with `timed` in their front matter."""
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
    """Bring notebooks up to date: take over changes of the text, and execute those whose cells changed."""
    execute_all([text for text in texts if not take_over(text, pairs()[text])])


def write(book: NotebookNode, path: Path) -> None:
    """Write a notebook atomically, with cell ids that only depend on the position."""
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number:03d}"
        if "outputs" in cell:  # a warning names the file of its cell, whose path differs between machines
            named = re.sub(r"/[^\s\"]*/ipykernel_\d+/\d+\.py", "cell.py", json.dumps(cell.outputs))
            cell.outputs = [nbformat.from_dict(one) for one in json.loads(named)]
    book.metadata.pop("widgets", None)  # the state of sliders, for which a page would load a script from the network
    if formats := book.metadata.get("jupytext", {}).get("formats"):
        book.metadata["jupytext"] = {"formats": formats}  # jupytext keeps only this in a notebook
    with written(path) as part:
        nbformat.write(book, part)


def main() -> int:
    """Run the command line."""
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
