"""Exercises that answer back: `check` tells at once whether a function is right, and what it got wrong."""

from rankbook.kit.check.check import Feedback, check
from rankbook.kit.check.spec import find, names

__all__ = ["Feedback", "check", "find", "names"]
