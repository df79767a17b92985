"""Which code a number was made by: a hash of the modules that a module imports, however indirectly."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import rankedu

__all__ = ["code_hash"]

PACKAGE = Path(rankedu.__file__).parent
#: They hold the version, and names for others to import lazily; no number hangs on them.
LEFT_OUT = ("__init__.py", "lab/__init__.py", "lab/runs/__init__.py")


@cache
def code_hash(module: str) -> str:
    """A hash of the code of a module, of those beside it if it is a package, and of all that they import.

    Comments, docstrings and layout do not count. Modules that are only named in a text are not found.
    """
    start = _file_of(module)
    if start is None:
        raise ValueError(f"module must be of the package, got {module!r}")
    waiting = list(start.parent.glob("*.py")) if start.name == "__init__.py" else [start]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found and path.relative_to(PACKAGE).as_posix() not in LEFT_OUT:
            found.add(path)
            waiting += [file for name in _imports(path) if (file := _file_of(name)) is not None]
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n{_bare(path)}\n".encode())
    return digest.hexdigest()[:16]


def _file_of(name: str) -> Path | None:
    """The file of a module of the package; None if the dotted name is of something else."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return None
    path = PACKAGE.joinpath(*parts[1:])
    files = (path.with_suffix(".py"), path / "__init__.py") if len(parts) > 1 else (path / "__init__.py",)
    return next((file for file in files if file.is_file()), None)


def _imports(path: Path) -> Iterator[str]:
    """The dotted names that a module imports, anywhere within it."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts[:-1])
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _bare(path: Path) -> str:
    """The code of a file without docstrings, comments and layout."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = body[0].value if isinstance(body[0], ast.Expr) else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                body[0] = ast.Pass()
    return ast.unparse(tree)
