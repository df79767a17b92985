"""Metrics: one value for each query, exact and on ties explicit. They have no gradient; the losses do."""

from rankedu.metrics.binary import (
    UndefinedMetricWarning,
    average_precision,
    map_at_r,
    precision_at_k,
    recall_at_k,
)
from rankedu.metrics.graded import ndcg, spearman

__all__ = [
    "UndefinedMetricWarning",
    "average_precision",
    "map_at_r",
    "ndcg",
    "precision_at_k",
    "recall_at_k",
    "spearman",
]
