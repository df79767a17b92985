"""Put the numbers that the cells have computed into the text: `python book/tools numbers [NN ...]`.

A cell that finds another value than the text has prints a line (`text_says`). This command reads these lines in the
executed notebooks, and changes the number in the cell and in the nearest cell of text that has it, in both halves of the
pair. Read the sentences again afterwards, because what they say of the number may not be true of the new one.
"""

import argparse
import re

import jupytext
import nbformat
from jupytext.config import load_jupytext_config
from nbformat import NotebookNode
from tools.notebooks import pairs
from tools.site import form

LINE = re.compile(r"^The text says (.+), and here the value is (.+)\.$", re.MULTILINE)


def differing(cell: NotebookNode) -> list[tuple[str, str]]:
    """What the text says and what the cell has found, for each number that differs."""
    return [pair for output in cell.get("outputs", []) for pair in LINE.findall(output.get("text", ""))]


def renumbered(book: NotebookNode, ran: NotebookNode, solutions: NotebookNode) -> int:
    """Change the numbers that differ, in a chapter, its notebook and its solutions, and print them; return how many."""
    changed = 0
    for at, cell in enumerate(ran.cells):
        for old, new in differing(cell):
            token = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w|\.\d)")
            near = sorted(range(len(book.cells)), key=lambda other: abs(other - at - 0.1))
            texts = [*(book.cells[k] for k in near), *solutions.cells]
            found = [one for one in texts if one.cell_type == "markdown" and token.search(one.source)]
            if not found:
                print(f"{old} is now {new}, and no text has it")
                continue
            text, code = found[0], book.cells[at]
            text.source = token.sub(lambda _, new=new: new, text.source)
            code.source = code.source.replace(f'"{old}"', f'"{new}"')
            _forget(cell, f"The text says {old}, and here the value is {new}.\n")
            print(f"{old} -> {new}")
            changed += 1
    for own, theirs in zip(ran.cells, book.cells, strict=True):
        own.source = theirs.source
    return changed


def _forget(cell: NotebookNode, line: str) -> None:
    """Take out of the outputs of a cell what it does not print with the new number."""
    for output in cell.outputs:
        if "text" in output:
            output.text = output.text.replace(line, "")
    cell.outputs = [output for output in cell.outputs if output.get("text", "more")]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[""], help="numbers of chapters; default: every one")
    names = tuple(parser.parse_args().names)
    for text, notebook in pairs.pairs().items():
        if not (form.is_plain(text) and text.stem.startswith(names) and notebook.exists()):
            continue
        book, ran = jupytext.read(text), nbformat.read(notebook, as_version=4)
        beside = text.parents[1] / "solutions" / text.name
        solutions = jupytext.read(beside) if beside != text else nbformat.v4.new_notebook()
        if [cell.source for cell in book.cells] != [cell.source for cell in ran.cells]:
            print(f"{text.stem} is not the text of its notebook: run `make notebooks` first")
            continue
        was_current = pairs.problem(text, notebook) is None
        if renumbered(book, ran, solutions):
            jupytext.write(book, text, fmt="md:myst", config=load_jupytext_config(str(text)))
            if beside != text:
                jupytext.write(solutions, beside, fmt="md:myst", config=load_jupytext_config(str(beside)))
                pairs.retold(beside, pairs.pairs()[beside])
            if was_current:
                ran.metadata[pairs.MADE_FROM] |= pairs.made_from(text, book)
            pairs.write(ran, notebook)
