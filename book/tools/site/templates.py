"""The templates of what the book's tools draw; values are escaped where `| e` says so."""

from __future__ import annotations

import html
import json
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).resolve().parents[2] / "_templates"), keep_trailing_newline=True
    )
    found.filters |= {"e": html.escape, "json": partial(json.dumps, ensure_ascii=False)}
    return found


def filled(template: str, /, **values: object) -> str:
    """A template of `book/_templates` with these values."""
    return _environment().get_template(template).render(values)
