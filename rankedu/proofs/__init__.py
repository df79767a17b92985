"""Statements that a machine checks, each with a certificate that anyone can verify again.

Exact arithmetic on the definitions of `rankedu.reference`, without torch.
"""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.proofs import hierarchical as hierarchical
    from rankedu.proofs import rearrangement as rearrangement
    from rankedu.proofs import recall_weights as recall_weights
else:
    __getattr__, __dir__, __all__ = lazy(__spec__)
