"""What hierarchical experiments measure: neighbours of classes, and how severe mistakes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankbook.lab_retrieval.study import check, choose_queries, offered, values, who_asks
from rankedu.checks import check_k
from rankedu.hierarchy import levels as common_levels
from rankedu.hierarchy import relevance
from rankedu.metrics import hierarchical_average_precision


def class_means(embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The mean embedding of each class, and the class's path."""
    rows, paths = check(embeddings, labels)
    distinct, place, sizes = torch.unique(paths, dim=0, return_inverse=True, return_counts=True)
    sums = torch.zeros(len(distinct), rows.shape[1]).index_add_(0, place, rows)
    return sums / sizes[:, None], distinct


def same_neighbours(means: Tensor, groups: Tensor) -> float:
    """The share of classes whose nearest other class, by the distance of their means, is of the same group."""
    distance = torch.cdist(means.double(), means.double()).fill_diagonal_(torch.inf)
    return (groups[distance.argmin(1)] == groups).double().mean().item()


def tsne(means: Tensor, perplexity: float, seed: int) -> Any:
    """The map, shape (classes, 2)."""
    try:
        from sklearn.manifold import TSNE
    except ModuleNotFoundError:
        raise ModuleNotFoundError("class_map needs scikit-learn (pip install 'rankedu[lab]')") from None
    if len(means) < 5:
        raise ValueError(f"labels must have five classes at least to be mapped, got {len(means)}")
    perplexity = min(perplexity, (len(means) - 1) / 3)
    return TSNE(init="pca", perplexity=perplexity, random_state=seed, n_jobs=1).fit_transform(means.numpy())


def levels_of_top(
    embeddings: Tensor, labels: Tensor, k: int = 1, *, limit: int | None = None, candidates: Tensor | None = None
) -> Tensor:
    """The level that each query shares with each of its first k results: int64 (q, k).

    From 0, nothing in common, to L, the same class; −1 where a query has no more positives than there are places
    before: what stands there is no mistake that could be avoided. An item that ties with a more relevant one stands
    before it. ``candidates``, bool (N,), are what may be retrieved where queries and gallery are apart.

    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.9, 0.1], [0.0, 1.0]])
    >>> levels_of_top(embeddings, torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2]]), k=2)
    tensor([[ 1, -1],
            [ 1, -1],
            [-1, -1],
            [-1, -1]])
    """
    check_k(k)
    rows, paths = check(embeddings, labels)
    queries, missing = who_asks(paths, candidates, limit), ~offered(paths, candidates)
    found = []
    for chunk in torch.split(queries, 256):
        shared = common_levels(paths[chunk], paths)
        out = missing.repeat(len(chunk), 1)
        out[torch.arange(len(chunk)), chunk] = True
        shared.masked_fill_(out, -1)
        scores = (rows[chunk] @ rows.T).double().masked_fill_(out, -torch.inf)
        # of equal scores the smaller level first: float32 scores, in float64, leave room for it
        keys = scores - shared * 1e-12
        top = keys.topk(min(k, len(paths) - 1), dim=1).indices
        levels = torch.nn.functional.pad(shared.gather(1, top), (0, k - top.shape[1]), value=-1)
        positives = (shared == paths.shape[1]).sum(1)
        found.append(levels.masked_fill(torch.arange(k) >= positives[:, None], -1))
    return torch.cat(found)


def severity(levels_of_top: Tensor, n_levels: int | None = None) -> Tensor:
    """The share of results at each level: the last is what is right, the others are mistakes, the first the worst.

    >>> severity(torch.tensor([[2, 2, 1], [2, 0, -1]]))
    tensor([0.2000, 0.2000, 0.6000], dtype=torch.float64)
    """
    counted = levels_of_top[levels_of_top >= 0]
    if not len(counted):
        raise ValueError("levels_of_top must have a level >= 0, got none (has every class but one item?)")
    n_levels = int(counted.max()) if n_levels is None else n_levels
    if counted.max() > n_levels:
        raise ValueError(f"levels_of_top must be at most n_levels={n_levels}, got {int(counted.max())}")
    return torch.bincount(counted, minlength=n_levels + 1).double() / len(counted)


def h_ap(scores: Tensor, levels: Tensor, where: Tensor) -> Tensor:
    """H-AP of each row, with relevances that keep the order of the levels."""
    graded = relevance(levels, where=where, monotone=True)
    return hierarchical_average_precision(scores, graded, where=where)


def queries_by_h_ap(rows: list[Tensor], paths: Tensor, candidates: Tensor | None = None) -> dict[str, int]:
    """Queries chosen by what the last network gains over the first."""
    asked = who_asks(paths, candidates)
    before, after = (values(each, paths, asked, candidates, h_ap) for each in (rows[0], rows[-1]))
    return choose_queries(before, after, asked)


def h_ap_of_list(shared: Tensor) -> float:
    """H-AP of one list of levels, from first to last."""
    scores = torch.arange(len(shared), 0, -1, dtype=torch.float64)
    return h_ap(scores[None], shared[None], torch.ones(1, len(shared), dtype=torch.bool)).item()


def query_that_fails(rows: Sequence[Tensor], paths: Tensor, k: int = 10) -> dict[str, int]:
    """Fig. 6b: of the queries that find nothing right among the first k by any network, the one of middle gain."""
    asked = who_asks(paths, None)
    failed = torch.ones(len(asked), dtype=torch.bool)
    for embedded in rows:
        failed &= (levels_of_top(embedded, paths, k)[asked] < paths.shape[1]).all(1)
    gains = values(rows[-1], paths, asked, metric=h_ap) - values(rows[0], paths, asked, metric=h_ap)
    places = failed.nonzero()[:, 0]
    order = places[gains[places].argsort(stable=True)]
    return {"both fail": int(asked[order[len(order) // 2]])} if len(order) else {}
