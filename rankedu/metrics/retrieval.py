"""Metrics of a whole test set: every query ranks the gallery, a tile of queries at a time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu import hierarchy
from rankedu.checks import check_choice, check_count, check_number, check_tensor, warn_caller
from rankedu.labels import check_labels, check_rows
from rankedu.metrics._items import DuplicateItemsWarning, Paths, Tags, identify, warn_of_copies
from rankedu.metrics._ranking import TIES, Floats, Ints, Ranking, array, rank_items
from rankedu.metrics._similarities import Similarities, full_precision
from rankedu.metrics._summary import summary
from rankedu.metrics.intervals import mean_interval
from rankedu.metrics.names import GRADED, OF_ONE_LEVEL, Metric, parse

__all__ = ["DuplicateItemsWarning", "RetrievalMetrics", "evaluate_retrieval"]

Where = Tensor | Callable[[Tensor], Tensor] | None
LIST = 1 << 17  # relevant items whose formulas are computed at once: their temporaries stay in the cache


def evaluate_retrieval(
    embeddings: Tensor,
    labels: Tensor,
    *,
    gallery: Tensor | None = None,
    gallery_labels: Tensor | None = None,
    ids: Tensor | None = None,
    gallery_ids: Tensor | None = None,
    where: Where = None,
    similarity: str = "cosine",
    metrics: Sequence[str] = ("recall_at_1", "average_precision", "map_at_r"),
    ties: str = "expected",
    alpha: float = 1.0,
    monotone: bool = False,
    interval: float | None = None,
    chunk_size: int = 1024,
    device: torch.device | str | None = None,
    progress: bool = True,
    distributed: bool = False,
) -> dict[str, Any]:
    """Rank the gallery by similarity for every query, and average the metrics over queries. Explained in chapter 13.

    The time is O(n · g · dim), and the memory a copy of the gallery and ``chunk_size`` · g similarities. The numbers do
    not depend on how the work is cut, given the same kind of processor and version of torch.

    Parameters
    ----------
    embeddings : Tensor, shape (n, dim)
        The queries; float16 and bfloat16 are ranked in float32, which keeps their order without ties.
    labels : Tensor, shape (n,), (n, L) or (n, C)
        int: classes, or paths from root to leaf (see :func:`rankedu.hierarchy.levels`); −1 is no label, and fills up
        paths that end early. bool: which of C tags an item has; items that share one are relevant to each other.
    gallery, gallery_labels : Tensor, shape (g, dim), and as labels, optional
        The items to be ranked, by default the queries, and no query ranks itself. A gallery that equals the queries,
        row by row and with the same labels, means the same.
    ids, gallery_ids : Tensor of int, shape (n,) and (g,), optional
        Which item each row is. An item is never its own partner: a query leaves out the item of the gallery with its
        id, and of rows with the same id, for instance from a padded ``DistributedSampler``, only the first counts.
    where : Tensor of bool, shape (n, g), or callable, optional
        Which items are candidates of which query, by default all. A callable gets the numbers of some queries, (q,),
        and returns their rows, (q, g).
    similarity : {"cosine", "dot", "euclidean"}
        Largest cosine, largest dot product, or smallest distance first.
    metrics : sequence of str
        Of one level: "recall@K" (is one of the first K relevant? also called "hit_rate@K"), "recall_share@K" (how much
        of what is relevant is among the first K), "precision@K", "ap", "ap@K", "ap_min@K" (divided by min(R, K)),
        "map@r", "r_precision", "mrr". Of all levels together: "h_ap", "asi", "ndcg", "ndcg@K" (gain :math:`2^l - 1`).
        "recall_at_1" and the like are accepted, too.
    ties : {"expected", "ordinal", "pessimistic", "optimistic"}
        As for :func:`average_precision`. By default the order of the gallery does not matter.
    alpha, monotone : float, bool
        For "h_ap", as for :func:`rankedu.hierarchy.relevance`.
    interval : float, optional
        Also compute intervals of this level, e.g. 0.95, by a bootstrap over the (finest) classes of the queries, since
        queries of one class are not independent, or over queries if the labels are tags. In Wilson's form, which is
        right also where all values are 0 or 1.
    chunk_size : int
        Queries in work at a time, at least a tile of up to 256. It changes memory and speed, not the result.
    device : torch.device or str, optional
        Where to compute, by default where the embeddings are.
    progress : bool
        Show a progress bar when it takes more than two seconds (needs tqdm).
    distributed : bool
        No longer possible: gather the embeddings, labels and ids of all processes, then evaluate in one.

    Returns
    -------
    dict
        The metrics, and what they are means of:

        ============================== ===================================================================
        a metric's name, as given      float, the mean over the queries; a metric of one level is that of
                                       the finest, so "recall@1" asks for the query's own leaf
        ``"queries"``, ``"left_out"``  how many queries the means are over (at the finest level), and how
                                       many more have no relevant item there, and were left out
        ``"levels"``                   the same for each level, by its number from 1 to L: items of that
                                       level or finer are relevant
        ``"table"``                    list of dict, one row per level and one for "all" levels together
        ``"interval"``                 if asked for: (low, high) by the metric's name
        ``"per_query"``                Tensors of shape (n, L), or (n,) for a metric of all levels, of
                                       float64 for float64 embeddings, else float32; nan for queries left
                                       out, and for repeated ones
        ============================== ===================================================================

    Raises
    ------
    ValueError, TypeError
        For a row that is not finite (it is named), tensors that do not fit each other, labels that could be paths as
        well as tags, an unknown metric, or alpha ≤ 0.

    Warns
    -----
    UndefinedMetricWarning, DuplicateItemsWarning
        Once, if queries are left out; if rows have the same id, or, without ids, if the gallery has exact copies of
        queries.
    InvertedRelevanceWarning, FlatHierarchyWarning
        Once, if the relevance of "h_ap" inverts the order of levels, or two levels are the same.

    References
    ----------
    RaMBO Eq. 8; HAPPIER Eq. 3; HAPPIER Sec. 4.1

    Examples
    --------
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.9, 0.5], [0.0, 1.0]])
    >>> paths = torch.tensor([[1, 1], [1, 1], [1, 2], [1, 2]])
    >>> result = evaluate_retrieval(embeddings, paths, metrics=("recall@1", "h_ap"))
    >>> [(level, row["recall@1"]) for level, row in result["levels"].items()], round(result["h_ap"], 4)
    ([(1, 1.0), (2, 0.0)], 0.7292)

    Pictures of the same person by the same camera are no candidates:

    >>> person, camera = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])
    >>> junk = lambda q: (person[q, None] == person) & (camera[q, None] == camera)
    >>> evaluate_retrieval(embeddings, person, where=lambda q: ~junk(q), metrics=("mrr",))["mrr"]
    0.4583333333333333
    """
    if distributed:
        raise TypeError("distributed must be False: gather embeddings, labels and ids of all processes, then call")
    wanted = parse(metrics)
    check_choice(similarity, ("cosine", "dot", "euclidean"), name="similarity")
    check_choice(ties, TIES, name="ties")
    check_count(chunk_size, "chunk_size")
    if interval is not None:
        check_number(interval, "interval", above=0, most=0.9999, hint="0.95 is usual")
    labels, items, item_labels = _check(embeddings, labels, gallery, gallery_labels)
    n, expected = len(embeddings), (len(embeddings), len(items))
    if isinstance(where, Tensor) and where.shape != expected:
        raise ValueError(f"where must have shape {expected}, one row per query, got {tuple(where.shape)}")
    rows, columns, twin = identify(gallery is None, embeddings, labels, items, item_labels, ids, gallery_ids)
    embeddings, labels, items, item_labels = embeddings[rows], labels[rows], items[columns], item_labels[columns]
    relevant = (Tags if labels.dtype == torch.bool else Paths)(labels, item_labels)
    if relevant.repeated is not None:
        warn_caller(
            f"labels must run from root to leaf, got a column {relevant.repeated + 1} that splits no class of column "
            f"{relevant.repeated}: the two levels are the same (if the leaf is before its parent, reverse the columns; "
            "else leave one out)",
            hierarchy.FlatHierarchyWarning,
        )
    if ids is None:
        warn_of_copies(embeddings, items, relevant, bool((twin >= 0).any()))
    on = torch.device(embeddings.device if device is None else device)
    numbers = torch.arange(n, device="cpu")[rows]
    inverted = np.zeros(len(labels), np.bool_)

    def work(start: int) -> list[dict[str, Floats]]:
        """Compute the metrics of one tile of queries."""
        scores = tiles.tile(start)
        queries = np.arange(start, start + len(scores))
        itself = np.flatnonzero(twin[queries] >= 0)
        scores[itself, twin[queries][itself]] = -torch.inf
        if where is not None:
            scores.masked_fill_(~_candidates(where, numbers[queries], expected[1])[:, columns].to(on), -torch.inf)
        found = []
        for piece in _pieces(relevant.size[queries]):
            number, item, level = relevant.pairs(queries[piece], on)
            candidate = array(scores[piece][number, item]) > -np.inf  # neither the query itself nor left out
            ranking = rank_items(scores[piece], number[candidate], item[candidate], level[candidate], ties)
            values, inverted[queries[piece]] = _values(ranking, wanted, relevant.n_levels, alpha, monotone)
            found.append(values)
        return found

    with full_precision(on):
        tiles = Similarities(embeddings, items, on, similarity)
        starts = range(0, len(embeddings), tiles.height)
        with _workers(on, chunk_size // tiles.height) as run:
            done = [part for tile in _shown(run(work, starts), len(starts), tiles.height, progress) for part in tile]
    values = {name: np.concatenate([part[name] for part in done]) for name in wanted}
    if inverted.any():
        hierarchy.warn_inverted(int(inverted.sum()), len(inverted))
    dtype = np.float64 if tiles.dtype == torch.float64 else np.float32
    alone = (relevant.classes < 0) | isinstance(relevant, Tags)
    units = np.where(alone, -1 - np.arange(len(alone)), relevant.classes)
    of_means = None if interval is None else partial(mean_interval, unit=units, level=interval)
    return summary(values, n, array(numbers), dtype, of_means)


def _candidates(where: Any, queries: Tensor, items: int) -> Tensor:
    """Look up or compute the candidates of some queries, (q, g)."""
    mask = where(queries) if callable(where) else where[queries.to(where.device)]
    shape = (len(queries), items)
    if not isinstance(mask, Tensor) or mask.shape != shape or mask.dtype != torch.bool:
        got = f"{tuple(mask.shape)} {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(f"where must give a bool Tensor of shape {shape} for {len(queries)} queries, got {got}")
    return mask


def _pieces(sizes: Ints) -> Iterator[slice]:
    """Cut a tile where its queries have many relevant items."""
    number = np.cumsum(sizes) // LIST
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return (slice(begin, end) for begin, end in pairwise(cuts))


def _values(
    ranking: Ranking, wanted: dict[str, Metric], n_levels: int, alpha: float, monotone: bool
) -> tuple[dict[str, Floats], Any]:
    """Compute each metric of some queries, (q, L) or (q,), and for which queries the relevance inverts the levels."""
    values: dict[str, list[Floats]] = {name: [] for name in wanted}
    of_one_level = {name: metric for name, metric in wanted.items() if metric.kind in OF_ONE_LEVEL}
    inverted: Any = False
    with np.errstate(invalid="ignore", divide="ignore"):
        for level in range(1, n_levels + 1) if of_one_level else ():
            groups = ranking.groups(None if level == 1 else ranking.grade >= level)
            for name, (kind, k) in of_one_level.items():
                values[name].append(OF_ONE_LEVEL[kind](groups, k))
        for name, (kind, k) in wanted.items() - of_one_level.items():
            graded = ranking
            if kind == "ndcg":
                graded = ranking._replace(grade=2.0**ranking.grade - 1)
            elif kind == "h_ap":
                kinds = n_levels + 1
                counts = np.bincount(ranking.query * kinds + ranking.grade, minlength=ranking.queries * kinds)
                counts = counts.reshape(-1, kinds)
                table = hierarchy.worth(counts, alpha, monotone)
                inverted = hierarchy.inverted(table, counts)
                graded = ranking._replace(grade=table[ranking.query, ranking.grade])
            values[name].append(GRADED[kind](graded, k))
    return {name: np.stack(v, 1) if name in of_one_level else v[0] for name, v in values.items()}, inverted


@contextmanager
def _workers(device: torch.device, most: int) -> Iterator[Any]:
    """Give a map() over threads that compute with one thread each, or the plain one where a device does the work."""
    if device.type != "cpu":
        yield map
        return
    threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(max(1, min(threads, most)), initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # a thread that starts later would inherit the workers' number


def _shown(tiles: Any, number: int, height: int, shown: bool) -> Any:
    """Show a progress bar after two seconds, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return tiles
    return tqdm(tiles, "retrieval", number, unit="query", unit_scale=height, delay=2.0, disable=None if shown else True)


class RetrievalMetrics:
    """Compute the metrics of :func:`evaluate_retrieval` from embeddings that come batch by batch.

    It keeps a copy of all embeddings: the metrics of a set are no means over batches. Explained in chapter 13.

    Parameters
    ----------
    metrics, **settings : as for :func:`evaluate_retrieval`
        Settings are its other arguments, except those of the gallery and ids.

    References
    ----------
    RaMBO Eq. 8

    Examples
    --------
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
        self._parts: dict[bool, list[tuple[Tensor, ...]]] = {False: [], True: []}

    def update(self, embeddings: Tensor, labels: Tensor, *, ids: Tensor | None = None, gallery: bool = False) -> None:
        """Add queries, or items of a separate gallery.

        Parameters
        ----------
        embeddings, labels, ids
            A batch, as for :func:`evaluate_retrieval`; copied.
        gallery : bool
            Whether the batch belongs to the gallery.
        """
        prefix = "gallery_" if gallery else ""
        named = {"embeddings": embeddings, "labels": labels} | ({} if ids is None else {"ids": ids})
        for name, values in named.items():
            check_tensor(values, prefix + name)
        parts = self._parts[gallery]
        if parts and len(parts[0]) != len(named):
            raise ValueError(f"{prefix}ids must be given with every batch, or with none")
        # a view would keep the memory of the whole, and callers reuse their buffers
        parts.append(tuple(x.detach().clone(memory_format=torch.contiguous_format) for x in named.values()))

    def compute(self) -> dict[str, Any]:
        """Evaluate all batches.

        Returns
        -------
        dict
            As :func:`evaluate_retrieval`, also what is raised, and a ValueError without queries.
        """
        if not self._parts[False]:
            raise ValueError("compute() needs queries, got none: call update(embeddings, labels) first")
        own, others = ([torch.cat(parts) for parts in zip(*self._parts[part], strict=True)] for part in (False, True))
        given = {**dict(zip(("ids",), own[2:], strict=False)), **self.settings}
        given |= zip(("gallery", "gallery_labels", "gallery_ids"), others, strict=False)
        return evaluate_retrieval(own[0], own[1], **given)


def _check(
    embeddings: Tensor, labels: Tensor, gallery: Tensor | None, gallery_labels: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Check queries and gallery; return the labels of the queries, the items and their labels."""
    if (gallery is None) != (gallery_labels is None):
        given, missing = ("gallery", "gallery_labels") if gallery_labels is None else ("gallery_labels", "gallery")
        raise ValueError(f"{missing} must be given with {given}, got None (one label for each item of the gallery)")
    check_rows(embeddings, "embeddings")
    labels = check_labels(labels, embeddings, apart=True)
    if gallery is None or gallery_labels is None:
        return labels, embeddings, labels
    check_rows(gallery, "gallery")
    if gallery.shape[1] != embeddings.shape[1]:
        raise ValueError(
            f"gallery must have the {embeddings.shape[1]} dimensions of embeddings, got {gallery.shape[1]}"
        )
    return (
        labels,
        gallery,
        check_labels(gallery_labels, gallery, name="gallery_labels", beside="gallery", like=labels, apart=True),
    )
