"""Exercises that answer back: `check` tells at once whether a function is right, and what it got wrong.

One file a chapter holds what is asked, the inputs, the right values, by `rankedu.reference` wherever that has the
definition, and the mistakes that people make.
"""

from __future__ import annotations

from rankbook.kit.check.check import Feedback, check
from rankbook.kit.check.registry import find, names

__all__ = ["Feedback", "check", "find", "names"]
