"""`rankedu`: optimise the ranking metric itself.

A loss is a metric's formula applied to a ranker: a *ranker* maps scores to (soft) ranks, a *formula* maps ranks to a
number. The book that goes with the package explains every function; each docstring says where.

Importing the package is free: a part of it is imported, and torch with it, when it is first named.
"""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu import blackbox, hierarchy, losses, memory, metrics, proofs, rankers, reference
    from rankedu.ranks import outranking_negatives, rank, rank_among, where_of
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "blackbox": "",
            "hierarchy": "",
            "losses": "",
            "memory": "",
            "metrics": "",
            "proofs": "",
            "rankers": "",
            "ranks": "outranking_negatives rank rank_among where_of",
            "reference": "",
        },
    )

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "blackbox",
    "hierarchy",
    "losses",
    "memory",
    "metrics",
    "outranking_negatives",
    "proofs",
    "rank",
    "rank_among",
    "rankers",
    "reference",
    "where_of",
]
