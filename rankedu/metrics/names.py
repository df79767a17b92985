"""Names of metrics, as people write them."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from rankedu.checks import did_you_mean
from rankedu.metrics import binary, graded

__all__ = ["Metric", "parse"]

#: Metrics of one level: from groups of equal scores, and k, to the value of each query.
OF_ONE_LEVEL: dict[str, Callable[..., Any]] = {
    "recall": binary.hit,
    "recall_share": lambda groups, k: binary.found(groups, k) / groups.size,
    "precision": binary.precision,
    "average_precision": binary.ap,
    "ap_min": lambda groups, k: binary.ap(groups, k, at_most_k=True),
    "map_at_r": lambda groups, k: binary.ap(groups, groups.size),
    "r_precision": lambda groups, k: binary.found(groups, groups.size) / groups.size,
    "mrr": lambda groups, k: binary.mrr(groups),
}
#: Metrics of all levels together, from a ranking graded by relevance, by level, and by gain.
GRADED: dict[str, Callable[..., Any]] = {
    "h_ap": lambda ranking, k: graded.h_ap(ranking),
    "asi": lambda ranking, k: graded.asi(ranking),
    "ndcg": graded.ratio_of_gains,
}
SPELLINGS = {
    "ap": "average_precision",
    "map": "average_precision",
    "meanaverageprecision": "average_precision",
    "map@r": "map_at_r",
    "reciprocalrank": "mrr",
    "hitrate": "recall",
    "r": "recall",
    "p": "precision",
    **{kind.replace("_", ""): kind for kind in (*OF_ONE_LEVEL, *GRADED)},
}
NEEDS_K, TAKES_K = {"recall", "recall_share", "precision", "ap_min"}, {"average_precision", "ndcg"}
KNOWN = "recall@K, recall_share@K, precision@K, ap, ap@K, ap_min@K, map@r, r_precision, mrr, h_ap, asi, ndcg, ndcg@K"


class Metric(NamedTuple):
    """What a name means. Made by `parse`."""

    kind: str  #: The metric's own name: "average_precision", "recall" and so on.
    k: int | None  #: How many places count; None for all.


def parse(metrics: object) -> dict[str, Metric]:
    """Read names of metrics; capitals, hyphens, spaces and underscores do not matter, and ``_at_`` is ``@``.

    Parameters
    ----------
    metrics : sequence of str

    Returns
    -------
    dict of str to Metric
        What each name means, by the name as it was written.

    Raises
    ------
    TypeError, ValueError
        For anything but a tuple or list of known names.

    Examples
    --------
    >>> parse(["mAP", "hit-rate@10"])
    {'mAP': Metric(kind='average_precision', k=None), 'hit-rate@10': Metric(kind='recall', k=10)}
    """
    if isinstance(metrics, str) or not isinstance(metrics, (tuple, list)) or not metrics:
        raise TypeError(f"metrics must be a tuple of names, got {metrics!r} (e.g. ('recall@1', 'map@r'))")
    return {name: _read(name) for name in metrics}


def _read(name: object) -> Metric:
    plain = re.sub(r"[-_ ]", "", re.sub(r"[-_ ]at[-_ ]", "@", str(name).lower()))
    word, _, depth = plain.partition("@")
    at_k = re.fullmatch(r"[1-9]\d*", depth)
    kind = SPELLINGS.get(word if at_k else plain, "")
    if not (kind in NEEDS_K | TAKES_K if at_k else kind and kind not in NEEDS_K):
        hint = did_you_mean(plain, KNOWN.replace("K", depth if at_k else "10").split(", "), alike=0.5)
        raise ValueError(f"metrics must be among {KNOWN}, where K is a number >= 1, got {name!r}{hint}")
    return Metric(kind, int(depth) if at_k else None)
