"""Losses of detectors since RaMBO, in plain Python: aLRP, Rank & Sort, and buckets of negatives."""

from collections.abc import Sequence
from itertools import groupby


def alrp_loss(y: Sequence[float], relevant: Sequence[bool], error: Sequence[float]) -> float:
    """Return the mean over positives of (negatives above + localisation errors down to it) / rank (Oksuz et al., 2020).

    >>> alrp_loss([0.9, 0.8, 0.6], [True, False, True], [0.0, 0.0, 0.0])  # 1 - AP, because all boxes fit
    0.16666666666666666
    """
    lost, found = 0.0, []
    for rank, i in enumerate(sorted(range(len(y)), key=lambda i: -y[i]), 1):
        lost += error[i] if relevant[i] else 1
        found += [lost / rank] if relevant[i] else []
    return sum(found) / len(found)


def rank_and_sort(y: Sequence[float], iou: Sequence[float]) -> tuple[float, float]:
    """Return the mean ranking error and the mean sorting error of the positives, whose IoU is > 0 (Oksuz et al., 2021).

    >>> ranking, sorting = rank_and_sort([0.9, 0.8, 0.6], [0.6, 0.0, 0.8])  # the better box has the smaller score
    >>> round(ranking, 4), round(sorting, 4)
    (0.1667, 0.05)
    """
    ranking, sorting = [], []
    for score, own in zip(y, iou, strict=True):
        if own > 0:
            above = [other for s, other in zip(y, iou, strict=True) if s >= score]
            positives = [other for other in above if other > 0]
            better = [other for other in positives if other >= own]
            ranking.append((len(above) - len(positives)) / len(above))
            sorting.append(sum(1 - x for x in positives) / len(positives) - sum(1 - x for x in better) / len(better))
    return sum(ranking) / len(ranking), sum(sorting) / len(sorting)


def buckets(y: Sequence[float], relevant: Sequence[bool]) -> list[tuple[int, float]]:
    """Return, for each run of negatives between positives, its size and the charge of each (Yavuz et al., 2024).

    >>> buckets([0.9, 0.8, 0.7, 0.6, 0.1], [False, False, True, False, True])
    [(2, 0.26666666666666666), (1, 0.1)]
    """
    listed = sorted(zip(y, relevant, strict=True), key=lambda item: -item[0])
    runs = [(positive, len(list(run))) for positive, run in groupby(item[1] for item in listed)]
    found, below, last = [], 0.0, len(y)
    for positive, size in reversed(runs):
        if positive:
            below += sum(1 / rank for rank in range(last - size + 1, last + 1)) / sum(relevant)
        else:
            found.append((size, below))
        last -= size
    return found[::-1]
