"""References pass, known mistakes get their own hint, and nothing a reader writes makes `check` raise."""

import math

import numpy as np
import pytest
import torch

from rankbook.kit.check import Feedback, check, find, names

PLAIN = [name for name in names() if find(name).use is None]


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    __eq__ = __array__ = __len__ = __float__ = __bool__ = __repr__
    __hash__ = None


@pytest.mark.parametrize("name", PLAIN)
def test_the_reference_passes(name):
    feedback = check(name, find(name).reference)
    assert feedback.passed and feedback and len(find(name).cases()) >= 5
    assert str(feedback).startswith(f"✓ {name}: right on all")


@pytest.mark.parametrize("name", names())
def test_the_statement_begins_with_the_call(name):
    assert find(name).statement.startswith(f"{name}(") and find(name).arguments
    assert find(name).use or find(name).arguments == list(find(name).cases()[0])


@pytest.mark.parametrize("nothing", [None, ..., NotImplemented])
def test_a_stub_is_told_so(nothing):
    for name in names():
        assert "nothing returned yet" in check(name, lambda *args: nothing).message, name


def raises(error):
    def function(*args):
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raises(ZeroDivisionError("division by zero")), "ZeroDivisionError: division by zero"),
        (raises(KeyError("x")), "KeyError"),
        (raises(SystemExit(1)), "SystemExit"),
        (raises(RecursionError), "RecursionError"),
        (raises(NotImplementedError), "nothing returned yet"),
        (lambda: 1, "can't be called with the arguments"),
        (lambda *args: "abc", "'abc'"),
        (lambda *args: {1, 2}, "{1, 2}"),
        (lambda *args: len, "len"),
        (lambda *args: [[1, 2], [3]], "[[1, 2], [3]]"),
        (lambda *args: np.full((2, 2), math.nan), "nan"),
        (lambda *args: Hostile(), ""),
        (lambda *args: object(), "object"),
        (3, "pass the function itself"),
    ],
)
def test_nothing_raises(function, said):
    for name in PLAIN:
        feedback = check(name, function)
        assert isinstance(feedback, Feedback) and not feedback, name
        for text in (str(feedback), repr(feedback), feedback._repr_markdown_()):
            assert said in text and name in text and " at 0x" not in text
        assert str(check(name, function)) == str(feedback), name  # the same each time


@pytest.mark.parametrize("wrap", [float, np.float32, torch.tensor, lambda x: [x], lambda x: np.array([x])])
def test_a_number_may_come_in_any_wrapping(wrap):
    assert check("lam_code", lambda lam, n: wrap(lam / n)).passed


@pytest.mark.parametrize("wrap", [list, tuple, np.array, torch.tensor, lambda x: [np.float64(v) for v in x]])
def test_a_vector_may_come_in_any_wrapping(wrap):
    assert check("rank_min", lambda y: wrap([1 + sum(b > a for b in y) for a in y])).passed


def test_torch_solutions():
    assert check("rank_min", lambda y: 1 + (y[None] > y[:, None]).sum(dim=1)).passed  # dim= fails with NumPy arrays


def test_changing_the_input_is_noticed():
    def in_place(scores):
        result = find("rank_min").reference(scores)
        scores.sort()
        return result

    assert "changed its argument scores in place" in check("rank_min", in_place).message


@pytest.mark.parametrize(
    ("swaps", "said"),
    [
        ([(1, 2)], "not a list of whole numbers"),
        ([1.5], "not a list of whole numbers"),
        (3, "not a list of whole numbers"),
        ([0], "from 1 to 1 here"),
        ([1, 1], "swap 2, at rank 1, raises the objective"),
        ([], "not sorted yet"),
    ],
)
def test_swaps_are_judged_by_what_they_do(swaps, said):
    assert said in check("sort_by_swaps", lambda y, ranks: swaps).message


def test_another_sorting_algorithm_is_right_too():
    def insertion(scores, ranks):
        line, swaps = scores[np.argsort(ranks)].tolist(), []
        for place in range(1, len(line)):
            r = place
            while r >= 1 and line[r - 1] <= line[r]:  # swaps ties as well: no gain, no loss
                line[r - 1], line[r] = line[r], line[r - 1]
                swaps.append(r)
                r -= 1
        return np.array(swaps, dtype=np.int64)

    assert check("sort_by_swaps", insertion).passed


def test_unknown_name_lists_the_known_ones():
    for function in (lambda: check("rank", len), lambda: find("rank")):
        with pytest.raises(ValueError, match=r"rank_min, average_precision, .*; got 'rank'"):
            function()


def test_names_by_chapter():
    assert names(1) == ["rank_min", "average_precision", "expected_ap", "evaluate"]
    assert [name for chapter in range(1, 99) for name in names(chapter)] == names()
    assert names(99) == []


def test_the_message_is_worth_reading():
    feedback = check("rank_min", lambda y: (y[None, :] >= y[:, None]).sum(axis=1))
    assert str(feedback) == (
        "✗ rank_min: for scores=[0.5, 0.5, 0.1] you returned [2, 2, 3], whose entry 0 is too large "
        "(2 entries are off).\n"
        "  That is what comes out when one counts >= instead of >, items and their ties. (Right on 3 of 9 inputs.)"
    )


def test_references_agree_with_the_printed_example():
    # Eq. 4–5 give 2 with two tied positives; the mean over tie-breakings gives 1
    tied, both = np.array([0.5, 0.5]), np.array([True, True])
    printed = find("expected_ap").mistakes[0][0]
    assert printed(tied, both) == 2 and find("expected_ap").reference(tied, both) == 1


def test_a_script_is_told_and_a_prompt_is_not_told_twice(capsys, monkeypatch):
    check("lam_code", lambda lam, n: lam / n)
    assert capsys.readouterr().out == "✓ lam_code: right on all 5 inputs.\n"
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    check("lam_code", lambda lam, n: lam / n)
    assert capsys.readouterr().out == ""
