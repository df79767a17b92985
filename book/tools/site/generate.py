"""The generated parts of the book: indexes, claims, cards of the data sets.

`book/_generated` holds those whose data no longer change: the tables of the results page, and the pictures of networks
that were trained for it. They were made by the code of commit c381cbfb, and a test computes their numbers anew.
"""

from pathlib import Path

import yaml
from tabulate import tabulate

from rankedu_book.datasets import cards
from rankedu_book.datasets import figures as sheets
from rankedu_book.kit import style
from rankedu_lab import CHECKOUT as ROOT
from rankedu_lab import datasets as data
from tools.results import claims, first_losses, timings
from tools.site import architecture_page, book_map, equation_page
from tools.teaching import exercises_page, lectures, question_bank


def write_tables(folder: Path) -> None:
    """Write the files that the pages include: tables, cards of the data sets, contact sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = {
        "notation": notation(),
        "equations": equation_page.markdown(),
        "glyphs": cards.glyphs(),
        "scenes": cards.scenes(),
        "papers_data": cards.published(),
        "detection_data": cards.published(data.DETECTION),
        "lectures": lectures.markdown(),
        "book_map": book_map.map_markdown(),
        "ways": book_map.ways_markdown(),
        "timings": timings.table(),
        "syllabus_four": lectures.table(lectures.lectures()),
        "syllabus_twelve": lectures.table(lectures.meetings()),
        "first_losses": first_losses.block(folder),
        **claims.blocks(folder),
    }
    for name, text in blocks.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "reference.py").write_bytes((ROOT / "rankedu" / "reference.py").read_bytes())
    architecture_page.write(folder)
    exercises_page.write_blocks(folder)
    question_bank.write(folder)
    (folder / "glyphs.png").write_bytes(style.png(sheets.glyphs()))
    (folder / "scenes.png").write_bytes(style.png(sheets.scenes()))


def vocabulary() -> list[dict[str, str]]:
    """Return the rows of `vocabulary.yml`."""
    return yaml.safe_load((ROOT / "book" / "vocabulary.yml").read_text(encoding="utf-8"))


def notation() -> str:
    """Return the table of symbols and identifiers."""
    rows = [
        (
            f"${row['symbol']}$" if row["symbol"] else "",
            row["meaning"],
            f"`{row['identifier']}`" if row["identifier"] else "",
            row["shape"],
            row["kind"],
        )
        for row in vocabulary()
    ]
    return tabulate(rows, ["symbol", "meaning", "identifier", "shape", "kind"], tablefmt="github") + "\n"
