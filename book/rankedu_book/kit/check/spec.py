"""What an exercise is made of: a statement, inputs, the definition, and the mistakes people make; and all of them."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from rankedu_book.kit import modules
from rankedu_book.kit.check.compare import numbers

Array = np.ndarray[Any, Any]
Case = dict[str, Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def as_array(value: Any) -> Array:
    """Turn a number, list, array or tensor into an array; anything else raises TypeError or ValueError."""
    return np.asarray(numbers(value), dtype=np.float64)


def unit(vectors: Array) -> Array:
    """Bring each row to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def in_numpy(function: Callable[..., Any]) -> Callable[..., Array]:
    """Turn the lists that a function returns into arrays."""
    return lambda *given: np.array(function(*given))


def plain(function: Function) -> Function:
    """Mark a function that the page can run: plain Python whose only globals are `math`, `reference` and `numbers`."""
    function.plain = True  # type: ignore[attr-defined]
    return function


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


def names(chapter: int | None = None) -> list[str]:
    """Names of the exercises in the order of the book, of one chapter or of all.

    >>> names(4)[0]
    'blackbox_rank'
    """
    return [name for name, (number, _) in _exercises().items() if chapter in (None, number)]


def find(name: str) -> Exercise:
    """Return the exercise of this name, with its statement, its inputs and the right values.

    >>> find("lam_code").reference(4.0, 20)
    0.2
    """
    if name not in _exercises():
        raise ValueError(f"name must be one of {', '.join(names())}; got {name!r}")
    return _exercises()[name][1]


@cache
def _exercises() -> dict[str, tuple[int, Exercise]]:
    """Name → number of the chapter, and the exercise."""
    found = {}
    for module in modules("exercises.py"):
        number = int(module.removeprefix("rankedu_book.ch")[:2])
        found.update({one.name: (number, one) for one in import_module(module).EXERCISES})
    return found
