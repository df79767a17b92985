"""Lists of the items that are relevant to each query, by labels, and of the item that it is itself, by ids."""

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import warn_caller
from rankedu.labels import check_numbers, same_items
from rankedu.metrics._ranking import Ints, array

Rows = slice | Tensor


class Paths:
    """Classes or paths from root to leaf: items are as relevant as many classes as they share with the query."""

    def __init__(self, labels: Tensor, gallery_labels: Tensor) -> None:
        nodes = _nodes(np.concatenate([array(x).reshape(len(x), -1) for x in (labels, gallery_labels)]))
        #: A level whose classes are those of the level above, if there is one.
        self.repeated = next((i for i in range(1, len(nodes)) if np.array_equal(nodes[i], nodes[i - 1])), None)
        self.n_levels, self.queries, self.gallery = len(nodes), nodes[:, : len(labels)], nodes[:, len(labels) :]
        #: The finest class of each item; −1 for none.
        self.classes, self.gallery_classes = self.queries[-1], self.gallery[-1]
        self.by_class = np.argsort(self.gallery[0], kind="stable")
        ascending, wanted = self.gallery[0][self.by_class], self.queries[0]
        self.begin = np.searchsorted(ascending, wanted)
        self.size = (np.searchsorted(ascending, wanted, side="right") - self.begin) * (wanted >= 0)

    def pairs(self, queries: Ints, device: torch.device) -> tuple[Ints, Ints, Ints]:
        """List the items that share at least one class with these queries: number of the query, item, and level."""
        size = self.size[queries]
        number = np.repeat(np.arange(len(queries)), size)
        item = self.by_class[np.arange(len(number)) + np.repeat(self.begin[queries] - (np.cumsum(size) - size), size)]
        own, other = self.queries[:, queries[number]], self.gallery[:, item]
        return number, item, ((own == other) & (own >= 0)).sum(0)


class Tags:
    """Tags, bool of shape (n, C): items that share one with the query are relevant."""

    n_levels, repeated = 1, None

    def __init__(self, labels: Tensor, gallery_labels: Tensor) -> None:
        self.queries, self.gallery = labels, gallery_labels
        self.size = np.zeros(len(labels), np.int64)  # not known before they are compared
        both = array(torch.cat([labels, gallery_labels]))
        number = np.unique(np.packbits(both, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        number = np.where(both.any(1), number, -1)
        #: The set of tags of each item, numbered; −1 for none.
        self.classes, self.gallery_classes = number[: len(labels)], number[len(labels) :]

    def pairs(self, queries: Ints, device: torch.device) -> tuple[Ints, Ints, Ints]:
        """List the items that share a tag with these queries: number of the query, item, and level 1."""
        own, others = (x.to(device).float() for x in (self.queries[torch.from_numpy(queries)], self.gallery))
        number, item = (x.cpu().numpy() for x in (own @ others.T > 0).nonzero(as_tuple=True))
        return number, item, np.ones_like(number)


def _nodes(paths: Ints) -> Ints:
    """Number the prefixes of all paths, (L, n); −1 below the end of a path."""
    node = np.zeros(len(paths), np.int64)
    nodes = np.empty(paths.shape[::-1], np.int64)
    for level, classes in enumerate(paths.T):
        _, number = np.unique(classes, return_inverse=True)
        _, node = np.unique(node * (number.max() + 1) + number, return_inverse=True)
        nodes[level] = np.where(classes < 0, -1, node)
    return nodes


class DuplicateItemsWarning(UserWarning):
    """Some items occur twice: a query may be its own partner."""


def identify(
    alone: bool,
    embeddings: Tensor,
    labels: Tensor,
    gallery: Tensor,
    gallery_labels: Tensor,
    ids: Tensor | None,
    gallery_ids: Tensor | None,
) -> tuple[Rows, Rows, Ints]:
    """Choose rows of the queries and of the gallery, and say which item each query is, −1 if it is not among them.

    The queries are ``alone`` where no gallery was given.
    """
    if gallery_ids is not None and alone:
        raise ValueError("gallery must be given with gallery_ids, got None (without it, ids are those of the items)")
    if not alone and (ids is None) != (gallery_ids is None):
        given, missing = ("ids", "gallery_ids") if gallery_ids is None else ("gallery_ids", "ids")
        raise ValueError(f"{missing} must be given with {given}, got None (an id means the same item in both)")
    if ids is None:
        own, n = alone or same_items(embeddings, labels, gallery, gallery_labels), len(labels)
        return slice(None), slice(None), np.arange(n) if own else np.full(n, -1)
    rows, queries = _distinct(ids, labels, "ids")
    if gallery_ids is None:
        return rows, rows, np.arange(len(queries))
    columns, items = _distinct(gallery_ids, gallery_labels, "gallery_ids")
    order = np.argsort(items)
    twin = order[np.minimum(np.searchsorted(items, queries, sorter=order), len(order) - 1)]
    return rows, columns, np.where(items[twin] == queries, twin, -1)


def _distinct(ids: Tensor, labels: Tensor, name: str) -> tuple[Rows, Ints]:
    """Choose the first row of each id, and its id; warn of the others, which must have the same label."""
    check_numbers(ids, labels, name)
    numbers = array(ids).astype(np.int64)
    _, first, number = np.unique(numbers, return_index=True, return_inverse=True)
    if len(first) == len(numbers):
        return slice(None), numbers
    original = labels[torch.from_numpy(first[number]).to(labels.device)]
    if len(odd := (original != labels).reshape(len(labels), -1).any(1).nonzero()):
        row = int(odd[0])
        both = f"{numbers[row]} in rows {first[number[row]]} and {row}, whose labels differ"
        raise ValueError(f"{name} must name one item each, got {both}")
    repeated = f"{len(numbers) - len(first)} of {len(numbers)} rows repeat an item of the same {name}"
    warn_caller(f"{repeated}, and are left out", DuplicateItemsWarning)
    first.sort()
    return torch.from_numpy(first).to(labels.device), numbers[first]


def warn_of_copies(embeddings: Tensor, gallery: Tensor, relevant: Paths | Tags, own: bool) -> None:
    """Warn of queries with an exact copy in the gallery, under the same label, that may be the same item."""
    dtype = torch.promote_types(embeddings.dtype, gallery.dtype)
    keys = [
        fingerprints(rows.to(dtype)) * 3 + labels
        for rows, labels in ((embeddings, relevant.classes), (gallery, relevant.gallery_classes))
    ]
    _, number = np.unique(np.concatenate(keys), return_inverse=True)
    times = np.bincount(number[len(embeddings) :], minlength=number.max() + 1)[number[: len(embeddings)]]
    copies = int(((times > own) & (relevant.classes >= 0)).sum())
    if copies:
        warn_caller(
            f"{copies} of {len(embeddings)} queries have an exact copy of their embedding under the same label in the "
            "gallery, which counts as a relevant item (if these are the same items, say so by ids and gallery_ids; if "
            "they are different ones, the network or the data repeats itself)",
            DuplicateItemsWarning,
        )


def fingerprints(rows: Tensor) -> Ints:
    """Compute one number per row from its bits, equal for equal rows and hardly ever for others."""
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[rows.element_size()]
    weights = np.random.default_rng(0).integers(-(1 << 63), 1 << 63, rows.shape[1]) | 1
    weight = torch.from_numpy(weights).to(rows.device)
    parts = [((part.detach() + 0).contiguous().view(kind).long() * weight).sum(1) for part in rows.split(4096)]
    return torch.cat(parts).cpu().numpy()  # + 0 turns -0.0 into 0.0
