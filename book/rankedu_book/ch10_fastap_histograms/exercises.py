"""Chapter 10, FastAP: FastAP from soft histograms, and the rank that a histogram gives."""

import numpy as np

from rankedu import reference
from rankedu_book.kit.check.spec import Case, Exercise, in_numpy

soft_histogram, histogram_rank = in_numpy(reference.soft_histogram), in_numpy(reference.histogram_rank)


def _shares(scores, bins):
    return np.maximum(0, 1 - np.abs(((1 - scores) * bins / 2)[:, None] - np.arange(bins + 1)))


def _nearest(scores, bins):
    return np.floor((1 - scores) * bins / 2 + 0.5).astype(int)


def _hard(scores, bins):
    return np.bincount(_nearest(scores, bins), minlength=bins + 1).astype(float)


def _read_at(scores, bins, level):
    return _shares(scores, bins) @ level(soft_histogram(scores, bins))


def _score_cases() -> list[Case]:
    rng = np.random.default_rng(10)
    cases = [([0.75, 0.5, 0.0, -0.25, -0.75], 4), ([0.9, 0.3], 2), ([0.2, 0.2, -0.6], 5)]
    cases += [((2 * rng.random(n) - 1).round(3).tolist(), bins) for n, bins in ((6, 3), (8, 10), (12, 7), (30, 20))]
    return [{"scores": np.array(y), "bins": bins} for y, bins in cases]


def _queries() -> list[Case]:
    rng = np.random.default_rng(11)
    cases = []
    for case in _score_cases():
        relevance = rng.random(len(case["scores"])) < 0.4
        relevance[: 1 + len(relevance) // 6] = True
        cases.append({"scores": case["scores"], "relevance": relevance, "bins": case["bins"]})
    cases[0]["relevance"] = np.array([False, True, False, True, False])
    return cases


def _of_counts(scores, relevance, bins, formula):
    return formula(soft_histogram(scores[relevance], bins), soft_histogram(scores, bins))


def _over_bins(positives, everything, total=np.sum):
    with np.errstate(invalid="ignore", divide="ignore"):
        return total(positives * np.cumsum(positives) / np.cumsum(everything)) / positives.sum()


EXERCISES = (
    Exercise(
        "fast_ap(scores, relevance, bins): FastAP of one query, from its cosines in [−1, 1]; relevance is boolean, a "
        "bin may be empty.",
        reference.fast_ap, _queries, [
            (lambda y, rel, bins: _over_bins(_hard(y[rel], bins), _hard(y, bins), np.nansum),
             "gives each score to the nearest centre whole: share it between two"),
            (lambda y, rel, bins: reference.fast_ap(-y, rel, bins), "starts at the lowest centre: h_0 counts around 1"),
            (lambda y, rel, bins: _of_counts(y, rel, bins, lambda p, n: (np.cumsum(p) / np.cumsum(n))[p > 0].mean()),
             "averages over bins: weigh each by the positives in it"),
            (lambda y, rel, bins: _of_counts(y, rel, bins, lambda p, n: (p[p > 0] ** 2 / n[p > 0]).sum() / p.sum()),
             "takes the precision within each bin: cumulate both counts first"),
            (lambda y, rel, bins: _of_counts(y, rel, bins, _over_bins),
             "divides 0 by 0 where no item has been met yet: such a bin adds nothing"),
            (lambda y, r, n: reference.fast_ap(y, r, n - 1), "has one centre too few: L bins have L + 1 centres"),
        ],
    ),
    Exercise(
        "histogram_rank(scores, bins): the soft rank of each score, ½ + Σ_l m_l(y_k) (H_{l−1} + h_l/2).",
        histogram_rank, _score_cases, [
            (lambda y, bins: _read_at(y, bins, lambda h: np.cumsum(h)),
             "gives each bin its last place H_l: items that share a bin share its middle"),
            (lambda y, bins: _read_at(y, bins, lambda h: 0.5 + np.cumsum(h) - h),
             "counts only the items in higher bins, and none in its own"),
            (lambda y, bins: len(y) + 1 - histogram_rank(y, bins), "gives the largest score the largest rank"),
            (lambda y, bins: (0.5 + np.cumsum(_hard(y, bins)) - _hard(y, bins) / 2)[_nearest(y, bins)],
             "gives each score to one centre: read the middle places off with the same shares"),
        ],
    ),
)  # fmt: skip
