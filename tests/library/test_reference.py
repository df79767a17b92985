"""The library gives the numbers of `rankedu.reference`: with ties, −0.0, infinities, `where`, one item, no positive."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
import warnings
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rankedu
from rankedu import blackbox, hierarchy, losses, metrics, rankers, reference, solvers
from ranklab.contestants import ProjectionRanker

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
#: Few numbers, so that they tie.
EVEN = [-1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0]
FINITE = st.one_of(st.sampled_from(EVEN), st.floats(-1, 1, width=32).map(float))
ANY = st.one_of(st.sampled_from([*EVEN, math.inf, -math.inf]), st.floats(-100, 100, width=32).map(float))
GRADES, BINARY_LABELS = st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()


@st.composite
def queries(draw, score=ANY, label=BINARY_LABELS):
    """Scores, a label for each, and who takes part: somebody does."""
    n = draw(st.integers(1, 8))
    lists = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in (score, label, st.booleans())]
    if not any(lists[2]):
        lists[2][draw(st.integers(0, n - 1))] = True
    return lists


def taking_part(where, *lists):
    return ([value for value, takes in zip(values, where, strict=True) if takes] for values in lists)


def tensors(scores, labels, where):
    dtype = torch.bool if isinstance(labels[0], bool) else torch.int64 if isinstance(labels[0], int) else torch.float64
    return torch.tensor(scores, dtype=torch.float64), torch.tensor(labels, dtype=dtype), torch.tensor(where)


def close(found, expected):
    torch.testing.assert_close(
        torch.as_tensor(found, dtype=torch.float64).detach(),
        torch.as_tensor(expected, dtype=torch.float64),
        rtol=1e-9,
        atol=1e-9,
        equal_nan=True,
    )


def scattered(values, where):
    """The values of those who take part, 0 in the places of the others."""
    values = iter(values)
    return [next(values) if takes else 0 for takes in where]


# ------------------------------------------------------------------------------------------------------------ ranks


@given(queries())
def test_ranks(query):
    scores, labels, where = query
    y, members = taking_part(where, scores, labels)
    t, m, w = tensors(*query)
    for ties in ("ordinal", "min", "max"):
        assert rankedu.rank(t, where=w, ties=ties).tolist() == scattered(reference.rank(y, ties), where)
    assert rankedu.rank_among(t, m, where=w).tolist() == scattered(reference.rank_among(y, members), where)
    found = rankedu.outranking_negatives(t, m, where=w).tolist()
    assert found == scattered(reference.outranking_negatives(y, members), where)


@given(queries(score=FINITE, label=st.floats(-2, 2, width=16).map(float)), st.sampled_from([0.25, 1.0, 4.0]))
def test_algorithm_1_and_the_function_that_it_differentiates(query, lam):
    y, c = query[0], query[1]
    t, g, _ = tensors(*query)
    t.requires_grad_()
    ranks = rankers.BlackboxRanker(lam)(t)
    close(ranks, reference.rank(y))
    ranks.backward(g)
    close(t.grad, reference.rank_gradient(y, c, lam))
    close(blackbox.interpolate(solvers.ranking, g, lam)(t), reference.interpolated(y, c, lam))


@given(st.lists(st.fractions(-3, 3, max_denominator=4), min_size=1, max_size=5))
def test_ranks_minimise_the_product_exactly(z):
    best = min(sum(a * b for a, b in zip(z, order, strict=True)) for order in permutations(range(1, len(z) + 1)))
    assert reference.optimal_value(z) == best


# ---------------------------------------------------------------------------------------------------------- metrics

BINARY = {
    **{
        f"ap_{ties}": (
            lambda *x, where, ties=ties: metrics.average_precision(*x, where=where, ties=ties),
            lambda *x, ties=ties: reference.average_precision(*x, ties),
        )
        for ties in ("ordinal", "pessimistic", "optimistic", "expected")
    },
    "recall_at_2": (lambda *x, where: metrics.recall_at_k(*x, 2, where=where), lambda *x: reference.recall_at_k(*x, 2)),
    "ap_at_2": (
        lambda *x, where: metrics.average_precision(*x, where=where, k=2),
        lambda *x: reference.average_precision_at_k(*x, 2),
    ),
    "recall_share_at_2": (
        lambda *x, where: metrics.recall_share_at_k(*x, 2, where=where),
        lambda *x: reference.recall_share_at_k(*x, 2),
    ),
    "map_at_r": (metrics.map_at_r, reference.map_at_r),
    "r_precision": (metrics.r_precision, reference.r_precision),
    "reciprocal_rank": (metrics.reciprocal_rank, reference.reciprocal_rank),
}


@pytest.mark.parametrize("name", BINARY)
@given(query=queries())
def test_binary_metrics(name, query):
    library, plain = BINARY[name]
    t, relevant, w = tensors(*query)
    close(library(t, relevant, where=w), plain(*taking_part(query[2], query[0], query[1])))


@given(queries())
def test_precision_at_k(query):
    t, relevant, w = tensors(*query)
    y, r = taking_part(query[2], query[0], query[1])
    if any(r):
        close(metrics.precision_at_k(t, relevant, 2, where=w), reference.precision_at_k(y, r, 2))


@given(queries(label=GRADES))
def test_graded_metrics(query):
    t, rel, w = tensors(*query)
    y, r = taking_part(query[2], query[0], query[1])
    close(metrics.ndcg(t, rel, where=w), reference.ndcg(y, r))
    close(metrics.ndcg(t, rel, where=w, k=2), reference.ndcg(y, r, 2))
    close(metrics.spearman(t, rel, where=w), reference.spearman(y, r))
    close(metrics.hierarchical_average_precision(t, rel, where=w), reference.hierarchical_average_precision(y, r))
    close(metrics.hierarchical_rank(t, rel, where=w), scattered(reference.h_rank(y, r), query[2]))


@given(queries(label=st.integers(0, 3)))
def test_hierarchies(query):
    t, levels, w = tensors(*query)
    y, own = taking_part(query[2], query[0], query[1])
    close(metrics.average_set_intersection(t, levels, where=w), reference.average_set_intersection(y, own))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for monotone in (False, True):
            found = hierarchy.relevance(levels, alpha=2.0, n_levels=3, where=w, monotone=monotone)
            close(found, scattered(reference.relevance(own, 2.0, 3, monotone), query[2]))
    weights = [0.2, 0.3, 0.5]
    found = hierarchy.weighted_ap_relevance(levels, weights, where=w)
    close(found, scattered(reference.weighted_ap_relevance(own, weights), query[2]))


@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=6))
def test_levels(paths):
    found = hierarchy.levels(torch.tensor(paths))
    assert found.tolist() == [[reference.level(other, own) for other in paths] for own in paths]


@given(st.lists(st.tuples(st.fractions(0, 1), st.sampled_from([0, *(Fraction(k, 3) for k in (1, 2, 3))])), min_size=1))
def test_h_rank_is_a_weighted_sum_of_nested_ranks_exactly(items):
    y, rel = map(list, zip(*items, strict=True))
    assert reference.h_rank(y, rel) == reference.h_rank_nested(y, rel)


@given(st.lists(st.tuples(st.fractions(0, 1), st.booleans()), min_size=1, max_size=7))
def test_fractions_stay_fractions(items):
    y, relevant = map(list, zip(*items, strict=True))
    for ties in ("ordinal", "pessimistic", "optimistic", "expected"):
        found = reference.average_precision(y, relevant, ties)
        assert isinstance(found, Fraction) if any(relevant) else math.isnan(found)
    rel = [Fraction(r) for r in relevant]
    if any(relevant):
        assert reference.hierarchical_average_precision(y, rel) == reference.average_precision(y, relevant)


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.booleans()), min_size=1, max_size=6))
def test_average_precision_of_tied_items_is_the_worst_the_best_and_the_mean_over_all_orders(items):
    y, relevant = ([Fraction(score) for score, _ in items], [label for _, label in items])
    if any(relevant):
        orders = permutations(range(len(items)))
        every = [reference.average_precision([y[i] for i in order], [relevant[i] for i in order]) for order in orders]
        found = [reference.average_precision(y, relevant, ties) for ties in ("pessimistic", "optimistic", "expected")]
        assert found == [min(every), max(every), sum(every) / len(every)]


# ----------------------------------------------------------------------------------------------------------- losses

BLACKBOX = rankers.BlackboxRanker(4.0)
LOSSES = {
    "ap": (losses.APLoss(BLACKBOX), lambda y, r: 1 - reference.average_precision(y, r)),
    "ap_margin": (
        losses.APLoss(BLACKBOX, margin=0.25),
        lambda y, r: 1 - reference.average_precision(reference.shift_by_margin(y, r, 0.25), r),
    ),
    "recall_log": (losses.RecallLoss(BLACKBOX), lambda y, r: reference.recall_loss(y, r, reference.W_log)),
    "recall_loglog": (
        losses.RecallLoss(BLACKBOX, weights="loglog"),
        lambda y, r: reference.recall_loss(y, r, reference.W_loglog),
    ),
    "recall_own": (
        losses.RecallLoss(BLACKBOX, weights=torch.sqrt),
        lambda y, r: reference.recall_loss(y, r, math.sqrt),
    ),
    "smooth_ap": (losses.SmoothAPLoss(0.05), lambda y, r: 1 - reference.smooth_ap(y, r, 0.05)),
    "fast_ap": (losses.FastAPLoss(6), lambda y, r: 1 - reference.fast_ap(y, r, 6)),
    "sup_ap": (losses.SupAPLoss(), lambda y, r: reference.happier_loss(y, list(map(float, r)))),
}


@pytest.mark.parametrize("name", LOSSES)
@given(query=queries(score=FINITE))
def test_losses(name, query):
    library, plain = LOSSES[name]
    t, relevant, w = tensors(*query)
    y, r = taking_part(query[2], query[0], query[1])
    close(library(t, relevant, where=w), plain(y, r) if any(r) else 0.0)


@pytest.mark.parametrize(
    ("library", "plain"),
    [
        (losses.HAPLoss(BLACKBOX), lambda y, r: 1 - reference.hierarchical_average_precision(y, r)),
        (losses.HAPLoss(), reference.happier_loss),
        (
            losses.HAPLoss(lower=rankers.InfimumStep()),
            lambda y, r: reference.happier_loss(y, r, lower=reference.happier_lower_step),
        ),
        (
            losses.HAPLoss(rankers.SupremumRanker.preset("happier_inat")),
            lambda y, r: reference.happier_loss(y, r, lambda x: reference.happier_step(x, offset=1.0, start=0.0)),
        ),
    ],
    ids=["blackbox", "happier", "happier_lower", "happier_inat"],
)
@given(query=queries(score=FINITE, label=GRADES))
def test_hierarchical_losses(library, plain, query):
    t, rel, w = tensors(*query)
    y, r = taking_part(query[2], query[0], query[1])
    close(library(t, rel, where=w), plain(y, r) if any(r) else 0.0)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.tuples(FINITE, st.booleans()), min_size=n, max_size=n), min_size=1, max_size=5)
    )
)
def test_the_loss_of_many_classes(table):
    scores, relevant = ([[cell[i] for cell in row] for row in table] for i in (0, 1))
    if any(map(any, relevant)):
        by_class = reference.mean_average_precision_loss(scores, relevant)
        in_one = reference.class_agnostic_loss(scores, relevant)
        t, r = torch.tensor(scores, dtype=torch.float64), torch.tensor(relevant)
        for weight in (0.0, 1.0, 1 / 3):
            found = losses.MAPLoss(BLACKBOX, 0.0, class_agnostic_weight=weight)(t, r)
            close(found, (1 - weight) * by_class + weight * in_one)


def test_happier_on_embeddings():
    torch.manual_seed(0)
    embeddings = torch.nn.functional.normalize(torch.randn(6, 4, dtype=torch.float64), dim=1)
    labels = torch.tensor([[0, 0], [0, 0], [0, 1], [0, 1], [1, 2], [1, 2]])
    loss = losses.HAPPIERLoss(3, 4, weight=0.25).double()
    proxies = torch.nn.functional.normalize(next(loss.parameters()).detach(), dim=-1)
    values = []
    for query in range(6):
        others = [i for i in range(6) if i != query]
        levels = [reference.level(labels[i].tolist(), labels[query].tolist()) for i in others]
        y, cosines = (embeddings[others] @ embeddings[query]).tolist(), (proxies @ embeddings[query]).tolist()
        values.append(reference.happier(y, reference.relevance(levels), cosines, int(labels[query, 1]), weight=0.25))
    close(loss(embeddings, labels), reference.mean(values))


# ------------------------------------------------------------------------------------------------------- soft ranks


@pytest.mark.parametrize(
    ("ranker", "plain"),
    [
        (rankers.SigmoidRanker(0.1), lambda y: reference.sigmoid_rank(y, 0.1)),
        (rankers.HistogramRanker(6), lambda y: reference.histogram_rank(y, 6)),
        (ProjectionRanker(0.3), lambda y: reference.projected_rank(y, 0.3)),
    ],
    ids=["sigmoid", "histogram", "projection"],
)
@given(query=queries(score=FINITE))
def test_soft_ranks(ranker, plain, query):
    t, _, w = tensors(*query)
    [y] = taking_part(query[2], query[0])
    close(ranker(t, where=w), scattered(plain(y), query[2]))


@settings(max_examples=200)
@given(st.floats(-3, 3), st.sampled_from(["joined", "happier", "happier_inat"]))
def test_the_step_of_happier(x, preset):
    options = rankers.supremum.PRESETS[preset]
    found = rankers.SupremumRanker.preset(preset).step(torch.tensor([x], dtype=torch.float64))
    close(found, [reference.happier_step(x, **options)])


# --------------------------------------------------------------------------------------------------------- the file

FILE = Path(reference.__file__)


def test_it_runs_in_a_bare_python():
    """No site-packages, not even the package that it lies in; its examples are right there, too."""
    done = subprocess.run([sys.executable, "-I", "-S", "-m", "doctest", str(FILE)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_it_imports_math_and_nothing_else_and_every_function_is_short_and_told():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["import math"]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert ast.get_docstring(node) or node.name.startswith("_"), node.name
            lines = len(ast.unparse(ast.Module(node.body[1:] or node.body, [])).splitlines())
            assert lines <= 12, f"{node.name} has {lines} lines"
