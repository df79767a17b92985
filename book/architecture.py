"""The rooms of the package, and who imports from whom: one list for the picture in `architecture.md` and the test."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rankedu"

#: A room may import only from rooms that stand above it, and from those in its own row.
ROOMS = [
    ("_validation",),
    ("_files",),
    ("_sorting",),
    ("_packed",),
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
    ("datasets",),
    ("models", "training"),
    ("labs",),
    ("figures", "explorables"),
    ("exercises",),
    ("doctor",),
    ("dumps",),
    ("new_chapter",),
    ("cli",),
]
#: What `import rankedu` gives of itself is made of these.
OUTSIDE = {"__init__", "__main__"}


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
    return file.relative_to(package).parts[0].removesuffix(".py")


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
        if isinstance(node, ast.ImportFrom) and node.module == "rankedu":
            names = [alias.name for alias in node.names]
            yield from ("ranks" if name in {"rank", "rank_among"} else name for name in names if name[:2] != "__")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rankedu."):
            yield (node.module or "").split(".")[1]
        elif isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
            yield from (parts[1] for parts in dotted if parts[0] == "rankedu" and len(parts) > 1 and parts[1] in known)


def wrong(package: Path = PACKAGE) -> list[str]:
    """What is not as it should be: rooms that stand in no row, and imports that point upwards. None, one hopes."""
    of, found = level(), []
    for file in sorted(package.iterdir()):
        room = file.name.removesuffix(".py")
        if (file.suffix == ".py" or (file / "__init__.py").exists()) and room not in {*of, *OUTSIDE}:
            found.append(f"{room} is in no row of ROOMS in book/architecture.py")
    for one in imports(package):
        if one.room in of and of.get(one.imported, len(of)) > of[one.room]:
            found.append(
                f"{one.file.relative_to(package.parent)} imports {one.imported}, which does not stand above it"
            )
    return found


def arrows(package: Path = PACKAGE) -> set[tuple[str, str]]:
    """(imported, importing), less those that follow from two others."""
    direct = {(one.imported, one.room) for one in imports(package)}
    below: dict[str, set[str]] = {}
    for room in reversed(rooms()):
        users = {user for used, user in direct if used == room}
        below[room] = users.union(*(below.get(user, set()) for user in users))
    follows = {(used, user) for used, via in direct for user in below.get(via, set())}
    return direct - follows
