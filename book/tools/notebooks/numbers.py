"""Put the numbers that the cells have computed into the text: `python book/tools numbers [NN ...]`.

A cell that finds another value than the text has prints a line (`text_says`). This command reads these lines in the
executed notebooks, and changes the number in the cell of the text and in the nearest paragraphs that have it. Read the
sentences again afterwards, because what they say of the number may not be true of the new one. Then `make notebooks`.
"""

import argparse
import re

import jupytext
import nbformat
from jupytext.config import load_jupytext_config
from nbformat import NotebookNode
from tools.notebooks import pairs

LINE = re.compile(r"^The text says (.+), and here the value is (.+)\.$", re.MULTILINE)


def differing(cell: NotebookNode) -> list[tuple[str, str]]:
    """Return pairs of the number in the text and the number that the cell computed, where they differ."""
    return [pair for output in cell.get("outputs", []) for pair in LINE.findall(output.get("text", ""))]


def renumbered(book: NotebookNode, ran: NotebookNode, solutions: NotebookNode) -> int:
    """Change the numbers that differ in a text and its solutions, print them, and return how many changed."""
    changed = 0
    for at, cell in enumerate(ran.cells):
        for old, new in differing(cell):
            token = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w|\.\d)")
            near = sorted(range(len(book.cells)), key=lambda other: abs(other - at - 0.1))
            texts = [one for one in (*(book.cells[k] for k in near), *solutions.cells) if one.cell_type == "markdown"]
            text = next((one for one in texts if token.search(one.source)), None)
            print(f"{old} -> {new}" if text else f"{old} is now {new}, and no text has it")
            if text:
                text.source = token.sub(lambda _, new=new: new, text.source)
                book.cells[at].source = book.cells[at].source.replace(f'"{old}"', f'"{new}"')
                changed += 1
    return changed


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[""], help="numbers of chapters; default: every one")
    names = tuple(parser.parse_args().names)
    for text, notebook in pairs.pairs().items():
        if text.stem.startswith(names) and notebook.exists():
            beside = text.parents[1] / "solutions" / text.name
            books = {path: jupytext.read(path) for path in (text, beside) if path.exists()}
            solutions = books.get(beside, nbformat.v4.new_notebook())
            if renumbered(books[text], nbformat.read(notebook, as_version=4), solutions):
                for path, book in books.items():
                    jupytext.write(book, path, fmt="md:myst", config=load_jupytext_config(str(path)))
