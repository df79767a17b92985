"""Definitions of `rankedu.reference`, shown in the chapters as they stand there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.display import Markdown


def show_source(*functions: Callable[..., Any]) -> Markdown:
    """Return the source of functions, which a notebook displays as highlighted code, and a page of the book, too."""
    from IPython.display import Markdown

    source = "\n\n".join(map(inspect.getsource, functions))
    return Markdown(f"```python\n{source}```")
