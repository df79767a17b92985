"""Bad input: which parameter, what was expected, what came, and what to do."""

import math
import re

import numpy as np
import pytest
import sympy
import torch

from rankedu import hierarchy, landscapes, metrics, outranking_negatives, rank, rank_among
from rankedu.blackbox import differentiate, interpolate
from rankedu.checks import check_not_nan
from rankedu.hierarchy import levels, relevance
from rankedu.landscapes import Section
from rankedu.losses import SmoothAPLoss
from rankedu.memory import EmbeddingMemory, ScoreMemory
from rankedu.metrics import average_precision, box_iou, evaluate_detections, ndcg, spearman
from rankedu.proofs import hierarchical, rearrangement, recall_weights
from rankedu.rankers import BlackboxRanker
from rankedu.solvers import assignment, ranking, shortest_path

nan, inf = math.nan, math.inf
ranker = BlackboxRanker(1.0)
y, yes = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([True, True, False])
no_bool, two_by_three = torch.ones(3), torch.rand(2, 3)


def raised(call):
    """What a call raises, as text."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def assert_errors(table):
    """Each call raises what is told beside it."""
    for call, expected in table:
        assert re.match(expected, raised(call))


TAKE_SCORES = [
    rank,
    ranker,
    *(lambda s, f=f, **k: f(s, torch.ones(s.shape, dtype=torch.bool), **k) for f in (rank_among, ranker.among)),
    *(
        lambda s, f=f, **k: f(s, torch.ones(s.shape), **k)
        for f in (outranking_negatives, average_precision, metrics.map_at_r, ndcg, spearman, metrics.hierarchical_rank)
    ),
    *(lambda s, f=f, **k: f(s, torch.ones(s.shape), k=1, **k) for f in (metrics.recall_at_k, metrics.precision_at_k)),
    *(
        lambda s, f=f, **k: f(s, torch.ones(s.shape).long(), **k)
        for f in (metrics.average_set_intersection, metrics.average_precision_per_level)
    ),
]


@pytest.mark.parametrize(
    ("scores", "where", "expected"),
    [
        (torch.tensor([[0.1, nan], [0.2, 0.3]]), None, r"ValueError: scores .* NaN, got 1 of 4, .* \(0, 1\).*where"),
        (torch.zeros(2, 0), None, r"ValueError: scores .* n >= 1, got \(2, 0\)"),
        (torch.tensor(1.0), None, r"ValueError: scores .* n >= 1, got \(\)"),
        (torch.tensor([True, False]), None, r"TypeError: scores .* got torch.bool .*to\(torch.float32\)"),
        (torch.tensor([1j]), None, r"TypeError: scores .* got torch.complex64"),
        (y, no_bool, r"TypeError: where must be bool, got torch.float32 .*where.bool"),
        (y, yes[:2], r"ValueError: where .* shape of scores, \(3,\), got \(2,\)"),
        (y.expand(2, 3), yes, r"ValueError: where .* got \(3,\) .*where.expand\(2, 3\)"),
        (y, [True, True, False], r"TypeError: where must be a torch.Tensor, got list"),
    ],
)
def test_scores_and_where(scores, where, expected):
    assert_errors((lambda call=call: call(scores, where=where), expected) for call in TAKE_SCORES)


def test_ranks_and_metrics():
    graded, negative = torch.tensor([0.0, 2.0, 1.0]), 2.0 * yes - 1
    shared = r"\(2, 3\), got \(3,\) \(where all rows share it, use relevance.expand\(2, 3\)\)"
    one_a_row = r"\(2, 3\), got \(2,\) \(one a row\? .*OnEmbeddings\(loss\)\)"
    table = [
        (lambda: rank(y, ties="mean"), "ValueError: ties must be one of 'ordinal', 'min', 'max', got 'mean'"),
        (lambda: average_precision(y, yes, ties="min"), "ValueError: ties .* 'expected', got 'min'"),
        (lambda: rank_among(y, yes[:2]), r"ValueError: members .* \(3,\), got \(2,\)"),
        (lambda: average_precision(y, yes[:2]), r"ValueError: relevance .* \(3,\), got \(2,\)"),
        (lambda: average_precision(two_by_three, yes), f"ValueError: relevance .* {shared}"),
        (lambda: SmoothAPLoss()(two_by_three, torch.tensor([0, 1])), f"ValueError: relevance .* {one_a_row}"),
        (lambda: average_precision(y, graded), r"ValueError: relevance .* 0 and 1, got 2.0 .*HAPLoss, .* OnEmbeddings"),
        (lambda: SmoothAPLoss()(y, negative), "ValueError: relevance .* got -1.0 .*by where=relevance >= 0"),
        (lambda: SmoothAPLoss()(torch.rand(3, 3), yes), r"ValueError: relevance .*OnEmbeddings\(loss\); .*expand"),
        (lambda: metrics.map_at_r(y, torch.tensor([0, nan, 1])), "ValueError: relevance .* got nan"),
        (lambda: BlackboxRanker(None), "TypeError: lam must be a number > 0, got None"),
        (lambda: metrics.recall_at_k(y, yes, k=0), "ValueError: k must be >= 1, got 0"),
        (lambda: ndcg(y, yes, k=-1), "ValueError: k must be >= 1, got -1"),
        (lambda: metrics.precision_at_k(y, yes, k=1.5), "TypeError: k must be an int, got float"),
        (lambda: ndcg(y, -y), "ValueError: gains must be finite and >= 0, got -0.3.*where=gains >= 0"),
        (lambda: ndcg(y, y[:2]), r"ValueError: gains .* \(3,\), got \(2,\)"),
        (lambda: spearman(y, y * nan), "ValueError: target must not contain NaN, got 3 of 3"),
        (lambda: spearman(y, y[:2]), r"ValueError: target .* \(3,\), got \(2,\)"),
        (lambda: metrics.hierarchical_rank(y, -y), "ValueError: relevance must be finite and >= 0, got -0.3"),
        (lambda: metrics.hierarchical_rank(y, y[:2]), r"ValueError: relevance .* \(3,\), got \(2,\)"),
        (lambda: metrics.average_set_intersection(y, yes[:2].long()), r"ValueError: levels .* \(3,\), got \(2,\)"),
        (lambda: metrics.average_precision_per_level(y, yes.long() - 1), "ValueError: levels must be >= 0, got -1"),
        (lambda: metrics.average_precision_per_level(y, 2 * yes.long(), n_levels=1), "ValueError: n_levels .*, got 1"),
    ]
    assert_errors(table)


def test_solvers_and_landscapes():
    section = landscapes.random_section(3, resolution=4)
    e0, e1, e2 = np.eye(3)
    no_float, below_zero = torch.tensor([1, 2]), torch.tensor([[1.0, -0.5], [1.0, 1.0]])
    cycle = "ValueError: costs must be >= 0 with moves='any', got -0.5 .*moves='forward'"
    shape = r"ValueError: solver must return a Tensor of the shape of its input, \(3,\), got "
    table = [
        (lambda: differentiate(ranking, 1.0)(no_float), r"TypeError: scores .* got torch.int64 .*to\(torch.float32\)"),
        (lambda: differentiate(lambda s: s.sum(-1), 1.0)(y), shape + r"\(\)"),
        (lambda: interpolate(lambda s: 1, y, 1.0)(y), shape + "int"),
        (lambda: interpolate(ranking, y, 1.0)(y[:2]), r"ValueError: scores .* gradient, \(3,\), got \(2,\)"),
        (lambda: interpolate(ranking, y[0], 1.0)(y), r"ValueError: scores .* gradient, \(\)"),
        (lambda: shortest_path(y), r"ValueError: costs .* \(..., h, w\) with h, w >= 1, got \(3,\)"),
        (lambda: shortest_path(torch.zeros(0, 3)), r"ValueError: costs .* got \(0, 3\)"),
        (lambda: shortest_path(torch.full((2, 2), inf)), "ValueError: costs must be finite"),
        (lambda: assignment(torch.full((2, 2), nan)), "ValueError: costs must be finite"),
        (lambda: shortest_path(below_zero, moves="any"), cycle),
        (lambda: shortest_path(torch.ones(2, 2), moves="up"), "ValueError: moves must be one of"),
        (lambda: assignment(torch.ones(2, 3)), r"ValueError: costs .*\(..., n, n\), got \(2, 3\)"),
        (lambda: Section(e0, e1, e1, 1.0, 3), "ValueError: u and v must be orthonormal, .* 1, 1, 1"),
        (lambda: Section(e0, e1, e2[:2], 1.0, 3), r"ValueError: .*one shape \(n,\), got \(3,\), .* \(2,\)"),
        (lambda: Section(e0 * nan, e1, e2, 1.0, 3), "ValueError: origin must be a vector of finite"),
        (lambda: Section(e0, e1, e2, 0.0, 3), "ValueError: extent must be finite and > 0, got 0.0"),
        (lambda: landscapes.random_section(3, resolution=1), "ValueError: resolution must be >= 2, got 1"),
        (lambda: landscapes.random_section(1), "ValueError: n must be >= 2, got 1"),
        (lambda: landscapes.random_coefficients(0), "ValueError: n must be >= 1, got 0"),
        (lambda: landscapes.rank_landscape(section, np.ones(2)), "ValueError: coefficients .* scores, 3, got 2"),
    ]
    assert_errors(table)
    too_small = (
        r"ValueError: lam must be finite and > 0, got -1.0 \(the limit lam -> 0 is the staircase itself: use rank"
    )
    take_lam = [
        BlackboxRanker,
        lambda lam: differentiate(ranking, lam),
        lambda lam: interpolate(ranking, y, lam),
        lambda lam: landscapes.interpolated_landscape(section, np.ones(3), lam),
        lambda lam: landscapes.section_gradient(section, np.ones(3), lam),
    ]
    told = {-1.0: too_small, 0: "ValueError: lam .* > 0, got 0.0", nan: "ValueError: .* nan", inf: "ValueError: .* inf"}
    for call in take_lam:
        assert_errors((lambda lam=lam, call=call: call(lam), expected) for lam, expected in told.items())


def test_hierarchies():
    level, everybody = torch.tensor([1, 0, 2]), torch.ones(3, dtype=torch.bool)
    paths = torch.tensor([[0, 1]])
    table = [
        (lambda: levels(torch.tensor([1.0])), "TypeError: labels must be integers, got torch.float32"),
        (lambda: levels(torch.tensor([-2])), "ValueError: labels must be >= 0, or -1 .* got -2"),
        (lambda: levels([1, 2]), "TypeError: labels must be a torch.Tensor, got list"),
        (lambda: levels(torch.zeros(1, 1, 1).long()), r"ValueError: .*\(n,\) or \(n, L\) .* got \(1, 1, 1\)"),
        (lambda: levels(torch.zeros(2, 0).long()), r"ValueError: labels .* got \(2, 0\)"),
        (lambda: levels(torch.tensor([[0, 1], [-1, 3]])), r"ValueError: .* got \[-1, 3\] at index 1"),
        (lambda: levels(paths, torch.tensor([0])), "ValueError: gallery_labels .* levels as labels, 2, got 1"),
        (lambda: relevance(level - 1), "ValueError: levels must be >= 0, got -1"),
        (lambda: relevance(level.float()), "TypeError: levels must be integers, got torch.float32"),
        (lambda: relevance(level, 0), "ValueError: alpha must be finite and > 0, got 0.0"),
        (lambda: relevance(level, n_levels=1), "ValueError: n_levels must be >= 2, got 1 .*largest level"),
        (lambda: relevance(level, n_levels=2.0), "TypeError: n_levels must be an int, got float"),
        (lambda: relevance(level, where=everybody[:2]), r"ValueError: where .* levels, \(3,\), got \(2,\)"),
        (lambda: hierarchy.weighted_ap_relevance(level, [1.0]), "ValueError: .*one entry a level, 2 or more, got 1"),
        (lambda: hierarchy.weighted_ap_relevance(level, [1, -1]), "ValueError: weights must be finite and >= 0"),
        (lambda: hierarchy.weighted_ap_relevance(level, [0, 0]), r"ValueError: .*not all 0, got \[0.0, 0.0\]"),
        (lambda: hierarchy.weighted_ap_relevance(level, []), r"ValueError: .*shape \(L,\), got shape \(0,\)"),
    ]
    assert_errors(table)


def test_memories():
    s, ones = torch.ones(2, 3), torch.ones(2)
    scores, embeddings = ScoreMemory(2), EmbeddingMemory(2)
    scores(s, s)
    embeddings(s, ones)
    table = [
        (lambda: scores(s[:, :2], s[:, :2]), "ValueError: memory holds batches of 3 classes, got one of 2 .*reset"),
        (lambda: embeddings(s[:, :2], ones), "ValueError: .*batches of 3 dimensions, got one of 2"),
        (lambda: embeddings(s, torch.ones(2, 2).long()), r"ValueError: .*labels of shape \(2,\), got \(2, 2\)"),
        (lambda: scores(s * nan, s), "ValueError: scores must not contain NaN"),
        (lambda: embeddings(s * nan, ones), "ValueError: embeddings must be finite, .* got nan"),
        (lambda: scores(ones, ones), r"ValueError: .*\(batch, classes\) to be remembered, got \(2,\)"),
        (lambda: scores(s, 2 * s), "ValueError: relevance must be bool, or 0 and 1"),
        (lambda: embeddings(s, ones[:1]), r"ValueError: labels .* \(2,\), got \(1,\)"),
        (lambda: ScoreMemory(-1), "ValueError: length must be >= 0, got -1"),
    ]
    assert_errors(table)
    assert len(scores) == len(embeddings) == 2  # a batch that is refused is not remembered


def test_retrieval():
    given = {"embeddings": torch.ones(4, 3), "labels": torch.tensor([0, 0, 1, 1])}
    rows = torch.ones(5000, 3)
    rows[4444, 1], rows[4700, 0] = nan, nan
    of_two, narrow = {"gallery": torch.ones(2, 3), "gallery_labels": torch.arange(2)}, torch.ones(2, 5)
    classes = torch.ones(4, 2, dtype=torch.bool)
    table = [
        ({"embeddings": torch.ones(4)}, r"ValueError: embeddings must have shape \(n, dim\) .* got \(4,\)"),
        ({"labels": torch.ones(4)}, "TypeError: labels must be integers, got torch.float32"),
        ({"labels": torch.arange(3)}, r"ValueError: labels must have shape \(4,\) or \(4, L\), .* \(3,\)"),
        ({"labels": classes[:, 0]}, r"ValueError: labels of bool must have shape \(n, C\), .* got \(4,\)"),
        ({"embeddings": rows}, "ValueError: embeddings must be finite, .* got nan in row 4444"),
        ({"embeddings": torch.full((4, 3), 1e-30)}, "ValueError: .*length 0 or from 1e-12 .* got 1e-30 in row 0"),
        ({"embeddings": torch.ones(0, 3)}, r"ValueError: .*n, dim >= 1, got \(0, 3\)"),
        ({"labels": [0, 0, 1, 1]}, "TypeError: labels must be a torch.Tensor, got list"),
        ({"gallery": narrow}, "ValueError: gallery_labels must be given with gallery"),
        (of_two | {"gallery": narrow}, "ValueError: gallery .* 3 dimensions .* 5"),
        ({"metrics": ("recall_at_0",)}, "ValueError: metrics must be among recall@K, .* got 'recall_at_0'"),
        ({"metrics": ("recall",)}, "ValueError: metrics must be among recall@K, .* got 'recall'"),
        ({"metrics": "recall_at_1"}, "TypeError: metrics must be a tuple of names, got 'recall_at_1'"),
        ({"where": torch.ones(4, 3).bool()}, r"ValueError: where must have shape \(4, 4\), .* \(4, 3\)"),
        ({"where": torch.ones(4, 4)}, r"ValueError: where must give a bool Tensor .* got \(4, 4\) torch.float"),
        ({"where": lambda q: 1}, r"ValueError: .*bool Tensor of shape \(4, 4\) for 4 queries, got int"),
        ({"similarity": "l1"}, "ValueError: similarity must be one of 'cosine', 'dot', 'euclidean', got 'l1'"),
        ({"labels": classes} | of_two, "TypeError: gallery_labels .* torch.bool, got torch.int64"),
        ({"chunk_size": 0}, "ValueError: chunk_size must be >= 1, got 0"),
        ({"distributed": True}, "RuntimeError: distributed must be False where there is no process group"),
    ]
    assert_errors((lambda bad=bad: metrics.evaluate_retrieval(**(given | bad)), expected) for bad, expected in table)
    batch = metrics.RetrievalMetrics()
    assert_errors([(lambda: batch.update(rows, [0]), "TypeError: labels must be a torch.Tensor, got list")])
    assert_errors([(batch.compute, r"ValueError: .*needs queries, got none: call update")])


BOX = torch.tensor([[0.0, 0, 4, 4]])
GOOD = {"boxes": BOX, "labels": torch.tensor([1]), "scores": torch.tensor([0.5])}


def test_boxes_are_named_with_their_image():
    bad_boxes = [
        ("boxes", BOX.bool(), "TypeError", "must be floating point or integer, got torch.bool"),
        ("boxes", BOX[None], "ValueError", r"must have shape \(n, 4\), got \(1, 1, 4\)"),
        ("boxes", BOX[0], "ValueError", r"must have shape .* got \(4,\)"),
        ("boxes", BOX * nan, "ValueError", r"\[0\] must be finite, got \[nan"),
        ("boxes", -BOX, "ValueError", r"\[0\] must have x1 <= x2 .*x2 = x \+ width"),
        ("labels", torch.tensor([1.0]), "TypeError", "must be integers, got torch.float32"),
        ("labels", torch.tensor([1, 1]), "ValueError", r"must have shape \(1,\), .* got \(2,\)"),
        ("labels", torch.tensor([0]), "ValueError", r"\[0\] must be from 1 to n_classes = 2, got 0 .*background"),
        ("labels", torch.tensor([3]), "ValueError", r"\[0\] must be from 1 to n_classes = 2, got 3"),
        ("scores", [0.5], "TypeError", "must be a torch.Tensor, got list"),
        ("scores", torch.tensor([True]), "TypeError", "must be floating point or integer, got torch.bool"),
        ("scores", torch.tensor([nan]), "ValueError", r"\[0\] must not be NaN"),
        ("difficult", torch.tensor([0]), "TypeError", "must be bool, got torch.int64"),
    ]
    for key, value, error, message in bad_boxes:
        bad, told = [GOOD, GOOD | {key: value}], rf"\[1\]\['{key}'\].*{message}"
        if key != "difficult":
            found = f"{error}: detections{told}"
            assert_errors([(lambda bad=bad: evaluate_detections(bad, [GOOD, GOOD], n_classes=2), found)])
        if key != "scores":
            true = f"{error}: truths{told}"
            assert_errors([(lambda bad=bad: evaluate_detections([GOOD, GOOD], bad, n_classes=2), true)])


def test_detections():
    def evaluate(found=(GOOD,), true=(GOOD,), **settings):
        return lambda: evaluate_detections(found, true, **{"n_classes": 2} | settings)

    boxes, odd = BOX.expand(2, 1, 4), torch.tensor([[0.0, 0, 4, 4], [0.0, 0, nan, 4]])
    no_labels = r"ValueError: detections\[0\] must have .* got no 'labels' among \['boxes'\]"
    table = [
        (evaluate([GOOD, GOOD]), "ValueError: detections must be of the 1 images of truths, got 2"),
        (evaluate(GOOD), "TypeError: detections must be a list, got dict .*one dict an image"),
        (evaluate(true=[BOX]), r"TypeError: truths\[0\] must be a dict, got Tensor"),
        (evaluate([{"boxes": BOX}]), no_labels),
        (evaluate(iou=0), r"ValueError: iou must be finite and in \(0, 1\], got 0"),
        (evaluate(iou=50), "ValueError: iou must be .* got 50"),
        (evaluate(n_classes=0), "ValueError: n_classes must be >= 1, got 0"),
        (evaluate(interpolation="101-point"), "ValueError: interpolation must be .*'none', got '101-point'"),
        (evaluate(matching="lvis"), "ValueError: matching must be one of 'voc', 'coco', got 'lvis'"),
        (lambda: box_iou(odd, BOX), r"ValueError: boxes\[1\] must be finite, got \[0.0, 0.0, nan, 4.0\]"),
        (lambda: box_iou(odd.nan_to_num(-1), BOX), r"ValueError: boxes\[1\] must have x1 <= x2 .*got \[0.0, 0.0, -1.0"),
        (lambda: box_iou(boxes, [[0, 0, 1, 1]]), "TypeError: others must be a torch.Tensor, got list"),
        (lambda: box_iou(boxes, BOX[:, :3]), r"ValueError: others must have shape \(\.\.\., n, 4\), got \(1, 3\)"),
        (lambda: box_iou(boxes, BOX.expand(3, 1, 4)), r"ValueError: others must .* broadcast .*\(2,\), got \(3,\)"),
        (lambda: box_iou(boxes, BOX.to("meta")), "ValueError: others must be on the device of boxes, cpu, got meta"),
        (lambda: metrics.match_detections([GOOD], [GOOD], n_classes=1).of(2), "ValueError: label .* 1 to 1, got 2"),
    ]
    assert_errors(table)


def test_proofs():
    k, x = sympy.symbols("k x", positive=True)
    lemma, weights_of = recall_weights.lemma_1, recall_weights.closed_form_to_weights
    sums_of = recall_weights.weights_to_closed_form
    table = [
        (lambda: lemma([1, -1], [2]), r"ValueError: weights\[1\] must be >= 0, got -1"),
        (lambda: lemma([1], [-1]), r"ValueError: outranked\[0\] must be >= 0, got -1"),
        (lambda: lemma([1], []), "ValueError: outranked must have at least one entry, got none"),
        (lambda: recall_weights.proposition_2([1], [False]), "ValueError: ranking must have a relevant item"),
        (lambda: recall_weights.exhaustive([1], 9), "ValueError: n must be at most 8, got 9"),
        (lambda: recall_weights.closed_form("sqrt"), "ValueError: weights must be 'log' or 'loglog', got 'sqrt'"),
        (lambda: weights_of(lambda n: n + 1), r"ValueError: .*W\(0\) = 0, got 1"),
        (lambda: weights_of(sympy.log(2 + k)), r"ValueError: .*W\(0\) = 0, got log\(2\)"),
        (lambda: weights_of(lambda n: n * (5 - n)), r"ValueError: .*must not fall, got w_4 = W\(4\) - W\(3\) = -2"),
        (lambda: weights_of(-k), "ValueError: .*must not fall, got w_1"),
        (lambda: weights_of(lambda n: min(n, 300 - n))(200), "ValueError: .*must not fall, got w_200"),
        (lambda: weights_of(lambda n: n)(0), "ValueError: K must be >= 1, got 0"),
        (lambda: weights_of(3), "TypeError: closed_form must be a callable or a SymPy expression, got 3"),
        (lambda: sums_of(lambda n: 3 - n)(5), "ValueError: .*got w_4 = -1"),
        (lambda: sums_of(x / k), r"ValueError: weights must have one symbol, got \['k', 'x'\]"),
        (lambda: hierarchical.certificate([1, -1], [1, 2]), r"ValueError: relevance\[1\] must be >= 0, got -1"),
        (lambda: hierarchical.certificate([0, 0], [1, 2]), "ValueError: relevance .* entry > 0, got 2 times 0"),
        (lambda: hierarchical.certificate([1, 2], [1]), "ValueError: permutation must have one rank an item"),
        (lambda: hierarchical.exhaustive(0), "ValueError: n must be >= 1, got 0"),
        (lambda: hierarchical.exhaustive(8), r"ValueError: .* 20,000, got n = 8 and 4 values .*certificate\(\)"),
        (lambda: hierarchical.exhaustive(2, [0]), "ValueError: values must have an entry > 0"),
        (lambda: rearrangement.exhaustive(10), "ValueError: n must be at most 9, got 10 .*use certificate"),
        (lambda: rearrangement.exhaustive(True), "TypeError: n must be an int"),
        (lambda: rearrangement.exhaustive(3, [1, 2]), "ValueError: scores must have n = 3 entries, got 2"),
    ]
    assert_errors(table)
    bad_numbers = [
        ([1.0, nan], [1, 2], r"ValueError: scores\[1\] must be finite, got nan"),
        (torch.tensor([inf]), [1], r"ValueError: scores\[0\] must be finite, got inf"),
        ([1, 2], [1], "ValueError: permutation must have one rank an item, expected 2, got 1"),
        ([1, 2], [0, 1], "ValueError: .*ranks start at 1"),
        ([1, 2, 3], [1, 1, 3], r"ValueError: .*got \[1, 1, 3\]: 2 is missing"),
        ([1, 2], [1.5, 2], "ValueError: .*1 is missing"),
        ([1, 2], ["1", "2"], r"TypeError: permutation\[0\] must be a whole number, got '1'"),
        ([], [], "ValueError: scores must have at least one entry"),
        ([[1, 2], [3, 4]], [1, 2], r"TypeError: scores\[0\] must be a real number, got \[1, 2\] \(list\)"),
        (3.0, [1], "TypeError: .*one-dimensional"),
        ("12", [1, 2], "TypeError: .*got the text '12'"),
    ]
    assert_errors((lambda s=s, r=r: rearrangement.certificate(s, r), expected) for s, r, expected in bad_numbers)


def test_the_remedy_for_padding_is_one():
    padded = torch.tensor([1, 0, -1])
    assert average_precision(y, padded, where=padded >= 0) == average_precision(y[:2], padded[:2])


@pytest.mark.parametrize("values", [[inf, -inf], [-inf, inf, 1.0], [6e4] * 9])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_only_nan_is_nan(values, dtype):
    """NaN is looked for in the sum, which is NaN for two infinities too, and may overflow."""
    scores = torch.tensor(values, dtype=dtype)
    check_not_nan(scores, None)
    check_not_nan(torch.cat([scores, scores * nan]), torch.arange(2 * len(values)) < len(values))
    check_not_nan(scores[:0], None)
    with pytest.raises(ValueError, match=rf"got 1 of {len(values) + 1}, the first at index \({len(values)},\)"):
        check_not_nan(torch.cat([scores, scores[:1] * nan]), None)
