"""Who may import from whom, as a picture: drawn from the contracts in `pyproject.toml` that `lint-imports` checks."""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

from ranklab import CHECKOUT

#: Pixels: height of a row, of a box, and width of the picture.
PITCH, HEIGHT, WIDTH = 34, 26, 640


class Stack(NamedTuple):
    """The parts of a package in rows; what stands above is used by what stands below."""

    title: str
    rows: list[list[str]]


def stacks() -> list[Stack]:
    """The contracts in their order, what everybody uses at the top."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    found = [one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    return [Stack(one["name"], [re.findall(r"[\w.]+", row) for row in reversed(one["layers"])]) for one in found]


def draw() -> str:
    """The picture: an SVG that takes its colours from the page, so that it can be read in the dark too."""
    found, parts, top = stacks(), [], 0.0
    for stack in found:
        parts.append(
            f'<text x="0" y="{top + 20:g}" fill="currentColor" font-weight="bold">{escape(stack.title)}</text>'
        )
        top += PITCH
        for row in stack.rows:
            parts += [_box(name, at, len(row), top) for at, name in enumerate(row)]
            top += PITCH
        top += PITCH / 2
    words = ". ".join(f"{one.title}: {'; '.join(', '.join(row) for row in one.rows)}" for one in found)
    return (
        f'<svg class="architecture" role="img" aria-label="{escape(words)}" viewBox="0 0 {WIDTH} {top:g}" '
        'style="width: 100%; height: auto; color: var(--pst-color-text-base)" font-family="inherit" font-size="14" '
        'xmlns="http://www.w3.org/2000/svg">' + "\n".join(["", *parts, "</svg>", ""])
    )


def _box(name: str, at: int, of: int, top: float) -> str:
    width = (WIDTH - 8 * (of - 1)) / of
    left = at * (width + 8)
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{HEIGHT}" rx="5" stroke="currentColor" '
        f'fill="var(--pst-color-surface)"/><text x="{left + width / 2:g}" y="{top + 18:g}" text-anchor="middle" '
        f'fill="currentColor">{name}</text>'
    )
