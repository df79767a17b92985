"""Names of metrics as people write them."""

from __future__ import annotations

from rankedu.metrics.names import parse

__all__ = ["metric_names"]


def metric_names(text: str) -> dict[str, str]:
    """From each name as it was written to that of :func:`rankedu.metrics.evaluate_retrieval`; there are commas between.

    Capitals, hyphens and underscores do not matter, and ``_at_`` is ``@``; ValueError says which known name is near.

    >>> metric_names("AP,recall@1,H-AP")
    {'AP': 'average_precision', 'recall@1': 'recall_at_1', 'H-AP': 'h_ap'}
    """
    known = parse([name.strip() for name in text.split(",")])
    return {name: kind if k is None else f"{kind}_at_{k}" for name, (kind, k) in known.items()}
