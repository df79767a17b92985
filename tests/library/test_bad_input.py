"""Bad input: which parameter, what was expected, what came, and what to do."""

import math
import re

import pytest
import torch
from drawn import random, refused

import rankedu
from rankedu import hierarchy, losses, metrics, outranking_negatives, rank, rank_among, rankers, where_of
from rankedu.blackbox import differentiate, interpolate
from rankedu.checks import check_not_nan
from rankedu.hierarchy import levels, relevance
from rankedu.losses import SmoothAPLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.metrics import average_precision, ndcg, spearman
from rankedu.proofs import hierarchical, rearrangement, recall_weights
from rankedu.rankers import BlackboxRanker, HistogramRanker, InfimumStep, SigmoidRanker, SupremumRanker

nan, inf = math.nan, math.inf
blackbox = BlackboxRanker(1.0)
y, yes = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([True, True, False])
two_by_three = torch.rand(2, 3)
e, ones, two = random(2, 6), torch.tensor([1, 1]), torch.tensor([[0, 2], [0, 2]])


def takes(function, kind=None, **settings):
    """A call of a function of scores and where, with a label of 1 for each score, of this dtype, if it has any."""

    def call(scores, where):
        labels = [] if kind is None else [torch.ones(scores.shape, dtype=kind)]
        return function(scores, *labels, where=where, **settings)

    return call


OF_RELEVANCE = (outranking_negatives, average_precision, metrics.map_at_r, ndcg, spearman, metrics.hierarchical_rank)
OF_LEVELS = (metrics.average_set_intersection, metrics.average_precision_per_level)
TAKE_SCORES = [takes(rank), takes(blackbox), takes(rank_among, torch.bool), takes(blackbox.among, torch.bool)]
TAKE_SCORES += [takes(function, torch.float32) for function in OF_RELEVANCE]
TAKE_SCORES += [takes(function, torch.float32, k=1) for function in (metrics.recall_at_k, metrics.precision_at_k)]
TAKE_SCORES += [takes(function, torch.int64) for function in OF_LEVELS]


@pytest.mark.parametrize(
    ("scores", "where", "error", "message"),
    [
        (torch.tensor([[0.1, nan], [0.2, 0.3]]), None, ValueError, r"scores .* NaN, got 1 of 4, .* \(0, 1\).*where"),
        (torch.zeros(2, 0), None, ValueError, r"scores .* n >= 1, got \(2, 0\)"),
        (torch.tensor(1.0), None, ValueError, r"scores .* n >= 1, got \(\)"),
        (torch.tensor([True, False]), None, TypeError, r"scores .* got torch.bool .*to\(torch.float32\)"),
        (y, torch.ones(3), TypeError, r"where must be bool, got torch.float32 .*where.bool"),
        (y, yes[:2], ValueError, r"where .* shape of scores, \(3,\), got \(2,\)"),
        (y.expand(2, 3), yes, ValueError, r"where .* got \(3,\) .*where.expand\(2, 3\)"),
        (y, [True, True, False], TypeError, r"where must be a torch.Tensor, got list"),
    ],
)
def test_scores_and_where(scores, where, error, message):
    refused(*((lambda call=call: call(scores, where), error, message) for call in TAKE_SCORES))


def test_ranks_and_metrics():
    graded, negative = torch.tensor([0.0, 2.0, 1.0]), 2.0 * yes - 1
    shared = r"\(2, 3\), got \(3,\) \(where all rows share it, use relevance.expand\(2, 3\)\)"
    one_a_row = r"\(2, 3\), got \(2,\) \(one a row\? .*OnEmbeddings\(loss\)\)"
    refused(
        (lambda: rank(y, ties="mean"), ValueError, "ties must be one of 'ordinal', 'min', 'max', got 'mean'"),
        (lambda: average_precision(y, yes, ties="min"), ValueError, "ties .* 'optimistic', got 'min'"),
        (lambda: rank_among(y, yes[:2]), ValueError, r"members .* \(3,\), got \(2,\)"),
        (lambda: average_precision(two_by_three, yes), ValueError, f"relevance .* {shared}"),
        (lambda: SmoothAPLoss()(two_by_three, torch.tensor([0, 1])), ValueError, f"relevance .* {one_a_row}"),
        (lambda: average_precision(y, graded), ValueError, "relevance .* 0 and 1, got 2.0 .*NDCGLoss, HAPL.* OnEmb"),
        (lambda: SmoothAPLoss()(y, negative), ValueError, "relevance .* got -1.0 .*by where=relevance >= 0"),
        (lambda: metrics.map_at_r(y, torch.tensor([0, nan, 1])), ValueError, "relevance .* got nan"),
        (lambda: metrics.recall_at_k(y, yes, k=0), ValueError, "k must be >= 1, got 0"),
        (lambda: metrics.precision_at_k(y, yes, k=1.5), TypeError, "k must be an int, got float"),
        (lambda: ndcg(y, -y), ValueError, "gains must be finite and >= 0, got -0.3.*where=gains >= 0"),
        (lambda: ndcg(y, y[:2]), ValueError, r"gains .* \(3,\), got \(2,\)"),
        (lambda: ndcg(y, y, query=y), TypeError, "query must be integers, got torch.float32"),
        (lambda: spearman(y, y, query=torch.arange(2)), ValueError, r"query .* \(3,\), got \(2,\)"),
        (
            lambda: average_precision(y[None], yes[None], query=torch.arange(3)),
            ValueError,
            r"shape \(n,\) beside query",
        ),
        (lambda: average_precision(y, yes, normalize="k"), ValueError, "normalize must be one of 'relevant', 'min'"),
        (lambda: spearman(y, y * nan), ValueError, "target must not contain NaN, got 3 of 3"),
        (lambda: metrics.hierarchical_rank(y, -y), ValueError, "relevance .* finite and >= 0, got -0.3.*hierarchy"),
        (lambda: metrics.average_set_intersection(y, yes[:2].long()), ValueError, r"levels .* \(3,\), got \(2,\)"),
        (lambda: metrics.average_precision_per_level(y, yes.long() - 1), ValueError, "levels must be >= 0, got -1"),
        (lambda: metrics.average_precision_per_level(y, 2 * yes.long(), n_levels=1), ValueError, "n_levels .*, got 1"),
    )
    padded = torch.tensor([1, 0, -1])  # the remedy for padding is one
    assert average_precision(y, padded, where=padded >= 0) == average_precision(y[:2], padded[:2])


def test_blackbox_differentiation():
    no_float = torch.tensor([1, 2])
    shape = r"solver must return a Tensor of the shape of its input, \(3,\), got "
    refused(
        (lambda: differentiate(rank, 1.0)(no_float), TypeError, r"scores .* got torch.int64 .*to\(torch.float32\)"),
        (lambda: differentiate(lambda s: s.sum(-1), 1.0)(y), ValueError, shape + r"\(\)"),
        (lambda: interpolate(lambda s: 1, y, 1.0)(y), ValueError, shape + "int"),
        (lambda: interpolate(rank, y, 1.0)(y[:2]), ValueError, r"scores .* gradient, \(3,\), got \(2,\)"),
    )
    too_small = r"lam must be finite and > 0, got -1.0 \(the limit lam -> 0 is the staircase itself: use rank"
    take_lam = [
        BlackboxRanker,
        lambda lam: differentiate(rank, lam),
        lambda lam: interpolate(rank, y, lam),
    ]
    told = {-1.0: too_small, 0: "lam .* > 0, got 0.0", nan: "nan", inf: "inf"}
    for call in take_lam:
        refused(*((lambda lam=lam, call=call: call(lam), ValueError, message) for lam, message in told.items()))


def test_hierarchies():
    level, everybody = torch.tensor([1, 0, 2]), torch.ones(3, dtype=torch.bool)
    paths = torch.tensor([[0, 1]])
    refused(
        (lambda: levels(torch.tensor([-2])), ValueError, "labels must be >= 0, or -1 .* got -2"),
        (lambda: levels(torch.zeros(1, 1, 1).long()), ValueError, r"\(n,\) or \(n, L\) .* got \(1, 1, 1\)"),
        (lambda: levels(torch.tensor([[0, 1], [-1, 3], [-1, 4]])), ValueError, r".* got \[-1, 3\] at index 1"),
        (lambda: levels(paths, torch.tensor([0])), ValueError, "gallery_labels .* 2 columns as labels do"),
        (lambda: relevance(level - 1), ValueError, "levels must be >= 0, got -1"),
        (lambda: relevance(level.float()), TypeError, "levels must be integers, got torch.float32"),
        (lambda: relevance(level, 0), ValueError, "alpha must be finite and > 0, got 0.0"),
        (lambda: relevance(level, n_levels=1), ValueError, "n_levels must be >= 2, got 1 .*largest level"),
        (lambda: relevance(level, where=everybody[:2]), ValueError, r"where .* levels, \(3,\), got \(2,\)"),
        (lambda: hierarchy.weighted_ap_relevance(level, [1.0]), ValueError, "one entry a level, 2 or more, got 1"),
        (lambda: hierarchy.weighted_ap_relevance(level, [1, -1]), ValueError, "weights must be finite and >= 0"),
        (lambda: hierarchy.weighted_ap_relevance(level, [0, 0]), ValueError, r"not all 0, got \[0.0, 0.0\]"),
        (lambda: hierarchy.weighted_ap_relevance(level, []), ValueError, r"shape \(L,\), got shape \(0,\)"),
    )


def test_memories():
    s, ones = torch.ones(2, 3), torch.ones(2)
    scores, embeddings = ScoreMemory(2), EmbeddingMemory(2)
    scores(s, s)
    embeddings(s, ones)
    refused(
        (lambda: scores(s[:, :2], s[:, :2]), ValueError, "memory holds batches of 3 classes, got one of 2 .*reset"),
        (lambda: embeddings(s[:, :2], ones), ValueError, "batches of 3 dimensions, got one of 2"),
        (lambda: embeddings(s, 3 * torch.ones(2, 2).long()), ValueError, r"labels of shape \(2,\), got \(2, 2\)"),
        (lambda: embeddings(s * nan, ones), ValueError, "embeddings must be finite, .* got nan"),
        (lambda: scores(ones, ones), ValueError, r"\(batch, classes\) to be remembered, got \(2,\)"),
        (lambda: scores(s, 2 * s), ValueError, "relevance must be bool, or 0 and 1"),
        (lambda: embeddings(s, ones[:1]), ValueError, r"labels .* \(2,\) or .* got \(1,\)"),
        (lambda: ScoreMemory(-1), ValueError, "length must be >= 0, got -1"),
    )
    assert len(scores) == len(embeddings) == 2  # a batch that is refused is not remembered


def test_retrieval():
    given = {"embeddings": random(4, 3), "labels": torch.tensor([0, 0, 1, 1])}
    rows = torch.ones(5000, 3)
    rows[4444, 1], rows[4700, 0] = nan, nan
    of_two, narrow = {"gallery": torch.ones(2, 3), "gallery_labels": torch.arange(2)}, torch.ones(2, 5)
    classes = torch.ones(4, 2, dtype=torch.bool)
    table = [
        ({"embeddings": torch.ones(4)}, ValueError, r"embeddings must have shape \(n, dim\) .* got \(4,\)"),
        ({"labels": torch.arange(3)}, ValueError, r"labels must have shape \(4,\) or \(4, L\), .* \(3,\)"),
        ({"labels": classes[:, 0]}, ValueError, r"labels of bool must have shape \(n, C\), .* got \(4,\)"),
        ({"embeddings": rows}, ValueError, "embeddings must be finite, .* got nan in row 4444"),
        ({"embeddings": torch.full((4, 3), 1e-30)}, ValueError, "length 0 or from 1e-12 .* got 1e-30 in row 0"),
        ({"embeddings": torch.ones(0, 3)}, ValueError, r"n, dim >= 1, got \(0, 3\)"),
        ({"gallery": narrow}, ValueError, "gallery_labels must be given with gallery"),
        (of_two | {"gallery": narrow}, ValueError, "gallery .* 3 dimensions .* 5"),
        ({"metrics": ("recall_at_0",)}, ValueError, "metrics must be among recall@K, .* got 'recall_at_0'"),
        ({"metrics": "recall_at_1"}, TypeError, "metrics must be a tuple of names, got 'recall_at_1'"),
        ({"where": torch.ones(4, 3).bool()}, ValueError, r"where must have shape \(4, 4\), .* \(4, 3\)"),
        ({"where": torch.ones(4, 4)}, ValueError, r"where must give a bool Tensor .* got \(4, 4\) torch.float"),
        ({"where": lambda q: 1}, ValueError, r"bool Tensor of shape \(4, 4\) for 4 queries, got int"),
        ({"similarity": "l1"}, ValueError, "similarity must be one of 'cosine', 'dot', 'euclidean', got 'l1'"),
        ({"labels": classes} | of_two, TypeError, "gallery_labels .* torch.bool, got torch.int64"),
        ({"chunk_size": 0}, ValueError, "chunk_size must be >= 1, got 0"),
        ({"distributed": True}, TypeError, "distributed must be False: gather embeddings"),
        ({"ids": torch.arange(3)}, ValueError, r"ids must have shape \(4,\), .* got \(3,\)"),
        ({"ids": torch.rand(4)}, TypeError, "ids must be integers, got torch.float32"),
        ({"ids": torch.tensor([5, 6, 5, 7])}, ValueError, "ids must name one item each, got 5 in rows 0 and 2"),
        ({"gallery_ids": torch.arange(4)}, ValueError, "gallery must be given with gallery_ids"),
        (of_two | {"ids": torch.arange(4)}, ValueError, "gallery_ids must be given with ids"),
        ({"ties": "mean"}, ValueError, "ties must be one of 'expected', .* got 'mean'"),
    ]
    refused(*((lambda bad=bad: metrics.evaluate_retrieval(**(given | bad)), *told) for bad, *told in table))
    batch = metrics.RetrievalMetrics()
    refused((lambda: batch.update(rows, [0]), TypeError, "labels must be a torch.Tensor, got list"))


def test_proofs():
    lemma = recall_weights.lemma_1
    refused(
        (lambda: lemma([1, -1], [2]), ValueError, r"weights\[1\] must be >= 0, got -1"),
        (lambda: recall_weights.proposition_2([1], [False]), ValueError, "ranking must have a relevant item"),
        (lambda: recall_weights.closed_form("sqrt"), ValueError, "weights must be 'log' or 'loglog', got 'sqrt'"),
        (lambda: hierarchical.certificate([0, 0], [1, 2]), ValueError, "relevance .* entry > 0, got 2 times 0"),
    )
    bad_numbers = [
        ([1.0, nan], [1, 2], ValueError, r"scores\[1\] must be finite, got nan"),
        ([1, 2], [0, 1], ValueError, "ranks start at 1"),
        ([1, 2, 3], [1, 1, 3], ValueError, r"got \[1, 1, 3\]: 2 is missing"),
        ([1, 2], ["1", "2"], TypeError, r"permutation\[0\] must be a whole number, got '1'"),
        ([[1, 2], [3, 4]], [1, 2], TypeError, r"scores\[0\] must be a real number, got \[1, 2\] \(list\)"),
        (3.0, [1], TypeError, "one-dimensional"),
    ]
    refused(*((lambda s=s, r=r: rearrangement.certificate(s, r), *told) for s, r, *told in bad_numbers))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_only_nan_is_nan(dtype):
    """NaN is looked for in the sum, which is NaN for two infinities too, and may overflow."""
    for values in ([inf, -inf], [-inf, inf, 1.0], [6e4] * 9):
        scores, n = torch.tensor(values, dtype=dtype), len(values)
        check_not_nan(scores, None)
        check_not_nan(torch.cat([scores, scores * nan]), torch.arange(2 * n) < n)
        told = rf"got 1 of {n + 1}, the first at index \({n},\)"
        refused((lambda: check_not_nan(torch.cat([scores, scores[:1] * nan]), None), ValueError, told))  # noqa: B023
    check_not_nan(scores[:0], None)


def test_settings_of_rankers():
    sup = SupremumRanker
    refused(
        (lambda: HistogramRanker(0), ValueError, r"bins must be >= 1, got 0"),
        (lambda: HistogramRanker(5, (1, -1)), ValueError, r"score_range must be finite and increasing, got \(1"),
        (lambda: HistogramRanker(5, (0, 1, 2)), TypeError, r"score_range must be two numbers .* got \(0, 1, 2\)"),
        (lambda: SigmoidRanker(0), ValueError, r"^temperature must be finite and > 0, got 0.0 .* rank\(\)"),
        (lambda: rankers.operating_region(y, 0.1, 0), ValueError, "threshold must be finite and > 0, got 0.0"),
        (lambda: sup(slope=-1), ValueError, "slope must be finite and >= 0, got -1.0"),
        (lambda: sup(offset=nan), ValueError, "offset must be finite and >= 0, got nan .*None joins"),
        (lambda: sup.preset("sop"), ValueError, "name must be one of 'joined', .* got 'sop'"),
        (lambda: sup().against(y, yes, yes), ValueError, "others must have no item in common with members"),
        (lambda: InfimumStep(below=-1), ValueError, "below must be finite and >= 0, got -1.0"),
        (lambda: rankers.IdentityRanker("sphere"), ValueError, "project must be .*none.*mean.*std.*got 'sphere'"),
        (lambda: BlackboxRanker("often"), TypeError, "lam must be a number > 0, got 'often'"),
    )


def test_a_switch_is_true_or_false_and_a_number_is_not_learned():
    """What is meant for another place, a margin above all, is not taken for True."""
    learned = torch.nn.Parameter(torch.tensor(0.05))
    switches = {
        "exclude_self": (
            lambda value: losses.OnEmbeddings(SmoothAPLoss(), value),
            r".*\(a margin goes to the loss itself\)",
        ),
        "within_grad": (lambda value: losses.APLoss(blackbox, 0.1, value), ""),
        "monotone": (lambda value: hierarchy.relevance(torch.tensor([1]), monotone=value), ""),
        "normalized": (lambda value: BlackboxRanker(4.0, value), ""),
    }
    for name, (make, hint) in switches.items():
        refused((lambda: make(0.1), TypeError, f"^{name} must be True or False, got 0.1{hint}$"))  # noqa: B023
        assert make(True) is not None
    refused(
        (lambda: losses.HAPLoss(within_grad=1), TypeError, "within_grad must be True or False, got 1"),
        (lambda: losses.HAPPIERLoss(2, 3, monotone=1), TypeError, "monotone must be True or False, got 1"),
        (
            lambda: SmoothAPLoss(learned),
            TypeError,
            r"temperature must be .* not learned, .*\(use temperature.item\(\)\)",
        ),
        (lambda: BlackboxRanker(learned), TypeError, "lam must be a number that is not learned"),
    )
    assert SmoothAPLoss(learned.detach()).ranker.temperature == SmoothAPLoss(learned.item()).ranker.temperature


def test_settings_of_losses():
    refused(
        (lambda: losses.APLoss(blackbox, -0.1), ValueError, r"margin must be finite and >= 0, got -0.1"),
        (lambda: losses.APLoss(4.0), TypeError, r"ranker must be one of rankedu.rankers, got 4.0 .*lam=4.0"),
        (lambda: losses.MAPLoss(blackbox, class_agnostic_weight=2), ValueError, r"in \[0, 1\], got 2"),
        (lambda: losses.MAPLoss(blackbox, memory=7), TypeError, r"ScoreMemory, got 7"),
        (lambda: losses.FastAPLoss(0), ValueError, "bins must be >= 1, got 0"),
        (lambda: losses.RecallAtKSurrogateLoss(blackbox, temperature=0), ValueError, "temperature must be"),
        *((lambda k=k: losses.RecallAtKSurrogateLoss(blackbox, k), ValueError, "k must be") for k in ((), 0, (1, 0))),
        (lambda: losses.ROADMAPLoss(-0.5), ValueError, r"weight must be .* \[0, 1\], got -0.5"),
        (lambda: losses.CalibrationLoss(nan), ValueError, "at_least must be finite, got nan .*cosine"),
        (lambda: losses.HAPLoss(within_grad=True), ValueError, r"within_grad must be False .*lower=InfimumStep\(\)"),
        (lambda: losses.HAPLoss(SigmoidRanker(), lower=InfimumStep()), ValueError, "lower .* None .* within_grad=True"),
        (lambda: losses.HAPLoss(lower=3), TypeError, "lower must be a step, got 3"),
        (lambda: losses.HAPLoss(lower=InfimumStep())(y / 0, 1 + y), ValueError, "scores .* finite, .*lower falls"),
        (lambda: losses.HAPPIERLoss(2, 3, weight=1.5), ValueError, r"weight must be finite and in \[0, 1\], got 1.5"),
        (lambda: losses.ClusterLoss(5, 0), ValueError, "dim must be >= 1, got 0"),
        (lambda: losses.ClusterLoss(5, 6, 0.0), ValueError, "temperature must be finite and > 0, got 0.0"),
        (lambda: losses.OnEmbeddings(None), TypeError, "loss must be a loss .* got None"),
        (lambda: losses.OnEmbeddings(SmoothAPLoss(), memory=ScoreMemory(1)), TypeError, "EmbeddingMemory, got S"),
        (lambda: losses.OnEmbeddings(losses.HAPLoss(), relevance=2), TypeError, "relevance .* a function .* got 2"),
    )
    weights = {
        "loglogs": (ValueError, r"weights must be one of 'log', 'loglog', got 'loglogs'"),
        2: (TypeError, r"weights must be 'log', 'loglog' or a callable W, got 2"),
        (lambda r: 1 + r): (ValueError, r"W\(0\) = 0, got 1"),
        (lambda r: -r): (ValueError, r"never falls, got W\(0\) = 0 and W\(1\) = -1"),
        (lambda r: r.sum()): (TypeError, r"Tensor of shape \(1001,\) .* got \(\)"),
        (lambda r: 0.0): (TypeError, "got float"),
    }
    refused(*((lambda w=w: losses.RecallLoss(blackbox, weights=w), *told) for w, told in weights.items()))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_and_lengths():
    """What the message says can be written as it stands."""
    nested = torch.nested.nested_tensor([y, y[:2]])
    with pytest.raises(TypeError, match="relevance must have rows of one length"):
        losses.HAPLoss()(two_by_three, nested)
    for loss in (losses.HAPLoss(), losses.APLoss(blackbox), losses.NDCGLoss(blackbox)):
        with pytest.raises(TypeError, match="scores must have rows of one length, got a nested tensor") as refusal:
            loss(nested, nested)
        code = re.search(r"pad it: (.*), with (where=.*)\)$", str(refusal.value))
        grades = torch.tensor([[0, 1, 0], [1, 0, 0]])
        padded = eval(f"loss({code[1]}, grades, {code[2]})", {"scores": nested, **vars()}, {"rankedu": rankedu})
        assert padded == (loss(y, grades[0]) + loss(y[:2], grades[1, :2])) / 2
    assert where_of(torch.tensor([[0, 2], [1, 1]]), 3).shape == (2, 2, 3)
    assert where_of(torch.zeros(0).long(), 2).shape == (0, 2)
    refused(
        (lambda: where_of([2.5]), TypeError, "lengths must be integers, got torch.float32"),
        (lambda: where_of([1, -1]), ValueError, "lengths must be >= 0, got -1"),
        (lambda: where_of([4, 1], 3), ValueError, r"n must be >= 4, got 3 \(as long as"),
    )


def test_scores_and_relevance_of_losses():
    hidden, far = torch.tensor([False, True, True]), torch.tensor([9.0, 2.0, 0.1])
    refused(
        (lambda: losses.MAPLoss(blackbox)(torch.eye(2), torch.tensor([0, 1])), ValueError, "one_hot"),
        (lambda: losses.MAPLoss(blackbox)(torch.rand(2, 3, 4), torch.ones(2, 3)), ValueError, "one_hot"),
        (lambda: losses.MAPLoss(blackbox)(y, yes), ValueError, r"\(\.\.\., batch, classes\), got \(3,\)"),
        (lambda: losses.NDCGLoss(blackbox)(y, 2000 * yes), ValueError, r"gains must be finite .*inf.*gains='linear'"),
        (lambda: losses.NDCGLoss(blackbox, gains=3), TypeError, "gains must be 'exponential', .* got 3"),
        (lambda: losses.NDCGLoss(blackbox, gains="log"), ValueError, "gains must be one of 'exponential', 'linear'"),
        (lambda: losses.NDCGLoss(blackbox, gains=len)(y, yes), TypeError, r"gains must map a Tensor .* got int"),
        (lambda: losses.FastAPLoss()(torch.tensor([0.3, -7.5]), ones), ValueError, r"cosine .*1\], got -7.5 \(bring"),
        (lambda: losses.FastAPLoss()(torch.tensor([0.3, 1.02]), ones), ValueError, "cosine similarities, .* got 1.02"),
        (lambda: losses.FastAPLoss()(far, torch.ones(3), where=hidden), ValueError, r"cosine .* got 2 \("),
        (lambda: losses.OnEmbeddings(losses.FastAPLoss(), similarity="l2"), ValueError, "similarity .* got 'l2'"),
    )


def test_losses_of_embeddings():
    ap, memory, graded = losses.APLoss(blackbox), EmbeddingMemory(2), losses.OnEmbeddings(losses.HAPLoss())
    on, of_paths = (losses.OnEmbeddings(ap, memory=some) for some in (None, memory))
    memory(e, two)
    refused(
        (lambda: on(e, ones[:1]), ValueError, r"labels must have shape \(2,\) or \(2, L\), .* got \(1,\)"),
        (lambda: on(e[0], ones), ValueError, r"embeddings must have shape \(n, dim\) .* got \(6,\)"),
        (lambda: on(e.masked_fill(e == e[1, 0], -inf), ones), ValueError, "must be finite, .* got -inf in row 1"),
        (lambda: on(e.long(), ones), TypeError, "embeddings must be floating point"),
        (lambda: on((e * 1e30).float(), ones), ValueError, r"from 1e-12 to 1.8e\+19, got .*e\+30 in row 0 \(find"),
        (lambda: on(e, ones, None, e * 1e-30, ones), ValueError, "ref_emb .* 1e-12 to .*e-30"),
        (lambda: on(e, ones, None, e + 1), ValueError, "ref_labels must be given with ref_emb"),
        (lambda: on(e, ones, None, None, ones), ValueError, "ref_emb must be given with ref_labels"),
        (lambda: on(e, ones, None, random(2, 4), ones), ValueError, r"ref_emb .* \(refs, 6\), got"),
        (lambda: on(e, ones, ids=ones / 2), TypeError, "ids must be integers"),
        (lambda: on(e, ones, None, e + 1, ones, ids=ones), ValueError, "ref_ids must be given too, got None"),
        (lambda: on(e, ones / 2), TypeError, r"labels must be integers, or whole numbers below 16777216, got \[0.5\]"),
        (lambda: on(e, -2 * ones), ValueError, "labels must be >= 0, or -1 for no label .*got -2"),
        (lambda: on(e, ones / torch.tensor([1, nan])), ValueError, r"labels .* NaN, got 1 .*number the"),
        (lambda: on(e, torch.ones(2, 2)), ValueError, r"labels must be paths of classes or tags, .*labels.bool\(\)"),
        (lambda: on(e, ["cat", "dog"]), TypeError, r"got list \(number the words: .*unique\(labels"),
        (lambda: graded(e, two[:1]), ValueError, r"labels .* \(2,\) or .* got \(1, 2\)"),
        (lambda: graded(e, two, None, e + 1, two[:, :1]), ValueError, r"ref_labels must have 2 columns .* \(2, 1\)"),
        (lambda: of_paths(e, two[:, 0]), ValueError, r"memory holds labels of shape \(2, 2\), got \(2,\)"),
        (lambda: on(e, ones, e, ones), TypeError, r"indices_tuple .* got Tensor \(.*ref_emb="),
    )


def test_proxies():
    cluster, paths = losses.ClusterLoss(5, 6).double(), torch.tensor([[0, 1], [5, 1]])
    ids = r"labels must be class ids .* n_classes - 1 = 4, got "
    refused(
        (lambda: cluster(e, paths[:, 0].bool()), ValueError, "labels of bool must have shape"),
        (lambda: cluster(e, paths[:, 0]), ValueError, ids + "5"),
        (lambda: cluster(e, torch.tensor([[0, 1], [2, -1]])), ValueError, ids + "-1"),
        (lambda: cluster(e, paths), ValueError, "each leaf under one parent, got leaf 1 under several .*unique"),
    )
