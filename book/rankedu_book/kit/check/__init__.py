"""Exercises that answer back: `check` tells at once whether a function is right, and what it got wrong."""

from rankedu_book.kit.check.check import Feedback, check
from rankedu_book.kit.check.spec import find, names

__all__ = ["Feedback", "check", "find", "names"]
