"""Metrics of a whole test set: every query ranks the gallery, and no matrix of all similarities is ever made."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count, check_rows, check_tensor, warn_caller
from rankedu.hierarchy import FlatHierarchyWarning, warn_inverted
from rankedu.metrics._formulas import Formulas, exactly
from rankedu.metrics._processes import check_process_group, gather, refuse_copies
from rankedu.metrics._relevant import SharedClasses, Tree
from rankedu.metrics._similarities import Similarities, full_precision
from rankedu.metrics._streaming import Where, stream
from rankedu.metrics.binary import UndefinedMetricWarning
from rankedu.metrics.names import parse


def evaluate_retrieval(
    embeddings: Tensor,
    labels: Tensor,
    *,
    gallery: Tensor | None = None,
    gallery_labels: Tensor | None = None,
    where: Where = None,
    similarity: str = "cosine",
    metrics: Sequence[str] = ("recall_at_1", "average_precision", "map_at_r"),
    alpha: float = 1.0,
    monotone: bool = False,
    chunk_size: int = 1024,
    device: torch.device | str | None = None,
    progress: bool = True,
    distributed: bool = False,
) -> dict[str, Any]:
    r"""Rank the gallery by similarity for every query, and average the metrics over queries.

    Parameters
    ----------
    embeddings : Tensor, shape (n, dim)
        The queries; float16 and bfloat16 are ranked in float32, which keeps their order without ties.
    labels : Tensor, shape (n,), (n, L) or (n, C)
        int: classes, or paths from root to leaf (see :func:`rankedu.hierarchy.levels`), −1 below the end of a path; of
        a table of words ``number_labels([read_labels(path)[0]])`` of :mod:`rankedu.files` makes them.
        bool: which of C classes an item has; items that share one are relevant to each other.
    gallery : Tensor, shape (g, dim), optional
        The items to be ranked. Default: the queries, and no query ranks itself.
    gallery_labels : Tensor, shape (g,), (g, L) or (g, C), optional
        Goes with ``gallery``.
    where : Tensor of bool, shape (n, g), or callable, optional
        Which items are candidates of which query. A callable gets the numbers of some queries, (q,), and returns their
        rows, (q, g). Default: all.
    similarity : {"cosine", "dot", "euclidean"}
        Largest cosine, largest dot product, or smallest distance first.
    metrics : sequence of str
        Of one level: "recall@K" (is one of the first K relevant? also called "hit_rate@K"), "recall_share@K" (how much
        of what is relevant is among the first K), "precision@K", "ap", "ap@K", "map@r", "r_precision", "mrr". Of all
        levels together: "h_ap", "asi", "ndcg", "ndcg@K" (gain :math:`2^l - 1`). "recall_at_1" and the like will do.
    alpha : float
        Exponent of the relevance (Eq. 4), for "h_ap".
    monotone : bool
        The relevance that never inverts the order of levels (see :func:`rankedu.hierarchy.relevance`), for "h_ap".
    chunk_size : int
        Queries in work at a time, at least a tile of up to 256. It changes memory and speed, and no bit of the result.
    device : torch.device or str, optional
        Where to compute. Default: where the embeddings are.
    progress : bool
        Show a progress bar when it takes more than two seconds (needs tqdm).
    distributed : bool
        In a torch.distributed process group: every process passes its own part of the queries (and of the gallery), and
        computes the result of the whole, which is that of the parts concatenated by rank of the process.

    Returns
    -------
    dict
        What was asked for, and what it is over:

        ============================== ===================================================================
        a metric's name, as given      float, the mean over the queries; a metric of one level is that of
                                       the finest, so "recall@1" asks for the query's own leaf
        ``"queries"``, ``"left_out"``  how many queries the means are over (at the finest level), and how
                                       many more have no relevant item there, and were left out
        ``"levels"``                   the same for each level, by its number from 1 to L: items of that
                                       level or finer are relevant
        ``"table"``                    list of dict, a row a level and one for "all" levels together
        ``"per_query"``                float64 Tensors of shape (n, L), or (n,) for a metric of all
                                       levels; nan for queries left out
        ============================== ===================================================================

    Notes
    -----
    Warns by `UndefinedMetricWarning` once, if queries are left out, by `InvertedRelevanceWarning` once, if the
    relevance of "h_ap" ranks levels in another order for some queries, and by `FlatHierarchyWarning`, if two levels are
    the same. O(n · g · dim) for the similarities; ranks are
    counted where few items are relevant, else a row is sorted. Memory is a copy of the gallery and ``chunk_size`` · g
    similarities. Ties go by position. The numbers do not depend on how the work is cut, nor on the number of processes,
    given the same kind of processor and version of torch. Explained in chapter 13.
    Raises ValueError or TypeError for a row that is not finite (it is named), tensors whose sizes or dtypes do not fit,
    labels that are no paths, an unknown metric, alpha ≤ 0, parts that do not fit, or that are copies of each other;
    RuntimeError for ``distributed`` without a process group.
    Source: RaMBO Eq. 8; HAPPIER Eq. 3; HAPPIER Sec. 4.1.

    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.9, 0.5], [0.0, 1.0], [-1.0, 0.0]])
    >>> labels = torch.tensor([0, 0, 1, 1, 2])
    >>> result = evaluate_retrieval(embeddings[:4], labels[:4], gallery=embeddings, gallery_labels=labels)
    >>> result["recall_at_1"], result["queries"]
    (1.0, 4)

    Paths, and metrics of all levels:

    >>> paths = torch.tensor([[0, 0], [0, 0], [0, 1], [0, 1]])
    >>> result = evaluate_retrieval(embeddings[:4], paths, metrics=("recall@1", "h_ap"))
    >>> [(level, row["recall@1"]) for level, row in result["levels"].items()], round(result["h_ap"], 4)
    ([(1, 1.0), (2, 0.0)], 0.7292)

    Pictures of the same person by the same camera are no candidates:

    >>> camera = torch.tensor([0, 1, 0, 1])
    >>> junk = lambda q: (labels[q, None] == labels[:4]) & (camera[q, None] == camera)
    >>> evaluate_retrieval(embeddings[:4], labels[:4], where=lambda q: ~junk(q), metrics=("ap", "mrr"))["mrr"]
    0.4583333333333333
    """
    wanted = parse(metrics)
    check_choice(similarity, ("cosine", "dot", "euclidean"), name="similarity")
    if (gallery is None) != (gallery_labels is None):
        given, missing = ("gallery", "gallery_labels") if gallery_labels is None else ("gallery_labels", "gallery")
        raise ValueError(f"{missing} must be given with {given}, got None (one label for each item of the gallery)")
    if distributed:
        check_process_group()
        embeddings, labels = _joined(embeddings, labels, "")
        if gallery is not None and gallery_labels is not None:
            gallery, gallery_labels = _joined(gallery, gallery_labels, "gallery_")
        where = torch.cat(gather(where, name="where")) if isinstance(where, Tensor) else where
    _check(embeddings, labels, gallery, gallery_labels, chunk_size)
    relevant = (SharedClasses if labels.dtype == torch.bool else Tree)(labels, gallery_labels)
    if flat := getattr(relevant, "flat", None):
        warn_caller(
            f"labels must run from root to leaf, got a column {flat[0] + 1} that splits no class of column {flat[0]}: "
            "the two levels are the same (stands the leaf before its parent? Turn the columns round, or leave one out)",
            FlatHierarchyWarning,
        )
    candidates = embeddings if gallery is None else gallery
    expected = (len(embeddings), len(candidates))
    if isinstance(where, Tensor) and where.shape != expected:
        raise ValueError(f"where must have shape {expected}, a row a query, got {tuple(where.shape)}")
    formulas = Formulas(wanted, relevant.n_levels, len(candidates), alpha, monotone)
    on = torch.device(embeddings.device if device is None else device)
    with full_precision(on):
        similarities = Similarities(embeddings, candidates, on, similarity)
        values, counts = stream(similarities, relevant, formulas, where, chunk_size, progress)
    if any(metric.kind == "h_ap" for metric in wanted.values()):
        size = counts.numpy().T
        table, exact = (torch.from_numpy(x.T) for x in (formulas.table(size), exactly(size)))
        warn_inverted(table, exact, stacklevel=2)
    return _summary(values)


class RetrievalMetrics:
    """The same, for embeddings that come batch by batch: update, compute, reset.

    The settings and errors are those of :func:`evaluate_retrieval`, but for the gallery; ValueError for a result
    without queries. It keeps all embeddings: the metrics are of the whole set, and no mean of batches.
    Explained in chapter 13.
    Source: RaMBO Eq. 8.

    >>> metric = RetrievalMetrics(("recall@1", "mrr"))
    >>> metric.update(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1]))
    >>> metric.update(torch.tensor([[0.8, 0.6], [0.6, 0.8]]), torch.tensor([0, 1]))
    >>> metric.compute()["recall@1"]
    0.5
    """

    def __init__(
        self, metrics: Sequence[str] = ("recall_at_1", "average_precision", "map_at_r"), **settings: Any
    ) -> None:
        parse(metrics)
        self.settings: dict[str, Any] = {**settings, "metrics": metrics}
        self.reset()

    def reset(self) -> None:
        """Forget all embeddings."""
        self._parts: dict[bool, list[tuple[Tensor, Tensor]]] = {False: [], True: []}

    def update(self, embeddings: Tensor, labels: Tensor, *, gallery: bool = False) -> None:
        """Add queries, or items of a gallery of its own: embeddings (n, dim) and labels (n,), (n, L) or (n, C)."""
        prefix = "gallery_" if gallery else ""
        check_tensor(embeddings, f"{prefix}embeddings")
        check_tensor(labels, f"{prefix}labels")
        self._parts[gallery].append((embeddings.detach(), labels.detach()))

    def compute(self) -> dict[str, Any]:
        """Evaluate all that has come, as :func:`evaluate_retrieval` does."""
        if not self._parts[False]:
            raise ValueError("compute() needs queries, got none: call update(embeddings, labels) first")
        embeddings, labels = (torch.cat(parts) for parts in zip(*self._parts[False], strict=True))
        items = [torch.cat(parts) for parts in zip(*self._parts[True], strict=True)]
        gallery = dict(zip(("gallery", "gallery_labels"), items, strict=False))
        return evaluate_retrieval(embeddings, labels, **{**self.settings, **gallery})


def _summary(values: dict[str, Tensor]) -> dict[str, Any]:
    """What the evaluation returns; a metric of one level has values of shape (n, L), a graded one (n,)."""
    n_levels = max((v.shape[1] for v in values.values() if v.ndim == 2), default=0)
    rows = [_row(level + 1, {m: v[:, level] for m, v in values.items() if v.ndim == 2}) for level in range(n_levels)]
    if graded := {m: v for m, v in values.items() if v.ndim == 1}:
        rows.append(_row("all", graded))
    if left_out := ", ".join(f"{row['left_out']} at level {row['level']}" for row in rows if row["left_out"]):
        warnings.warn(
            f"{left_out} of {rows[0]['queries'] + rows[0]['left_out']} queries have no relevant item in the gallery, "
            "and are left out (result['per_query'] has nan for them)",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    levels = {row["level"]: {k: v for k, v in row.items() if k != "level"} for row in rows}
    flat = {**levels.pop("all", {}), **levels.get(n_levels, {})}
    order = [*values, "queries", "left_out"]
    return {**{key: flat[key] for key in order}, "levels": levels, "table": rows, "per_query": values}


def _row(level: int | str, values: dict[str, Tensor]) -> dict[str, Any]:
    means = {m: _mean(v) for m, v in values.items()}
    queries = next(iter(means.values()))[1]
    left_out = len(next(iter(values.values()))) - queries
    return {"level": level, "queries": queries, "left_out": left_out, **{m: mean for m, (mean, _) in means.items()}}


def _mean(values: Tensor) -> tuple[float, int]:
    """Over the queries that have a value; the sum is exact, so their order does not matter."""
    defined = values[~values.isnan()]
    return (math.fsum(defined.tolist()) / len(defined) if len(defined) else math.nan), len(defined)


def _joined(embeddings: Tensor, labels: Tensor, prefix: str) -> tuple[Tensor, Tensor]:
    """The embeddings and labels of all processes."""
    name = "gallery" if prefix else "embeddings"
    parts, ids = gather(embeddings, name=name), gather(labels, name=f"{prefix}labels")
    refuse_copies(parts, ids, name=name)
    return torch.cat(parts), torch.cat(ids)


def _check(
    embeddings: Tensor, labels: Tensor, gallery: Tensor | None, gallery_labels: Tensor | None, chunk_size: int
) -> None:
    for matrix, ids, prefix in ((embeddings, labels, ""), (gallery, gallery_labels, "gallery_")):
        if matrix is None or ids is None:
            continue
        name = "gallery" if prefix else "embeddings"
        check_rows(matrix, name)
        check_tensor(ids, f"{prefix}labels")
        if ids.ndim not in (1, 2) or len(ids) != len(matrix):
            raise ValueError(
                f"{prefix}labels must have shape ({len(matrix)},) or ({len(matrix)}, L), a row for each of {name}, "
                f"got {tuple(ids.shape)}"
            )
    if gallery_labels is not None and (labels.dtype == torch.bool) != (gallery_labels.dtype == torch.bool):
        raise TypeError(f"gallery_labels must be of the kind of labels, {labels.dtype}, got {gallery_labels.dtype}")
    if labels.dtype == torch.bool and (
        labels.ndim != 2 or (gallery_labels is not None and gallery_labels.shape[1:] != labels.shape[1:])
    ):
        raise ValueError(f"labels of bool must have shape (n, C), a column a class, got {tuple(labels.shape)}")
    if gallery is not None and gallery.shape[1] != embeddings.shape[1]:
        raise ValueError(
            f"gallery must have the {embeddings.shape[1]} dimensions of embeddings, got {gallery.shape[1]}"
        )
    check_count(chunk_size, "chunk_size")
