"""Statements that a machine checks, each with a certificate that anyone can verify again.

Exact arithmetic on the definitions of `rankedu.reference`, without torch.
"""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.proofs import hierarchical, rearrangement, recall_weights
else:
    __getattr__, __dir__ = lazy(__name__, {"hierarchical": "", "rearrangement": "", "recall_weights": ""})

__all__ = ["hierarchical", "rearrangement", "recall_weights"]
