"""The targets of cross-references, for texts outside of the pages: kind, number, title, text and file."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.site import form

ROOT = Path(__file__).resolve().parents[3]
_PROOFS = ("theorem", "proposition", "lemma", "definition", "corollary", "remark")
_EQUATION = r"^\$\$(?P<equation>(?:(?!\$\$).)*?)\$\$ \((?P<eq>[\w-]+)\)$"
_PROOF = r"^(?P<fence>`{3,}|:{3,})\{prf:(?P<prf>\w+)\} ?(?P<name>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$"
_EXERCISE = r"^:::\{exercise\} (?P<asked>[^\n]*)\n:label: (?P<exercise>[\w-]+)$"
_SECTION = r"^\((?P<section>[\w-]+)\)=\n#+ (?P<heading>[^\n]*)$"
_MARKS = re.compile("|".join((_EQUATION, _PROOF, _EXERCISE, _SECTION)), re.DOTALL | re.MULTILINE)
_OPTIONS, _LABEL = re.compile(r"\A(?::\w+: \S+\n)*"), re.compile(r"^:label: (\S+)$", re.MULTILINE)


class Target(NamedTuple):
    """What a label stands for."""

    kind: str  # "chapter", "section", "equation", "figure", "exercise" or a kind of statement, such as "theorem"
    number: str
    title: str
    file: Path  # the notebook or text in which it stands, from the root of the repository
    text: str = ""  # the equation or the statement itself


@cache
def labels() -> dict[str, Target]:
    """Return the target of every label of chapters, labs and other pages."""
    found: dict[str, Target] = {}
    for path in sorted((ROOT / "book" / "chapters").glob("*.md")):
        found |= of_chapter(path)
    for path in [*(ROOT / "book").glob("*.md"), *(ROOT / "book" / "labs").glob("*.md")]:
        lab = path.parent.name == "labs"
        file = Path("notebooks/labs", f"{path.stem}.ipynb") if lab else path.relative_to(ROOT)
        for match in re.finditer(_SECTION, form.text(path), re.MULTILINE):
            found[match["section"]] = Target("section", "", match["heading"], file)
    return found


def of_chapter(path: Path) -> dict[str, Target]:
    """Return the labels of a chapter with their numbers, counted by kind in the order of the text."""
    chapter, file = int(path.stem[:2]), Path("notebooks", f"{path.stem}.ipynb")
    found: dict[str, Target] = {}
    counts: dict[str, int] = {}

    def add(label: str | None, kind: str, title: str = "", text: str = "", counter: str = "") -> None:
        counts[counter or kind] = counts.get(counter or kind, 0) + 1
        if label:
            found[label] = Target(kind, f"{chapter}.{counts[counter or kind]}", title, file, text)

    for cell in form.book(path).cells:
        if cell.cell_type == "code":
            figure = cell.metadata.get("mystnb", {}).get("figure", {})
            if figure:
                add(figure.get("name"), "figure", figure.get("caption", "").strip())
            continue
        for match in _MARKS.finditer(cell.source):
            if match["eq"]:
                add(match["eq"], "equation", text=match["equation"].strip())
            elif match["prf"]:
                options = _OPTIONS.match(match["body"])[0]
                label, body = _LABEL.search(options), match["body"][len(options) :].strip()
                counter = "theorem" if match["prf"] in _PROOFS else match["prf"]
                if match["prf"] != "proof":
                    add(label and label[1], match["prf"], match["name"].strip(), body, counter)
                for inner in re.finditer(_EQUATION, body, re.DOTALL | re.MULTILINE):
                    add(inner["eq"], "equation", text=inner["equation"].strip())
            elif match["exercise"]:
                add(match["exercise"], "exercise", match["asked"])
            elif match["section"]:
                kind = "chapter" if match["section"] == f"ch-{chapter:02d}" else "section"
                found[match["section"]] = Target(kind, str(chapter), match["heading"], file)
    return found


_ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?:(?P<words>[^`<]*?)\s*<(?P<named>[^>`]+)>|(?P<label>[^`]*))`")


def spoken(text: str) -> str:
    """Replace references in a text of the pages by words."""

    def said(match: re.Match[str]) -> str:
        role, label = match["role"], match["named"] or match["label"]
        if match["words"] or role == "doc":
            return match["words"] or label
        target = labels()[label]
        if target.kind in ("chapter", "section"):
            return f"chapter {target.number}" if target.kind == "chapter" else target.title
        return f"({target.number})" if target.kind == "equation" else f"{target.kind.capitalize()} {target.number}"

    return _ROLE.sub(said, text)
