"""Bad input: which parameter, what was expected, what came, and what to do."""

import numpy as np
import pytest
import torch

from rankedu import outranking_negatives, rank, rank_among
from rankedu.blackbox import differentiate, interpolate
from rankedu.checks import check_not_nan
from rankedu.landscapes import (
    Section,
    interpolated_landscape,
    random_coefficients,
    random_section,
    rank_landscape,
    section_gradient,
)
from rankedu.losses import SmoothAPLoss
from rankedu.metrics import average_precision, map_at_r, ndcg, precision_at_k, recall_at_k, spearman
from rankedu.rankers import BlackboxRanker
from rankedu.solvers import assignment, ranking, shortest_path

nan, inf = float("nan"), float("inf")
ranker = BlackboxRanker(1.0)
y, yes = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([True, True, False])
section = random_section(3, resolution=4)
e0, e1, e2 = np.eye(3)

TAKE_SCORES = [
    rank,
    ranker,
    *(lambda s, f=f, **k: f(s, torch.ones(s.shape, dtype=torch.bool), **k) for f in (rank_among, ranker.among)),
    *(
        lambda s, f=f, **k: f(s, torch.ones(s.shape), **k)
        for f in (outranking_negatives, average_precision, map_at_r, ndcg, spearman)
    ),
    *(lambda s, f=f, **k: f(s, torch.ones(s.shape), k=1, **k) for f in (recall_at_k, precision_at_k)),
]
SCORES_AND_WHERE = [
    (torch.tensor([[0.1, nan], [0.2, 0.3]]), None, ValueError, r"scores .* NaN, got 1 of 4, .* index \(0, 1\).*where"),
    (torch.zeros(2, 0), None, ValueError, r"scores .* n >= 1, got \(2, 0\)"),
    (torch.tensor(1.0), None, ValueError, r"scores .* n >= 1, got \(\)"),
    (torch.tensor([True, False]), None, TypeError, r"scores .* got torch.bool .*to\(torch.float32\)"),
    (torch.tensor([1j]), None, TypeError, r"scores .* got torch.complex64"),
    (y, torch.ones(3), TypeError, r"where must be bool, got torch.float32 .*where.bool"),
    (y, torch.ones(2, dtype=torch.bool), ValueError, r"where .* shape of scores, \(3,\), got \(2,\)"),
    (y.expand(2, 3), yes, ValueError, r"where .* got \(3,\) .*where.expand\(2, 3\)"),
    (y, [True, True, False], TypeError, r"where must be a torch.Tensor, got list"),
]


@pytest.mark.parametrize(("scores", "where", "error", "message"), SCORES_AND_WHERE)
def test_scores_and_where(scores, where, error, message):
    for call in TAKE_SCORES:
        with pytest.raises(error, match=message):
            call(scores, where=where)


BAD = {
    "scores_not_tensor": (lambda: rank([1.0, 2.0]), TypeError, "scores must be a torch.Tensor, got list"),
    "ties_rank": (lambda: rank(y, ties="mean"), ValueError, "ties must be one of 'ordinal', 'min', 'max', got 'mean'"),
    "ties_ap": (lambda: average_precision(y, yes, ties="min"), ValueError, "'expected', got 'min'"),
    "members_shape": (lambda: rank_among(y, yes[:2]), ValueError, r"members .* \(3,\), got \(2,\)"),
    "members_dtype": (lambda: ranker.among(y, yes.long()), TypeError, r"members must be bool, got torch.int64"),
    "ranker_integers": (lambda: ranker(torch.tensor([1, 2])), TypeError, r"scores must be floating point"),
    "relevance_shape": (lambda: average_precision(y, yes[:2]), ValueError, r"relevance .* \(3,\), got \(2,\)"),
    "relevance_shared": (
        lambda: average_precision(torch.rand(2, 3), yes),
        ValueError,
        r"relevance .* \(2, 3\), got \(3,\) \(where all rows share it, use relevance.expand\(2, 3\)\)",
    ),
    "relevance_labels": (
        lambda: SmoothAPLoss()(torch.rand(2, 3), torch.tensor([0, 1])),
        ValueError,
        r"relevance .* \(2, 3\), got \(2,\) \(one a row\? .*OnEmbeddings\(loss\)\)",
    ),
    "relevance_graded": (
        lambda: average_precision(y, torch.tensor([0.0, 2.0, 1.0])),
        ValueError,
        r"relevance must be bool, or 0 and 1, got 2.0 .*HAPLoss, or ndcg\(\); class ids for OnEmbeddings\(loss\)",
    ),
    "relevance_padded": (lambda: SmoothAPLoss()(y, 2.0 * yes - 1), ValueError, "got -1.0 .*by where=relevance >= 0"),
    "relevance_square": (lambda: SmoothAPLoss()(torch.rand(3, 3), yes), ValueError, r"OnEmbeddings\(loss\); .*expand"),
    "relevance_nan": (lambda: map_at_r(y, torch.tensor([0, nan, 1])), ValueError, "relevance .* got nan"),
    "lam_none": (lambda: BlackboxRanker(None), TypeError, "lam must be a number > 0, got None"),
    "k_0": (lambda: recall_at_k(y, yes, k=0), ValueError, "k must be >= 1, got 0"),
    "k_negative": (lambda: ndcg(y, yes, k=-1), ValueError, "k must be >= 1, got -1"),
    "k_float": (lambda: precision_at_k(y, yes, k=1.5), TypeError, "k must be an int, got float"),
    "gains_negative": (lambda: ndcg(y, -y), ValueError, "gains must be finite and >= 0, got -0.3.*where=gains >= 0"),
    "gains_nan": (lambda: ndcg(y, y * nan), ValueError, "gains must be finite .* got nan"),
    "gains_shape": (lambda: ndcg(y, y[:2]), ValueError, r"gains .* \(3,\), got \(2,\)"),
    "target_nan": (lambda: spearman(y, y * nan), ValueError, "target must not contain NaN, got 3 of 3"),
    "target_shape": (lambda: spearman(y, y[:2]), ValueError, r"target .* \(3,\), got \(2,\)"),
    "differentiate_integers": (
        lambda: differentiate(ranking, 1.0)(torch.tensor([1, 2])),
        TypeError,
        r"scores must be floating point .* got torch.int64 .*to\(torch.float32\)",
    ),
    "solver_shape": (
        lambda: differentiate(lambda s: s.sum(-1), 1.0)(y),
        ValueError,
        r"solver must return a Tensor of the shape of its input, \(3,\), got \(\)",
    ),
    "solver_type": (lambda: interpolate(lambda s: 1, y, 1.0)(y), ValueError, r"solver .* got int"),
    "event": (lambda: interpolate(ranking, y, 1.0)(y[:2]), ValueError, r"scores .* gradient, \(3,\), got \(2,\)"),
    "event_0d": (lambda: interpolate(ranking, y[0], 1.0)(y), ValueError, r"scores .* gradient, \(\)"),
    "costs_1d": (lambda: shortest_path(y), ValueError, r"costs .* \(..., h, w\) with h, w >= 1, got \(3,\)"),
    "costs_empty": (lambda: shortest_path(torch.zeros(0, 3)), ValueError, r"costs .* got \(0, 3\)"),
    "costs_inf": (lambda: shortest_path(torch.full((2, 2), inf)), ValueError, "costs must be finite"),
    "costs_nan": (lambda: assignment(torch.full((2, 2), nan)), ValueError, "costs must be finite"),
    "costs_negative": (
        lambda: shortest_path(torch.tensor([[1.0, -0.5], [1.0, 1.0]]), moves="any"),
        ValueError,
        r"costs must be >= 0 with moves='any', got -0.5 .*moves='forward'",
    ),
    "moves": (lambda: shortest_path(torch.ones(2, 2), moves="up"), ValueError, "moves must be one of"),
    "costs_not_square": (lambda: assignment(torch.ones(2, 3)), ValueError, r"\(..., n, n\), got \(2, 3\)"),
    "orthonormal": (lambda: Section(e0, e1, e1, 1.0, 3), ValueError, "u and v must be orthonormal, .* 1, 1, 1"),
    "section_shapes": (lambda: Section(e0, e1, e2[:2], 1.0, 3), ValueError, r"one shape \(n,\), got \(3,\), .* \(2,\)"),
    "section_nan": (lambda: Section(e0 * nan, e1, e2, 1.0, 3), ValueError, "origin must be a vector of finite"),
    "extent": (lambda: Section(e0, e1, e2, 0.0, 3), ValueError, "extent must be finite and > 0, got 0.0"),
    "resolution": (lambda: random_section(3, resolution=1), ValueError, "resolution must be >= 2, got 1"),
    "section_n": (lambda: random_section(1), ValueError, "n must be >= 2, got 1"),
    "coefficients_n": (lambda: random_coefficients(0), ValueError, "n must be >= 1, got 0"),
    "coefficients": (lambda: rank_landscape(section, np.ones(2)), ValueError, "coefficients .* scores, 3, got 2"),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_the_error_names_the_parameter(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_remedy_for_padding_is_one():
    padded = torch.tensor([1, 0, -1])
    assert average_precision(y, padded, where=padded >= 0) == average_precision(y[:2], padded[:2])


TAKE_LAM = {
    "BlackboxRanker": BlackboxRanker,
    "differentiate": lambda lam: differentiate(ranking, lam),
    "interpolate": lambda lam: interpolate(ranking, y, lam),
    "interpolated_landscape": lambda lam: interpolated_landscape(section, np.ones(3), lam),
    "section_gradient": lambda lam: section_gradient(section, np.ones(3), lam),
}


@pytest.mark.parametrize("call", TAKE_LAM.values(), ids=TAKE_LAM)
@pytest.mark.parametrize(
    ("lam", "message"),
    [
        (-1.0, r"^lam must be finite and > 0, got -1.0 \(the limit lam -> 0 is the staircase itself: use rank\(\);"),
        (0, r"^lam must be finite and > 0, got 0.0"),
        (nan, r"^lam must be finite and > 0, got nan"),
        (inf, r"^lam must be finite and > 0, got inf"),
    ],
)
def test_lam(call, lam, message):
    with pytest.raises(ValueError, match=message):
        call(lam)


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
