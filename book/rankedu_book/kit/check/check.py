"""`check`: run a reader's function beside the definition, and say what kind of mistake it makes.

The answer itself is not given away: the feedback names the input, what the function returned and in which way that is
wrong; where the values are those of a known mistake on *every* input, that mistake; or else what they have in common.
"""

import copy
import re
import sys
from dataclasses import dataclass
from typing import Any

from rankedu_book.kit.check.patterns import relation, where_wrong
from rankedu_book.kit.check.running import Outcome, outcomes, value_of
from rankedu_book.kit.check.spec import Exercise, as_array, find
from rankedu_book.kit.check.wording import known, show_value, told


@dataclass(frozen=True, repr=False)
class Feedback:
    """What `check` found. It prints as a short message, and counts as true if the function is right."""

    name: str  #: of the exercise
    passed: bool  #: whether every case was right
    message: str  #: if not, the first input that went wrong, what came out, and in which way that is wrong
    hint: str = ""  #: the kind of mistake, if it is a known one, or what the wrong values have in common

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.name}: {self.message}" + (f"\n  {self.hint}" if self.hint else "")

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        message, hint = (re.sub(r"([\\`*_<>$|#~])", r"\\\1", text) for text in (self.message, self.hint))
        return f"{'✓' if self.passed else '✗'} `{self.name}`: {message}" + (f"\n\n{hint}" if hint else "")


def check(name: str, answer: Any) -> Feedback:
    """Tell whether a function solves an exercise, and what it got wrong.

    In a notebook or at a prompt the feedback shows itself; elsewhere, as in a script, it is printed. The function gets
    NumPy arrays unless the statement says otherwise, and torch tensors if it raises with these; it may return floats,
    lists, arrays or tensors. What it raises becomes part of the feedback; an unknown name is a ValueError.

    >>> _ = check("lam_code", lambda lam_paper, n: lam_paper / n)
    ✓ lam_code: right on all 5 inputs.
    >>> _ = check("lam_code", lambda lam_paper, n: n / lam_paper)
    ✗ lam_code: for lam_paper=4.0, n=20 you returned 5.0, which is too large.
      That is what comes out when one divides the wrong way round. (Right on 0 of 5 inputs.)
    >>> _ = check("lam_code", lambda lam_paper, n: ...)
    ✗ lam_code: nothing returned yet for lam_paper=4.0, n=20: put code in place of the three dots, and return a value.
    """
    feedback = _feedback(find(name), answer)
    if not hasattr(sys, "ps1"):  # nobody who would show the value of a line by itself
        print(feedback)
    return feedback


def _feedback(exercise: Exercise, answer: Any) -> Feedback:
    name = exercise.name
    if not callable(answer):
        got = f"got {show_value(answer)} ({type(answer).__name__})"
        advice = f'pass the function itself, without calling it: check("{name}", your_function); {got}.'
        return Feedback(name, False, advice)
    tried = outcomes(exercise, answer)
    gave = "you returned" if exercise.use is None else "yours gives"
    return Feedback(name, *told(tried, lambda: _known(exercise, tried) or _common(exercise, tried), gave))


def _known(exercise: Exercise, tried: list[Outcome]) -> str:
    """Sentence about the known mistake that returns what the reader's function returned, if there is one."""

    def values(function: Any) -> Any:
        return lambda k: value_of(exercise, function, copy.deepcopy(tried[k].case))

    return known(tried, [(values(function), hint) for function, hint in exercise.mistakes])


def _common(exercise: Exercise, tried: list[Outcome]) -> str:
    """What the values have in common with the right ones on all inputs; else what the wrong inputs share."""
    if any(outcome.stopped for outcome in tried):
        return ""
    if exercise.judge is None:
        rights = [as_array(exercise.right(outcome.case)) for outcome in tried]
        try:
            values = [as_array(outcome.value) for outcome in tried]
        except (TypeError, ValueError):
            return ""
        if any(v.size != r.size or (r.ndim and v.shape != r.shape) for v, r in zip(values, rights, strict=True)):
            return ""
        cases = [outcome.case for outcome in tried]
        if common := relation([(c, r, v.reshape(r.shape)) for c, r, v in zip(cases, rights, values, strict=True)]):
            return common
    right_ones, wrong_ones = ([o.case for o in tried if (o.problem is None) == right] for right in (True, False))
    return where_wrong(right_ones, wrong_ones)
