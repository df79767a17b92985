"""The metrics of one query, each with its definition: for whatever must hold for all of them."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from rankedu import metrics, reference


class Metric(NamedTuple):
    library: Callable  # (scores, labels, *, where)
    plain: Callable  # (y, labels)
    labels: str = "relevant"  # or "gains", or "levels" from 0 to 3
    undefined: str = "3 of 4 queries have no relevant item"  # where three of four have none


def at_2(library, plain, **told):
    return Metric(partial(library, k=2), partial(plain, k=2), **told)


def precision_at_2(y, relevant):
    return reference.precision_at_k(y, relevant, 2) if any(relevant) else reference.math.nan


def per_level(y, levels):
    return [reference.average_precision(y, [level >= at for level in levels]) for at in (1, 2, 3)]


NO_GAIN, NO_LEVEL = "3 of 4 queries have no gain above 0", "3 of 4 queries have no item of level 1 or more"
METRICS = {
    **{
        f"ap {ties}": Metric(
            partial(metrics.average_precision, ties=ties), partial(reference.average_precision, ties=ties)
        )
        for ties in ("ordinal", "pessimistic", "optimistic", "expected")
    },
    "ap@2": at_2(metrics.average_precision, reference.average_precision_at_k),
    "recall@2": at_2(metrics.recall_at_k, reference.recall_at_k),
    "recall share@2": at_2(metrics.recall_share_at_k, reference.recall_share_at_k),
    "precision@2": Metric(partial(metrics.precision_at_k, k=2), precision_at_2),
    "map@r": Metric(metrics.map_at_r, reference.map_at_r),
    "r-precision": Metric(metrics.r_precision, reference.r_precision),
    "mrr": Metric(metrics.reciprocal_rank, reference.reciprocal_rank),
    "ndcg": Metric(metrics.ndcg, reference.ndcg, "gains", NO_GAIN),
    "ndcg@2": at_2(metrics.ndcg, reference.ndcg, labels="gains", undefined=NO_GAIN),
    "spearman": Metric(metrics.spearman, reference.spearman, "gains", "3 of 4 queries have fewer than two distinct"),
    "h-ap": Metric(
        metrics.hierarchical_average_precision,
        reference.hierarchical_average_precision,
        "gains",
        "3 of 4 queries have no relevance above 0",
    ),
    "asi": Metric(metrics.average_set_intersection, reference.average_set_intersection, "levels", NO_LEVEL),
    "ap by level": Metric(
        partial(metrics.average_precision_per_level, n_levels=3),
        per_level,
        "levels",
        "9 of 12 queries and levels have no item of that level or finer",
    ),
}
