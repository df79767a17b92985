"""Statements that a machine checks, each with a certificate that can be checked again by someone who trusts nobody.

`rearrangement` proves that ranking is a solver (exact arithmetic), `interpolation` examines the interpolated value
:math:`f_\\lambda` of any solver (float64), `recall_weights` turns weights of recall at K into a function of the rank
(exact), `hierarchical` takes H-rank apart into ordinary ranks and `relevance` examines what defines it (exact).
`bounds` decides which surrogate losses lie above the true one (exact).
No torch in here; a module is imported when it is first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankedu.proofs import bounds, hierarchical, interpolation, rearrangement, recall_weights, relevance

__all__ = ["bounds", "hierarchical", "interpolation", "rearrangement", "recall_weights", "relevance"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"rankedu.proofs.{name}")
    raise AttributeError(f"module 'rankedu.proofs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
