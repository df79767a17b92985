"""What `check` says: whether a function is right, and if not, on which input and in which way it is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, repr=False)
class Feedback:
    """What `check` found. It prints as a short message, and counts as true if the function is right."""

    name: str  #: of the exercise
    passed: bool  #: whether every case was right
    message: str  #: if not, the first input that went wrong, what came out, and in which way that is wrong
    hint: str = ""  #: the kind of mistake, if it is a known one, or what the wrong values have in common
    right: int = 0  #: cases that were right
    cases: int = 0

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.name}: {self.message}" + (f"\n  {self.hint}" if self.hint else "")

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        hint = f"\n\n{_escaped(self.hint)}" if self.hint else ""
        return f"{'✓' if self.passed else '✗'} `{self.name}`: {_escaped(self.message)}{hint}"


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_<>$|#~])", r"\\\1", text)
