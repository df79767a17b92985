"""`rankedu`: optimise the ranking metric itself.

A loss is a metric's formula applied to a ranker: a *ranker* maps scores to (soft) ranks, a *formula* maps ranks to a
number. The book that goes with the package explains every function; each docstring says where.

Importing the package is free: a part of it is imported, and torch with it, when it is first named.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankedu import blackbox, hierarchy, landscapes, losses, memory, metrics, proofs, rankers, reference, solvers
    from rankedu._fast.switch import readable
    from rankedu.ranks import outranking_negatives, rank, rank_among, where_of

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "blackbox",
    "hierarchy",
    "landscapes",
    "losses",
    "memory",
    "metrics",
    "outranking_negatives",
    "proofs",
    "rank",
    "rank_among",
    "rankers",
    "readable",
    "reference",
    "solvers",
    "where_of",
]

#: What stands in a part and is offered here: name → module.
_OFFERED = dict.fromkeys(("outranking_negatives", "rank", "rank_among", "where_of"), "rankedu.ranks")
_OFFERED["readable"] = "rankedu._fast.switch"


def __getattr__(name: str) -> Any:
    if name in _OFFERED:
        return getattr(importlib.import_module(_OFFERED[name]), name)
    if name in __all__:
        return importlib.import_module(f"rankedu.{name}")
    raise AttributeError(f"module 'rankedu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
