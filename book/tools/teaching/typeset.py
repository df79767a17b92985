"""Markdown with formulas as HTML that needs no scripts and no fonts: a formula is a drawing with its TeX as a name."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

#: Short names that matplotlib does not know, and sizes of brackets, which it leaves as they are.
_SHORT = {"ge": r"\geq", "le": r"\leq", "ne": r"\neq", "to": r"\rightarrow", "lvert": "|", "rvert": "|"}
_ALIAS = re.compile(r"\\(?:(?P<short>" + "|".join(_SHORT) + r")(?![a-zA-Z])|[bB]ig[lr]?(?![a-zA-Z]))")
#: Codes of matplotlib's paths as commands of SVG.
_COMMANDS = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
SIZE = 100.0  # of the letters while they are drawn; a hundredth of it is an em


def to_html(markdown: str) -> str:
    """Paragraphs, emphasis and formulas; links are shown by their text alone."""
    parser = MarkdownIt("commonmark").use(dollarmath_plugin, allow_space=False, renderer=_formula)
    parser.add_render_rule("link_open", lambda *_: "")
    parser.add_render_rule("link_close", lambda *_: "")
    found: str = parser.render(markdown)
    return found


def _formula(tex: str, options: dict[str, bool]) -> str:
    drawn = formula(" ".join(tex.split()))
    return f'<p class="formula">{drawn}</p>' if options.get("display_mode") else drawn


@cache
def formula(tex: str) -> str:
    """A formula as SVG that stands on the line of the text around it."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser
    from matplotlib.textpath import TextPath

    font = FontProperties(size=SIZE, math_fontfamily="dejavuserif")
    known = "$" + _ALIAS.sub(lambda found: _SHORT.get(found["short"] or "", ""), tex) + "$"
    try:
        width, height, depth, *_ = MathTextParser("path").parse(known, dpi=72, prop=font)
    except ValueError as error:
        raise ValueError(
            f"formula must be in the TeX of matplotlib, got {tex!r}: say it in words on a slide"
        ) from error
    path = ""
    for points, code in TextPath((0, 0), known, prop=font).iter_segments(simplify=False):
        numbers = [-y if at % 2 else y for at, y in enumerate(points)] if code != 79 else []  # SVG counts downwards
        path += _COMMANDS[code] + " ".join(f"{number:.1f}" for number in numbers)
    box = f"0 {depth - height:.1f} {width:.1f} {height:.1f}"
    style = f"width:{width / SIZE:.3f}em;height:{height / SIZE:.3f}em;vertical-align:{-depth / SIZE:.3f}em"
    return (
        f'<svg class="math" role="img" aria-label="{escape(tex)}" viewBox="{box}" style="{style}">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )
