"""The page of the equation index: paper by paper, each item with its place in the book, its functions and tests."""

import importlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

from tools.site import api_reference
from tools.site.equation_index import Item, MapRow, claims, paper_maps, printed, same

#: The kinds of items below each heading.
GROUPS = {
    "Equations": ("Eq.",),
    "Statements and algorithms": ("Thm.", "Prop.", "Lemma", "Alg."),
    "Figures": ("Fig.",),
    "Tables": ("Tab.",),
    "Sections": ("Sec.",),
    "Footnotes": ("Fn.",),
}


def markdown() -> str:
    """Return the page: all papers with their items."""
    parts = [counted()]
    for paper, listed in printed():
        parts.append(f"## {paper.name}\n\n*{paper.title}* {{cite:p}}`{paper.cite}`. {paper.versions}")
        for heading, kinds in GROUPS.items():
            here = [item for item in listed if item.number.split(" ")[0] in kinds]
            if here:
                entries = "\n\n".join(_entry(item) for item in here)
                parts.append(f"### {heading}\n\n::::{{container}} index\n{entries}\n::::")
    return "\n\n".join(parts) + "\n"


def counted() -> str:
    """Say how many items there are, and how many of them the book treats."""
    listed = [item for paper, of_paper in printed() if not paper.since for item in of_paper]
    left = sum(bool(item.why) for item in listed)
    return (
        f"The texts number {len(listed)} items. The book treats {len(listed) - left} of them, in {len(paper_maps())} "
        f"places; the reason why it does not treat the other {left} stands with each."
    )


def _entry(item: Item) -> str:
    """Return an item as a term with definitions."""
    also = f" *({item.also})*" if item.also else ""
    lines = "\n".join(f": {line}" for line in _definitions(item))
    return f"[{item.number}]{{#{_anchor(item.source)}}} {item.name}{also}\n{lines}"


def _anchor(source: str) -> str:
    return re.sub(r"\W+", "-", source.lower())


def _definitions(item: Item) -> Iterator[str]:
    """Yield the definitions of an item."""
    if item.why:
        yield f"Not treated. {item.why}"
    if item.parts:
        linked = (f"[{part}](#{_anchor(item.paper + ' ' + part)})" for part in item.parts)
        yield f"Part by part: {', '.join(linked)}."
    rows = [row for row in paper_maps() if row.source == item.source]
    for _, here in groupby(rows, key=lambda row: (row.page, row.here)):
        yield _place(list(here))
    others = [name for source, name in claims() if source == item.source and "._" not in name]
    if others := [function(name) for name in others if not any(same(row.function, name) for row in rows)]:
        yield f"Also in {', '.join(others)}."


def _place(rows: list[MapRow]) -> str:
    """Return a place in the book with the functions that implement the item there and their tests."""
    page, here = rows[0].page, rows[0].here
    number = page.removeprefix("chapters/")[:2]
    chapter = f"{{ref}}`Chapter {int(number)} <ch-{number}>`, " if page.startswith("chapters/") else ""
    functions = "; ".join(f"{function(row.function)}, tested by `{row.test.rpartition('::')[2]}`" for row in rows)
    return f"{chapter}{here}: {functions}"


def function(name: str) -> str:
    """Return the name of a function, as a link if the API reference has it."""
    module, _, last = name.rpartition(".")
    target = documented().get(id(getattr(importlib.import_module(module), last, None)))
    return f"{{py:obj}}`{name} <{target}>`" if target else f"`{name}`"


@cache
def documented() -> dict[int, str]:
    """Return the documented name of each object in the API reference by its id."""
    listed = (module for page in api_reference.PAGES.values() for module in page.modules)
    return {id(value): f"{module}.{name}" for module in listed for name, value in api_reference.public(module).items()}
