"""Names of metrics as people write them."""

from __future__ import annotations

import difflib
import re

__all__ = ["metric_names"]

_NAMES = {
    "ap": "average_precision",
    "map": "average_precision",
    "averageprecision": "average_precision",
    "meanaverageprecision": "average_precision",
    "map@r": "map_at_r",
    "hap": "h_ap",
    "asi": "asi",
    "ndcg": "ndcg",
}
_AT_K = {"recall": "recall", "r": "recall", "precision": "precision", "p": "precision"}
_PROPER = ("ap", "map", "map@r", "recall@1", "recall@10", "r@1", "precision@1", "p@1", "h-ap", "asi", "ndcg")


def metric_names(text: str) -> dict[str, str]:
    """From each name as it was written to that of :func:`rankedu.metrics.evaluate_retrieval`; there are commas between.

    Capitals, hyphens and underscores do not matter, and ``_at_`` is ``@``; ValueError says which known name is near.

    >>> metric_names("AP,recall@1,H-AP")
    {'AP': 'average_precision', 'recall@1': 'recall_at_1', 'H-AP': 'h_ap'}
    """
    names = {}
    for name in (part.strip() for part in text.split(",")):
        plain = re.sub(r"[-_ ]", "", re.sub(r"[-_ ]at[-_ ]", "@", name.lower()))
        at_k = re.fullmatch(r"(\w+)@([1-9]\d*)", plain)
        if plain in _NAMES:
            names[name] = _NAMES[plain]
        elif at_k and at_k[1] in _AT_K:
            names[name] = f"{_AT_K[at_k[1]]}_at_{at_k[2]}"
        else:
            near = difflib.get_close_matches(plain, _PROPER, n=1, cutoff=0.5)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise ValueError(
                f"metrics must be among ap, map@r, recall@K, precision@K, h-ap, asi, ndcg, got {name!r}{hint}"
            )
    return names
