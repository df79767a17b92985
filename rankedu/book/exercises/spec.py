"""What an exercise is made of: a statement, inputs, the definition, and the mistakes people make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Case = dict[str, Any]


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer.

    Attributes
    ----------
    function : callable
        Computes it. It need not be able to treat every input.
    hint : str
        Completes the sentence "that is what comes out when one …".
    """

    function: Callable[..., Any]
    hint: str


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    name, statement : str
        The name is that of the reference; the statement is one sentence.
    reference : callable
        The definition, written to be read; it needs nothing but NumPy.
    cases : callable
        Returns the inputs, the same ones each time, the easiest to read first.
    mistakes : sequence of Mistake
    judge : callable, optional
        ``judge(case, answer)`` returns what is wrong with an answer, or None. For exercises with several right answers;
        default: compare with the reference to five digits.
    arrays : sequence of str
        What to hand over, "numpy" or "torch"; a function that raises with the first is tried with the second.
    """

    name: str
    statement: str
    reference: Callable[..., Any]
    cases: Callable[[], list[Case]]
    mistakes: Sequence[Mistake]
    judge: Callable[[Case, Any], str | None] | None = None
    arrays: Sequence[str] = ("numpy", "torch")
