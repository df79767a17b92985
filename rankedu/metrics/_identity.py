"""Which rows are the same item: an item is never its own partner, and counts once."""

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_integers, warn_caller
from rankedu.metrics._labels import Paths, Tags
from rankedu.metrics._ranking import Ints, array

Rows = slice | Tensor


class DuplicateItemsWarning(UserWarning):
    """Some items occur twice: a query may be its own partner."""


def identify(
    embeddings: Tensor,
    labels: Tensor,
    gallery: Tensor | None,
    gallery_labels: Tensor | None,
    ids: Tensor | None,
    gallery_ids: Tensor | None,
) -> tuple[Rows, Rows, Ints]:
    """Choose rows of the queries and of the gallery, and say which item each query is, −1 if it is not among them."""
    if gallery_ids is not None and gallery is None:
        raise ValueError(
            "gallery must be given with gallery_ids, got None (without a gallery, ids are those of the items)"
        )
    if gallery is not None and (ids is None) != (gallery_ids is None):
        given, missing = ("ids", "gallery_ids") if gallery_ids is None else ("gallery_ids", "ids")
        raise ValueError(f"{missing} must be given with {given}, got None (an id means the same item in both)")
    queries = None if ids is None else _checked(ids, labels, "ids", "embeddings")
    rows = slice(None) if queries is None else _distinct(queries, labels, "ids")
    if gallery is None or gallery_labels is None:
        return rows, rows, np.arange(len(labels[rows]))
    if queries is None or gallery_ids is None:
        same = gallery.shape == embeddings.shape and labels.shape == gallery_labels.shape
        same = same and torch.equal(gallery, embeddings) and torch.equal(labels, gallery_labels)
        return rows, rows, np.arange(len(labels)) if same else np.full(len(labels), -1)
    items = _checked(gallery_ids, gallery_labels, "gallery_ids", "gallery")
    columns = _distinct(items, gallery_labels, "gallery_ids")
    return rows, columns, _twins(queries[_numpy(rows)], items[_numpy(columns)])


def _numpy(rows: Rows) -> slice | Ints:
    return rows if isinstance(rows, slice) else array(rows)


def _checked(ids: Tensor, rows: Tensor, name: str, other: str) -> Ints:
    check_integers(ids, name, "number the items")
    if ids.shape != rows.shape[:1]:
        raise ValueError(f"{name} must have shape ({len(rows)},), one id for each of {other}, got {tuple(ids.shape)}")
    return array(ids).astype(np.int64)


def _distinct(ids: Ints, labels: Tensor, name: str) -> Rows:
    """Choose the first row of each id; warn of the others, which must have the same label."""
    _, first, number = np.unique(ids, return_index=True, return_inverse=True)
    if len(first) == len(ids):
        return slice(None)
    original = labels[torch.from_numpy(first[number]).to(labels.device)]
    if len(odd := (original != labels).reshape(len(ids), -1).any(1).nonzero()):
        row = int(odd[0])
        raise ValueError(
            f"{name} must name one item each, got {ids[row]} in rows {first[number[row]]} and {row}, "
            "whose labels differ"
        )
    warn_caller(
        f"{len(ids) - len(first)} of {len(ids)} rows repeat an item of the same {name}, and are left out",
        DuplicateItemsWarning,
    )
    return torch.from_numpy(np.sort(first)).to(labels.device)


def _twins(ids: Ints, gallery_ids: Ints) -> Ints:
    """Find the item of the gallery that is the query itself; −1 if there is none."""
    order = np.argsort(gallery_ids)
    place = np.minimum(np.searchsorted(gallery_ids, ids, sorter=order), len(order) - 1)
    return np.where(gallery_ids[order[place]] == ids, order[place], -1)


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
