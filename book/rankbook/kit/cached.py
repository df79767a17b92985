"""`functools.cache` that knows default values: `trained()` and `trained(20)` are one call if 20 is the default."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def cached(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compute once for all calls that mean the same, however they give the arguments.

    >>> @cached
    ... def square(n: int = 3) -> int:
    ...     print("computing")
    ...     return n * n
    >>> square(), square(3), square(n=3)
    computing
    (9, 9, 9)
    """
    signature, kept = inspect.signature(function), functools.cache(function)

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return kept(*bound.args, **bound.kwargs)

    return call
