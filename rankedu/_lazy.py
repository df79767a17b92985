"""Packages that import a part when one of its names is first used, and names that moved out of the library."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

#: Where a module or a name was → what imports it now, in a checkout of the book.
MOVED = {
    "rankedu.landscapes": "import rankbook.kit.landscapes",
    "rankedu.losses.CSLLoss": "from ranklab.contestants import CSLLoss",
    "rankedu.losses.OnProposals": "from ranklab.detections import OnProposals",
    "rankedu.losses.SpearmanLoss": "from ranklab.contestants import SpearmanLoss",
    "rankedu.losses.csl": "import ranklab.contestants.csl",
    "rankedu.losses.on_proposals": "import ranklab.detections.on_proposals",
    "rankedu.losses.spearman": "import ranklab.contestants.spearman",
    "rankedu.metrics.DetectionMatches": "from ranklab.detections import DetectionMatches",
    "rankedu.metrics.box_iou": "from ranklab.detections import box_iou",
    "rankedu.metrics.boxes": "import ranklab.detections.boxes",
    "rankedu.metrics.detection": "import ranklab.detections.matching",
    "rankedu.metrics.evaluate_detections": "from ranklab.detections import evaluate_detections",
    "rankedu.metrics.match_detections": "from ranklab.detections import match_detections",
    "rankedu.rankers.RANKERS": "from rankbook.kit.known_rankers import RANKERS",
    "rankedu.rankers.Strength": "from rankbook.kit.known_rankers import Strength",
    "rankedu.rankers.register": "from rankbook.kit.known_rankers import register",
    "rankedu.rankers.registry": "import rankbook.kit.known_rankers",
    "rankedu.solvers": "import rankbook.kit.solvers",
}


def lazy(package: str, parts: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package: part of it → the names of that part which the package offers."""
    homes = {name: f"{package}.{part}" for part, names in parts.items() for name in names.split()}

    def get(name: str) -> Any:
        if f"{package}.{name}" in MOVED:
            raise ImportError(_advice(f"{package}.{name}"))
        if name in parts:
            return importlib.import_module(f"{package}.{name}")
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get, lambda: sorted({*vars(sys.modules[package]), *homes, *parts})


class Moved:
    """The last finder of modules that Python asks: it says where a module of the library went."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in MOVED:
            raise ModuleNotFoundError(_advice(name), name=name)


def _advice(name: str) -> str:
    return f"{name} moved to {MOVED[name].split()[1]} (in a checkout of the book: {MOVED[name]})"


sys.meta_path.append(Moved)
