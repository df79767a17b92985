"""Metrics: one value per query, exact, whatever the order of the items. They have no gradient; the losses do."""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.metrics._items import DuplicateItemsWarning as DuplicateItemsWarning
    from rankedu.metrics.binary import UndefinedMetricWarning as UndefinedMetricWarning
    from rankedu.metrics.binary import average_precision as average_precision
    from rankedu.metrics.binary import map_at_r as map_at_r
    from rankedu.metrics.binary import precision_at_k as precision_at_k
    from rankedu.metrics.binary import r_precision as r_precision
    from rankedu.metrics.binary import recall_at_k as recall_at_k
    from rankedu.metrics.binary import recall_share_at_k as recall_share_at_k
    from rankedu.metrics.binary import reciprocal_rank as reciprocal_rank
    from rankedu.metrics.graded import average_precision_per_level as average_precision_per_level
    from rankedu.metrics.graded import average_set_intersection as average_set_intersection
    from rankedu.metrics.graded import hierarchical_average_precision as hierarchical_average_precision
    from rankedu.metrics.graded import hierarchical_rank as hierarchical_rank
    from rankedu.metrics.graded import ndcg as ndcg
    from rankedu.metrics.graded import spearman as spearman
    from rankedu.metrics.retrieval import RetrievalMetrics as RetrievalMetrics
    from rankedu.metrics.retrieval import evaluate_retrieval as evaluate_retrieval
else:
    __getattr__, __dir__, __all__ = lazy(__spec__)
