"""Metrics of a whole test set: every query ranks the gallery, and no matrix of all similarities is ever made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankedu.metrics._formulas import Formulas, parse
from rankedu.metrics._relevant import Tree
from rankedu.metrics._shards import check_shard, join, process
from rankedu.metrics._similarities import Similarities, check_matrix, full_precision
from rankedu.metrics._streaming import stream
from rankedu.metrics._summary import summary, warn_inverted

__all__ = ["evaluate_retrieval", "merge"]


def evaluate_retrieval(
    embeddings: Tensor,
    labels: Tensor,
    *,
    gallery: Tensor | None = None,
    gallery_labels: Tensor | None = None,
    metrics: Sequence[str] = ("recall_at_1", "average_precision", "map_at_r"),
    alpha: float = 1.0,
    monotone: bool = False,
    chunk_size: int = 1024,
    device: torch.device | str | None = None,
    progress: bool = True,
    shard: tuple[int, int] | None = None,
    distributed: bool = False,
) -> dict[str, Any]:
    r"""Rank the gallery by cosine similarity for every query, and average the metrics over queries.

    Parameters
    ----------
    embeddings : Tensor, shape (n, dim)
        The queries, of any length from 1e-12 on; float16 and bfloat16 are ranked in float32, which keeps their order
        without ties.
    labels : Tensor of int, shape (n,) or (n, L)
        Classes, or paths from root to leaf (see :func:`rankedu.hierarchy.levels`); −1 below the end of a path.
    gallery : Tensor, shape (g, dim), optional
        The items to be ranked. Default: the queries, and no query ranks itself.
    gallery_labels : Tensor of int, shape (g,) or (g, L), optional
        Goes with ``gallery``.
    metrics : sequence of str
        Of one level: "recall_at_K", "precision_at_K", "average_precision", "map_at_r". Of all levels together: "h_ap",
        "asi", "ndcg" (gain :math:`2^l - 1`).
    alpha : float
        Exponent of the relevance (Eq. 4), for "h_ap".
    monotone : bool
        The relevance that never inverts the order of levels (see :func:`rankedu.hierarchy.relevance`), for "h_ap".
    chunk_size : int
        Queries in work at a time, at least a tile of up to 256. With more, several threads work. It changes memory and
        speed, and no bit of the result.
    device : torch.device or str, optional
        Where to compute. Default: where the embeddings are.
    progress : bool
        Show a progress bar when it takes more than two seconds (needs tqdm).
    shard : pair of int, optional
        ``(i, n)``: rank only the i-th of n shares of the queries, i from 0. :func:`merge` puts the results together.
    distributed : bool
        In a torch.distributed process group: every process passes its own part of the queries (and of the gallery), and
        gets the result of the whole, which is that of the parts concatenated by rank of the process.

    Returns
    -------
    dict
        What was asked for, and what it is over:

        ============================== ===================================================================
        a metric's name                float, the mean over the queries; a metric of one level is that of
                                       the finest, so "recall_at_1" asks for the query's own leaf
        ``"queries"``, ``"left_out"``  how many queries the means are over (at the finest level), and how
                                       many more have no relevant item there, and were left out
        ``"levels"``                   the same for each level, by its number from 1 to L: items of that
                                       level or finer are relevant
        ``"table"``                    list of dict, a row a level and one for "all" levels together, as
                                       ``pandas.DataFrame(result["table"])`` likes it
        ``"per_query"``                float64 Tensors of shape (n, L), or (n,) for a metric of all
                                       levels; nan for queries left out
        ``"shard"``                    which share of the queries this is; (0, 1) for all
        ============================== ===================================================================

    Raises
    ------
    ValueError
        For a row that is not finite (it is named), tensors whose sizes do not fit, labels that are no paths, an unknown
        metric, alpha ≤ 0, or parts that do not fit each other.
    TypeError
        For embeddings that are not floating point, or labels that are not integers.
    RuntimeError
        For ``distributed`` without a process group.

    Warns
    -----
    UndefinedMetricWarning
        Once, if queries are left out.
    InvertedRelevanceWarning
        Once, if the relevance of "h_ap" ranks levels in another order for some queries.

    Source
    ------
    RaMBO Eq. 8; HAPPIER Eq. 3; HAPPIER Sec. 4.1.

    Notes
    -----
    O(n · g · dim) for the similarities. A query with few relevant items counts the larger scores for each of them; one
    with many sorts its row. Memory is a copy of the gallery and ``chunk_size`` · g similarities. Ties go by position.

    The numbers do not depend on how the work is cut: similarities are computed in tiles whose shape follows from n and
    g alone, each by one thread, ranks are whole numbers, and the sum over queries is exact. So shards and processes
    agree to the last bit, given the same kind of processor and the same version of torch. Explained in chapter 13.

    Examples
    --------
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.9, 0.5], [0.0, 1.0], [-1.0, 0.0]])
    >>> labels = torch.tensor([0, 0, 1, 1, 2])
    >>> result = evaluate_retrieval(embeddings[:4], labels[:4], gallery=embeddings, gallery_labels=labels)
    >>> result["recall_at_1"], result["queries"]
    (1.0, 4)
    >>> paths = torch.tensor([[0, 0], [0, 0], [0, 1], [0, 1]])
    >>> result = evaluate_retrieval(embeddings[:4], paths, metrics=("recall_at_1", "h_ap"))
    >>> [(level, row["recall_at_1"]) for level, row in result["levels"].items()], round(result["h_ap"], 4)
    ([(1, 1.0), (2, 0.0)], 0.7292)
    """
    metrics = parse(metrics)
    if (gallery is None) != (gallery_labels is None):
        given, missing = ("gallery", "gallery_labels") if gallery_labels is None else ("gallery_labels", "gallery")
        raise ValueError(f"{missing} must be given with {given}, got None (one label for each item of the gallery)")
    if distributed:
        if shard is not None:
            raise ValueError(f"shard must be None with distributed=True, got {shard!r} (each process takes its share)")
        shard = process()
        embeddings, labels = join(embeddings, name="embeddings"), join(labels, name="labels")
        if gallery is not None and gallery_labels is not None:
            gallery, gallery_labels = join(gallery, name="gallery"), join(gallery_labels, name="gallery_labels")
    part = check_shard((0, 1) if shard is None else shard)
    _check(embeddings, labels, gallery, gallery_labels, chunk_size)
    tree = Tree(labels, gallery_labels)
    candidates = embeddings if gallery is None else gallery
    formulas = Formulas(metrics, tree.n_levels, len(candidates), alpha, monotone)
    on = torch.device(embeddings.device if device is None else device)
    with full_precision(on):
        similarities = Similarities(embeddings, candidates, on)
        values = stream(similarities, tree, formulas, part, chunk_size, progress)
    if distributed:
        values = {m: join(v.to(embeddings.device), name=m).cpu() for m, v in values.items()}
    if "h_ap" in metrics:
        warn_inverted(formulas.inverted(tree.size))
    return summary(values, (0, 1) if distributed else part)


def merge(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the results of all shards together.

    Parameters
    ----------
    results : sequence of dict
        What :func:`evaluate_retrieval` returned for the shards (0, n), …, (n − 1, n), in any order.

    Returns
    -------
    dict
        What it returns without shards, to the last bit.

    Raises
    ------
    ValueError
        If a shard is missing or there twice, or the metrics differ.

    Source
    ------
    RaMBO Eq. 8.

    Notes
    -----
    The sum over queries is exact, so it does not matter where it is cut. Explained in chapter 13.

    Examples
    --------
    >>> embeddings = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
    >>> labels = torch.arange(9) // 3
    >>> parts = [evaluate_retrieval(embeddings, labels, shard=(i, 2)) for i in range(2)]
    >>> merge(parts)["map_at_r"] == evaluate_retrieval(embeddings, labels)["map_at_r"]
    True
    """
    shards = sorted(tuple(result["shard"]) for result in results)
    if not shards or shards != [(i, len(shards)) for i in range(len(shards))]:
        raise ValueError(f"results must be of all n shards, (0, n) to (n - 1, n), got {shards}")
    ordered = [result["per_query"] for result in sorted(results, key=lambda result: tuple(result["shard"]))]
    if any(list(values) != list(ordered[0]) for values in ordered):
        raise ValueError(f"results must be of the same metrics, got {[list(values) for values in ordered]}")
    return summary({m: torch.cat([values[m] for values in ordered]) for m in ordered[0]}, (0, 1))


def _check(
    embeddings: Tensor, labels: Tensor, gallery: Tensor | None, gallery_labels: Tensor | None, chunk_size: int
) -> None:
    for matrix, ids, prefix in ((embeddings, labels, ""), (gallery, gallery_labels, "gallery_")):
        if matrix is None or ids is None:
            continue
        name = "gallery" if prefix else "embeddings"
        check_matrix(matrix, name=name)
        if not isinstance(ids, Tensor):
            raise TypeError(f"{prefix}labels must be a torch.Tensor, got {type(ids).__name__} (use torch.as_tensor)")
        if ids.ndim not in (1, 2) or len(ids) != len(matrix):
            raise ValueError(
                f"{prefix}labels must have shape ({len(matrix)},) or ({len(matrix)}, L), a row for each of {name}, "
                f"got {tuple(ids.shape)}"
            )
    if gallery is not None and gallery.shape[1] != embeddings.shape[1]:
        raise ValueError(
            f"gallery must have the {embeddings.shape[1]} dimensions of embeddings, got {gallery.shape[1]} "
            "(both must come from the same network)"
        )
    if isinstance(chunk_size, bool) or not isinstance(chunk_size, int) or chunk_size < 1:
        raise ValueError(f"chunk_size must be an int >= 1, got {chunk_size!r}")
