"""What a query retrieves, and which queries are worth a picture."""

import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from rankedu import hierarchy
from rankedu.labels import check_paths
from rankedu.metrics import average_precision

#: Queries that are looked at to choose some of them, evenly spaced: ranking all would take minutes on a large set.
LIMIT = 256
#: Of scores, levels and where, each (q, N).
Metric = Callable[[Tensor, Tensor, Tensor], Tensor]


def check(embeddings: Tensor, labels: Tensor, *, name: str = "embeddings") -> tuple[Tensor, Tensor]:
    """Embeddings of length 1 as float32 (N, dim), and label paths (N, L), both on the CPU."""
    paths = check_paths(labels, "labels").cpu()
    if not isinstance(embeddings, Tensor) or embeddings.ndim != 2 or len(embeddings) != len(paths):
        got = tuple(embeddings.shape) if isinstance(embeddings, Tensor) else type(embeddings).__name__
        raise ValueError(f"{name} must be a tensor of shape ({len(paths)}, dim), a row for each label, got {got}")
    rows = embeddings.detach().cpu().float()
    if not rows.isfinite().all():
        raise ValueError(f"{name} must be finite, got {int((~rows.isfinite()).sum())} entries that are not")
    return torch.nn.functional.normalize(rows, dim=1), paths


def offered(paths: Tensor, candidates: Tensor | None) -> Tensor:
    """What may be retrieved, a fresh bool tensor of shape (N,): the candidates, or all."""
    return torch.ones(len(paths), dtype=torch.bool) if candidates is None else candidates.cpu().clone()


def who_asks(paths: Tensor, candidates: Tensor | None, limit: int | None = LIMIT) -> Tensor:
    """Indices of the queries, evenly spaced: what is not a candidate, or, if all are, everything."""
    apart = (~offered(paths, candidates)).nonzero()[:, 0]
    return spread(apart if len(apart) else torch.arange(len(paths)), limit)


def ranked(embeddings: Tensor, paths: Tensor, query: int, candidates: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """All candidates of a query from first to last, and the levels that they share with it; both (n,)."""
    here = offered(paths, candidates)
    here[query] = False
    items = here.nonzero()[:, 0]
    shared = hierarchy.levels(paths[[query]], paths[items])[0]
    scores = embeddings[items] @ embeddings[query]
    order = torch.from_numpy(np.lexsort((shared.numpy(), -scores.numpy())))
    return items[order], shared[order]


def values(
    embeddings: Tensor, paths: Tensor, queries: Tensor, candidates: Tensor | None = None, metric: Metric | None = None
) -> Tensor:
    """A metric of each query, by default the average precision of its class; nan where it has no positive."""
    found = []
    for chunk in torch.split(queries, 128):
        scores, levels = embeddings[chunk] @ embeddings.T, hierarchy.levels(paths[chunk], paths)
        where = offered(paths, candidates).repeat(len(chunk), 1)
        where[torch.arange(len(chunk)), chunk] = False
        positive = (levels == paths.shape[1]) & where
        has, value = positive.any(1), torch.full((len(chunk),), torch.nan, dtype=torch.float64)
        if has.any():
            value[has] = (
                average_precision(scores[has], positive[has], where=where[has], ties="pessimistic")
                if metric is None
                else metric(scores[has], levels[has], where[has])
            ).double()
        found.append(value)
    return torch.cat(found)


def choose_queries(before: Tensor, after: Tensor, asked: Tensor | None = None) -> dict[str, int]:
    """Name three queries by what they gain: the most, the middle one, and the one that gains least.

    ``before`` and ``after`` hold a metric of each query, shape (q,), larger is better; nan is never chosen. Equals
    stand in the order of their positions, so the choice is nobody's taste. ``asked`` holds the queries' indices.

    >>> before, after = torch.tensor([0.5, 0.5, 0.5, 0.9]), torch.tensor([0.9, 0.6, 0.4, torch.nan])
    >>> choose_queries(before, after)
    {'most improved': 0, 'typical': 1, 'worst': 2}
    """
    gain = (after - before).double()
    valid = gain.isfinite().nonzero()[:, 0]
    if not len(valid):
        raise ValueError("before and after must have a query with a value in both, got none (is each class alone?)")
    falling = valid[gain[valid].neg().argsort(stable=True)].tolist()
    chosen = {"most improved": falling[0], "typical": falling[(len(falling) - 1) // 2], "worst": falling[-1]}
    indices = torch.arange(len(gain)) if asked is None else asked
    return {name: int(indices[at]) for name, at in chosen.items() if name == "most improved" or at != falling[0]}


def gaining(
    before: Tensor, after: Tensor, paths: Tensor, candidates: Tensor | None = None, metric: Metric | None = None
) -> dict[str, int]:
    """Three queries, chosen by what a metric gains between two networks' embeddings."""
    asked = who_asks(paths, candidates)
    first, last = (values(embedded, paths, asked, candidates, metric) for embedded in (before, after))
    return choose_queries(first, last, asked)


def pr_curve(relevant: Tensor) -> tuple[Tensor, Tensor]:
    """Recall and precision at each relevant item of a list, bool (n,), that is given from first to last.

    Each step of the curve is 1/r wide and ends at one of these points, so the area under it is the average precision.
    """
    ranks = relevant.nonzero()[:, 0].double() + 1
    place = torch.arange(1, len(ranks) + 1, dtype=torch.float64)
    return place / len(ranks), place / ranks


def spread(indices: Tensor, limit: int | None = LIMIT) -> Tensor:
    """At most so many of these indices, evenly spaced."""
    if limit is None or len(indices) <= limit:
        return indices
    return indices[torch.linspace(0, len(indices) - 1, limit, dtype=torch.float64).round().long()]


def in_words(name: str) -> str:
    """A class's name for the alternative text: a character by its Unicode name, which every reader's font has."""
    return unicodedata.name(name, f"U+{ord(name):04X}").capitalize() if len(name) == 1 else name.replace("_", " ")


def class_of(query: int, paths: Tensor, names: Sequence[str] | None) -> str:
    """The class of a query, in words."""
    leaf = int(paths[query, -1])
    return f"class {leaf}" if names is None else in_words(names[leaf])
