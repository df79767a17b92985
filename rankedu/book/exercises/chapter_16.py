"""Chapter 16, object detection: who is to blame for an AP, how often a class is absent, and AP in the style of VOC."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu.book.exercises.spec import Case, Exercise, Mistake


def blame(scores, relevance):
    rank = 1 + (scores[None, :] > scores[:, None]).sum(axis=1)
    above = scores[:, None] > scores[None, :]  # above[j, i]: j stands above i
    charged = np.where(above & relevance[None, :], 1 / rank[None, :], 0).sum(axis=1)
    return np.where(relevance, 0, charged) / relevance.sum()


def chance_of_absence(share, pictures, length):
    return (1 - share) ** (pictures * (1 + length))


def voc_ap(hits, objects):
    ranks = 1 + np.flatnonzero(hits)
    precision = np.arange(1, len(ranks) + 1) / ranks
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return envelope.sum() / objects


def _above(scores, relevance):
    rank = 1 + (scores[None, :] > scores[:, None]).sum(axis=1)
    return (scores[:, None] > scores[None, :]) & relevance[None, :], rank


def _unweighted(scores, relevance):
    above, _ = _above(scores, relevance)
    return np.where(relevance, 0, above.sum(axis=1)) / relevance.sum()


def _by_own_rank(scores, relevance):
    above, rank = _above(scores, relevance)
    return np.where(relevance, 0, above.sum(axis=1) / rank) / relevance.sum()


def _precisions(hits):
    ranks = 1 + np.flatnonzero(hits)
    return np.arange(1, len(ranks) + 1) / ranks


def _running(precision):
    return np.maximum.accumulate(precision)


def _eleven(hits, objects):
    precision = _precisions(hits)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    wanted = np.maximum(-(-np.arange(11) * objects // 10), 1)
    return sum(envelope[k - 1] for k in wanted if k <= len(envelope)) / 11


def _list_cases() -> list[Case]:
    rng = np.random.default_rng(16)
    cases: list[tuple[list[float], list[int]]] = [
        ([0.9, 0.8, 0.6, 0.3, 0.1], [1, 0, 1, 0, 0]),
        ([0.2, 0.7, 0.5], [1, 0, 0]),
        ([0.1, 0.4, 0.8, 0.6], [1, 0, 0, 1]),
    ]
    for n, p in ((8, 3), (12, 4), (20, 5)):
        scores = rng.permutation(n) / n
        cases.append((scores.tolist(), np.isin(np.arange(n), rng.permutation(n)[:p]).astype(int).tolist()))
    return [{"scores": np.array(y), "relevance": np.array(rel, dtype=bool)} for y, rel in cases]


def _share_cases() -> list[Case]:
    cases = ((0.5, 1, 1), (0.1, 8, 7), (0.02, 8, 0), (0.02, 8, 7), (0.4, 2, 3), (0.07, 16, 3))
    return [{"share": share, "pictures": pictures, "length": length} for share, pictures, length in cases]


def _hit_cases() -> list[Case]:
    cases: list[tuple[list[int], int]] = [
        ([1, 0, 1], 3),
        ([0, 1, 1], 2),
        ([1, 1, 0], 4),
        ([0, 0, 1, 0, 1, 1, 1], 5),
        ([1, 0, 0, 1, 1, 0, 1, 0, 0, 0], 12),
        ([0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1], 9),
    ]
    return [{"hits": np.array(hits, dtype=bool), "objects": objects} for hits, objects in cases]


EXERCISES = (
    Exercise(
        "blame",
        "blame(scores, relevance): what each item is charged of 1 − AP: a positive nothing, a negative 1/rank of every "
        "positive below it, divided by the number of positives; no ties.",
        blame,
        _list_cases,
        [
            Mistake(lambda y, rel: blame(y, rel) * rel.sum(), "forgets to divide by the number of positives"),
            Mistake(lambda y, rel: blame(-y, rel), "puts the smallest score first"),
            Mistake(_unweighted, "counts the positives below without weighing them by one over their rank"),
            Mistake(_by_own_rank, "divides by the rank of the negative: it is the rank of the positive below"),
            Mistake(
                lambda y, rel: np.where(_above(y, rel)[0], 1 / _above(y, rel)[1][None, :], 0).sum(axis=1) / rel.sum(),
                "charges the positives as well: a positive above another is no mistake",
            ),
        ],
    ),
    Exercise(
        "chance_of_absence",
        "chance_of_absence(share, pictures, length): the chance that a class, which a share of all pictures shows, is "
        "on none of a batch of so many pictures nor on those of so many remembered batches, all drawn at random.",
        chance_of_absence,
        _share_cases,
        [
            Mistake(
                lambda share, pictures, length: (1 - share) ** (pictures * length),
                "leaves the current batch out: with a memory of τ batches the list holds 1 + τ",
            ),
            Mistake(lambda share, pictures, length: (1 - share) ** pictures, "leaves the memory out"),
            Mistake(
                lambda share, pictures, length: (1 - share) ** (pictures + length),
                "counts a remembered batch as one picture",
            ),
            Mistake(
                lambda share, pictures, length: 1 - share * pictures * (1 + length),
                "adds the chances of the pictures up: two of them may show the class",
            ),
            Mistake(
                lambda share, pictures, length: 1 - chance_of_absence(share, pictures, length),
                "returns the chance that the class is there",
            ),
            Mistake(
                lambda share, pictures, length: share ** (pictures * (1 + length)),
                "returns the chance that every picture shows the class",
            ),
        ],
    ),
    Exercise(
        "voc_ap",
        "voc_ap(hits, objects): AP as the area under the precision envelope, VOC's since 2010; `hits` says of each "
        "detection, the best first, whether it found an object, and `objects` counts those there were to find.",
        voc_ap,
        _hit_cases,
        [
            Mistake(
                lambda hits, objects: voc_ap(hits, hits.sum()),
                "divides by the objects that were found: one that nobody found counts too, with precision 0",
            ),
            Mistake(
                lambda hits, objects: _precisions(hits).sum() / objects,
                "takes the precisions as they are, as Eq. 4 does: the envelope takes the best at this recall or beyond",
            ),
            Mistake(
                lambda hits, objects: _running(_precisions(hits)).sum() / objects,
                "takes the best precision so far: the envelope looks at larger recalls, not at smaller ones",
            ),
            Mistake(_eleven, "samples the envelope at the recalls 0, 0.1, …, 1: that is VOC 2007's"),
            Mistake(
                lambda hits, objects: voc_ap(hits, objects) * objects,
                "adds the precisions up, without dividing by the objects",
            ),
            Mistake(lambda hits, objects: hits.mean(), "returns the precision of the whole list"),
        ],
    ),
)
