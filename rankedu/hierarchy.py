"""Hierarchies: from label paths to levels, from levels to graded relevance.

A path names the classes of an item from root to leaf, e.g. (Cars, Lada, Lada #2). The *level* of an item for a query is
the length of the prefix that their paths share: 0 for nothing, L for the same leaf. The *relevance* is what an item of
each level is worth. For one query it depends only on the level, so it is a table of L + 1 numbers.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.checks import check_count, check_flag, check_integers, check_number, check_where, extremes, warn_caller
from rankedu.labels import check_alike, check_paths

__all__ = ["FlatHierarchyWarning", "InvertedRelevanceWarning", "levels", "relevance", "weighted_ap_relevance"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class FlatHierarchyWarning(UserWarning):
    """Some levels of a hierarchy are the same as others: its columns may run from leaf to root."""


class InvertedRelevanceWarning(UserWarning):
    """Some queries give an item of a finer level less relevance than one of a coarser level."""


def levels(labels: Tensor, gallery_labels: Tensor | None = None) -> Tensor:
    """Count how many classes each query shares with each item, going down from the root. Explained in chapter 13.

    Nothing equals −1, not even −1, so an item whose path ends early agrees with others, and with itself, at most to
    that depth. A leaf id that two parents use is no match between them.

    Parameters
    ----------
    labels : Tensor of int, shape (n,) or (n, L)
        Paths from root to leaf, ids ≥ 0, filled up with −1 where they end early. Shape (n,) is L = 1. Of a table of
        words :func:`rankedu.files.read_labels` and :func:`rankedu.files.number_labels` make them.
    gallery_labels : Tensor of int, shape (g,) or (g, L), optional
        Paths of the items. By default ``labels``; leave out the diagonal, each item with itself, by ``where``.

    Returns
    -------
    Tensor of int64, shape (n, g), from 0 to L

    Raises
    ------
    ValueError, TypeError
        As :func:`rankedu.labels.check_labels`, and for another number of levels or another device.

    References
    ----------
    HAPPIER Sec. 3.1

    Examples
    --------
    >>> labels = torch.tensor([[0, 0], [0, 0], [0, 1], [1, 0], [0, -1]])
    >>> levels(labels[:1], labels)
    tensor([[2, 2, 1, 0, 1]])
    """
    paths = check_paths(labels, "labels")
    others = paths if gallery_labels is None else check_paths(gallery_labels, "gallery_labels")
    check_alike(others, paths, "gallery_labels", "labels")
    agree = torch.ones(len(paths), len(others), dtype=torch.bool, device=paths.device)
    common = torch.zeros_like(agree, dtype=torch.int64)
    paths = paths.masked_fill(paths < 0, -2)  # which equals nothing
    for own, other in zip(paths.T, others.T, strict=True):
        agree &= own.unsqueeze(1) == other
        common += agree
    return common


def check_levels(levels: Tensor, *, name: str = "levels") -> int:
    """Integers >= 0 along a last dimension of at least one item; return the largest."""
    check_integers(levels, name, f"convert it with {name}.long()")
    if levels.ndim == 0 or levels.shape[-1] == 0:
        raise ValueError(f"{name} must have shape (..., n) with n >= 1, got {tuple(levels.shape)}")
    least, largest = map(int, extremes(levels))
    if least < 0:
        raise ValueError(f"{name} must be >= 0, got {least} (0 is nothing in common with the query)")
    return largest


def check_n_levels(largest: int, n_levels: int | None) -> int:
    """The number L of levels: what is said, or the largest level that occurs."""
    if n_levels is None:
        return max(largest, 1)
    return check_count(n_levels, "n_levels", least=max(largest, 1), hint="the L of labels (n, L), the largest level")


def count_levels(levels: Tensor, n_levels: int, where: Tensor | None = None) -> Tensor:
    r"""Count the items of each level, :math:`|\Omega^{(l)}|` for l = 0, …, L; shape (..., L + 1)."""
    here = torch.ones_like(levels, dtype=torch.int64) if where is None else where.long()
    counts = here.new_zeros(*levels.shape[:-1], n_levels + 1)
    return counts.scatter_add_(-1, levels.long(), here)


def relevance(
    levels: Tensor,
    alpha: float = 1.0,
    n_levels: int | None = None,
    where: Tensor | None = None,
    *,
    monotone: bool = False,
) -> Tensor:
    r"""Share the weight of each level equally among its items. Explained in chapter 13.

    .. math:: \mathrm{rel}(k) = \frac{(l/L)^\alpha}{|\Omega^{(l)}|} \quad\text{if } k \in \Omega^{(l)}

    A finer level l gets less than a coarser one m whenever :math:`|\Omega^{(l)}| / |\Omega^{(m)}| > (l/m)^\alpha`. Then
    H-AP rewards the ranking that puts the coarse items first. With ``monotone=True`` the order is right for all counts.

    Parameters
    ----------
    levels : Tensor of int, shape (..., n)
        0 is nothing in common with the query, L the same leaf.
    alpha : float
        α > 0. The larger, the less the coarse levels weigh.
    n_levels : int, optional
        L, by default the largest level in ``levels``. It only scales the result, which does not matter to H-AP.
    where : Tensor of bool, shape (..., n), optional
        Items that take part, and are counted, by default all.
    monotone : bool
        Divide by :math:`|\Omega^{(\ge l)}|` instead, all items at least as near as level l, which cannot grow with l.

    Returns
    -------
    Tensor of float64, shape (..., n), float32 on devices without float64
        ≥ 0; 0 for level 0 and outside ``where``. Values that are equal in exact arithmetic are equal.

    Raises
    ------
    ValueError, TypeError
        For levels that are no ints ≥ 0, alpha that is not finite and > 0, n_levels below the largest level, or a
        ``where`` of another shape or dtype.

    Warns
    -----
    InvertedRelevanceWarning
        Without ``monotone``, if a finer level gets less relevance than a coarser one.

    References
    ----------
    HAPPIER Eq. 4

    Examples
    --------
    >>> relevance(torch.tensor([2, 2, 2, 1, 0]), monotone=True)
    tensor([0.3333, 0.3333, 0.3333, 0.1250, 0.0000], dtype=torch.float64)
    """
    alpha = check_number(alpha, "alpha", above=0, hint="1 is HAPPIER's choice, 3 to 5 favours the leaves")
    check_flag(monotone, "monotone")
    n_levels = _check(levels, n_levels, where)
    counts = count_levels(levels, n_levels, where).cpu().numpy()
    table = worth(counts, alpha, monotone)
    if (queries := inverted(table, counts)).any():
        warn_inverted(int(queries.sum()), queries.size)
    return _look_up(table, levels, where)


def weighted_ap_relevance(levels: Tensor, weights: Sequence[float] | Tensor, where: Tensor | None = None) -> Tensor:
    r"""Relevance that turns H-AP into a weighted mean of the average precisions of all levels. Explained in chapter 13.

    .. math:: \mathrm{rel}(k) = \sum_{p=1}^{l} \frac{w_p}{|\Omega^{(\ge p)}|} \quad\text{if } k \in \Omega^{(l)}

    With it, :math:`\mathcal{H}\text{-}\mathrm{AP} = \sum_l w_l \mathrm{AP}^{(l)} / \sum_l w_l`, where
    :math:`\mathrm{AP}^{(l)}` counts the items of level l or finer as relevant. A level that no item reaches is left out
    of both sums.

    Parameters
    ----------
    levels : as for :func:`relevance`
    weights : sequence of L numbers
        :math:`w_1, \dots, w_L` ≥ 0, not all 0, from the coarsest level to the leaves; only their ratios matter to H-AP.
    where : as for :func:`relevance`

    Returns
    -------
    Tensor of float64, shape (..., n)
        As from :func:`relevance`; it never falls from a level to a finer one.

    Raises
    ------
    ValueError, TypeError
        As :func:`relevance`, and for weights that are negative, not finite or all 0, or fewer than levels.

    References
    ----------
    HAPPIER Sec. 3.1

    Examples
    --------
    >>> weighted_ap_relevance(torch.tensor([2, 1, 1, 0]), weights=[0.3, 0.7])
    tensor([0.8000, 0.1000, 0.1000, 0.0000], dtype=torch.float64)
    """
    w = np.array(weights.tolist() if isinstance(weights, Tensor) else list(weights), dtype=np.float64)
    if w.ndim != 1 or not len(w):
        raise ValueError(f"weights must be one number a level, shape (L,), got shape {w.shape}")
    if not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        raise ValueError(f"weights must be finite and >= 0, not all 0, got {w.tolist()}")
    deepest = _check(levels, None, where)
    if deepest > len(w):
        raise ValueError(f"weights must have one entry a level, {deepest} or more, got {len(w)}")
    at_least = _at_least(count_levels(levels, len(w), where).cpu().numpy())
    steps = np.where(at_least > 0, [0.0, *w] / np.maximum(at_least, 1), 0.0)
    return _look_up(steps.cumsum(-1), levels, where)


def _check(levels: Tensor, n_levels: int | None, where: Tensor | None) -> int:
    largest = check_levels(levels)
    check_where(where, levels, other="levels")
    return check_n_levels(largest, n_levels)


def _at_least(counts: Ints) -> Ints:
    r"""From :math:`|\Omega^{(l)}|` to :math:`|\Omega^{(\ge l)}|`."""
    return np.flip(np.flip(counts, -1).cumsum(-1), -1)


def _look_up(table: Floats, levels: Tensor, where: Tensor | None) -> Tensor:
    """Give every item the entry of its level, in float64 where the device knows it."""
    dtype = np.float32 if levels.device.type == "mps" else np.float64
    values = torch.from_numpy(table.astype(dtype)).to(levels.device).gather(-1, levels.long())
    return values if where is None else values.masked_fill(~where, 0.0)


def worth(counts: Ints, alpha: float, monotone: bool = False) -> Floats:
    r"""Compute the relevance of an item of each level, (..., L + 1), from how many items each level has.

    As :math:`l^\alpha / (L^\alpha |\Omega^{(l)}|)`: with one division, equal relevances are equal to the last bit.
    """
    n_levels = counts.shape[-1] - 1
    unit = 1 if alpha * math.log(n_levels) < 36 else n_levels  # else the powers would not be exact, or too large
    weight = np.array([(level / unit) ** alpha for level in range(n_levels + 1)])
    share = _at_least(counts) if monotone else counts
    value: Floats = weight / (weight[-1] * np.maximum(share, 1))
    return value


def inverted(table: Floats, counts: Ints) -> npt.NDArray[np.bool_]:
    """Say for which queries a level that occurs is worth less than a coarser one, by more than rounding."""
    best = np.maximum.accumulate(np.where(counts > 0, table, 0.0), -1)
    return np.asarray(np.any((counts > 0) & (table < best * (1 - 1e-12)), axis=-1))


def warn_inverted(queries: int, of: int) -> None:
    """Warn of queries whose relevance is inverted."""
    warn_caller(
        f"Eq. 4 gives a finer level less relevance than a coarser one in {queries} of {of} queries: H-AP then rewards "
        "the wrong order (use monotone=True)",
        InvertedRelevanceWarning,
    )
