"""Chapter 16, object detection: charges, VOC's AP, the whole loss on proposals, and the λ that it needs."""

from functools import partial

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise


def blame(scores, relevance, *, weigh=lambda rank: 1 / rank, own=False, everyone=False):
    """What each item is charged; the options make the mistakes."""
    above = scores[:, None] > scores  # above[j, i]: j stands above i
    weights = weigh(1 + above.sum(axis=0))
    charged = ((above & relevance) * (weights[:, None] if own else weights)).sum(axis=1)
    return np.where(relevance, charged if everyone else 0, charged) / relevance.sum()


def voc_ap(hits, objects, *, beyond=lambda precision: np.maximum.accumulate(precision[::-1])[::-1]):
    """The area under the precision envelope; the option makes the mistakes."""
    ranks = 1 + np.flatnonzero(hits)
    return beyond(np.arange(1, len(ranks) + 1) / ranks).sum() / objects


def _proposal_loss(logits, labels, margin, *, kind="log-odds", share=1 / 3, absent=None, turn=1, background=False):
    """Two parts 1 − mAP and one part 1 − APC; the options make the mistakes."""
    scores = {"log-odds": logits - logits[:, :1], "logit": logits, "probability": _probability(logits)}[kind]
    first = 0 if background else 1
    scores, relevant = scores[:, first:], labels[:, None] == np.arange(first, logits.shape[1])
    columns = zip(scores.T.tolist(), relevant.T.tolist(), strict=True)
    shifted = np.array([reference.shift_by_margin(y, rel, turn * margin) for y, rel in columns]).T
    tables = shifted.tolist(), relevant.tolist()
    each, there = reference.mean_average_precision_loss(*tables), relevant.any(axis=0).mean()
    if absent is not None:  # what a class without a positive is taken to lose
        each = there * each + (1 - there) * absent
    return (1 - share) * each + share * reference.class_agnostic_loss(*tables)


def _probability(logits):
    shares = np.exp(logits)
    return shares / shares.sum(axis=1, keepdims=True)


def _least_lambda(scores, relevance, margin, *, bound=False, nearest=False, last=False, highest=False):
    """The least λ with which a positive passes a negative; the options make the mistakes."""
    scores = np.array(reference.shift_by_margin(scores.tolist(), relevance.tolist(), margin))
    ranks, negatives = np.array(reference.rank(scores.tolist())), scores[~relevance]
    needed, gaps = [], []
    for score, rank in zip(scores[relevance], ranks[relevance], strict=True):
        above = negatives[negatives > score]
        if len(above) == 0:
            continue
        place, count = rank - len(above), relevance.sum()
        push = 1 / (4 * count * len(above)) if bound else place / (count * rank**2)
        gaps.append((above.max() if highest else above.min()) - score)
        needed.append(gaps[-1] / push)
    return needed[int(np.argmin(gaps))] if nearest else max(needed) if last else min(needed)


def _eleven(hits, objects):
    wanted = np.maximum(-(-np.arange(11) * objects // 10), 1)
    ranks = 1 + np.flatnonzero(hits)
    precision = np.arange(1, len(ranks) + 1) / ranks
    return sum(precision[k - 1 :].max() for k in wanted if k <= len(ranks)) / 11


#: Items of the lists that are drawn, and how many of them are relevant.
_SIZES = ((3, 1), (4, 2), (8, 3), (12, 4), (20, 5))


def _list_cases() -> list[Case]:
    rng = np.random.default_rng(16)
    drawn = [{"scores": rng.permutation(n) / n, "relevance": rng.permutation(n) < p} for n, p in _SIZES]
    return [{"scores": np.array([0.9, 0.8, 0.6, 0.3, 0.1]), "relevance": np.arange(5) % 4 == 0}, *drawn]


def _proposal_cases() -> list[Case]:
    rng = np.random.default_rng(20)
    first = np.array([[0.0, 2.0, 1.9], [0.0, 1.5, -3.0], [2.5, 3.0, -3.0], [0.5, 0.25, 1.0]])
    cases = [{"logits": first, "labels": np.array([2, 1, 0, 0]), "margin": 0.15}]
    for n, classes, margin in ((6, 3, 0.0), (8, 4, 0.5), (12, 5, 0.15), (20, 4, 1.0)):
        labels = np.where(rng.random(n) < 0.5, 0, rng.integers(1, classes, n))  # the last class is absent
        labels[:2] = 1, 2
        cases.append({"logits": rng.normal(0, 1.5, (n, classes + 1)).round(3), "labels": labels, "margin": margin})
    return cases


def _lambda_cases() -> list[Case]:
    rng = np.random.default_rng(22)
    cases = [{"scores": np.array([0.9, 0.5, 0.1]), "relevance": np.array([False, False, True]), "margin": 0.0}]
    for (n, p), margin in zip(_SIZES[1:], (0.0, 0.0, 0.05, 0.15), strict=True):
        scores = rng.permutation(n) / 10 + rng.random(n) / 100
        cases.append({"scores": scores, "relevance": rng.permutation(n) < p, "margin": margin})
    return cases


def _hit_cases() -> list[Case]:
    rng = np.random.default_rng(17)
    drawn = [{"hits": rng.permutation(n) < p, "objects": p + rng.integers(1, 4)} for n, p in _SIZES]
    return [{"hits": np.array([True, False, True]), "objects": 3}, *drawn]


EXERCISES = (
    Exercise(
        "blame(scores, relevance): what each item is charged of 1 − AP: a positive nothing, a negative 1/rank of every "
        "positive below it, divided by the number of positives; no ties.",
        blame, _list_cases, [
            (lambda y, rel: blame(-y, rel), "puts the smallest score first"),
            (partial(blame, weigh=lambda rank: 1 / (len(rank) + 1 - rank)),
             "counts ranks from the bottom: rank 1 is the largest score"),
            (partial(blame, weigh=np.ones_like),
             "counts the positives below without weighing them by one over their rank"),
            (partial(blame, own=True), "divides by the rank of the negative: it is the rank of the positive below"),
            (partial(blame, everyone=True), "charges the positives as well: a positive above another is no mistake"),
        ],
    ),
    Exercise(
        "voc_ap(hits, objects): AP as the area under the precision envelope, VOC's since 2010; `hits` says of each "
        "detection, the best first, whether it found an object, and `objects` counts those there were to find.",
        voc_ap, _hit_cases, [
            (lambda hits, objects: voc_ap(hits, hits.sum()),
             "divides by the objects that were found: one that nobody found counts too, with precision 0"),
            (partial(voc_ap, beyond=lambda precision: precision),
             "takes the precisions as they are, as Eq. 4 does: the envelope takes the best at this recall or beyond"),
            (partial(voc_ap, beyond=np.maximum.accumulate),
             "takes the best precision so far: the envelope looks at larger recalls, not at smaller ones"),
            (_eleven, "samples the envelope at the recalls 0, 0.1, …, 1: that is VOC 2007's"),
            (lambda hits, n: voc_ap(hits, n) * n, "adds the precisions up, without dividing by the objects"),
            (lambda hits, objects: hits.mean(), "returns the precision of the whole list"),
        ],
    ),
    Exercise(
        "proposal_loss(logits, labels, margin): RaMBO's loss of a detector's head, 2/3 of 1 − mAP and 1/3 of 1 − APC, "
        "of log-odds against the background; column 0 of the logits and label 0 are the background, which is no class; "
        "scores of a class are lowered by half the margin where a proposal shows it, and raised by half elsewhere; "
        "a class without a positive has no part in mAP.",
        _proposal_loss, _proposal_cases, [
            (partial(_proposal_loss, kind="logit"),
             "ranks the bare logits: log-odds are what lies above the background's"),
            (partial(_proposal_loss, kind="probability"), "ranks probabilities, not log-odds"),
            (partial(_proposal_loss, background=True),
             "takes the background for a class: it is irrelevant in every list, and has none of its own"),
            (partial(_proposal_loss, absent=0.0),
             "counts a class without a positive as perfect: it has no part in the mean"),
            (partial(_proposal_loss, absent=1.0),
             "counts a class without a positive as AP = 0: it has no part in the mean"),
            (partial(_proposal_loss, share=2 / 3), "mixes them the other way round"),
            (partial(_proposal_loss, share=0.0), "leaves the list of all classes out"),
            (partial(_proposal_loss, share=1.0),
             "puts all classes into one list only: two thirds are the mean over classes"),
            (partial(_proposal_loss, turn=-1), "shifts the wrong way: the margin makes it harder for the positives"),
            (lambda z, c, m: _proposal_loss(z, c, 2 * m), "shifts either side by the whole margin"),
            (lambda z, c, m: _proposal_loss(z, c, 0.0), "leaves the margin out"),
        ],
        arrays=("numpy",),
    ),
    Exercise(
        "least_lambda(scores, relevance, margin): the λ from which on a positive passes a negative in the step of "
        "Algorithm 1, for 1 − AP of the shifted scores, ranks from 1 to n and the gradient through rk(y⁺) stopped; no "
        "ties, and some positive stands below a negative.",
        _least_lambda, _lambda_cases, [
            (partial(_least_lambda, bound=True), "takes the bound λ/(4 P r): a positive's own push is mostly shorter"),
            (partial(_least_lambda, nearest=True),
             "takes the positive with the smallest gap: another one may be pushed harder"),
            (partial(_least_lambda, last=True), "waits until every positive passes one: the first is enough"),
            (partial(_least_lambda, highest=True),
             "asks a positive to pass all negatives above it: the nearest is enough"),
            (lambda y, rel, m: _least_lambda(y, rel, 0.0), "leaves the margin out"),
        ],
        arrays=("numpy",),
    ),
)  # fmt: skip
