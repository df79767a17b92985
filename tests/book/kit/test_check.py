"""References pass and are what the book says, messages are worth reading, and nothing a reader writes gets out."""

import copy
import math
import re
import sys

import numpy as np
import pytest
import torch

from rankbook.kit.check import Feedback, check, find, names
from rankbook.kit.check.patterns import relation, where_wrong
from rankedu import reference
from rankedu.losses import MAPLoss, OnProposals
from rankedu.rankers import BlackboxRanker

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
    told = [
        (lambda *args: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda *args: sys.exit(1), "SystemExit"),
        (lambda: 1, "can't be called with the arguments"),
        (lambda *args: "abc", "'abc'"),
        (lambda *args: {1, 2}, "{1, 2}"),
        (lambda *args: len, "len"),
        (lambda *args: [[1, 2], [3]], "[[1, 2], [3]]"),
        (lambda *args: np.full((2, 2), math.nan), "nan"),
        (lambda *args: Hostile(), ""),
        (lambda *args: object(), "object"),
        (3, "pass the function itself"),
    ]
    for function, said in told:
        feedback = check(name, function)
        assert isinstance(feedback, Feedback) and not feedback, said
        for text in (str(feedback), repr(feedback), feedback._repr_markdown_()):
            assert said in text and name in text and " at 0x" not in text
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
    assert names(1) == ["rank_min", "average_precision", "expected_ap", "evaluate"] and names(99) == []
    assert [name for chapter in range(1, 99) for name in names(chapter)] == names()
    for function in (lambda: check("rank", len), lambda: find("rank")):
        with pytest.raises(ValueError, match=r"rank_min, average_precision, .*; got 'rank'"):
            function()


def test_a_script_is_told_and_a_prompt_is_not_told_twice(capsys, monkeypatch):
    check("lam_code", lambda lam, n: print("here", n) or lam / n)
    assert capsys.readouterr().out.endswith("here 1000\n✓ lam_code: right on all 5 inputs.\n")
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    check("lam_code", lambda lam, n: lam / n)
    assert capsys.readouterr().out == ""


def test_the_line_that_raised_is_named():
    def ranks(scores):
        order = scores.argsort()
        return order["first"]

    assert re.search(r"IndexError.*\(line 3 of your function\)", check("rank_min", ranks).message)


def test_a_relation_that_holds_on_every_input_is_named():
    changes = {
        "the sign turned round": lambda value: -value,
        "one minus what was asked for": lambda value: 1 - value,
        "the whole part": np.floor,
        "times the number of items": lambda value: 4 * value,
        "divided once more by the number of items": lambda value: value / 4,
        "times the number of relevant items": lambda value: 3 * value,
        "a mean over all items": lambda value: 0.75 * value,
        "divided once more by the number of relevant items": lambda value: value / 3,
        "too large by the same factor": lambda value: -7 * value,
        "too small by the same factor": lambda value: 0.1 * value,
        "too large by the same amount": lambda value: value + 0.1,
        "too small by the same amount": lambda value: value - 0.1,
    }
    case = {"scores": np.zeros(4), "relevance": np.array([True, True, True, False])}
    rights = [np.array([0.3, 1.4, 2.2]) * k for k in (1.0, 1.1, 1.7)]
    for said, change in changes.items():
        assert said in relation([(case, right, change(right)) for right in rights])
        assert relation([(case, rights[0], change(rights[0]))]) == "", "one input shows no pattern"
    assert relation([(case, right, right * [1, 2, 1]) for right in rights]) == ""


def test_where_it_goes_wrong_is_named_if_it_goes_wrong_there_only():
    one, two = {"scores": np.array([0.5])}, {"scores": np.array([0.5, 0.1])}
    assert where_wrong([two, two], [one]) == "It goes wrong where there is one entry of scores only, and only there."
    assert where_wrong([two, one], [one]) == "" and where_wrong([two], [one]) == ""

    def ranks(scores):
        by_position = 1 + np.argsort(np.argsort(-scores, kind="stable"), kind="stable")
        return 2 * find("rank_min").reference(scores) - by_position

    assert "wrong where entries of scores are equal, and only there" in check("rank_min", ranks).hint


def test_from_the_least_lambda_on_a_negative_has_a_gradient_by_algorithm_1():
    for case in find("least_lambda").cases():
        least = find("least_lambda").right(case)
        relevant = case["relevance"].tolist()
        y = reference.shift_by_margin(case["scores"].tolist(), relevant, case["margin"])
        # the derivative of 1 - AP with respect to a positive's rank, the rank among positives held fixed
        places = zip(reference.rank_among(y, relevant), reference.rank(y), relevant, strict=True)
        incoming = [place / (sum(relevant) * rank**2) if r else 0.0 for place, rank, r in places]
        small, large = (reference.rank_gradient(y, incoming, share * least) for share in (0.999, 1.001))
        moved = [sum(s != 0 and not r for s, r in zip(slopes, relevant, strict=True)) for slopes in (small, large)]
        assert moved[0] == 0 < moved[1]


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
