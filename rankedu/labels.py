"""Which items are relevant to which: one reading of labels for losses, metrics and memories.

A label is a class, shape (n,), or a path of classes from root to leaf, (n, L). −1 is no class, and equals nothing. Or
the columns of a bool tensor, (n, C), are tags, and items that share one are relevant to each other.
"""

import torch
from torch import Tensor

from rankedu.checks import check_integers, check_not_nan, check_tensor, extremes

__all__ = ["check_labels", "check_paths", "matches", "same_items"]


def check_labels(
    labels: Tensor, rows: Tensor, *, name: str = "labels", beside: str = "embeddings", like: Tensor | None = None
) -> Tensor:
    """Read the labels of some rows; whoever compares labels, reads them here.

    Parameters
    ----------
    labels : Tensor, shape (n,), (n, L) or (n, C)
        Whole numbers of any dtype: classes or paths. Or bool: tags.
    rows : Tensor, shape (n, ...)
        What has these labels.
    name, beside : str
        Names of the labels and of the rows, for errors.
    like : Tensor, optional
        Labels, read before, with which these will be compared.

    Returns
    -------
    Tensor of int64, shape (n,) or (n, L), or of bool, shape (n, C)
        So labels of any two dtypes compare exactly.

    Raises
    ------
    ValueError, TypeError
        For another shape, numbers that are not whole or that their dtype may have rounded, below −1, or after −1 on a
        path; for another kind, width or device than ``like``; and for rows of 0 and 1 that are not bool, because these
        may be tags or paths.

    Examples
    --------
    >>> check_labels(torch.tensor([3.0, 3.0, -1.0]), torch.zeros(3, 8))
    tensor([ 3,  3, -1])
    >>> check_labels(torch.tensor([[0, 1], [1, 0]]), torch.zeros(2, 8))
    Traceback (most recent call last):
    ValueError: labels must be paths of classes or tags, got 2 columns of 0 and 1, which could be both (if each column \
is a tag, or one-hot: labels.bool(); if the columns are levels: labels.long() + 1)
    """
    check_tensor(labels, name)
    if labels.ndim not in (1, 2) or labels.shape[:1] != rows.shape[:1] or not labels.numel():
        n, got = len(rows), tuple(labels.shape)
        raise ValueError(f"{name} must have shape ({n},) or ({n}, L), a row for each of {beside}, got {got}")
    if labels.dtype != torch.bool:
        if labels.ndim == 2 and labels.shape[1] > 1 and ((labels == 0) | (labels == 1)).all():
            raise ValueError(
                f"{name} must be paths of classes or tags, got {labels.shape[1]} columns of 0 and 1, which could be "
                f"both (if each column is a tag, or one-hot: {name}.bool(); if the columns are levels: "
                f"{name}.long() + 1)"
            )
        paths = check_paths(labels, name)
        labels = paths[:, 0] if labels.ndim == 1 else paths
    elif labels.ndim != 2:
        raise ValueError(f"{name} of bool must have shape (n, C), a column a class, got {tuple(labels.shape)}")
    if like is not None:
        check_alike(labels, like, name, "labels")
    return labels


def check_paths(labels: Tensor, name: str) -> Tensor:
    """Read classes or paths; a class is a path of length 1.

    Parameters
    ----------
    labels : Tensor, shape (n,) or (n, L)
        Whole numbers of any dtype.
    name : str
        Name of the parameter, for errors.

    Returns
    -------
    Tensor of int64, shape (n, L)

    Raises
    ------
    ValueError, TypeError
        As :func:`check_labels`.

    Examples
    --------
    >>> check_paths(torch.tensor([4, -1]), "labels").tolist()
    [[4], [-1]]
    """
    check_tensor(labels, name)
    if labels.is_floating_point():
        labels = _whole(labels, name)
    check_integers(labels, name, "number the classes from 0")
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


def _whole(labels: Tensor, name: str) -> Tensor:
    """Make integers of labels in floating point, which must be whole and below the numbers that are rounded."""
    hint = "number the classes from 0"
    check_not_nan(labels, None, name=name, hint=hint)
    most = 2 / torch.finfo(labels.dtype).eps
    odd = (labels != labels.round()) | (labels.abs() >= most)
    if odd.any():
        value = labels[odd][:1].tolist()
        raise TypeError(f"{name} must be integers, or whole numbers below {most:.0f}, got {value} ({hint})")
    return labels.long()


def check_alike(labels: Tensor, like: Tensor, name: str, other: str) -> None:
    """Check that two sets of labels are of one kind, have as many columns, and are on one device."""
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


def matches(labels: Tensor, gallery_labels: Tensor) -> Tensor:
    """Say which items are relevant to which query: those with its class, its whole path, or one of its tags.

    Parameters
    ----------
    labels, gallery_labels : Tensor, shape (n,), (n, L) or (n, C), and (g,), (g, L) or (g, C)
        As :func:`check_labels` returns them.

    Returns
    -------
    Tensor of bool, shape (n, g)

    Examples
    --------
    >>> matches(torch.tensor([7, -1]), torch.tensor([7, 8, -1]))
    tensor([[ True, False, False],
            [False, False, False]])
    """
    if labels.dtype == torch.bool:
        return labels.float() @ gallery_labels.float().T > 0
    own, others = (x.unsqueeze(1) if x.ndim == 1 else x for x in (labels, gallery_labels))
    same = (own[:, -1] >= 0).unsqueeze(1)
    for mine, theirs in zip(own.T, others.T, strict=True):
        same = same & (mine.unsqueeze(1) == theirs)
    return same


def same_items(rows: Tensor, labels: Tensor, gallery: Tensor, gallery_labels: Tensor) -> bool:
    """Say whether a gallery is the queries themselves, perhaps as a copy: the same rows under the same labels.

    Parameters
    ----------
    rows, labels : Tensor, shape (n, dim), and of :func:`check_labels`
        The queries.
    gallery, gallery_labels : Tensor, shape (g, dim), and of :func:`check_labels`
        The items that they rank.

    Returns
    -------
    bool
        Then each query leaves itself out.

    Examples
    --------
    >>> rows, labels = torch.eye(3), torch.arange(3)
    >>> same_items(rows, labels, rows.clone(), labels.clone()), same_items(rows, labels, rows[:2], labels[:2])
    (True, False)
    """
    if gallery is rows and gallery_labels is labels:
        return True
    if rows.shape != gallery.shape or labels.shape != gallery_labels.shape:
        return False
    return bool((rows == gallery.to(rows.device)).all()) and torch.equal(labels, gallery_labels)
