"""Metrics: one value for each query, exact and on ties explicit. They have no gradient; the losses do."""

from rankedu.metrics.binary import (
    UndefinedMetricWarning,
    average_precision,
    map_at_r,
    precision_at_k,
    recall_at_k,
)
from rankedu.metrics.graded import ndcg, spearman
from rankedu.metrics.hierarchical import (
    average_precision_per_level,
    average_set_intersection,
    hierarchical_average_precision,
    hierarchical_rank,
    recall_at_k_per_level,
)
from rankedu.metrics.retrieval import evaluate_retrieval, merge

__all__ = [
    "UndefinedMetricWarning",
    "average_precision",
    "average_precision_per_level",
    "average_set_intersection",
    "evaluate_retrieval",
    "hierarchical_average_precision",
    "hierarchical_rank",
    "map_at_r",
    "merge",
    "ndcg",
    "precision_at_k",
    "recall_at_k",
    "recall_at_k_per_level",
    "spearman",
]
