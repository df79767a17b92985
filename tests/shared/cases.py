"""Every loss and every metric, with its definition: whatever must hold for all of them reads these tables.

A loss of scores is one entry of `LOSSES`, a metric of one query one of `METRICS`, and every property comes with it.
What a loss does not keep stands in `breaks`, with the reason. Rankers have theirs in `rankedu_book.kit.known_rankers`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, permutations, product
from statistics import mean
from typing import NamedTuple

import torch
from torch import nn

from rankedu import losses, metrics, reference
from rankedu.losses import NoPositivesWarning
from rankedu.metrics import UndefinedMetricWarning
from rankedu.rankers import BlackboxRanker, HistogramRanker, IdentityRanker, InfimumStep, SigmoidRanker, SupremumRanker
from rankedu_lab.contestants import APSVMLoss, CSLLoss, ErrorDrivenAPLoss, ProjectionRanker, SpearmanLoss
from rankedu_lab.detections import OnProposals

#: What a loss keeps, unless it `breaks` it with a reason.
PROMISES = {
    "slope": "the gradient is the derivative of the value",
    "twice": "the gradient has a gradient too",
    "rows": "it is the mean of its rows, of those that have something to rank",
    "empty": "where there is nothing to rank it is 0, and says so",
    "smooth": "it has no kinks where scores tie",
    "infinite": "infinite scores are very large ones",
    "reduction": "it also gives the sum, and the loss of each query",
}
EXACT = {"slope": "its ranks are exact, with the gradient of their interpolation", "twice": "so is its gradient"}
ONCE = {"twice": "the gradient is made with the value"}
WHOLE = {"reduction": "the paper adds it up over the batch"}
IN_BINS = {"smooth": "its bins have kinks at their centres"}
COSINES = {"infinite": "its scores are cosines"}


@dataclass(frozen=True)
class Case:
    """A row of the table."""

    make: Callable[..., nn.Module]  #: Called with `reduction="sum"`, if at all.
    plain: Callable | None = None  #: (y, labels) → the loss of one list with something to rank, by the reference.
    labels: str = "relevant"  #: or "graded", or "target".
    breaks: Mapping[str, str] = field(default_factory=dict)
    empty: type[Warning] | None = NoPositivesWarning  #: What it says where there is nothing to rank.

    @property
    def loss(self) -> nn.Module:
        return self.make()

    def keeps(self, promise: str) -> bool:
        assert promise in PROMISES and not set(self.breaks) - set(PROMISES)
        return promise not in self.breaks


def ap_loss(y, r):
    return 1 - reference.average_precision(y, r)


def with_margin(plain, margin):
    """The same of shifted scores: equal steps from the most relevant, which are lowered, to the others."""

    def shifted(y, r):
        grades = sorted({0, *r})
        up = [0.5 - grades.index(own) / (len(grades) - 1) for own in r]
        return plain([s + margin * step for s, step in zip(y, up, strict=True)], r)

    return shifted


def recall_loss(weights):
    return lambda y, r: reference.recall_loss(y, r, weights)


def recall_at_k_loss(ranker):
    return lambda y, r: 1 - sum(reference.recall_at_k_surrogate(y, r, k, 2.0, ranker) for k in (1, 3)) / 2


def h_ap_loss(y, rel):
    return 1 - reference.hierarchical_average_precision(y, rel)


def h_ap_by_pairs(y, rel, temperature):
    """Eq. 2, in which H-rank(k) = rel(k) + Σ min(rel(k), rel(j)) σ((y_j − y_k)/τ) is no sum over nested sets."""
    total = 0
    for k, own in enumerate(rel):
        steps = [reference.sigmoid((score - y[k]) / temperature) * (j != k) for j, score in enumerate(y)]
        total += (own + sum(min(own, other) * s for other, s in zip(rel, steps, strict=True))) / (1 + sum(steps))
    return total / sum(rel)


def ndcg_loss(ranks, gains=lambda grade: 2**grade - 1, k=math.inf):
    return lambda y, grades: 1 - reference.ndcg(y, list(map(gains, grades)), k, ranks)


def stepped_rank(y):
    return [1 + sum(reference.happier_step(b - a) for j, b in enumerate(y) if j != i) for i, a in enumerate(y)]


def spearman_loss(ranks):
    """6/(n (n² − 1)) times the squared distance from the ranks of the target, of which ties share the mean."""

    def plain(y, target):
        n = len(y)
        ideal = [(a + b) / 2 for a, b in zip(reference.rank(target, "min"), reference.rank(target, "max"), strict=True)]
        return 6 / (n * (n * n - 1)) * sum((a - b) ** 2 for a, b in zip(ranks(y), ideal, strict=True))

    return plain


def calibration_loss(y, r, low=0.9, high=0.6):
    """The mean of what is too low among the relevant, and of what is too high among the others."""
    wrong = [[low - s for s, own in zip(y, r, strict=True) if own]]
    wrong += [[s - high for s, own in zip(y, r, strict=True) if not own]]
    return sum(sum(x for x in some if x > 0) / max(1, sum(x > 0 for x in some)) for some in wrong)


def roadmap_loss(y, r):
    return ((sup_ap_loss(y, r) if any(r) else 0) + calibration_loss(y, r)) / 2


def sup_ap_loss(y, r, **setting):
    return reference.happier_loss(y, list(map(float, r)), partial(reference.happier_step, **setting))


OfTarget = partial(Case, labels="target", empty=UndefinedMetricWarning)
AP, RECALL, HAP, NDCG = losses.APLoss, losses.RecallLoss, losses.HAPLoss, losses.NDCGLoss
RECALL_AT_K = losses.RecallAtKSurrogateLoss
SOFT = partial(reference.sigmoid_rank, temperature=0.1)
BLACKBOX, NORMALIZED, SIGMOID = BlackboxRanker(60.0), BlackboxRanker(6.0, normalized=True), SigmoidRanker(0.1)
LOSSES = {
    "ap": Case(partial(AP, BLACKBOX, 0.125), with_margin(ap_loss, 0.125), breaks=EXACT),
    "ap, normalized": Case(partial(AP, NORMALIZED), ap_loss, breaks=EXACT),
    "ap, through both ranks": Case(partial(AP, BLACKBOX, within_grad=True), ap_loss, breaks=EXACT),
    "ap of a sigmoid": Case(partial(AP, SIGMOID, 0.125), breaks={"slope": "the one through rk⁺ is stopped"}),
    "ap of a histogram": Case(partial(AP, HistogramRanker(5), within_grad=True), breaks=IN_BINS),
    "ap of a projection": Case(partial(AP, ProjectionRanker(0.3), within_grad=True), breaks=IN_BINS | COSINES),
    "recall": Case(partial(RECALL, BLACKBOX), recall_loss(reference.W_log), breaks=EXACT),
    "recall, loglog": Case(
        partial(RECALL, NORMALIZED, 0.125, "loglog", within_grad=True),
        with_margin(recall_loss(reference.W_loglog), 0.125),
        breaks=EXACT,
    ),
    "recall, own W": Case(partial(RECALL, BLACKBOX, weights=torch.sqrt), recall_loss(math.sqrt), breaks=EXACT),
    "recall of a sigmoid": Case(partial(RECALL, SIGMOID, weights=torch.log1p, within_grad=True)),
    "recall@k": Case(partial(RECALL_AT_K, BLACKBOX, (1, 3), 2.0), recall_at_k_loss(reference.rank), breaks=EXACT),
    "recall@k, double sigmoid": Case(partial(RECALL_AT_K, SIGMOID, (1, 3), 2.0), recall_at_k_loss(SOFT)),
    "ap by identity": Case(partial(AP, IdentityRanker("mean"), 0.125), with_margin(ap_loss, 0.125), breaks=EXACT),
    "ap by identity, std": Case(partial(AP, IdentityRanker("std"), 0.125), with_margin(ap_loss, 0.125), breaks=EXACT),
    "recall by identity": Case(partial(RECALL, IdentityRanker()), recall_loss(reference.W_log), breaks=EXACT),
    "map": Case(
        partial(losses.MAPLoss, BLACKBOX, 0.125),
        breaks=EXACT | WHOLE | {"rows": "its queries are columns", "empty": "the class-agnostic term counts all"},
    ),
    "smooth ap": Case(partial(losses.SmoothAPLoss, 0.1), lambda y, r: 1 - reference.smooth_ap(y, r, 0.1)),
    "sup ap": Case(losses.SupAPLoss, sup_ap_loss),
    "sup ap, warm": Case(
        partial(losses.SupAPLoss, 0.1, slope=3.0, delta=0.1),
        partial(sup_ap_loss, temperature=0.1, slope=3.0, delta=0.1),
    ),
    "fast ap": Case(
        partial(losses.FastAPLoss, 6), lambda y, r: 1 - reference.fast_ap(y, r, 6), breaks=IN_BINS | COSINES
    ),
    "h-ap": Case(partial(HAP, BLACKBOX, 0.125), with_margin(h_ap_loss, 0.125), "graded", EXACT),
    "h-ap, through both ranks": Case(partial(HAP, BLACKBOX, within_grad=True), h_ap_loss, "graded", EXACT),
    "h-ap of a sigmoid": Case(
        partial(HAP, SIGMOID, within_grad=True), lambda y, rel: 1 - h_ap_by_pairs(y, rel, 0.1), "graded"
    ),
    "h-ap of a histogram": Case(partial(HAP, HistogramRanker(20), within_grad=True), None, "graded", IN_BINS),
    "happier": Case(HAP, reference.happier_loss, "graded"),
    "happier, released": Case(
        partial(HAP, SupremumRanker.preset("happier_inat")),
        partial(reference.happier_loss, step=partial(reference.happier_step, offset=1.0, start=0.0)),
        "graded",
    ),
    "happier, from below": Case(
        partial(HAP, lower=InfimumStep()),
        partial(reference.happier_loss, lower=reference.happier_lower_step),
        "graded",
        {"infinite": "the lower step falls without bound"},
    ),
    "ndcg": Case(partial(NDCG, BLACKBOX, 0.125), with_margin(ndcg_loss(reference.rank), 0.125), "graded", EXACT),
    "ndcg@6, normalized": Case(
        partial(NDCG, BlackboxRanker(60.0, normalized=True), gains="linear", k=6),
        ndcg_loss(reference.rank, float, 6),
        "graded",
        EXACT,
    ),
    "ndcg of a sigmoid": Case(partial(NDCG, SIGMOID, gains=torch.sqrt), ndcg_loss(SOFT, math.sqrt), "graded"),
    "ndcg from above": Case(partial(NDCG, SupremumRanker()), ndcg_loss(stepped_rank), "graded"),
    "spearman": OfTarget(partial(SpearmanLoss, BLACKBOX), spearman_loss(reference.rank), breaks=EXACT | WHOLE),
    "spearman of a sigmoid": OfTarget(
        partial(SpearmanLoss, SIGMOID),
        spearman_loss(SOFT),
        breaks=WHOLE,
    ),
    "error-driven": Case(partial(ErrorDrivenAPLoss, 0.5), breaks=EXACT),
    "ap-svm": Case(APSVMLoss, breaks=ONCE | {"infinite": "their differences are none"}),
    "calibration": Case(
        partial(losses.CalibrationLoss, 0.2, 0.4),
        partial(calibration_loss, low=0.2, high=0.4),
        breaks=WHOLE | {"rows": "its means are over the whole batch", "empty": "the others are calibrated still"},
        empty=None,
    ),
    "roadmap": Case(
        losses.ROADMAPLoss,
        roadmap_loss,
        breaks=WHOLE | {"rows": "as the calibration", "empty": "as the calibration"},
    ),
}

#: Label paths of seven embeddings; the last labels are classes.
PATHS = torch.tensor([[0, 0], [1, 2], [2, 4], [2, 4], [0, 1], [0, 0], [1, 2]])
#: Losses of embeddings or logits, (7, 6), and labels: what is made of the dtype of the parameters, and the labels.
EMBEDDED = {
    "on embeddings": (lambda: losses.OnEmbeddings(AP(BLACKBOX, 0.125)), PATHS[:, 1]),
    "cluster": (lambda: losses.ClusterLoss(5, 6), PATHS[:, 1]),
    "csl": (lambda: CSLLoss(PATHS.unique(dim=0), 6), PATHS),
    "happier": (lambda: losses.HAPPIERLoss(5, 6, weight=0.5, monotone=True), PATHS),
    "on proposals": (lambda: OnProposals(losses.MAPLoss(SIGMOID, 0.1)), PATHS[:, 1]),
}


class Metric(NamedTuple):
    library: Callable  # (scores, labels, *, where)
    plain: Callable  # (y, labels), ties by position
    labels: str = "relevant"  # or "gains", or "levels" from 0 to 3
    undefined: str = "3 of 4 queries have no relevant item"  # where three of four have none
    policies: bool = True  # whether there is a choice for ties

    def under(self, ties):
        """The metric with a policy for ties, if it takes one."""
        return partial(self.library, ties=ties) if self.policies else self.library


def at_2(library, plain, **more):
    return Metric(partial(library, k=2), partial(plain, k=2), **more)


def ap_min(y, relevant, k):
    return reference.average_precision_at_k(y, relevant, k) * sum(relevant) / max(min(sum(relevant), k), 1)


def by_policy(plain, y, labels, ties):
    """The value, or the list of values, of a metric that breaks ties by position, under each policy."""
    if ties == "expected":
        groups = [[i for i, own in enumerate(y) if own == score] for score in sorted({*y}, reverse=True)]
        orders = [[*chain(*order)] for order in product(*map(permutations, groups))]
    else:
        sign = {"ordinal": 0, "optimistic": -1, "pessimistic": 1}[ties]
        orders = [sorted(range(len(y)), key=lambda i: sign * labels[i])]
    values = [plain([y[i] for i in order], [labels[i] for i in order]) for order in orders]
    several = isinstance(values[0], list)
    return [sum(of_level) / len(values) for of_level in zip(*values, strict=True)] if several else mean(values)


def per_level(y, levels):
    return [reference.average_precision(y, [level >= at for level in levels]) for at in (1, 2, 3)]


H_AP, ASI = metrics.hierarchical_average_precision, metrics.average_set_intersection
NO_GAIN, NO_LEVEL = "3 of 4 queries have no gain above 0", "3 of 4 queries have no item of level 1 or more"
NO_RELEVANCE = "3 of 4 queries have no relevance above 0"
METRICS = {
    "ap": Metric(metrics.average_precision, reference.average_precision),
    "ap@2": at_2(metrics.average_precision, reference.average_precision_at_k),
    "ap@2 over min": at_2(partial(metrics.average_precision, normalize="min"), ap_min),
    "recall@2": at_2(metrics.recall_at_k, reference.recall_at_k),
    "recall share@2": at_2(metrics.recall_share_at_k, reference.recall_share_at_k),
    "precision@2": at_2(metrics.precision_at_k, reference.precision_at_k),
    "map@r": Metric(metrics.map_at_r, reference.map_at_r),
    "r-precision": Metric(metrics.r_precision, reference.r_precision),
    "mrr": Metric(metrics.reciprocal_rank, reference.reciprocal_rank),
    "ndcg": Metric(metrics.ndcg, reference.ndcg, "gains", NO_GAIN),
    "ndcg@2": at_2(metrics.ndcg, reference.ndcg, labels="gains", undefined=NO_GAIN),
    "spearman": Metric(
        metrics.spearman, reference.spearman, "gains", "3 of 4 queries have fewer than two distinct", policies=False
    ),
    "h-ap": Metric(H_AP, reference.hierarchical_average_precision, "gains", NO_RELEVANCE),
    "asi": Metric(ASI, reference.average_set_intersection, "levels", NO_LEVEL),
    "ap by level": Metric(
        partial(metrics.average_precision_per_level, n_levels=3),
        per_level,
        "levels",
        "9 of 12 queries and levels have no item of that level or finer",
    ),
}
