"""Statements that a machine checks, each with a certificate that can be checked again by someone who trusts nobody.

Exact arithmetic on the definitions of `rankedu.reference`, except for `interpolation`, which examines any solver in
float64. No torch in here; a module is imported when it is first named.
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
