"""Exercises in the page: Brython runs a reader's code there, on the inputs that the notebooks use."""

from rankedu_book.kit.play.engine import PAGE, in_page, script

__all__ = ["PAGE", "in_page", "script"]
