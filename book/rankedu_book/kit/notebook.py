"""What the notebook of a chapter starts from: one import brings the names that every chapter uses and `%%predict`.

Sums that run on several threads differ in their last digit, so PyTorch uses one.
"""

import inspect
import os
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import ipywidgets
import numpy as np
import torch
from ipywidgets import FloatLogSlider, FloatSlider, IntSlider, SelectionSlider

from rankedu.rankers import NoStepWarning
from rankedu_book.kit import style
from rankedu_book.kit.check import check
from rankedu_book.kit.figures import show, show_source
from rankedu_book.kit.predict import predict

__all__ = [
    "FloatLogSlider",
    "FloatSlider",
    "IntSlider",
    "SelectionSlider",
    "check",
    "interact",
    "np",
    "predict",
    "show",
    "show_source",
    "style",
    "text_says",
    "torch",
]

torch.set_num_threads(1)
warnings.simplefilter("ignore", NoStepWarning)  # studies go down to strengths at which no item moves


def interact(**sliders: ipywidgets.Widget) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Draw a function again whenever one of the sliders of its parameters moves, as `ipywidgets.interact` does.

    A committed notebook has no kernel behind its sliders. It is executed with ``RANKEDU_EXPLORABLES=static``, and then
    the function runs once, with the value that each slider has at first.

    >>> os.environ["RANKEDU_EXPLORABLES"] = "static"
    >>> @interact(lam=FloatSlider(value=2.0, min=0.5, max=8.0, description="λ"))
    ... def your_own_slider(lam):
    ...     print(f"λ = {lam}")
    λ = 2.0
    """
    if os.environ.get("RANKEDU_EXPLORABLES") != "static":
        return ipywidgets.interact(**sliders)

    def once(draw: Callable[..., Any]) -> Callable[..., Any]:
        inspect.signature(draw).bind(**sliders)
        draw(**{name: slider.value for name, slider in sliders.items()})
        return draw

    return once


def text_says(written: str | tuple[str, ...], value: Any) -> None:
    """Compare a number in the text, written in one or several ways, with its value; print a line where they differ.

    >>> text_says("0.33", 1 / 3)
    >>> text_says(("33%", "0.333"), 0.34)
    The text says 33%, and here the value is 34%.
    The text says 0.333, and here the value is 0.340.
    """
    for one in [written] if isinstance(written, str) else written:
        if (found := _as_written(one, value)) != one:
            print(f"The text says {one}, and here the value is {found}.")


def _as_written(written: str, value: Any) -> str:
    """A value with the digits, the separators and the unit of a number as it is written."""
    if isinstance(value, str):
        return value
    number = written.removesuffix("%").replace(",", "").replace("−", "-")
    if not _is_number(number):
        return str(value)
    digits = max(0, -int(Decimal(number.partition("e")[0]).as_tuple().exponent))
    kind = f".{digits}e" if "e" in number else f",.{digits}f" if "," in written else f".{digits}f"
    shown = format(100 * float(value), kind) + "%" if written.endswith("%") else format(float(value), kind)
    return shown.replace("-", "−") if "−" in written else shown


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False
