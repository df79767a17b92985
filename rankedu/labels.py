"""Items and their labels: which items are relevant to which, for losses, metrics and memories alike.

A label is a class, shape (n,), or a path of classes from root to leaf, (n, L). −1 is no class, and equals nothing. Or
the columns of a bool tensor, (n, C), are tags, and items that share one are relevant to each other.
"""

import math

import torch
from torch import Tensor

from rankedu.checks import INTEGERS, check_floating, check_integers, check_not_nan, check_tensor, check_values, extremes

__all__ = ["check_ids", "check_labels", "check_paths", "check_rows", "matches", "same_items"]

#: The least length of a vector that has a direction.
SHORTEST = 1e-12
_NUMBER = "number the classes from 0"


def check_labels(
    labels: Tensor,
    rows: Tensor,
    *,
    name: str = "labels",
    beside: str = "embeddings",
    like: Tensor | None = None,
    apart: bool = False,
) -> Tensor:
    """Read the labels of some rows as int64, (n,) or (n, L), so that any two dtypes compare exactly; tags stay bool.

    ``like`` are labels with which these will be compared. Unless they may be ``apart``, they are on the rows' device.
    Raises ValueError or TypeError for another shape, kind or device, for numbers that are not whole or below −1, and
    for rows of 0 and 1, which may be tags or paths.

    >>> check_labels(torch.tensor([3.0, 3.0, -1.0]), torch.zeros(3, 8))
    tensor([ 3,  3, -1])
    """
    if not isinstance(labels, Tensor) or labels.layout != torch.strided or labels.is_meta:
        check_tensor(labels, name)
    if labels.ndim not in (1, 2) or labels.shape[:1] != rows.shape[:1] or not labels.numel():
        n, got = len(rows), tuple(labels.shape)
        raise ValueError(f"{name} must have shape ({n},) or ({n}, L), a row for each of {beside}, got {got}")
    if not apart and labels.device != rows.device:
        raise ValueError(
            f"{name} must be on the device of {beside}, {rows.device}, got {labels.device} "
            f"(move it with {name}.to({beside}.device))"
        )
    if labels.dtype == torch.bool:
        if labels.ndim != 2:
            raise ValueError(f"{name} of bool must have shape (n, C), a column a class, got {tuple(labels.shape)}")
    elif labels.ndim == 2:
        if labels.shape[1] > 1 and ((labels == 0) | (labels == 1)).all():
            raise ValueError(
                f"{name} must be paths of classes or tags, got {labels.shape[1]} columns of 0 and 1, which could be "
                f"both (if each column is a tag, or one-hot: {name}.bool(); if the columns are levels: "
                f"{name}.long() + 1)"
            )
        labels = check_paths(labels, name)
    elif labels.dtype not in INTEGERS or labels.min().item() < -1:
        labels = check_paths(labels, name)[:, 0]
    if like is not None:
        check_alike(labels, like, name, "labels")
    return labels if labels.dtype == torch.bool else labels.long()


def check_paths(labels: Tensor, name: str) -> Tensor:
    """Read classes or paths, (n,) or (n, L), as int64, (n, L): a class is a path of length 1.

    >>> check_paths(torch.tensor([4, -1]), "labels").tolist()
    [[4], [-1]]
    """
    check_tensor(labels, name)
    if labels.is_floating_point():
        check_not_nan(labels, None, name=name, hint=_NUMBER)
        most = 2 / torch.finfo(labels.dtype).eps  # beyond, numbers may have been rounded
        odd = (labels != labels.round()) | (labels.abs() >= most)
        if odd.any():
            value = labels[odd][:1].tolist()
            raise TypeError(f"{name} must be integers, or whole numbers below {most:.0f}, got {value} ({_NUMBER})")
        labels = labels.long()
    check_integers(labels, name, _NUMBER)
    if labels.ndim not in (1, 2) or labels.shape[-1] == 0:
        raise ValueError(f"{name} must have shape (n,) or (n, L) with n, L >= 1, got {tuple(labels.shape)}")
    paths = (labels.unsqueeze(1) if labels.ndim == 1 else labels).long()
    least = extremes(paths)[0]
    if least < -1:
        raise ValueError(f"{name} must be >= 0, or -1 for no label and below the end of a path, got {int(least)}")
    if least < 0 and (resumed := ((paths[:, :-1] < 0) & (paths[:, 1:] >= 0)).any(1)).any():
        first = int(resumed.nonzero()[0])
        raise ValueError(
            f"{name} must run from root to leaf and end where the first -1 stands, got {paths[first].tolist()} at "
            f"index {first} (leave out the level that is not known, or give it an id of its own)"
        )
    return paths


def check_alike(labels: Tensor, like: Tensor, name: str, other: str) -> None:
    """Two sets of labels of one kind, with as many columns, on one device."""
    if (labels.dtype == torch.bool) != (like.dtype == torch.bool):
        raise TypeError(f"{name} must be of the kind of {other}, {like.dtype}, got {labels.dtype}")
    if labels.shape[1:] != like.shape[1:]:
        wanted = f"{like.shape[1]} columns" if like.ndim == 2 else "one number for each item"
        raise ValueError(
            f"{name} must have {wanted} as {other} do, got shape {tuple(labels.shape)} (both are classes, or both are "
            "paths of as many levels: fill up those that end early with -1)"
        )
    if labels.device != like.device:
        raise ValueError(f"{name} must be on the device of {other}, {like.device}, got {labels.device}")


def matches(labels: Tensor, others: Tensor) -> Tensor:
    """Say which of the others are relevant to each item, (n, g) bool: those of its class, its whole path, or its tags.

    >>> matches(torch.tensor([7, -1]), torch.tensor([7, 8, -1]))
    tensor([[ True, False, False],
            [False, False, False]])
    """
    if labels.dtype == torch.bool:
        return labels.float() @ others.float().T > 0
    if labels.ndim == 1:
        return (labels.unsqueeze(1) == others) & (labels >= 0).unsqueeze(1)
    same = (labels[:, -1] >= 0).unsqueeze(1)
    for mine, other in zip(labels.T, others.T, strict=True):
        same = same & (mine.unsqueeze(1) == other)
    return same


def same_items(rows: Tensor, labels: Tensor, gallery: Tensor, gallery_labels: Tensor) -> bool:
    """Say whether a gallery is the queries themselves, perhaps as a copy: the same rows under the same labels."""
    if gallery is rows and gallery_labels is labels:
        return True
    if rows.shape != gallery.shape or labels.shape != gallery_labels.shape:
        return False
    return bool((rows == gallery.to(rows.device)).all()) and torch.equal(labels, gallery_labels)


def check_rows(embeddings: Tensor, name: str) -> None:
    """A matrix of at least one row, each of zeros or of a length that neither over- nor underflows."""
    if not (isinstance(embeddings, Tensor) and embeddings.is_floating_point() and embeddings.numel()):
        check_values(embeddings, name=name)
        check_floating(embeddings, name=name)
    if embeddings.ndim != 2 or not len(embeddings):
        raise ValueError(f"{name} must have shape (n, dim) with n, dim >= 1, got {tuple(embeddings.shape)}")
    values, dtype = embeddings.detach(), torch.promote_types(embeddings.dtype, torch.float32)
    length = torch.linalg.vector_norm(values, dim=1, dtype=dtype)
    shortest, longest = torch.stack(torch.aminmax(length)).tolist()
    if shortest >= SHORTEST and longest < math.inf:
        return
    odd = ~(length.isfinite() & (length >= SHORTEST)) & values.any(1)
    if odd.any():
        row = int(odd.nonzero()[0])
        worst, most = values[row, values[row].abs().argmax()].item(), torch.finfo(dtype).max ** 0.5
        raise ValueError(
            f"{name} must be finite, with rows of length 0 or from {SHORTEST:g} to {most:.2g}, got {worst:g} in row "
            f"{row} (find what made it: the input, or the network? Or drop the row and its label)"
        )


def check_ids(ids: Tensor | None, ref_ids: Tensor | None, embeddings: Tensor, ref_emb: Tensor | None) -> None:
    """One integer for each item, for the references too."""
    if ids is None or (ref_emb is not None and ref_emb is not embeddings and ref_ids is None):
        missing = "ids" if ids is None else "ref_ids"
        raise ValueError(f"{missing} must be given too, got None (ids for queries and references)")
    for name, values, rows in (("ids", ids, embeddings), ("ref_ids", ref_ids, ref_emb)):
        if values is not None and rows is not None:
            check_numbers(values, rows, name)


def check_numbers(ids: Tensor, rows: Tensor, name: str) -> None:
    """One integer for each row."""
    check_integers(ids, name, "number the items of the data set")
    if ids.shape != rows.shape[:1]:
        raise ValueError(f"{name} must have shape ({len(rows)},), one for each item, got {tuple(ids.shape)}")
