"""`rankedu`: optimise the ranking metric itself.

A loss is a metric's formula applied to a ranker: a *ranker* maps scores to (soft) ranks, a *formula* maps ranks to a
number. The book that goes with the package explains every function; each docstring says where.

Importing the package is free: a part of it is imported, and torch with it, when it is first named.
"""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu import blackbox as blackbox
    from rankedu import hierarchy as hierarchy
    from rankedu import losses as losses
    from rankedu import memory as memory
    from rankedu import metrics as metrics
    from rankedu import proofs as proofs
    from rankedu import rankers as rankers
    from rankedu import reference as reference
    from rankedu.ranks import outranking_negatives as outranking_negatives
    from rankedu.ranks import rank as rank
    from rankedu.ranks import rank_among as rank_among
    from rankedu.ranks import where_of as where_of
else:
    __getattr__, __dir__, __all__ = lazy(__spec__)

__version__ = "0.1.0"
