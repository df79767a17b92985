"""Exercises: the references pass and agree with the library, and wrong answers are refused without an exception."""

import copy
from functools import cache

import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu.losses import MAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit.check import check, find, names
from rankedu_lab.detections import OnProposals

PLAIN = [name for name in names() if find(name).use is None]


def test_the_reference_passes_a_stub_does_not_and_the_statement_begins_with_the_call():
    for name in names():
        exercise = find(name)
        assert exercise.statement.startswith(f"{name}(") and exercise.arguments
        for nothing in (None, ..., NotImplemented) if name in PLAIN else (None,):
            assert "nothing returned yet" in check(name, lambda *args, nothing=nothing: nothing).message, name
        if name in PLAIN:
            assert check(name, exercise.reference).passed, name
            assert len(exercise.cases()) >= 5 and exercise.arguments == list(exercise.cases()[0])


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
