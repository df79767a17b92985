"""What hierarchical experiments measure: neighbours of classes, and how severe mistakes are."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankedu.hierarchy import levels as common_levels
from rankedu.hierarchy import relevance
from rankedu.metrics import hierarchical_average_precision
from rankedu_book.lab_retrieval.study import check, spread, values


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


def tsne(means: Tensor) -> Any:
    """A map, shape (classes, 2)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(means) - 1) / 3)
    return TSNE(init="pca", perplexity=perplexity, random_state=0, n_jobs=1).fit_transform(means.numpy())


def levels_of_top(embeddings: Tensor, labels: Tensor, k: int = 1, *, limit: int | None = None) -> Tensor:
    """The level that each query shares with each of its first k results: int64 (q, k).

    From 0, nothing in common, to L, the same class; −1 where a query has no more positives than there are places
    before: what stands there is no mistake that could be avoided. An item that ties with a more relevant one stands
    before it.

    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.9, 0.1], [0.0, 1.0]])
    >>> levels_of_top(embeddings, torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2]]), k=2)
    tensor([[ 1, -1],
            [ 1, -1],
            [-1, -1],
            [-1, -1]])
    """
    rows, paths = check(embeddings, labels)
    found = []
    for chunk in torch.split(spread(torch.arange(len(paths)), limit), 256):
        itself = torch.arange(len(chunk)), chunk
        shared, scores = common_levels(paths[chunk], paths), (rows[chunk] @ rows.T).double()
        shared[itself], scores[itself] = -1, -torch.inf
        # of equal scores the smaller level first: float32 scores, in float64, leave room for it
        keys = scores - shared * 1e-12
        top = keys.topk(min(k, len(paths) - 1), dim=1).indices
        levels = torch.nn.functional.pad(shared.gather(1, top), (0, k - top.shape[1]), value=-1)
        positives = (shared == paths.shape[1]).sum(1)
        found.append(levels.masked_fill(torch.arange(k) >= positives[:, None], -1))
    return torch.cat(found)


def severity(levels_of_top: Tensor, n_levels: int) -> Tensor:
    """The share of results at each level: the last is what is right, the others are mistakes, the first the worst.

    >>> severity(torch.tensor([[2, 2, 1], [2, 0, -1]]), n_levels=2)
    tensor([0.2000, 0.2000, 0.6000], dtype=torch.float64)
    """
    counted = levels_of_top[levels_of_top >= 0]
    if not len(counted):
        raise ValueError("labels must have a class of two items at least, got none")
    return torch.bincount(counted, minlength=n_levels + 1).double() / len(counted)


def h_ap(scores: Tensor, levels: Tensor, where: Tensor) -> Tensor:
    """H-AP of each row, with relevances that keep the order of the levels."""
    graded = relevance(levels, where=where, monotone=True)
    return hierarchical_average_precision(scores, graded, where=where)


def h_ap_of_list(shared: Tensor) -> float:
    """H-AP of one list of levels, from first to last."""
    scores = torch.arange(len(shared), 0, -1, dtype=torch.float64)
    return h_ap(scores[None], shared[None], torch.ones(1, len(shared), dtype=torch.bool)).item()


def query_that_fails(rows: Sequence[Tensor], paths: Tensor, k: int = 10) -> dict[str, int]:
    """Fig. 6b: of the queries that find nothing right among the first k by any network, the one of middle gain."""
    asked = spread(torch.arange(len(paths)))
    failed = torch.stack([(levels_of_top(each, paths, k)[asked] < paths.shape[1]).all(1) for each in rows]).all(0)
    before, after = (values(each, paths, asked, metric=h_ap)[failed] for each in (rows[0], rows[-1]))
    order = asked[failed][(after - before).argsort(stable=True)]
    return {"both fail": int(order[len(order) // 2])} if len(order) else {}
