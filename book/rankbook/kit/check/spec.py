"""What an exercise is made of: a statement, inputs, the definition, and the mistakes people make."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Case = dict[str, Any]


@dataclass(frozen=True)
class Exercise:
    """One exercise."""

    statement: str  #: one sentence that begins with the call, ``name(scores, relevance): …``
    reference: Callable[..., Any]  #: the right value for an input, from `rankedu.reference` where that has it
    cases: Callable[[], list[Case]]  #: the inputs, the same ones each time, the easiest to read first
    #: Known wrong functions, which need not be able to treat every input; a hint completes "what comes out when one …".
    mistakes: Sequence[tuple[Callable[..., Any], str]]
    #: What is wrong with an answer, or None, where several are right; default: compared with the reference.
    judge: Callable[[Case, Any], str | None] | None = None
    #: ``use(answer, *inputs)`` is compared, where the answer is something to be used, such as a layer.
    use: Callable[..., Any] | None = None
    #: What to hand over, "numpy" or "torch"; a function that raises with the first is tried with the second.
    arrays: Sequence[str] = ("numpy", "torch")

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.statement[: self.statement.index("(")]

    def right(self, case: Case) -> Any:
        """The right value for an input, which is left as it is."""
        return self.reference(*copy.deepcopy(case).values())

    @property
    def arguments(self) -> list[str]:
        """The names of the arguments that the reader's function takes, as the statement has them."""
        listed = self.statement[self.statement.index("(") + 1 : self.statement.index(")")]
        return [name.strip() for name in listed.split(",") if name.strip()]
