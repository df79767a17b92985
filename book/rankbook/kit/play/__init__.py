"""Exercises in the page: Brython runs a reader's code there, on the inputs that the notebooks use."""

from rankbook.kit.play.engine import PAGE, in_page, script

__all__ = ["PAGE", "in_page", "script"]
