"""TeX as MathML, for outputs without MathJax: slides, handouts, the EPUB and the PDF."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

_INNER = r"((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)"
#: TeX that docutils does not read, and an equivalent that it reads.
_READ_AS = {
    r"\\dots(?![a-z])": r"\\ldots",
    r"\\mathop(?![a-z])": "",
    r"\\operatorname\*\{arg\\,": r"\\operatorname{arg",
    r"\\overleftrightarrow\{([^{}]*)\}_(\w)": r"\\overleftrightarrow{\1_\2}",
    r"\\[bB]igg?(?![a-zA-Z])": "",
    r"\\substack\{" + _INNER + r"\}": r"\\begin{matrix}\1\\end{matrix}",
    r"(\\[td]?frac)\s*(\d)\s*(\d)": r"\1{\2}{\3}",
    r"\A\s*(?=[_^])": "{}",
    "…": r"\\ldots ",
    "−": "-",
    "°": r"^\\circ",
}


def mathml(tex: str, *, block: bool = False) -> str:
    r"""Return a formula as MathML, with braces and bars in the size that TeX gives them.

    >>> "".join(mathml(r"1\dots n").split())
    '<mathxmlns="http://www.w3.org/1998/Math/MathML"><mn>1</mn><mi>…</mi><mi>n</mi></math>'
    """
    read = tex
    for pattern, replacement in _READ_AS.items():
        read = re.sub(pattern, replacement, read)
    try:
        made = str(tex2mathml(read, as_block=block))
    except (MathError, IndexError) as error:
        raise ValueError(f"formula must be in the TeX of docutils, got {tex!r}: write it otherwise") from error
    made = made.replace("&ApplyFunction;", "\u2061")  # XHTML does not have this entity
    return re.sub(r"<mo>([{}‖])</mo>", r'<mo stretchy="false">\1</mo>', made)


def visit(translator: Any, node: Any) -> None:
    """Write a formula, or a block of them with its number, into a page of HTML."""
    tex = re.sub(r"\\(begin|end)\{(split|align\*?)\}", r"\\\1{aligned}", node.astext())
    if isinstance(node, nodes.math):
        translator.body.append(mathml(tex))
    else:
        number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
        lines = (
            tex.split("\\qquad") if len(tex) > 120 and "\\begin" not in tex else [tex]
        )  # they would not fit in one row
        made = "".join(mathml(line, block=True) for line in lines)
        translator.body.append(translator.starttag(node, "div", CLASS="formula") + number + made + "</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension: `html_math_renderer = "mathml"` chooses it."""
    app.add_html_math_renderer("mathml", (visit, None), (visit, None))
    return {"parallel_read_safe": True}
