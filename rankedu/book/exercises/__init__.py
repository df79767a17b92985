"""Exercises that answer back: `check` tells at once whether a function is right, and what it got wrong.

One file a chapter holds the statements, the inputs, the readable reference and the mistakes that people make.
"""

from __future__ import annotations

from rankedu.book.exercises.check import Feedback, check, names, reference, solution, statement

__all__ = ["Feedback", "check", "names", "reference", "solution", "statement"]
