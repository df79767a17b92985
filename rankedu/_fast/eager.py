"""Losses step aside when somebody compiles: they look at their data, and a graph would be made anew at each call."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch

Forward = TypeVar("Forward", bound=Callable[..., Any])


def eager(method: Forward) -> Forward:
    """Run a method as it is, within ``torch.compile`` too: the graph ends before it and begins again behind it."""
    disabled: list[Any] = []  # asked for late: it imports the compiler, which takes as long as importing torch

    @functools.wraps(method)
    def aside(*args: Any, **options: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            return method(*args, **options)
        if not disabled:
            disabled.append(torch.compiler.disable(method))
        return disabled[0](*args, **options)

    return cast(Forward, aside)
