r"""TeX as MathML, which browsers set themselves: in the pages, on slides, in the EPUB.

Pandoc converts the formulas, all those of a build in one call. Here signs get the room that TeX gives them, and a long
formula gets places where a line may break. A formula that Pandoc cannot read stops the build.
"""

import json
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import chain
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pypandoc
from docutils import nodes

#: What Pandoc reads with a better result: upright words, whose letters it would set one by one, and names with limits.
_READ_AS = {r"\mathbf{": r"\textbf{", r"\mathrm{": r"\text{", r"\mathop{\text{": r"\operatorname*{{"}
_READ_AS |= {r"\mathop{": r"\operatorname*{", r"\lVert": r"\|", r"\rVert": r"\|"}
#: Signs above letters that Pandoc has as combining characters, for which fonts have no stretched form.
_ACCENTS = str.maketrans("\u0302\u0303\u0307\u20e1∥", "ˆ˜˙↔‖")
_SCRIPTED = {"msub", "msup", "msubsup", "munder", "mover", "munderover"}
_THIN, _STIFF = {"width": "0.167em"}, {"lspace": "0", "rspace": "0"}
#: Signs before which no line breaks, and the number of elements from which on a formula may be broken.
_TOGETHER, _LONG = ",;∑∏∫⋃⋂/", 9

#: Formulas that have been converted, with whether each stands in a line of its own.
_known: dict[tuple[str, bool], Element] = {}


def convert(formulas: Iterable[tuple[str, bool]]) -> None:
    """Convert formulas at once, so that those that stand in a line of their own (True) or in the text are known."""
    asked = [one for one in dict.fromkeys(formulas) if one not in _known]
    maths = [{"t": "Math", "c": [{"t": ("InlineMath", "DisplayMath")[block]}, _read_as(tex)]} for tex, block in asked]
    document = {"pandoc-api-version": [1, 23], "meta": {}, "blocks": [{"t": "Plain", "c": [one]} for one in maths]}
    try:
        made = pypandoc.convert_text(json.dumps(document), "html", "json", ["--mathml", "--fail-if-warnings"])
    except RuntimeError as error:
        raise ValueError(f"formulas must be TeX that Pandoc reads, got one that it does not:\n{error}") from None
    plain = re.sub(' xmlns="[^"]*"', "", made)
    for one, math in zip(asked, ElementTree.fromstring(f"<all>{plain}</all>"), strict=True):
        row = math[0][0]  # beside it is the TeX
        _known[one] = row if row.tag == "mrow" else _element("mrow", row)
        _tidy(_known[one], script=False)


def mathml(tex: str, *, block: bool = False) -> str:
    r"""Return a formula in one piece.

    >>> mathml(r"1\dots n")
    '<math><mn>1</mn><mi>…</mi><mi>n</mi></math>'
    """
    return _math(_converted(tex, block), block)


def pieces(tex: str, *, block: bool = False) -> str:
    """Return a formula in several elements if it is long; a line may break before its relations and sums.

    Parts with much room between them stay whole, each in its line, as long as there is room for that.
    """
    row, parts, depth = _converted(tex, block), [[[]]], 0  # type: ignore[var-annotated]
    if len(row) < _LONG:
        return _math(row, block)
    for at, one in enumerate(row):
        begun = any(other.tag != "mspace" and other.get("form") != "prefix" for other in parts[-1][-1])
        sign = one.tag == "mo" and "form" not in one.attrib and one.text not in _TOGETHER
        if sign and begun and not depth and at < len(row) - 1:
            one.set("form", "infix")
            parts[-1].append([])
        parts[-1][-1].append(one)
        depth += (one.get("form") == "prefix") - (_bases(one)[-1].get("form") == "postfix")
        if one.get("width") == "2.0em" and begun and not depth:
            parts.append([[]])
    lines = ["<wbr/>".join(_math(piece, block) for piece in part if piece) for part in parts]
    return lines[0] if len(lines) == 1 else "<wbr/>".join(f'<span class="part">{line}</span>' for line in lines)


def _read_as(tex: str) -> str:
    for written, read in _READ_AS.items():
        tex = tex.replace(written, read)
    return tex


def _converted(tex: str, block: bool) -> list[Element]:
    if (tex, block) not in _known:
        convert([(tex, block)])
    return list(deepcopy(_known[tex, block]))


def _math(row: Iterable[Element], block: bool) -> str:
    xml = "".join(ElementTree.tostring(one, encoding="unicode") for one in row)
    return f'<math displaystyle="true">{xml}</math>' if block else f"<math>{xml}</math>"


def _element(tag: str, *inside: Element, **attributes: str) -> Element:
    made = Element(tag, attributes)
    made.extend(inside)
    return made


def _bases(one: Element) -> list[Element]:
    """Return an element and what its scripts are attached to."""
    return [one, *(_bases(one[0]) if one.tag in _SCRIPTED else [])]


def _named(one: Element) -> bool:
    """Return whether an element is the name of a function, such as log or max."""
    base = _bases(one)[-1]
    upright = base.tag == "mi" and base.get("mathvariant") == "normal"
    return upright and (len(base.text or "") > 1 or one.tag == "munder")


def _tidy(one: Element, *, script: bool) -> None:
    """Give the signs within an element the room that TeX gives them: none within scripts, some about names."""
    for at, child in enumerate(one):
        _tidy(child, script=script or (at > 0 and one.tag in _SCRIPTED))
    if one.tag == "mover" and one[1].get("accent") == "true":
        one.set("accent", "true")  # else it is small
        one[1].set("stretchy", "true" if one[1].text in ("¯", "↔") else "false")
    one.tail, one.text = None, (one.text or "").translate(_ACCENTS) or None
    one.tag = "mo" if "minsize" in one.attrib else one.tag  # also a stroke
    if one.tag == "mo" and (script or one.text in ("|", "‖") or "minsize" in one.attrib):
        one.attrib |= _STIFF
    elif one.tag == "mtable" and (right := one.find(".//mtd")) is not None:
        if "right" in right.get("style", ""):  # sides of aligned equations
            one.set("displaystyle", "true")
        for cell in one.iter("mtd") if script else ():
            cell.set("style", "padding: 0")
    elif one.tag in ("mrow", "mtd", "mstyle"):
        one[:] = [*_spaced(_unwrapped(one))]


def _unwrapped(row: Iterable[Element]) -> Iterator[Element]:
    """Yield the elements of a row without needless rows, and without the sign that says that a name is applied."""
    for one in row:
        for base in _bases(one)[:-1]:
            base[0] = base[0][0] if base[0].tag == "mrow" and len(base[0]) == 1 else base[0]
        if one.text != "\u2061":
            yield one[0] if one.tag == "mrow" and len(one) == 1 else one


def _spaced(row: Iterable[Element]) -> Iterator[Element]:
    """Yield a row with room about names, with bars that open and close, and with signs between two things."""
    before, opened, elements = "start", set(), [*row]  # type: ignore[var-annotated]
    bars = [_bases(one)[-1].text for one in elements]
    for one in elements:
        base = _bases(one)[-1]
        if base.text in ("|", "‖"):
            opened ^= {base.text}
            base.set("form", "prefix" if base.text in opened else "postfix")
            base.set("stretchy", "true" if "minsize" in base.attrib else "false")
            if bars.count(base.text) == 1 and "minsize" not in base.attrib:  # between two things
                base.attrib |= {"form": "infix", "lspace": ".278em", "rspace": ".278em"}
        if one.tag == "mi" and one.text in ("+", "−") and before in ("plain", "name"):
            one.tag = "mo"
        sign = base.get("form", "infix") if base.tag == "mo" and base.text not in "∑∏∫⋃⋂" else ""
        kind = "name" if _named(one) else "plain" if sign in ("", "postfix") else sign
        if one.tag == "mspace":
            kind = "space"
        elif (kind == "name" and before in ("plain", "name")) or (before == "name" and kind == "plain"):
            yield _element("mspace", **_THIN)
        yield one
        before = kind


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension: it sets the formulas of the pages."""

    def shown(node: nodes.Element) -> tuple[str, bool]:
        tex, block = node.astext().strip(), isinstance(node, nodes.math_block)
        if block and "\\\\" in tex and not re.search(r"\\(begin|substack)", tex):
            tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
        return tex, block

    def keep(app: Any, doctree: nodes.document) -> None:
        found = [shown(node) for kind in (nodes.math, nodes.math_block) for node in doctree.findall(kind)]
        app.env.formulas = {**getattr(app.env, "formulas", {}), app.env.docname: found}

    def inline(writer: Any, node: nodes.Element) -> None:
        writer.body.append(f'<span class="math">{pieces(shown(node)[0])}</span>')
        raise nodes.SkipNode

    def display(writer: Any, node: nodes.Element) -> None:
        writer.body.append(writer.starttag(node, "div", CLASS="math"))
        writer.body.append(f'<span class="formula">{pieces(shown(node)[0], block=True)}</span>')
        if node["number"]:
            writer.body.append(f'<span class="eqno">({node["number"]})')
            writer.add_permalink_ref(node, "Link to this equation")
            writer.body.append("</span>")
        writer.body.append("</div>\n")
        raise nodes.SkipNode

    app.connect("doctree-read", keep)
    app.connect("env-updated", lambda app, env: convert(chain(*getattr(env, "formulas", {}).values())))
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
