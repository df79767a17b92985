r"""TeX as MathML, which browsers set themselves: in the pages, on slides and handouts, in the EPUB.

A formula that cannot be converted stops the build. What is read is the part of TeX that the book uses: letters in their
alphabets, fractions, roots, accents, scripts, delimiters of every size, and tables (`cases`, `aligned`, `substack`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|\d+(?:\.\d+)?|\.\d+|:=|\s+|.", re.DOTALL)
_SPACES = {"\\,": 3, "\\:": 4, "\\>": 4, "\\;": 5, "\\!": -3, "\\ ": 4.5, "~": 4.5, "\\quad": 18, "\\qquad": 36}


def _table(text: str) -> dict[str, str]:
    """Every second word by the one before it."""
    return dict(zip(text.split()[::2], text.split()[1::2], strict=True))


_LETTERS = _table(
    "alpha α beta β gamma γ delta δ zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ chi χ"
    " psi ψ omega ω epsilon ϵ varepsilon ε phi ϕ varphi φ ell ℓ partial ∂"
)
_UPRIGHT = _table(
    "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω infty ∞ nabla ∇ top ⊤ bot ⊥ emptyset ∅"
    " dots … ldots … cdots ⋯ vdots ⋮ forall ∀ exists ∃ % % # # & & _ _ $ $"
)
_BINARY = _table(
    "+ + - − − − * ∗ · ⋅ × × ± ± cdot ⋅ times × pm ± cup ∪ cap ∩ circ ∘ setminus ∖ ast ∗ wedge ∧ vee ∨ oplus ⊕"
)
_RELATIONS = _table(
    "= = < < > > : : := := ≤ ≤ ≥ ≥ ≠ ≠ ≈ ≈ → → ∈ ∈ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ in ∈"
    " notin ∉ subset ⊂ subseteq ⊆ supseteq ⊇ to → rightarrow → leftarrow ← longrightarrow ⟶ mapsto ↦ implies ⟹ iff ⟺"
    " Longleftrightarrow ⟺ Leftrightarrow ⇔ Rightarrow ⇒ perp ⟂ mid ∣ parallel ∥ ll ≪ gg ≫ propto ∝"
)
_OPEN = _table(r"( ( [ [ \{ { \lVert ‖ \lvert | \lceil ⌈ \lfloor ⌊ \langle ⟨")
_CLOSE = _table(r") ) ] ] \} } \rVert ‖ \rvert | \rceil ⌉ \rfloor ⌋ \rangle ⟩")
_BARS = _table(r"| | \| ‖ \vert | \Vert ‖")
_LARGE = _table("sum ∑ prod ∏ int ∫ bigcup ⋃ bigcap ⋂")
_FUNCTIONS = {
    *("log", "ln", "exp", "cos", "sin", "tan", "cosh", "sinh", "tanh", "arcosh"),
    *("arg", "deg", "det", "dim", "ker"),
}
_LIMITS = {"min", "max", "sup", "inf", "lim", "Pr"}
_ACCENTS = _table("bar ¯ hat ˆ tilde ˜ dot ˙ vec →")
_STRETCHED = _table("overline ¯ widehat ˆ widetilde ˜ overleftrightarrow ↔ overrightarrow →")
_SIZES = {"big": 1.2, "Big": 1.623, "bigg": 2.047, "Bigg": 2.47}
#: Alphabet → where its capitals, small letters and digits begin, and letters that Unicode had before.
_ALPHABETS: dict[str, tuple[int, int, int, dict[str, str]]] = {
    "mathbf": (0x1D400, 0x1D41A, 0x1D7CE, {}),
    "boldsymbol": (0x1D468, 0x1D482, 0x1D7CE, {}),
    "mathcal": (0x1D49C, 0, 0, _table("B ℬ E ℰ F ℱ H ℋ I ℐ L ℒ M ℳ R ℛ")),
    "mathbb": (0x1D538, 0, 0, _table("C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ")),
}
_UPRIGHT_ALPHABETS = {"mathrm", "rm", "operatorname", "mathsf", "mathit"}
#: Kinds before which a sign is not between two things, so that + and − belong to what follows.
_BEFORE_A_TERM = {"start", "binary", "relation", "open", "comma", "large", "function"}
_TIGHT, _STIFF, _DISPLAY = ' lspace="0" rspace="0"', ' stretchy="false"', ' displaystyle="true"'
#: Atoms of a formula in the text above which it may be broken.
_LONG = 9


@dataclass
class Atom:
    """A part of a formula, and what it is to its neighbours."""

    xml: str
    kind: str = "plain"  # start, plain, binary, relation, open, close, comma, large, function, limits, space


def mathml(tex: str, *, block: bool = False) -> str:
    r"""A formula in one piece.

    >>> mathml(r"1\dots n")
    '<math><mn>1</mn><mi mathvariant="normal">…</mi><mi>n</mi></math>'
    """
    return _math(_Reader(tex, block).row(), block)


def pieces(tex: str, *, block: bool = False) -> str:
    """A formula of several elements if it is long; between them, before its relations and sums, a line may break.

    Formulas with much room between them stay whole, each in its line, as long as there is room for that.
    """
    atoms, parts, depth = _Reader(tex, block).row(), [[[]]], 0
    if len(atoms) < _LONG:
        return _math(atoms, block)
    for at, atom in enumerate(atoms):
        piece = parts[-1][-1]
        begun = any(one.kind not in {"space", "open"} for one in piece)
        if atom.kind in {"relation", "binary"} and not depth and begun and at < len(atoms) - 1:
            parts[-1].append([Atom(atom.xml.replace("<mo", '<mo form="infix"', 1), atom.kind)])
        else:
            piece.append(atom)
        depth += (atom.kind == "open") - (atom.kind == "close")
        if atom.xml == _space(_SPACES["\\qquad"]) and not depth and begun:
            parts.append([[]])
    lines = ["<wbr/>".join(_math(piece, block) for piece in part if piece) for part in parts]
    return lines[0] if len(lines) == 1 else "<wbr/>".join(f'<span class="part">{line}</span>' for line in lines)


def _math(atoms: list[Atom], block: bool) -> str:
    return f"<math{_DISPLAY * block}>{''.join(atom.xml for atom in atoms)}</math>"


def _space(eighteenths: float) -> str:
    return f'<mspace width="{eighteenths / 18:.3g}em"/>'


def _row(atoms: list[Atom]) -> str:
    """One element."""
    xml = "".join(atom.xml for atom in atoms)
    return xml if len(atoms) == 1 and atoms[0].kind != "space" else f"<mrow>{xml}</mrow>"


def _fenced(first: str, inside: str, last: str) -> str:
    """Something between delimiters of its height."""
    ends = (("prefix", first), ("postfix", last))
    around = [f'<mo form="{form}" stretchy="true">{escape(one)}</mo>' if one else "" for form, one in ends]
    return f"<mrow>{around[0]}{inside}{around[1]}</mrow>"


class _Reader:
    """Reads TeX from left to right."""

    def __init__(self, tex: str, block: bool) -> None:
        self.tex, self.block = tex, block
        self.tokens = _TOKEN.findall(re.sub(r"(?<!\\)%[^\n]*\n", "", tex).strip())
        self.at = 0
        self.font = ""
        self.in_script = False

    def fail(self, why: str) -> ValueError:
        """What is raised where a formula cannot be read."""
        return ValueError(f"formula must be TeX that mathml.py reads, got {self.tex!r}: {why}")

    def peek(self) -> str:
        while self.at < len(self.tokens) and self.tokens[self.at].isspace():
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise self.fail(f"{expected or 'more'} is missing")
        self.at += 1
        return token

    def raw(self) -> str:
        """The text of a group, blanks included."""
        self.take("{")
        start, depth = self.at, 1
        while depth:
            if self.at >= len(self.tokens):
                raise self.fail("a brace is not closed")
            depth += (self.tokens[self.at] == "{") - (self.tokens[self.at] == "}")
            self.at += 1
        return "".join(self.tokens[start : self.at - 1])

    def row(self, *ends: str) -> list[Atom]:
        """Atoms up to one of these tokens, which is left, with the room that TeX gives to names of functions."""
        atoms: list[Atom] = []
        bars: list[str] = []  # that are open
        while (token := self.peek()) not in ends and token:
            atom = self.scripted(self.bar(atoms, bars) if token in _BARS else self.atom(atoms))
            before = atoms[-1].kind if atoms else "start"
            named = atom.kind in {"function", "limits"}
            if (before in {"plain", "close", "function"} and named) or (
                before == "function" and atom.kind in {"plain", "large"}
            ):
                atoms.append(Atom(_space(3), "space"))
            if atom.xml:
                atoms.append(atom)
        if ends and not self.peek() and "" not in ends:
            raise self.fail(f"{ends[0]} is missing")
        return atoms

    def argument(self, *, script: bool = False) -> str:
        """A group or a single token, as one element."""
        outer, self.in_script = self.in_script, self.in_script or script
        if self.peek() == "{":
            self.take()
            made = _row(self.row("}"))
            self.take("}")
        else:
            if re.fullmatch(r"\d{2,}", token := self.peek()):  # of 12 it takes the 1
                self.tokens[self.at : self.at + 1] = token
            made = self.atom([]).xml
        self.in_script = outer
        return made

    def scripted(self, base: Atom) -> Atom:
        """An atom with what stands below, above and beside it."""
        below = above = ""
        while (token := self.peek()) in {"_", "^", "'"}:
            self.take()
            if token == "_":
                below = self.argument(script=True)
            elif token == "^":
                above += self.argument(script=True)
            else:
                above += '<mo lspace="0" rspace="0">′</mo>'
        if not below and not above:
            return base
        xml = base.xml or "<mrow></mrow>"
        if above.count("<mo") > 1 and above.startswith("<mo") and not above.startswith("<mrow"):
            above = f"<mrow>{above}</mrow>"
        limits = base.kind == "limits" or (base.kind == "large" and "∫" not in xml)
        tags = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
        tag = tags[2] if below and above else tags[0] if below else tags[1]
        return Atom(f"<{tag}>{xml}{below}{above}</{tag}>", base.kind)

    def sign(self, text: str, kind: str, before: str) -> Atom:
        """+ or < with its room: none within scripts, and none for a sign of what follows."""
        about = ""
        if text == "∗" and self.in_script:
            text = "*"  # a star, as in y*, is small
        if kind == "binary" and before in _BEFORE_A_TERM:
            about, kind = ' form="prefix"' + _TIGHT, "plain"
        elif self.in_script:
            about = _TIGHT
        elif kind == "binary":
            about = ' lspace=".222em" rspace=".222em"'
        elif text in ":∣⟂":
            about = ' lspace=".278em" rspace=".278em"'
        return Atom(f"<mo{about}{_STIFF * (text in '→←↦⟶⟺⇔⇒⟹∣∥')}>{escape(text)}</mo>", kind)

    def bar(self, atoms: list[Atom], bars: list[str]) -> Atom:
        """A bar opens, closes, or stands between."""
        text = _BARS[self.take()]
        before = atoms[-1].kind if atoms else "start"
        if text in bars and before not in {"binary", "relation", "open"}:
            bars.remove(text)
            return Atom(f'<mo form="postfix" stretchy="false" lspace="0" rspace="0">{text}</mo>', "close")
        rest = self.tokens[self.at :]
        if before == "plain" and not any(token in _BARS for token in rest):
            return self.sign("∣", "relation", before)
        bars.append(text)
        return Atom(f'<mo form="prefix" stretchy="false" lspace="0" rspace="0">{text}</mo>', "open")

    def delimiter(self) -> str:
        """A delimiter; a dot stands for none."""
        token = self.take()
        found = {**_OPEN, **_CLOSE, **_BARS, ".": "", "/": "/", "<": "⟨", ">": "⟩"}.get(token)
        if found is None:
            raise self.fail(f"{token} is no delimiter")
        return found

    def letters(self) -> str:
        """What follows in the same upright alphabet, as one name."""
        found = self.take()
        while self.at < len(self.tokens) and re.fullmatch(r"[a-zA-Z]", self.tokens[self.at]):
            found += self.tokens[self.at]
            self.at += 1
        return found

    def letter(self, text: str) -> Atom:
        """Letters in the alphabet of this place; a single one is upright where that is said."""
        made = "".join(map(self.variant, text))
        upright = self.font and made == text and len(text) == 1
        return Atom(f'<mi mathvariant="normal">{made}</mi>' if upright else f"<mi>{made}</mi>")

    def variant(self, one: str) -> str:
        """A letter or a digit as the sign of its own that it has in an alphabet of formulas."""
        capital, small, digit, known = _ALPHABETS.get(self.font, (0, 0, 0, {}))
        start, first = (digit, "0") if one.isdigit() else (small, "a") if one.islower() else (capital, "A")
        return known.get(one) or (chr(start + ord(one) - ord(first)) if start and one.isascii() else one)

    def atom(self, atoms: list[Atom]) -> Atom:
        """The next atom, without its scripts."""
        before = next((one.kind for one in reversed(atoms) if one.kind != "space"), "start")
        token = self.peek()
        if re.fullmatch(r"[a-zA-Z]", token):
            return self.letter(self.letters() if self.font else self.take())
        if token in {"^", "_"}:
            return Atom("")
        self.take()
        if token == "{":
            outer, made = self.font, self.row("}")
            self.take("}")
            self.font = outer
            return made[0] if len(made) == 1 else Atom(_row(made))
        if re.match(r"\.?\d", token):
            return self.letter(token) if self.font in _ALPHABETS else Atom(f"<mn>{token}</mn>")
        if token in _SPACES:
            return Atom(_space(_SPACES[token]), "space")
        if token in _OPEN:
            return Atom(f'<mo form="prefix" stretchy="false">{_OPEN[token]}</mo>', "open")
        if token in _CLOSE:
            return Atom(f'<mo form="postfix" stretchy="false">{_CLOSE[token]}</mo>', "close")
        if token in {",", ";"}:
            return Atom(f'<mo separator="true"{_TIGHT * self.in_script}>{token}</mo>', "comma")
        if token == "/":
            return Atom('<mo lspace="0" rspace="0">/</mo>', "plain")
        if token == "!":
            return Atom('<mo form="postfix" lspace="0" rspace="0">!</mo>')
        name = token[1:] if token.startswith("\\") else token
        if name in _BINARY:
            return self.sign(_BINARY[name], "binary", before)
        if name in _RELATIONS:
            return self.sign(_RELATIONS[name], "relation", before)
        if token.startswith("\\"):
            return self.command(name)
        if token in ".@?°½¼¾…⋯∞" or not token.isalpha():
            return Atom(f"<mtext>{escape(token)}</mtext>")
        return self.letter(token)

    def command(self, name: str) -> Atom:
        """What a command makes: a symbol, a name, or a structure around what follows."""
        if name in _LETTERS:
            return Atom(f"<mi>{_LETTERS[name]}</mi>")
        if name in _UPRIGHT:
            return Atom(f'<mi mathvariant="normal">{escape(_UPRIGHT[name])}</mi>')
        if name in _LARGE:
            return Atom(f"<mo>{_LARGE[name]}</mo>", "large")
        if name in _FUNCTIONS:
            return Atom(f"<mi>{name}</mi>", "function")
        if name in _LIMITS:
            return self.limits(name)
        if name in {"operatorname", "operatorname*", "mathop"}:
            text = self.name()
            return Atom(f"<mi>{escape(text)}</mi>", "function") if name == "operatorname" else self.limits(text)
        if name in _ALPHABETS or name in _UPRIGHT_ALPHABETS:
            outer, self.font = self.font, name
            made = self.argument()
            self.font = outer
            return Atom(made)
        if name in {"text", "textrm", "mbox", "textit", "textbf"}:
            return Atom("".join(self.words(self.raw())))
        if sized := re.fullmatch(r"(big|Big|bigg|Bigg)([lrm]?)", name):
            return self.sized(_SIZES[sized[1]], sized[2])
        return self.table(self.raw()) if name == "begin" else Atom(self.structure(name))

    def structure(self, name: str) -> str:
        """The element that a command makes around what follows."""
        if name in {"frac", "tfrac", "dfrac"}:
            made = f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
            styles = {"tfrac": "false", "dfrac": "true"}
            return f'<mstyle displaystyle="{styles[name]}">{made}</mstyle>' if name in styles else made
        if name == "binom":
            inside = f'<mfrac linethickness="0">{self.argument()}{self.argument()}</mfrac>'
            return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
        if name == "sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if name in _ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo stretchy="false">{_ACCENTS[name]}</mo></mover>'
        if name in _STRETCHED:
            return f'<mover accent="true">{self.argument()}<mo stretchy="true">{_STRETCHED[name]}</mo></mover>'
        if name == "left":
            first, inside = self.delimiter(), self.row("\\right")
            self.take("\\right")
            return _fenced(first, "".join(one.xml for one in inside), self.delimiter())
        if name == "substack":
            rows = [_Reader(line, False) for line in self.raw().split("\\\\")]
            for one in rows:
                one.in_script = True
            lines = "".join(f'<mtr><mtd style="padding:0">{_row(one.row())}</mtd></mtr>' for one in rows)
            return f"<mtable>{lines}</mtable>"
        if name in {"displaystyle", "textstyle"}:
            rest = "".join(one.xml for one in self.row("", "}", "&", "\\\\", "\\end", "\\right"))
            return f'<mstyle displaystyle="{"true" if name == "displaystyle" else "false"}">{rest}</mstyle>'
        raise self.fail(f"\\{name} is unknown")

    def name(self) -> str:
        """The name of an operator, without commands for its letters."""
        words = re.sub(r"\\(?:mathrm|mathbf|operatorname|text)\b|[{}]", "", spelled := self.raw())
        text = re.sub(r"\\[,; ]", "\u2009", words).strip()
        text = re.sub(r"\\mathbb\s*(\w)", lambda one: _table("E 𝔼 P ℙ R ℝ")[one[1]], text)
        if "\\" in text:
            raise self.fail(f"{spelled} is no name")
        return text

    def sized(self, size: float, side: str) -> Atom:
        """A delimiter of a given height, which opens (l), closes (r) or stands between."""
        kind, form = {"l": ("open", "prefix"), "r": ("close", "postfix")}.get(side, ("plain", "infix"))
        about = f'form="{form}" stretchy="true" symmetric="true" minsize="{size}em" maxsize="{size}em"'
        return Atom(f"<mo {about}{_TIGHT}>{escape(self.delimiter())}</mo>", kind)

    def limits(self, text: str) -> Atom:
        """A name that has its range below it where there is room."""
        return Atom(f'<mo movablelimits="true" form="prefix" lspace="0" rspace=".167em">{escape(text)}</mo>', "limits")

    def words(self, text: str) -> Iterator[str]:
        """Words, with formulas between dollars; blanks at their ends count."""
        for at, part in enumerate(text.split("$")):
            if at % 2:
                yield _row(_Reader(part, False).row())
            elif part:
                said = re.sub(r"^ | $", "\u00a0", part.replace("\\", ""))
                yield f"<mtext>{escape(said)}</mtext>"

    def table(self, name: str) -> Atom:
        """A table: brace and columns of cases, sides of aligned equations, a matrix."""
        kind = name.rstrip("*")
        if kind not in {"cases", "aligned", "align", "split", "gathered", "matrix", "pmatrix", "bmatrix"}:
            raise self.fail(f"{name} is unknown")
        aligned = kind in {"aligned", "align", "split"}
        rows: list[list[str]] = [[]]
        while True:
            cell = self.row("&", "\\\\", "\\end")
            if aligned and rows[-1] and cell and cell[0].xml.startswith('<mo form="prefix" lspace'):
                cell[0] = Atom(cell[0].xml.replace('form="prefix" lspace="0" rspace="0"', 'form="infix"'))
            styles = ["text-align:right;padding-right:0", "text-align:left;padding-left:0"]
            style = styles[len(rows[-1]) % 2] if aligned else "text-align:left" if kind == "cases" else ""
            about = f' style="{style}"' * bool(style)
            rows[-1].append(f"<mtd{about}>{''.join(one.xml for one in cell)}</mtd>")
            end = self.take()
            if end == "\\\\":
                rows.append([])
            elif end == "\\end":
                self.raw()
                break
        if rows[-1] == [rows[-1][0]] and "></mtd>" in rows[-1][0]:
            rows.pop()  # after the last line break comes nothing
        lines = "".join(f"<mtr>{''.join(row)}</mtr>" for row in rows)
        made = f"<mtable{_DISPLAY * (aligned or kind == 'gathered')}>{lines}</mtable>"
        first, last = {"cases": ("{", ""), "pmatrix": ("(", ")"), "bmatrix": ("[", "]")}.get(kind, ("", ""))
        return Atom(_fenced(first, made, last))


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension: it sets the formulas of the pages."""
    from docutils import nodes

    def inline(writer: Any, node: Any) -> None:
        writer.body.append(f'<span class="math">{pieces(node.astext())}</span>')
        raise nodes.SkipNode

    def display(writer: Any, node: Any) -> None:
        tex = node.astext().strip()
        if "\\\\" in tex and not re.search(r"\\(begin|substack)", tex):
            tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
        writer.body.append(writer.starttag(node, "div", CLASS="math"))
        writer.body.append(f'<span class="formula">{pieces(tex, block=True)}</span>')
        if node["number"]:
            writer.body.append(f'<span class="eqno">({node["number"]})')
            writer.add_permalink_ref(node, "Link to this equation")
            writer.body.append("</span>")
        writer.body.append("</div>\n")
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
