"""`check`: run a reader's function beside the definition, and say what kind of mistake it makes.

The answer itself is not given away: the feedback names the input, what the function returned and in which way that is
wrong; where the values are those of a known mistake on *every* input, that mistake; or else what they have in common.
"""

from __future__ import annotations

import copy
import sys
from typing import Any

from rankbook.kit.check.compare import as_array, difference
from rankbook.kit.check.feedback import Feedback
from rankbook.kit.check.patterns import Answer, relation, where_wrong
from rankbook.kit.check.registry import find
from rankbook.kit.check.running import Outcome, outcomes, value_of
from rankbook.kit.check.spec import Exercise
from rankbook.kit.check.wording import show_case, show_value


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
    ✗ lam_code: nothing returned yet: put your own code in place of the three dots, then run the check again.
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
    wrong = [outcome for outcome in tried if outcome.problem is not None]
    if not wrong:
        return Feedback(name, True, f"right on all {len(tried)} inputs.", right=len(tried), cases=len(tried))
    right = len(tried) - len(wrong)
    first = wrong[0]
    message, hint = str(first.problem), ""
    if not first.stopped:
        gave = "you returned" if exercise.use is None else "yours gives"
        message = f"for {show_case(first.case)} {gave} {show_value(first.value)}, {first.problem}."
        hint = _known(exercise, tried) or _common(exercise, tried)
    score = f"(Right on {right} of {len(tried)} inputs.)" if right or not first.stopped else ""
    return Feedback(name, False, message, f"{hint} {score}".strip(), right, len(tried))


def _known(exercise: Exercise, tried: list[Outcome]) -> str:
    """Sentence about the first known mistake that returns what the reader's function returned, on every input."""
    answered = [outcome for outcome in tried if not outcome.stopped]
    for function, hint in exercise.mistakes:
        try:
            values = (value_of(exercise, function, copy.deepcopy(outcome.case)) for outcome in answered)
            if all(difference(v, outcome.value) is None for v, outcome in zip(values, answered, strict=True)):
                return f"That is what comes out when one {hint}."
        except (Exception, SystemExit):  # this mistake can't be made on these inputs, or the value can't be compared
            continue
    return ""


def _common(exercise: Exercise, tried: list[Outcome]) -> str:
    """What the values have in common with the right ones on all inputs; else what the wrong inputs share."""
    if any(outcome.stopped for outcome in tried):
        return ""
    if exercise.judge is None:
        answers = [answer for outcome in tried if (answer := _answer(exercise, outcome))]
        if len(answers) < len(tried):  # not to be compared: that has been said
            return ""
        if common := relation(answers):
            return common
    right = (outcome.case for outcome in tried if outcome.problem is None)
    return where_wrong(right, (outcome.case for outcome in tried if outcome.problem is not None))


def _answer(exercise: Exercise, outcome: Outcome) -> Answer | None:
    """The input with the right value and the one returned, if they can be compared."""
    right = as_array(exercise.right(outcome.case))
    try:
        given = as_array(outcome.value)
    except (TypeError, ValueError):
        return None
    if right.ndim == 0 and given.size == 1:
        given = given.reshape(())
    return (outcome.case, right, given) if given.shape == right.shape else None
