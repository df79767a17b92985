"""Statements that a machine checks, each with a certificate that can be checked again by someone who trusts nobody.

Exact arithmetic on the definitions of `rankedu.reference`, without torch.
"""

from rankedu.proofs import hierarchical, rearrangement, recall_weights

__all__ = ["hierarchical", "rearrangement", "recall_weights"]
