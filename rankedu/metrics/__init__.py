"""Metrics: one value per query, exact, whatever the order of the items. They have no gradient; the losses do."""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.metrics._items import DuplicateItemsWarning
    from rankedu.metrics.binary import (
        UndefinedMetricWarning,
        average_precision,
        map_at_r,
        precision_at_k,
        r_precision,
        recall_at_k,
        recall_share_at_k,
        reciprocal_rank,
    )
    from rankedu.metrics.graded import (
        average_precision_per_level,
        average_set_intersection,
        hierarchical_average_precision,
        hierarchical_rank,
        ndcg,
        spearman,
    )
    from rankedu.metrics.retrieval import RetrievalMetrics, evaluate_retrieval
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "binary": "UndefinedMetricWarning average_precision map_at_r precision_at_k r_precision recall_at_k "
            "recall_share_at_k reciprocal_rank",
            "graded": "average_precision_per_level average_set_intersection hierarchical_average_precision "
            "hierarchical_rank ndcg spearman",
            "_items": "DuplicateItemsWarning",
            "retrieval": "RetrievalMetrics evaluate_retrieval",
        },
    )

__all__ = [
    "DuplicateItemsWarning",
    "RetrievalMetrics",
    "UndefinedMetricWarning",
    "average_precision",
    "average_precision_per_level",
    "average_set_intersection",
    "evaluate_retrieval",
    "hierarchical_average_precision",
    "hierarchical_rank",
    "map_at_r",
    "ndcg",
    "precision_at_k",
    "r_precision",
    "recall_at_k",
    "recall_share_at_k",
    "reciprocal_rank",
    "spearman",
]
