"""What of the equation index is missing, contradicts itself or leads nowhere."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

from tools.site.equation_index import ROOT, MapRow, claims, items, paper_maps, same


def gaps() -> list[str]:
    """What is missing or contradicts itself, a sentence each."""
    listed, maps, claimed = items(), paper_maps(), claims()
    known, treated = {item.source for item in listed}, {row.source for row in maps}
    found = []
    for item in listed:
        lost = [part for part in item.parts if f"{item.paper} {part}" not in known]
        found += [f"{item.source}: its parts {', '.join(lost)} are not in sources.yaml"] if lost else []
        if item.why and (item.source in treated or item.parts):
            found.append(f"{item.source}: sources.yaml says why it is not treated, and yet it is: remove one of them")
        if not (item.why or item.parts or item.source in treated):
            found.append(f"{item.source}: no paper map has it, and sources.yaml gives no reason")
    named = [(source, f"{name}, docstring") for source, name in claimed]
    named += [(row.source, f"{row.page}, paper map") for row in maps]
    found += [f"{place}: {source} is not in sources.yaml" for source, place in named if source not in known]
    # A section has no one function; the index is of numbered items.
    for row in maps:
        others = [name for source, name in claimed if source == row.source]
        if " Sec. " not in row.source and not any(same(row.function, name) for name in others):
            found.append(f"{row.page}: the docstring of {row.function} does not have {row.source}, but {others} do")
    return found


@cache
def functions(path: Path) -> set[str]:
    """What a file defines; of one that is not there, nothing."""
    tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def unresolved(row: MapRow) -> str:
    """What of a row leads nowhere: a function that cannot be imported, a test that is not there; empty if nothing."""
    module, _, name = row.function.rpartition(".")
    try:
        getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return f"{row.page}, {row.source}: {row.function} cannot be imported"
    file, _, test = row.test.partition("::")
    if test not in functions(ROOT / file):
        return f"{row.page}, {row.source}: there is no test {row.test}"
    if not re.fullmatch(r"\{[\w:]+\}`(?:.*<)?[\w-]+>?`", row.here):
        return f"{row.page}, {row.source}: {row.here} is no cross-reference"
    return ""
