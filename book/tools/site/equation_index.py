"""What the papers number, what the code claims to implement, where the book treats it; and what is missing.

Three sources must agree: `data/sources.yaml` lists what is printed, the `Source` of the docstrings and the
`@paper_figure` decorators say what a function implements, the paper maps say where it is explained and tested.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ranklab.runs.code import PACKAGES
from tools.site.paper_items import ROOT, Item, items, sort_key

_SOURCE = re.compile(r"^Source(?:: |\n-+\n)(.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)  # a line, or a section
_MAP = re.compile(r"^## Paper map\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class MapRow:
    """One row of the paper map of a chapter, a lab or another page."""

    page: str  # such as chapters/01_rank_based_metrics
    source: str
    here: str
    function: str
    test: str

    @property
    def chapter(self) -> str:
        """The name of the page alone."""
        return self.page.rpartition("/")[2]


@cache
def claims() -> tuple[tuple[str, str], ...]:
    """(source, dotted name) for the `Source` of every docstring, and every `@paper_figure`."""
    found = []
    packages = [(folder, path) for name, folder in PACKAGES.items() for path in (folder / name).rglob("*.py")]
    for folder, path in packages:
        module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
                continue
            sources = _claimed(ast.get_docstring(node) or "")
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "paper_figure":
                    sources.append(ast.literal_eval(decorator.args[0]))
            found += [(source, f"{module}.{node.name}") for source in dict.fromkeys(sources)]
    return tuple(sorted(found, key=lambda pair: (sort_key(pair[0]), pair[1])))


def _claimed(docstring: str) -> list[str]:
    """The items of a docstring's `Source`."""
    match = _SOURCE.search(docstring)
    text = " ".join(match.group(1).split()) if match else ""
    return [item.strip().removesuffix(".") for item in text.split(";") if item.strip()]


@cache
def paper_maps() -> tuple[MapRow, ...]:
    """Every row of the paper maps, of chapters, then labs, then other pages."""
    rows = []
    for pattern in ("chapters/*.md", "labs/*.md", "*.md"):
        for path in sorted((ROOT / "book").glob(pattern)):
            section = _MAP.search(path.read_text(encoding="utf-8"))
            lines = re.findall(r"^\|(.*)\|\s*$", section.group(1), re.MULTILINE) if section else []
            page = path.relative_to(ROOT / "book").with_suffix("").as_posix()
            for line in lines[2:]:
                source, here, function, test = (cell.strip() for cell in line.split("|"))
                rows.append(MapRow(page, source, here, function.strip("`"), test.strip("`")))
    return tuple(rows)


@cache
def same(short: str, full: str) -> bool:
    """Whether a paper map's name, such as `rankedu.rank`, is the function `rankedu.ranks.rank`."""
    if short == full or (short.split(".")[-1] == full.split(".")[-1] and full.startswith(short.rsplit(".", 1)[0])):
        return True
    module, _, name = short.rpartition(".")
    found = getattr(importlib.import_module(module), name, None) if module.split(".")[0] in PACKAGES else None
    return full == f"{getattr(found, '__module__', None)}.{name}"  # a room may show what a private module holds


def gaps(
    listed: Sequence[Item] | None = None,
    maps: Sequence[MapRow] | None = None,
    claimed: Sequence[tuple[str, str]] | None = None,
) -> list[str]:
    """What is missing or contradicts itself, a sentence each; the arguments stand in for the book's own."""
    listed, maps, claimed = listed or items(), maps or paper_maps(), claimed or claims()
    known = {item.source: item for item in listed}
    treated = {row.source for row in maps}
    found = [gap for item in listed if (gap := _gap(item, known, treated))]
    rows = ((row.source, f"{row.page}, paper map") for row in maps)
    named = (*((source, f"{name}, docstring") for source, name in claimed), *rows)
    found += [f"{place}: {source} is not in sources.yaml" for source, place in named if source not in known]
    return found + _disagreements(maps, claimed)


def _gap(item: Item, known: Iterable[str], treated: Iterable[str]) -> str:
    """What an item lacks, or has too much; empty if nothing."""
    lost = [part for part in item.parts if f"{item.paper} {part}" not in known]
    if lost:
        return f"{item.source}: its parts {', '.join(lost)} are not in sources.yaml"
    if item.why and (item.source in treated or item.parts):
        return f"{item.source}: sources.yaml says why it is not treated, and yet it is: remove one of the two"
    if not (item.why or item.parts or item.source in treated):
        return f"{item.source}: no paper map has it, and sources.yaml gives no reason"
    return ""


def _disagreements(maps: Iterable[MapRow], claimed: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Rows whose function does not claim the item. A section has no one function; the index is of numbered items."""
    by_source: dict[str, list[str]] = {}
    for source, name in claimed:
        by_source.setdefault(source, []).append(name)
    return [
        f"{row.page}: the docstring of {row.function} does not have {row.source}, but {by_source.get(row.source)} do"
        for row in maps
        if " Sec. " not in row.source and not any(same(row.function, name) for name in by_source.get(row.source, ()))
    ]


def unresolved(row: MapRow) -> str:
    """What of a row leads nowhere: a function that cannot be imported, a test that is not there; empty if nothing."""
    module, _, name = row.function.rpartition(".")
    try:
        getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return f"{row.page}, {row.source}: {row.function} cannot be imported"
    file, _, test = row.test.partition("::")
    path = ROOT / file
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    if test not in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}:
        return f"{row.page}, {row.source}: there is no test {row.test}"
    if not re.fullmatch(r"\{[\w:]+\}`(?:.*<)?[\w-]+>?`", row.here):
        return f"{row.page}, {row.source}: {row.here} is no cross-reference"
    return ""
