"""The rooms of the package, and who imports from whom: one list for the picture in `architecture.md` and the test."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "rankedu"

#: A room may import only from rooms that stand above it, and from those in its own row.
ROOMS = [
    ("reference",),
    ("_validation",),
    ("_files",),
    ("_extras",),
    ("_fast",),
    ("ranks",),
    ("blackbox",),
    ("solvers",),
    ("rankers",),
    ("hierarchy",),
    ("metrics",),
    ("losses",),
    ("memory",),
    ("proofs",),
    ("landscapes",),
    ("lab/contestants",),
    ("lab/datasets",),
    ("lab/models", "lab/training"),
    ("lab/runs",),
    ("lab/methods",),
    ("lab/experiments",),
    ("lab/dumps",),
    ("book/studies",),
    ("book/figures", "book/explorables"),
    ("book/definitions",),
    ("book/exercises",),
    ("book/new_chapter",),
    ("cli",),
]
#: Folders whose parts are rooms: the wings. Each may import from the library, and from those that stand above it.
WINGS = ("lab", "book")
#: This room knows what it makes fast: it may import from any room of the library, and each of these from it.
ENGINE = "_fast"
#: What `import rankedu` gives of itself is made of these.
OUTSIDE = {"__init__", "__main__", *(f"{wing}/__init__" for wing in WINGS)}


class Import(NamedTuple):
    """One import of one room by another."""

    file: Path
    room: str
    imported: str


def rooms() -> list[str]:
    """Every room, from the top down."""
    return [room for row in ROOMS for room in row]


def level() -> dict[str, int]:
    """Room → the number of its row."""
    return {room: number for number, row in enumerate(ROOMS) for room in row}


def room_of(file: Path, package: Path = PACKAGE) -> str:
    """The room that a file of the package is in."""
    return room_named(file.relative_to(package).with_suffix("").parts)


def room_named(parts: Sequence[str]) -> str:
    """The room of a dotted name below `rankedu`: its first part, in a wing the first two."""
    return "/".join(parts[: 2 if parts[0] in WINGS else 1])


@functools.cache
def imports(package: Path = PACKAGE) -> tuple[Import, ...]:
    """Every import of a room by another, wherever it stands in a file."""
    found = []
    for file in sorted(package.rglob("*.py")):
        room = room_of(file, package)
        if room not in OUTSIDE:
            named = _imported(ast.parse(file.read_text(encoding="utf-8")))
            found += [Import(file, room, name) for name in named if name != room]
    return tuple(found)


def _imported(tree: ast.Module) -> Iterator[str]:
    """The rooms that a module names in its imports; `from rankedu import rank` is one of `ranks`."""
    known = {*rooms()}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rankedu":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("rankedu.")]
        for name in names:
            room = room_named(name.split(".")[1:])
            if room in known or (isinstance(node, ast.ImportFrom) and not room.startswith("__")):
                yield "ranks" if room in {"rank", "rank_among", "outranking_negatives"} else room


def wrong(package: Path = PACKAGE) -> list[str]:
    """What is not as it should be: rooms that stand in no row, and imports that point upwards. None, one hopes."""
    of, found = level(), []
    places = [*package.iterdir(), *(file for wing in WINGS for file in (package / wing).glob("*"))]
    for file in sorted(places):
        if file.suffix == ".py" or ((file / "__init__.py").exists() and file.name not in WINGS):
            room = room_of(file, package)
            if room not in {*of, *OUTSIDE}:
                found.append(f"{room} is in no row of ROOMS in book/tools/site/architecture.py")
    library = of["landscapes"]
    for one in imports(package):
        lowest = library if one.room == ENGINE else of.get(one.room, len(of))
        if one.room in of and of.get(one.imported, len(of)) > lowest:
            found.append(
                f"{one.file.relative_to(package.parent)} imports {one.imported}, which does not stand above it"
            )
    return found


def arrows(package: Path = PACKAGE) -> set[tuple[str, str]]:
    """(imported, importing), less those that follow from two others."""
    direct = {(one.imported, one.room) for one in imports(package) if one.room != ENGINE}
    below: dict[str, set[str]] = {}
    for room in reversed(rooms()):
        users = {user for used, user in direct if used == room}
        below[room] = users.union(*(below.get(user, set()) for user in users))
    follows = {(used, user) for used, via in direct for user in below.get(via, set())}
    return direct - follows
