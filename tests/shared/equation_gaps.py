"""What of the equation index is missing, contradicts itself or leads nowhere."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Sequence

from tools.site.equation_index import ROOT, Item, MapRow, claims, items, paper_maps, same


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
