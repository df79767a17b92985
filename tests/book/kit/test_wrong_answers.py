"""Exercises: the references pass and agree with the library, and wrong answers are refused without an exception."""

import copy
import math
import sys
from functools import cache

import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu.losses import MAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit.check import Feedback, check, find, names
from rankedu_lab.detections import OnProposals

PLAIN = [name for name in names() if find(name).use is None]


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    __eq__ = __array__ = __len__ = __float__ = __bool__ = __repr__
    __hash__ = None


def test_the_reference_passes_a_stub_does_not_and_the_statement_begins_with_the_call():
    for name in names():
        exercise = find(name)
        assert exercise.statement.startswith(f"{name}(") and exercise.arguments
        for nothing in (None, ..., NotImplemented) if name in PLAIN else (None,):
            assert "nothing returned yet" in check(name, lambda *args, nothing=nothing: nothing).message, name
        if name in PLAIN:
            assert check(name, exercise.reference).passed, name
            assert len(exercise.cases()) >= 5 and exercise.arguments == list(exercise.cases()[0])


@pytest.mark.parametrize("name", ["rank_min", "lam_code", *(name for name in PLAIN if find(name).judge)])
def test_nothing_raises(name):
    wrong = (lambda *args: 1 / 0, lambda *args: print(1), lambda *args: sys.exit(1), lambda: 1, 3)
    returned = ("abc", {1, 2}, len, [[1, 2], [3]], np.full((2, 2), math.nan), Hostile(), object())
    for function in (*wrong, *(lambda *args, value=value: value for value in returned)):
        feedback = check(name, function)
        assert isinstance(feedback, Feedback) and not feedback
        for text in (str(feedback), repr(feedback), feedback._repr_markdown_()):
            assert name in text and " at 0x" not in text
        assert str(check(name, function)) == str(feedback), "the same each time"


def test_an_answer_may_come_in_any_wrapping_from_numpy_or_torch():
    for wrap in (float, np.float32, torch.tensor, lambda x: [x], lambda x: np.array([x])):
        assert check("lam_code", lambda lam, n, wrap=wrap: wrap(lam / n)).passed
    for wrap in (list, tuple, np.array, torch.tensor, lambda x: [np.float64(v) for v in x]):
        assert check("rank_min", lambda y, wrap=wrap: wrap([1 + sum(b > a for b in y) for a in y])).passed
    assert check("rank_min", lambda y: 1 + (y[None] > y[:, None]).sum(dim=1)).passed  # dim= fails with NumPy arrays


def test_swaps_are_judged_by_what_they_do():
    def insertion(scores, ranks):
        line, swaps = scores[np.argsort(ranks)].tolist(), []
        for place in range(1, len(line)):
            for r in range(place, 0, -1):
                if line[r - 1] <= line[r]:  # swaps ties as well: no gain, no loss
                    line[r - 1], line[r] = line[r], line[r - 1]
                    swaps.append(r)
        return np.array(swaps, dtype=np.int64)

    assert check("sort_by_swaps", insertion).passed


def test_names_go_by_chapter_and_an_unknown_one_lists_the_known():
    assert [name for chapter in range(1, 99) for name in names(chapter)] == names()
    for function in (lambda: check("rank", len), lambda: find("rank")):
        with pytest.raises(ValueError, match=r"rank_min, average_precision, .*; got 'rank'"):
            function()


def test_from_the_least_lambda_on_a_negative_has_a_gradient_by_algorithm_1():
    for case in find("least_lambda").cases():
        least, relevant = find("least_lambda").right(case), case["relevance"].tolist()
        y = reference.shift_by_margin(case["scores"].tolist(), relevant, case["margin"])
        # the derivative of 1 - AP with respect to a positive's rank, the rank among positives held fixed
        places = zip(reference.rank_among(y, relevant), reference.rank(y), relevant, strict=True)
        incoming = [place / (sum(relevant) * rank**2) if r else 0.0 for place, rank, r in places]
        for share, moves in ((0.999, False), (1.001, True)):
            slopes = reference.rank_gradient(y, incoming, share * least)
            assert any(s != 0 and not r for s, r in zip(slopes, relevant, strict=True)) == moves


def test_the_loss_on_proposals_is_that_of_the_library():
    for case in find("proposal_loss").cases():
        loss = OnProposals(MAPLoss(BlackboxRanker(1.0), margin=case["margin"]), scores="log-odds")
        value = loss(torch.tensor(case["logits"]), torch.tensor(case["labels"]))
        assert np.isclose(value.item(), find("proposal_loss").right(case))


def test_the_pulls_explain_the_step_and_do_not_depend_on_the_space():
    for case in find("pulls").cases():
        table, x = find("pulls").right(case), case["embeddings"]
        assert np.allclose(-case["gradient"](x), table @ x)
        assert np.allclose(table, table.T) and not np.diag(table).any() and np.abs(table).max() > 0.01
        turned = copy.deepcopy(case) | {"embeddings": np.hstack([0 * x, x])}
        assert np.allclose(find("pulls").right(turned), table)


#: What is written as one would say it at a desk, for the exercise that it is compared with.
right = cache(lambda name: find(name).reference)


def test_a_function_that_changes_its_argument_is_refused():
    def in_place(scores):
        found = right("rank_min")(scores)
        scores[:] = 0
        return found

    assert not check("rank_min", in_place)


@pytest.mark.parametrize("name", names())
def test_every_known_mistake_is_refused_with_its_own_hint(name):
    mistakes = find(name).mistakes
    for function, hint in mistakes:
        feedback = check(name, function)
        assert not feedback and [other for _, other in mistakes if other in feedback.hint] == [hint]


#: Wrong answers that are on no list of known mistakes.
WRONG = [
    ("rank_min", lambda y: 1 + (y[None] > y[:, None]).sum(1, keepdims=True)),
    ("expected_ap", lambda y, rel: rel.mean()),
    ("evaluate", lambda e, labels: right("evaluate")(e, labels)[0]),
    ("blackbox_layer", lambda solver, lam: lambda y: y + (solver(y) - y).detach()),
    ("sort_by_swaps", lambda y, ranks: list(range(1, len(y)))),
    ("sort_by_swaps", lambda y, ranks: []),
    ("blackbox_rank", lambda y, lam: 1 + y.argsort(descending=True).argsort()),
    ("ap_loss", lambda ranker, y, rel: ranker(y)[rel].mean()),
    ("h_ap_from_rankings", lambda among, rel: sum(among(rel >= r).sum() for r in rel)),
    ("broken_bound", lambda t, s, d: ([0.0, 0.0], [0.0, 1.0])),
    ("broken_bound", lambda t, s, d: ([3 * d, 0.0], [0.0, 1.0])),
    ("calibration_loss", lambda y, r, a, b: (a - y)[r & (y < a)].mean() + (y - b)[~r & (y > b)].mean()),
    ("pulls", lambda x, gradient: right("pulls")(x, gradient) + np.eye(len(x))),
    ("no_threshold", lambda gap: ([0.0, 100.0, 101.0, 102.0], [0, 0, 1, 1])),
    ("no_threshold", lambda gap: ([0.0, 10.0, 100.0, 120.0], [0, 0, 1, 1])),
]


@pytest.mark.parametrize(("name", "function"), WRONG, ids=[name for name, _ in WRONG])
def test_another_wrong_answer_is_refused(name, function):
    assert not check(name, function)
