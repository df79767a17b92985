"""Exercises: references pass and are what the book says; what readers are told of the answers that they really give."""

import copy
import math
import re
import sys
from functools import cache

import numpy as np
import pytest
import torch

from rankedu import reference
from rankedu.losses import MAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit.check import Feedback, check, find, names
from rankedu_book.kit.check.patterns import relation, where_wrong
from rankedu_book.kit.check.running import outcomes, value_of
from rankedu_book.kit.check.wording import show_case, show_value
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
    told = [
        (lambda *args: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda *args: print(1), "printed something and returned nothing"),
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
    assert [name for chapter in range(1, 99) for name in names(chapter)] == names()
    for function in (lambda: check("rank", len), lambda: find("rank")):
        with pytest.raises(ValueError, match=r"rank_min, average_precision, .*; got 'rank'"):
            function()


def test_the_line_that_raised_is_named_and_an_argument_that_was_changed():
    def ranks(scores):
        order = scores.argsort()
        return order["first"]

    def in_place(scores):
        found = right("rank_min")(scores)
        scores[:] = 0
        return found

    assert re.search(r"IndexError.*\(line 3 of your function\)", check("rank_min", ranks).message)
    assert "changed its argument scores in place" in str(check("rank_min", in_place))


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

    def by_position_at_ties(scores):
        by_position = 1 + np.argsort(np.argsort(-scores, kind="stable"), kind="stable")
        return 2 * right("rank_min")(scores) - by_position

    assert "wrong where entries of scores are equal, and only there" in check("rank_min", by_position_at_ties).hint


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


def margin_gradient(scores, relevance, lam, margin, best=-1):
    """Algorithm 1 in NumPy, with the largest score at rank 1 or, for best = 1, at the end."""
    shifted = scores + margin * (0.5 - relevance)
    before, after = (np.argsort(np.argsort(best * y)) for y in (shifted, shifted + lam * relevance))
    return (after - before) / lam


#: Exercise, a wrong answer that no list of known mistakes was made from, and what the reader is told of it.
WRONG = [
    ("rank_min", lambda y: 1 + (y[None] > y[:, None]).sum(1, keepdims=True), "the right numbers in the shape"),
    ("expected_ap", lambda y, rel: rel.mean(), "which is too small"),
    ("evaluate", lambda e, labels: right("evaluate")(e, labels)[0], "where shape"),
    ("blackbox_layer", lambda solver, lam: lambda y: y + (solver(y) - y).detach(), "lets the incoming gradient pass"),
    ("blackbox_layer", lambda solver, lam: lambda y: solver(y).numpy(), "a torch tensor was expected, got ndarray"),
    ("expected_ap", lambda y, rel: "proved", "a str that can't be read as numbers"),
    ("expected_ap", lambda y, rel: rel.any(), "which is not so"),
    ("sort_by_swaps", lambda y, ranks: sorted(y), "which is not a list of whole numbers"),
    ("sort_by_swaps", lambda y, ranks: list(range(1, len(y))), "where swap 1"),
    ("sort_by_swaps", lambda y, ranks: [0], "from 1 to 1 here"),
    ("sort_by_swaps", lambda y, ranks: [], "not sorted yet"),
    ("blackbox_rank", lambda y, lam: 1 + y.argsort(descending=True).argsort(), "returns the ranks alone"),
    ("Memory", lambda length: lambda y, rel: None, "nothing returned yet"),
    ("Memory", lambda: None, "can't be called with the arguments length"),
    ("all_values_near_a_tie", lambda r: set(right("all_values_near_a_tie")(r)), "where 2 numbers were expected"),
    ("margin_gradient", lambda y, r, lam, m: 0 * y, "does not rank by the first feature"),
    ("margin_gradient", lambda y, r, lam, m: 1.0 - 2 * r, "too long: the margin"),
    ("margin_gradient", lambda y, r, lam, m: margin_gradient(y, r, lam, m, best=1), "or ranks from the bottom"),
    ("loss_from_weights", lambda y, rel, w: [w(1 + r) for r in np.flatnonzero(rel)], "where one number was expected"),
    ("ap_loss", lambda ranker, y, rel: ranker(y)[rel].mean(), "whose entry 0 is too large"),
    ("teach_to_sort", lambda net, draw, steps: torch.nn.Identity(), "times what always answering the middle gives"),
    ("h_ap_from_rankings", lambda among, rel: sum(among(rel >= r).sum() for r in rel), "called too often"),
    ("broken_bound", lambda t, s, d: ([0.0, 0.0], [0.0, 1.0]), "where scores must differ"),
    ("broken_bound", lambda t, s, d: [1.0, 2.0, 3.0], "not two lists"),
    ("broken_bound", lambda t, s, d: ([3 * d, 0.0], [0.0, 1.0]), "is not below"),
    ("calibration_loss", lambda y, r, a, b: (a - y)[r & (y < a)].mean() + (y - b)[~r & (y > b)].mean(), "not a number"),
    ("pulls", lambda x, gradient: right("pulls")(x, gradient) + np.eye(len(x)), r"entry \(0, 0\) is too large"),
    ("no_threshold", lambda gap: [0.0, 1.0, 2.0], "not two lists"),
    ("no_threshold", lambda gap: ([0.0, 1.0, 90.0], [0, 0, 1]), "each with two items"),
    ("no_threshold", lambda gap: ([0.0, 100.0, 101.0, 102.0], [0, 0, 1, 1]), "where item 1 does not rank all of its"),
    ("no_threshold", lambda gap: ([0.0, 10.0, 100.0, 120.0], [0, 0, 1, 1]), "the most similar negative pair has"),
]


#: To try these once more takes seconds.
TRAIN = ("teach_to_sort", "margin_gradient")


@pytest.fixture
def once(monkeypatch):
    """What a network that is trained makes of an input is found once."""
    known = {}

    def value_once(exercise, function, given):
        key = function, str(given)
        if exercise.name not in TRAIN or key not in known:
            known[key] = value_of(exercise, function, given)
        return known[key]

    for module in ("check", "running"):
        monkeypatch.setattr(sys.modules[f"rankedu_book.kit.check.{module}"], "value_of", value_once)


@cache
def rights(name):
    """The right answers as they are shown, but for those of a sum without a term, and of yes or no."""
    return {show_value(find(name).right(case)) for case in find(name).cases()} - {"0", "True", "False"}


def gives_away(name, function, feedback):
    """Whether `check` adds the right answer to one of the inputs to what it says of the inputs and of what came."""
    text, tried = str(feedback), [] if name in TRAIN else outcomes(find(name), function)
    for shown in (*(show_case(one.case) for one in tried), *(f" {show_value(one.value)}" for one in tried)):
        text = text.replace(shown, "…")
    return any(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", text) for value in rights(name))


@pytest.mark.usefixtures("once")
@pytest.mark.parametrize("name", names())
def test_wrong_answers_are_told_what_is_wrong_and_not_what_is_right(name):
    mistakes = find(name).mistakes
    for function, hint in mistakes:
        feedback = check(name, function)
        assert not feedback and hint in feedback.hint
        assert sum(other in feedback.hint for _, other in mistakes) == 1, hint
        assert not gives_away(name, function, feedback), hint
    for _, function, said in (row for row in WRONG if row[0] == name):
        feedback = check(name, function)
        assert not feedback and re.search(said, str(feedback)), (said, str(feedback))
        assert not gives_away(name, function, feedback), str(feedback)
