"""Packages that import a part when one of its names is first used, and names that moved out of the library."""

import ast
import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

#: Where modules, which end in "/", and names went, in a checkout of the book.
_HOMES = {
    "from rankedu_book.ch03_ranking_is_a_solver.all_permutations": "proofs.rearrangement.exhaustive",
    "from rankedu_book.ch03_ranking_is_a_solver.lemma": "proofs.rearrangement.two_element_lemma",
    "from rankedu_book.ch07_recall_loss.weights": "proofs.recall_weights.asymptotics",
    "from rankedu_book.kit.known_rankers": "rankers.registry/ rankers.RANKERS rankers.Strength rankers.register",
    "from rankedu_book.kit.landscapes": "landscapes/",
    "from rankedu_book.kit.solvers": "solvers/",
    "from rankedu_lab.contestants": "losses.CSLLoss losses.SpearmanLoss",
    "from rankedu_lab.contestants.csl": "losses.csl/",
    "from rankedu_lab.contestants.spearman": "losses.spearman/",
    "from rankedu_lab.detections": "losses.OnProposals metrics.DetectionMatches metrics.box_iou "
    "metrics.evaluate_detections metrics.match_detections",
    "from rankedu_lab.detections.boxes": "metrics.boxes/",
    "from rankedu_lab.detections.matching": "metrics.detection/",
    "from rankedu_lab.detections.on_proposals": "losses.on_proposals/",
}
#: Where a module or a name was → the statement that imports it now.
MOVED = {
    "rankedu." + name.rstrip("/"): home.replace("from", "import") if name[-1] == "/" else f"{home} import {last}"
    for home, names in _HOMES.items()
    for name in names.split()
    for last in [name.split(".")[-1]]
}


def lazy(spec: ModuleSpec) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a package from what it imports for type checkers."""
    package, source = spec.name, spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    branches = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for branch in branches for node in branch.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names}
    parts = {home.removeprefix(f"{package}.") for home in homes.values()}

    def get(name: str) -> Any:
        home = homes.get(name)
        if home == package or (home is None and name in parts):
            return importlib.import_module(f"{package}.{name}")
        return moved(package)(name) if home is None else getattr(importlib.import_module(home), name)

    return get, lambda: sorted({*vars(sys.modules[package]), *homes, *parts}), [*homes]


def moved(module: str) -> Callable[[str], Any]:
    """Make `__getattr__` of a module some of whose names moved."""

    def get(name: str) -> Any:
        if f"{module}.{name}" in MOVED:
            raise ImportError(_advice(f"{module}.{name}"))
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


class Moved:
    """The last finder of modules that Python asks: it says where a module of the library went."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in MOVED:
            raise ModuleNotFoundError(_advice(name), name=name)


def _advice(name: str) -> str:
    return f"{name} moved to {MOVED[name].split()[1]} (in a checkout of the book: {MOVED[name]})"


sys.meta_path.append(Moved)
