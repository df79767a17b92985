"""The library gives the numbers of `rankedu.reference`: with ties, −0.0, infinities, `where`, one item, no positive."""

import math
import subprocess
import sys
from fractions import Fraction
from itertools import permutations

import pytest
import torch
from cases import BLACKBOX, LOSSES, METRICS
from hypothesis import given
from hypothesis import strategies as st

import rankedu
from rankedu import hierarchy, losses, metrics, rankers, reference
from rankedu_lab.contestants import ProjectionRanker

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
#: Few numbers, so that they tie.
EVEN = [-1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0]
FINITE = st.one_of(st.sampled_from(EVEN), st.floats(-1, 1, width=32).map(float))
ANY = st.one_of(st.sampled_from([*EVEN, math.inf, -math.inf]), st.floats(-100, 100, width=32).map(float))
RELEVANT, GAINS, LEVELS = st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(0, 3)


@st.composite
def queries(draw, score=ANY, label=RELEVANT):
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
    found, expected = (torch.as_tensor(x, dtype=torch.float64).detach() for x in (found, expected))
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


def scattered(values, where):
    """The values of those who take part, 0 in the places of the others."""
    values = iter(values)
    return [next(values) if takes else 0 for takes in where]


@given(queries())
def test_rank_among(query):
    t, members, where = tensors(*query)
    expected = scattered(reference.rank_among(*taking_part(query[2], *query[:2])), query[2])
    assert rankedu.rank_among(t, members, where=where).tolist() == expected


@pytest.mark.parametrize("name", METRICS)
@given(data=st.data())
def test_metrics(name, data):
    metric = METRICS[name]
    query = data.draw(queries(label={"relevant": RELEVANT, "gains": GAINS, "levels": LEVELS}[metric.labels]))
    t, labels, w = tensors(*query)
    expected = metric.plain(*taking_part(query[2], query[0], query[1]))
    close(metric.under("ordinal")(t, labels, where=w), expected)


@given(queries(label=LEVELS))
def test_weighted_ap_relevance(query):
    found = hierarchy.weighted_ap_relevance(tensors(*query)[1], [0.2, 0.3, 0.5], where=torch.tensor(query[2]))
    expected = reference.weighted_ap_relevance(*taking_part(query[2], query[1]), [0.2, 0.3, 0.5])
    close(found, scattered(expected, query[2]))


@given(st.lists(st.tuples(st.fractions(0, 1), st.sampled_from([0, *(Fraction(k, 3) for k in (1, 2, 3))])), min_size=1))
def test_h_rank_is_a_weighted_sum_of_nested_ranks_exactly(items):
    y, rel = map(list, zip(*items, strict=True))
    assert reference.h_rank(y, rel) == reference.h_rank_nested(y, rel)


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.booleans()), min_size=1, max_size=5), st.integers(1, 5))
def test_average_precision_of_tied_items_is_the_worst_the_best_and_the_mean_over_all_orders(items, k):
    y, relevant = ([Fraction(score) for score, _ in items], [label for _, label in items])
    if not any(relevant):
        return
    orders = [([y[i] for i in o], [relevant[i] for i in o]) for o in permutations(range(len(items)))]
    every = [reference.average_precision(*order) for order in orders]
    at_k = [reference.average_precision_at_k(*order, k) for order in orders]
    for ties, of in {"pessimistic": min, "optimistic": max, "expected": lambda x: sum(x) / len(x)}.items():
        assert reference.average_precision(y, relevant, ties) == of(every)
        t = torch.tensor([float(score) for score in y], dtype=torch.float64)
        close(metrics.average_precision(t, torch.tensor(relevant), ties=ties, k=k), float(of(at_k)))


DEFINED = {name: case for name, case in LOSSES.items() if case.plain}


@pytest.mark.parametrize("name", DEFINED)
@given(data=st.data())
def test_losses(name, data):
    case = DEFINED[name]
    query = data.draw(queries(score=FINITE, label=RELEVANT if case.labels == "relevant" else GAINS))
    t, labels, w = tensors(*query)
    y, own = taking_part(query[2], query[0], query[1])
    something = len(set(own)) > 1 if case.labels == "target" else any(own) or not case.keeps("empty")
    if case.labels != "target":  # which has no relevant items, and no order of ties
        y, own = reference._against(y, own)
    close(case.loss(t, labels, where=w), case.plain(y, own) if something else 0.0)


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_the_loss_of_many_classes(classes, rows, data):
    row = st.lists(st.tuples(FINITE, RELEVANT), min_size=classes, max_size=classes)
    table = data.draw(st.lists(row, min_size=rows, max_size=rows))
    scores, relevant = ([[cell[i] for cell in row] for row in table] for i in (0, 1))
    if any(map(any, relevant)):
        by_class = reference.mean_average_precision_loss(scores, relevant)
        in_one = reference.class_agnostic_loss(scores, relevant)
        t, r = torch.tensor(scores, dtype=torch.float64), torch.tensor(relevant)
        for weight in (0.0, 1.0, 1 / 3):
            found = losses.MAPLoss(BLACKBOX, class_agnostic_weight=weight)(t, r)
            close(found, (1 - weight) * by_class + weight * in_one)


RANKERS = {
    "sigmoid": (rankers.SigmoidRanker(0.1), lambda y: reference.sigmoid_rank(y, 0.1)),
    "histogram": (rankers.HistogramRanker(6), lambda y: reference.histogram_rank(y, 6)),
    "projection": (ProjectionRanker(0.3), lambda y: reference.projected_rank(y, 0.3)),
}


@pytest.mark.parametrize("name", RANKERS)
@given(query=queries(score=FINITE))
def test_soft_ranks(name, query):
    ranker, plain = RANKERS[name]
    t, _, w = tensors(*query)
    [y] = taking_part(query[2], query[0])
    close(ranker(t, where=w), scattered(plain(y), query[2]))


def test_it_runs_in_a_bare_python():
    """No site-packages, not even the package that it lies in; its examples are right there, too."""
    command = [sys.executable, "-I", "-S", "-m", "doctest", reference.__file__]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
