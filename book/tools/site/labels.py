"""The targets of cross-references, for texts outside of the pages: kind, number, title, text and file."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
_PLACE = r'^(?:<a id="(?P<label>[\w-]+)"></a>\n\n|\((?P<place>[\w-]+)\)=\n)'
_STATEMENT = (
    r"> \*\*(?P<kind>[A-Z]\w+) (?P<number>[\d.]+?)(?: \((?P<title>.+)\))?\.\*\*\n>\n(?P<text>(?:>[^\n]*(?:\n|\Z))+)"
)
#: How what stands at a place begins; statements are in block quotes, in which there may be equations.
_KINDS = {
    "equation": r"\$\$(?P<text>(?:(?!\$\$).)*?) \\tag\{(?P<number>[\d.]+)\}\s*\$\$",
    "figure": r"\*\*Figure (?P<number>[\d.]+)\.\*\* (?P<title>[^\n]*)",
    "exercise": r"### Exercise (?P<number>[\d.]+) \([^)]*\): (?P<title>[^\n]*)",
    "chapter": r"# (?P<title>[^\n]*)",
    "section": r"##+ (?!Exercise \d)(?P<title>[^\n]*)",
}


class Target(NamedTuple):
    """What a label stands for."""

    kind: str  # one of the above, or the kind of a statement, such as "theorem"
    number: str
    title: str
    file: Path  # the notebook or text in which it stands, from the root of the repository
    text: str = ""  # the equation or the statement itself


@cache
def labels() -> dict[str, Target]:
    """Return the target of every label of chapters, labs and other pages."""
    book, found = ROOT / "book", {}
    for path in [*sorted((book / "chapters").glob("*.md")), *book.glob("*.md"), *(book / "labs").glob("*.md")]:
        found |= dict(_targets(path, int(path.stem[:2]) if path.parent.name == "chapters" else 0))
    return found


def unquoted(text: str) -> str:
    """Return a text without the marks of block quotes."""
    return re.sub(r"^> ?", "", text, flags=re.MULTILINE)


def _targets(path: Path, chapter: int) -> Iterator[tuple[str, Target]]:
    folder = {"chapters": "notebooks", "labs": "notebooks/labs"}.get(path.parent.name)
    file = Path(folder, f"{path.stem}.ipynb") if folder else path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(_PLACE + _STATEMENT, text, re.MULTILINE) if chapter else ():
        said = match["title"] or "", file, unquoted(match["text"]).strip()
        yield match["label"], Target(match["kind"].lower(), match["number"], *said)
    for kind, form in _KINDS.items() if chapter else [("section", r"#+ (?P<title>[^\n]*)")]:
        for match in re.finditer(_PLACE + form, unquoted(text), re.DOTALL | re.MULTILINE):
            about = match.groupdict()
            number = about.get("number") or (str(chapter) if chapter else "")
            said = (about.get("title") or "").strip(), file, (about.get("text") or "").strip()
            yield match["label"] or match["place"], Target(kind, number, *said)
