"""Chapter 10, FastAP: soft histograms, average precision from counts, and the rank that a histogram gives."""

# Plain NumPy, no annotations.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from rankedu import reference
from rankedu.book.exercises.spec import Case, Exercise, Mistake


def soft_histogram(scores, bins):
    return np.array(reference.soft_histogram(scores, bins), dtype=float)


def fast_ap_from_histograms(positives, everything):
    above, all_above = np.cumsum(positives), np.cumsum(everything)
    filled = positives > 0
    return (positives[filled] * above[filled] / all_above[filled]).sum() / positives.sum()


def histogram_rank(scores, bins):
    return np.array(reference.histogram_rank(scores, bins))


def _shares(scores, bins):
    return np.maximum(0, 1 - np.abs(((1 - scores) * bins / 2)[:, None] - np.arange(bins + 1)))


def _hard(scores, bins):
    nearest = np.floor((1 - scores) * bins / 2 + 0.5).astype(int)
    return np.bincount(nearest, minlength=bins + 1).astype(float)


def _without_last(scores, bins):
    return soft_histogram(scores, bins)[:-1]


def _read_at(scores, bins, level):
    return _shares(scores, bins) @ level(soft_histogram(scores, bins))


def _score_cases() -> list[Case]:
    rng = np.random.default_rng(10)
    cases = [([0.75, 0.5, 0.0, -0.25, -0.75], 4), ([0.9, 0.3], 2), ([0.2, 0.2, -0.6], 5)]
    cases += [((2 * rng.random(n) - 1).round(3).tolist(), bins) for n, bins in ((6, 3), (8, 10), (12, 7), (30, 20))]
    return [{"scores": np.array(y), "bins": bins} for y, bins in cases]


def _histogram_cases() -> list[Case]:
    cases = [{"positives": np.array([0, 1, 0.5, 0.5, 0]), "everything": np.array([0.5, 1.5, 1.5, 1, 0.5])}]
    rng = np.random.default_rng(11)
    for n, bins in ((8, 4), (12, 6), (20, 3), (6, 12), (40, 20)):
        scores, relevant = 0.9 * (2 * rng.random(n) - 1), rng.random(n) < 0.4
        relevant[:2] = True
        cases.append({"positives": soft_histogram(scores[relevant], bins), "everything": soft_histogram(scores, bins)})
    return cases


def _above_only(positives, everything):
    """The precision before the bin."""
    above, all_above = np.cumsum(positives) - positives, np.cumsum(everything) - everything
    return (positives * np.where(all_above > 0, above / np.maximum(all_above, 1e-9), 1.0)).sum() / positives.sum()


def _over_bins(positives, everything):
    filled = positives > 0
    return (np.cumsum(positives)[filled] / np.cumsum(everything)[filled]).mean()


def _bin_alone(positives, everything):
    filled = positives > 0
    return (positives[filled] ** 2 / everything[filled]).sum() / positives.sum()


def _nan_in_empty_bins(positives, everything):
    with np.errstate(invalid="ignore", divide="ignore"):
        return (positives * np.cumsum(positives) / np.cumsum(everything)).sum() / positives.sum()


EXERCISES = (
    Exercise(
        "soft_histogram",
        "soft_histogram(scores, bins): the counts of cosines in [−1, 1], each shared between the nearest two of "
        "bins + 1 centres, the highest centre first.",
        soft_histogram,
        _score_cases,
        [
            Mistake(_hard, "gives each score to the nearest centre whole: share it between two"),
            Mistake(lambda y, bins: soft_histogram(-y, bins), "starts at the lowest centre: h_0 counts around 1"),
            Mistake(_without_last, "has one centre too few: L bins have L + 1 centres"),
            Mistake(
                lambda y, bins: soft_histogram(y, bins) / len(y), "divides by the number of scores: these are counts"
            ),
            Mistake(lambda y, bins: np.cumsum(soft_histogram(y, bins)), "cumulates the counts: that is H, not h"),
            Mistake(
                lambda y, bins: np.maximum(0, 1 - np.abs((2 - 2 * y)[:, None] - np.linspace(0, 4, bins + 1))).sum(0),
                "forgets to divide the distance by the bin's width Δ = 4/L",
            ),
        ],
    ),
    Exercise(
        "fast_ap_from_histograms",
        "fast_ap_from_histograms(positives, everything): FastAP of one query from its soft counts, the highest centre "
        "first; a bin may be empty.",
        fast_ap_from_histograms,
        _histogram_cases,
        [
            Mistake(_above_only, "takes the precision before the bin: H_l includes the bin itself"),
            Mistake(_over_bins, "averages over bins: weigh each by the positives in it"),
            Mistake(_bin_alone, "takes the precision within each bin: cumulate both counts first"),
            Mistake(lambda p, h: 1 - fast_ap_from_histograms(p, h), "returns the loss, which is one minus FastAP"),
            Mistake(lambda p, h: fast_ap_from_histograms(p, h) * p.sum(), "forgets the 1/N⁺"),
            Mistake(
                lambda p, h: fast_ap_from_histograms(p, h) * p.sum() / h.sum(),
                "divides by the number of all items: the mean is over the positives",
            ),
            Mistake(lambda p, h: fast_ap_from_histograms(p[::-1], h[::-1]), "starts from the bin of the lowest scores"),
            Mistake(_nan_in_empty_bins, "divides 0 by 0 where nobody has been met yet: such a bin adds nothing"),
        ],
    ),
    Exercise(
        "histogram_rank",
        "histogram_rank(scores, bins): the soft rank of each score, ½ + Σ_l m_l(y_k) (H_{l−1} + h_l/2).",
        histogram_rank,
        _score_cases,
        [
            Mistake(
                lambda y, bins: _read_at(y, bins, lambda h: np.cumsum(h)),
                "gives each bin its last place H_l: those who share a bin share its middle",
            ),
            Mistake(lambda y, bins: histogram_rank(y, bins) - 0.5, "leaves out the ½: the best possible rank is 1"),
            Mistake(
                lambda y, bins: histogram_rank(y, bins) + 0.5,
                "adds 1: an item counts itself already, as one half",
            ),
            Mistake(
                lambda y, bins: _read_at(y, bins, lambda h: 0.5 + np.cumsum(h) - h),
                "counts only those in higher bins, and nobody in its own",
            ),
            Mistake(lambda y, bins: len(y) + 1 - histogram_rank(y, bins), "gives the largest score the largest rank"),
            Mistake(
                lambda y, bins: (0.5 + np.cumsum(_hard(y, bins)) - _hard(y, bins) / 2)[
                    np.floor((1 - y) * bins / 2 + 0.5).astype(int)
                ],
                "gives each score to one centre: read the middle places off with the same shares",
            ),
        ],
    ),
)
