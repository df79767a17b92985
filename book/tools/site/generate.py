"""The generated parts of the book: indexes, tables of results, cards of the data sets."""

import json
from pathlib import Path

import yaml

from rankedu_book.datasets import figures as sheets
from rankedu_book.kit import style
from rankedu_lab import CHECKOUT as ROOT
from rankedu_lab import datasets as data
from rankedu_lab.datasets.registry import markdown
from tools.results import claims, papers_page, pictures, timings
from tools.results.papers_lists import margin_and_memory
from tools.site import architecture_page, book_map, equation_page, loops
from tools.teaching import exercises_page, lectures, question_bank, syllabus


def write_tables(folder: Path) -> None:
    """Write the files that the pages include: tables, cards of the data sets, contact sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = {
        "notation": notation(),
        "equations": equation_page.markdown(),
        "speed": speed(),
        "glyphs": data.glyphs.card_markdown(),
        "scenes": data.scenes.card_markdown(),
        "papers_data": markdown(),
        "detection_data": markdown(data.DETECTION),
        "loops": loops.table(),
        "lectures": lectures.markdown(),
        "book_map": book_map.map_markdown(),
        "ways": book_map.ways_markdown(),
        "timings": timings.table(),
        **{name: margin_and_memory(f"{name}.json") for name in ("effects", "effects_trained")},
        **syllabus.blocks(),
        **papers_page.blocks(),
        **pictures.blocks(folder),
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
    lines = ["| symbol | meaning | identifier | shape | kind |", "|---|---|---|---|---|"]
    for row in vocabulary():
        symbol = f"${row['symbol']}$" if row["symbol"] else ""
        identifier = f"`{row['identifier']}`" if row["identifier"] else ""
        lines.append(f"| {symbol} | {row['meaning']} | {identifier} | {row['shape']} | {row['kind']} |")
    return "\n".join(lines) + "\n"


def speed() -> str:
    """Return the benchmarks of the third edition as a table, each with the measurements beside it."""
    record = json.loads((ROOT / "book" / "data" / "speed.json").read_text(encoding="utf-8"))
    lines = ["| work | median | measured beside it |", "|---|---|---|"]
    for row in record["rows"]:
        beside = "; ".join(f"{name}: {value:g}" for name, value in row["found"].items())
        seconds = row["seconds"]
        taken = "–" if seconds is None else f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
        lines.append(f"| {row['work']} | {taken} | {beside} |")
    lines.append(f"\nMeasured with one thread on: {record['machine']}. {record['versions']}.")
    return "\n".join(lines) + "\n"
