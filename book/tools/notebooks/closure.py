"""What a chapter, an explorable or a module is made from: the code that it imports and the data that this code reads.

Found by reading the source, so that it can be asked for without running anything; when a notebook is executed, what
the run really imported and opened is held against it (`pairs.execute`).
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: Libraries whose version shapes what a cell prints or draws.
LIBRARIES = {
    *("torch", "torchvision", "numpy", "scipy", "sympy", "matplotlib", "pillow"),
    *("scikit-learn", "pytorch-metric-learning", "torchmetrics"),
}
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*)(.*?)^```$", re.DOTALL | re.MULTILINE)


def fingerprint(*files: Path) -> str:
    """A hash of everything that these files are made from, and of the pinned libraries.

    The versions are those of `constraints.txt` and not of this environment: whether a committed notebook is current
    must not depend on the machine that asks.
    """
    return hashed(sorted(closure(*files)), pins())


def hashed(paths: Iterable[Path], *more: str) -> str:
    """A hash of files, by their place in the repository and their content, and of more text."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in paths:
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def pins() -> str:
    """The lines of `constraints.txt` that name one of the libraries."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.partition("==")[0].lower() in LIBRARIES)


def closure(*files: Path) -> set[Path]:
    """The files themselves, every module of the package that they import however indirectly, and the data they read."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _named_in(path)
    return found


@cache
def _named_in(path: Path) -> frozenset[Path]:
    """The modules and data files that a module or a text names."""
    if path.suffix not in {".py", ".md"}:
        return frozenset()
    text = path.read_text(encoding="utf-8")
    code = text if path.suffix == ".py" else "\n".join(map(_without_magic, _CELL.findall(text)))
    nodes = list(_walk(ast.parse(code)))
    modules = {file for node in nodes for name in _dotted(node) for file in files_of(name)}
    return frozenset(modules.union(*map(_data, nodes), *(_beside(path, node) for node in nodes)))


def _without_magic(cell: str) -> str:
    return re.sub(r"^[%!].*$", "", cell, flags=re.MULTILINE)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _dotted(node: ast.AST) -> set[str]:
    """The dotted names of the package that a piece of code stands for; an f-string `rankedu.rankers.{name}` is many."""
    names: set[str] = set()
    if isinstance(node, ast.Import):
        names = {alias.name for alias in node.names}
    elif isinstance(node, ast.ImportFrom) and not node.level:
        names = {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    elif isinstance(node, ast.Attribute):
        names = {ast.unparse(node)}
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        names = {node.value.replace(":", ".")}
    elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        room = re.fullmatch(r"(rankedu(?:\.\w+)+)\.", str(node.values[0].value))
        inside = ROOT.joinpath(*room[1].split(".")).glob("*.py") if room else ()
        names = {f"{room[1]}.{path.stem}" for path in inside if room}
    return {name for name in names if re.fullmatch(r"rankedu(\.\w+)*", name)}


def files_of(name: str) -> list[Path]:
    """The files that are read when a dotted name is imported: the module and the packages that it lies in."""
    parts, found = name.split("."), []
    for depth in range(1, len(parts) + 1):
        path = ROOT.joinpath(*parts[:depth])
        found += [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()]
    return found


def _beside(module: Path, node: ast.AST) -> set[Path]:
    """The file that an expression like `Path(__file__).parent / "page" / "live.css"` leads to."""
    parts: list[str] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant):
        parts.insert(0, str(node.right.value))
        node = node.left
    file = module.parent.joinpath(*parts)
    return {file} if parts and ast.unparse(node) == "Path(__file__).parent" and file.is_file() else set()


def _data(node: ast.AST) -> set[Path]:
    """The files that an expression like `… / "book" / "data" / "printed"` leads to; of a folder, all that lie in it."""
    parts: list[object] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts.insert(0, node.right.value if isinstance(node.right, ast.Constant) else None)
        node = node.left
    if parts[:2] != ["book", "data"] or len(parts) < 3 or None in parts:
        return set()
    place = ROOT.joinpath(*map(str, parts))
    return {path for path in (place.rglob("*") if place.is_dir() else [place]) if path.is_file()}
