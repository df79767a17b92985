"""What an exercise is made of: a statement, inputs, the definition, and the mistakes people make."""

from __future__ import annotations

import copy
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
        The statement is one sentence that begins with the call, ``name(scores, relevance): …``.
    reference : callable
        The right value for an input, from `rankedu.reference` where that has it.
    cases : callable
        Returns the inputs, the same ones each time, the easiest to read first.
    mistakes : sequence of Mistake
    judge : callable, optional
        ``judge(case, answer)`` returns what is wrong with an answer, or None. For exercises with several right answers;
        default: compare with the reference to five digits.
    use : callable, optional
        ``use(answer, *inputs)`` returns what is compared, where the answer is something to be used, such as a layer.
        Default: call the answer with the inputs.
    arrays : sequence of str
        What to hand over, "numpy" or "torch"; a function that raises with the first is tried with the second.
    """

    name: str
    statement: str
    reference: Callable[..., Any]
    cases: Callable[[], list[Case]]
    mistakes: Sequence[Mistake]
    judge: Callable[[Case, Any], str | None] | None = None
    use: Callable[..., Any] | None = None
    arrays: Sequence[str] = ("numpy", "torch")

    def right(self, case: Case) -> Any:
        """The right value for an input, which is left as it is."""
        return self.reference(*copy.deepcopy(case).values())

    @property
    def arguments(self) -> list[str]:
        """The names of the arguments that the reader's function takes, as the statement has them."""
        listed = self.statement[self.statement.index("(") + 1 : self.statement.index(")")]
        return [name.strip() for name in listed.split(",") if name.strip()]
