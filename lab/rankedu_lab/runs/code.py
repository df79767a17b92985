"""What a number, a picture or a notebook was made by: the modules that code imports, however indirectly, and a hash.

The source is read, nothing is run. Runs, searches, notebooks and frames are all held current by this one hash.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rankedu_lab import CHECKOUT

__all__ = ["CHECKOUT", "PACKAGES", "closure", "code_hash", "files_of", "hashed", "imported", "walk"]

#: Package → the folder that it lies in.
PACKAGES = {"rankedu": CHECKOUT, "rankedu_lab": CHECKOUT / "lab", "rankedu_book": CHECKOUT / "book"}


@cache
def code_hash(module: str) -> str:
    """A hash of the code of a module, of those beside it if it is a package, and of all that they import.

    Comments, docstrings and layout do not count.
    """
    found = files_of(module)
    if not found or found[-1] not in {path for path, _ in _candidates(module)}:
        raise ValueError(f"module must be of {', '.join(PACKAGES)}, got {module!r}")
    beside = found[-1].parent.glob("*.py") if found[-1].name == "__init__.py" else ()
    return hashed(closure(found[-1], *beside))[:16]


def closure(*files: Path) -> set[Path]:
    """Python files themselves, and every module of our packages that they import."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported_by(path)
    return found


def hashed(paths: Iterable[Path], *more: str, whole: bool = False) -> str:
    """A hash of files, by their place in the repository and what counts of them, or all, and of more text."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sorted(paths):
        place = path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else Path(path.name)
        digest.update(place.as_posix().encode() + b"\0" + (path.read_bytes() if whole else _counted(path)) + b"\0")
    return digest.hexdigest()[:20]


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk(child)


def imported(tree: ast.AST) -> set[Path]:
    """The modules that a piece of code imports or names: in a text, too, as those that are loaded by their name."""
    return {file for node in walk(tree) for name in _dotted(node) for file in _used(name)}


def files_of(name: str) -> list[Path]:
    """The files that are read when a dotted name is imported: the packages that it lies in, and the module."""
    parts = name.split(".")
    found = [_candidates(".".join(parts[:depth])) for depth in range(1, len(parts) + 1)]
    return [path for each in found for path, there in each if there]


def _used(name: str) -> set[Path]:
    """The files behind a dotted name; of a package that is named itself, all parts that it imports at first use."""
    files, parts = files_of(name), name.split(".")
    offered = _offered(files[-1]) if files else {}
    known = next((part for part in parts if part in offered), None)
    whole = len(parts) > 1 and files and files[-1].parent.name == parts[-1]
    homes = offered.values() if whole else [offered[known]] if known else []
    return {*files, *(file for home in homes for file in files_of(home))}


@cache
def _offered(package: Path) -> dict[str, str]:
    """What a package imports when it is first used, as it says to type checkers: name → the module that has it."""
    branches = [node for node in ast.parse(package.read_bytes()).body if isinstance(node, ast.If)]
    imports = [node for branch in branches for node in branch.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def _candidates(name: str) -> list[tuple[Path, bool]]:
    """Where a module of this very name would lie, and whether it does."""
    parts = name.split(".")
    path = PACKAGES.get(parts[0], CHECKOUT).joinpath(*parts)
    files = [path.with_suffix(".py"), path / "__init__.py"] if parts[0] in PACKAGES else []
    return [(file, file.is_file()) for file in files]


@cache
def _imported_by(path: Path) -> frozenset[Path]:
    return frozenset(imported(ast.parse(path.read_bytes())))


def _dotted(node: ast.AST) -> set[str]:
    """The dotted names that a piece of code stands for; an f-string `rankedu.rankers.{name}` is many."""
    names: set[str] = set()
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = {f"{node.module}.{alias.name}".removesuffix(".*") for alias in node.names}
    elif isinstance(node, ast.Attribute):
        names = {ast.unparse(node)}
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        names = {node.value.replace(":", ".")}
    elif isinstance(node, ast.JoinedStr):
        names = _many([part.value if isinstance(part, ast.Constant) else None for part in node.values])
    return {name for name in names if name.split(".")[0] in PACKAGES and name.replace(".", "").isidentifier()}


def _many(parts: list[Any]) -> set[str]:
    """The modules that an f-string stands for: `rankedu.rankers.{name}`, `rankedu_book.{folder}.exercises`."""
    package, last = str(parts[0]).removesuffix("."), str(parts[-1] or "").removeprefix(".")
    if len(parts) > 3 or package.split(".")[0] not in PACKAGES or not ("." in package or last):
        return set()
    folder = PACKAGES[package.split(".")[0]].joinpath(*package.split("."))
    found = (path.relative_to(folder).with_suffix("").parts for path in folder.glob(f"*/{last}.py" if last else "*.py"))
    return {".".join([package, *inside]) for inside in found}


@cache
def _counted(path: Path) -> bytes:
    """What counts of a file: of Python that shows no docstring the code alone, of the package's head no version."""
    content = path.read_bytes()
    if path.suffix != ".py" or path.name == "reference.py" or b"__doc__" in content:
        return content
    tree = ast.parse(content)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = body[0].value if isinstance(body[0], ast.Expr) else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                body[0] = ast.Pass()
    lines = ast.unparse(tree).splitlines()
    return "\n".join(line for line in lines if not line.startswith("__version__")).encode()
