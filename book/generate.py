"""The parts of the book that are made and not written: indexes, result tables, the card of the data set."""

from __future__ import annotations

import ast
import importlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
_SECTION = re.compile(r"^Source\n-+\n(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_MAP = re.compile(r"^## Paper map\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_PAPERS = ("RaMBO", "RaMBO supp.", "Smooth-AP supp.", "HAPPIER")
_KINDS = ("Eq.", "Alg.", "Thm.", "Prop.", "Lemma", "Fig.", "Tab.", "Sec.")


@dataclass(frozen=True)
class MapRow:
    """One row of a chapter's paper map."""

    chapter: str
    source: str
    here: str
    function: str
    test: str


def sources() -> list[tuple[str, str]]:
    """(source item, dotted name) for every `Source` section of a docstring, and every `@paper_figure`."""
    found = []
    for path in sorted((ROOT / "rankedu").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
                continue
            items = _items(ast.get_docstring(node) or "")
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "paper_figure":
                    items.append(ast.literal_eval(decorator.args[0]))
            found += [(item, f"{module}.{node.name}") for item in dict.fromkeys(items)]
    return sorted(found, key=lambda pair: (sort_key(pair[0]), pair[1]))


def _items(docstring: str) -> list[str]:
    """The items of a docstring's `Source` section."""
    match = _SECTION.search(docstring)
    if not match:
        return []
    text = " ".join(match.group(1).split())
    return [item.strip().removesuffix(".") for item in text.split(";") if item.strip()]


def sort_key(item: str) -> tuple[int, int, int, str]:
    """Papers in the book's order, then kinds, then numbers; raises ValueError for an item that is none of them."""
    paper = max((name for name in _PAPERS if item.startswith(name + " ")), key=len, default=None)
    if paper is None:
        raise ValueError(f"source must start with one of {_PAPERS}, got {item!r}")
    kind, _, number = item.removeprefix(paper + " ").partition(" ")
    match = re.match(r"[A-Z]?(\d+)", number)
    if kind not in _KINDS or not (match or kind == "Sec."):
        raise ValueError(f"source must read '<paper> <one of {_KINDS}> <number>', got {item!r}")
    return _PAPERS.index(paper), _KINDS.index(kind), int(match.group(1)) if match else 0, number


def paper_maps(folder: Path = ROOT / "book" / "chapters") -> list[MapRow]:
    """Every row of every chapter's paper map."""
    rows = []
    for path in sorted(folder.glob("*.md")):
        section = _MAP.search(path.read_text(encoding="utf-8"))
        lines = re.findall(r"^\|(.*)\|\s*$", section.group(1), re.MULTILINE) if section else []
        for line in lines[2:]:
            cells = [cell.strip() for cell in line.split("|")]
            rows.append(MapRow(path.stem, cells[0], cells[1], cells[2].strip("`"), cells[3].strip("`")))
    return rows


def write_tables(folder: Path) -> None:
    """Write what the pages of the book include: tables, the cards of the glyphs and of the scenes, contact sheets."""
    import papers_page
    import pictures

    from rankedu.datasets import DETECTION, glyphs, scenes
    from rankedu.datasets.registry import markdown
    from rankedu.figures import style
    from rankedu.figures.glyphs import contact_sheet
    from rankedu.figures.scenes import contact_sheet as sheet_of_scenes

    folder.mkdir(parents=True, exist_ok=True)
    tables = {"notation": notation(), "equations": equations(), "glyphs": glyphs.card_markdown()}
    tables |= {"speed": speed(), "papers_data": markdown()}
    tables |= {"scenes": scenes.card_markdown(), "detection_data": markdown(DETECTION)}
    tables |= papers_page.blocks()
    tables |= pictures.blocks(folder)
    tables |= {name: effects(f"{name}.json", steps) for name, steps in (("effects", 1000), ("effects_trained", 400))}
    for name, text in tables.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "glyphs.png").write_bytes(style.png(contact_sheet()))
    (folder / "scenes.png").write_bytes(style.png(sheet_of_scenes()))


def vocabulary() -> list[dict[str, str]]:
    """The rows of `vocabulary.yml`."""
    rows: list[dict[str, str]] = yaml.safe_load((ROOT / "book" / "vocabulary.yml").read_text(encoding="utf-8"))
    return rows


def notation() -> str:
    """The table of symbols and identifiers."""
    lines = ["| symbol | identifier | shape | kind | meaning |", "|---|---|---|---|---|"]
    for row in vocabulary():
        symbol = f"${row['symbol']}$" if row["symbol"] else ""
        identifier = f"`{row['identifier']}`" if row["identifier"] else ""
        lines.append(f"| {symbol} | {identifier} | {row['shape']} | {row['kind']} | {row['meaning']} |")
    return "\n".join(lines) + "\n"


def equations() -> str:
    """The table source → function → chapter → test."""
    maps = paper_maps()
    lines = ["| source | function | chapter | test |", "|---|---|---|---|"]
    for item, function in sources():
        rows = [row for row in maps if row.source == item and _same(row.function, function)]
        where = ", ".join(dict.fromkeys(f"[{row.chapter[:2]}](chapters/{row.chapter})" for row in rows)) or "—"
        tests = ", ".join(dict.fromkeys(f"`{row.test}`" for row in rows)) or "—"
        lines.append(f"| {item} | `{function}` | {where} | {tests} |")
    return "\n".join(lines) + "\n"


def speed(file: str = "speed.json") -> str:
    """What `make bench` measured: a row each, with its ratios to the contenders that were timed in turn with it."""
    path = ROOT / "book" / "data" / file
    if not path.exists():
        return "Nothing has been measured yet.\n"
    record = json.loads(path.read_text(encoding="utf-8"))
    lines = ["| work | median | measured beside it |", "|---|---|---|"]
    for row in record["rows"]:
        beside = "; ".join(f"{name}: {value:g}" for name, value in row["found"].items())
        lines.append(f"| {row['work']} | {_duration(row['seconds'])} | {beside} |")
    lines.append(f"\nMeasured with one thread on: {record['machine']}. {record['versions']}.")
    lines.append("" if record["gpu"] else "None of these rows has been measured on a GPU.")
    return "\n".join(lines) + "\n"


def _duration(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def effects(file: str, steps: int) -> str:
    """The trained effect of margin and memory: the table of one file of runs, and what they all share."""
    from rankedu.training.effects import results_markdown

    path = ROOT / "book" / "data" / file
    if not path.exists():
        return "These runs have not been made yet.\n"
    runs = json.loads(path.read_text(encoding="utf-8"))
    shared = {name: {json.dumps(run[name]) for run in runs} for name in ("lam", "lr", "pretrain", "device", "versions")}
    told = "; ".join(f"{name} {' / '.join(sorted(values))}" for name, values in shared.items())
    told = re.sub(r'["{}]', "", told)
    return f"{results_markdown(path, steps=steps)}\n{len(runs)} runs of {steps} steps; shared by all: {told}.\n"


def _same(short: str, full: str) -> bool:
    """Whether a paper map's name, such as `rankedu.rank`, is the function `rankedu.ranks.rank`."""
    if short == full or (short.split(".")[-1] == full.split(".")[-1] and full.startswith(short.rsplit(".", 1)[0])):
        return True
    module, _, name = short.rpartition(".")
    found = getattr(importlib.import_module(module), name, None) if module.startswith("rankedu") else None
    return full == f"{getattr(found, '__module__', None)}.{name}"  # a room may show what a private module holds
