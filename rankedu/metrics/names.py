"""Names of metrics, as people write them."""

import re
from typing import NamedTuple

from rankedu.checks import did_you_mean

__all__ = ["Metric", "parse"]

GRADED = ("h_ap", "asi", "ndcg")
OF_ONE_LEVEL = ("recall", "recall_share", "precision", "average_precision", "map_at_r", "r_precision", "mrr")
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
NEEDS_K, TAKES_K = {"recall", "recall_share", "precision"}, {"average_precision", "ndcg"}
KNOWN = "recall@K, recall_share@K, precision@K, ap, ap@K, map@r, r_precision, mrr, h_ap, asi, ndcg, ndcg@K"


class Metric(NamedTuple):
    """What a name asks for. Made by `parse`."""

    kind: str  #: The metric's own name: "average_precision", "recall" and so on.
    k: int | None  #: How many places count; None for all.


def parse(metrics: object) -> dict[str, Metric]:
    """Read names of metrics: from each, as it was written, to what it asks for.

    Capitals, hyphens, spaces and underscores do not matter, and ``_at_`` is ``@``. Raises TypeError for anything but a
    tuple or list of names, ValueError for an unknown name.

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
