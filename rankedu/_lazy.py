"""Packages that import a part when one of its names is first used."""

import ast
import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any


def lazy(spec: ModuleSpec) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a package from what it imports for type checkers."""
    package, source = spec.name, spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    [branch] = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    parts = {home.removeprefix(f"{package}.") for home in homes.values()}

    def get(name: str) -> Any:
        home = homes.get(name, package if name in parts else None)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == package:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(home), name)

    return get, lambda: sorted({*vars(sys.modules[package]), *homes, *parts}), [*homes]
