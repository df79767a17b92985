"""Turn the book's MyST into Markdown that every notebook shows: references become links with numbers."""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tools.site import labels
from tools.site.labels import Target

ROOT = labels.ROOT
_ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?P<text>[^`]*)`")
_NAMED = re.compile(r"(?P<text>.*?)\s*<(?P<label>[^>]+)>", re.DOTALL)
#: After these an equation's number needs the word; after a noun, as in "the push (8.3)", it does not.
_ALONE = re.compile(r"[Ww]rite|[Uu]se|Derive|[Bb]y|of|[Ff]rom|to|is|with|and|or|Insert|into|than|in|between")


def plain(text: str, stem: str, folder: Path, own: Mapping[str, str] | None = None) -> str:
    """A text in MyST without directives, from the chapter ``stem``, for a notebook in a folder of the repository.

    For the notebook of the whole text come its ``own`` numbers: what it refers to in itself is left to JupyterLab.
    """

    def resolved(match: re.Match[str]) -> str:
        if own is not None and _is_found(match["role"], match["text"], stem, own):
            return match[0]
        before = text[: match.start()].split()[-1:] or ["."]
        word = "Equation " if before[0].endswith((".", ":", "?")) else "equation " * bool(_ALONE.fullmatch(before[0]))
        return word * (match["role"] == "eq") + _resolved(match["role"], match["text"], stem, folder, own)

    return _ROLE.sub(resolved, text)


def link(target: Target, folder: Path, text: str = "") -> str:
    """A link to what a label stands for."""
    address = os.path.relpath(target.file, folder).replace(os.sep, "/")
    if target.kind == "section":
        address += "#" + target.title.replace(" ", "-").replace("`", "")
    return f"[{text or name(target)}]({address})"


def name(target: Target) -> str:
    """How a text calls it."""
    if target.kind == "chapter":
        return f"chapter {target.number}"
    if target.kind == "section":
        return target.title
    return f"({target.number})" if target.kind == "equation" else f"{target.kind.capitalize()} {target.number}"


def quoted(text: str, folder: Path) -> str:
    """The equations and statements that a text refers to, as far as they have one; empty if none."""
    found = [match["text"] for match in _ROLE.finditer(text) if match["role"] in ("eq", "prf:ref")]
    parts = []
    for target in (labels.labels()[label] for label in dict.fromkeys(found)):
        if target.kind == "equation":
            parts.append(f"Equation {link(target, folder)}:\n\n$$\n{target.text}\n$$")
        elif target.text:
            title = f", *{target.title}*" if target.title else ""
            body = re.sub(r"^(\$\$) \([\w-]+\)$|(?<=\$\$) \([\w-]+\)$", r"\1", target.text, flags=re.MULTILINE)
            parts.append(f"{link(target, folder)}{title}: {plain(body, target.file.stem, folder)}")
    return "\n\n".join(parts)


def _is_found(role: str, text: str, stem: str, own: Mapping[str, str]) -> bool:
    """Whether JupyterLab finds in the notebook itself what a role names; or nobody does, and the role stays."""
    if role in ("cite:p", "cite:t", "doc"):
        return role == "doc"
    if role == "glue:text":
        return text.partition(":")[0] not in own
    named = _NAMED.fullmatch(text)
    target = labels.labels().get(named["label"] if named else text)
    return target is None or (target.file.stem == stem and target.kind != "figure")


def _resolved(role: str, text: str, stem: str, folder: Path, own: Mapping[str, str] | None) -> str:
    if role == "glue:text":
        key, _, form = text.partition(":")
        return labels.glue(stem, key, form, own)
    if role in ("cite:p", "cite:t"):
        return cited(text, parenthesis=role == "cite:p")
    if role not in ("ref", "eq", "numref", "prf:ref"):
        raise ValueError(f"{stem} uses the role {{{role}}}: teach book/tools/site/plain.py what to make of it")
    named = _NAMED.fullmatch(text)
    target = labels.labels()[named["label"] if named else text]
    if own is not None and target.file.stem == stem:
        return name(target)
    return link(target, folder, named["text"] if named else "")


def cited(keys: str, *, parenthesis: bool, works: Path = ROOT / "book" / "references.bib") -> str:
    """Author and year, as in "(Berthet et al., 2020)"."""
    works_cited = []
    for key in keys.split(","):
        people, year = bibliography(works)[key.strip()]
        who = " and ".join(people) if len(people) < 3 else f"{people[0]} et al."
        works_cited.append(f"{who}, {year}" if parenthesis else f"{who} ({year})")
    return f"({'; '.join(works_cited)})" if parenthesis else "; ".join(works_cited)


@cache
def bibliography(path: Path) -> dict[str, tuple[list[str], str]]:
    """Family names and year of every work in a file of BibTeX."""
    from pybtex.database import parse_file
    from pybtex.richtext import Text

    works = {}
    for key, entry in parse_file(str(path)).entries.items():
        names = [[*person.prelast_names, *person.last_names] for person in entry.persons.get("author", [])]
        people = [" ".join(str(Text.from_latex(part)) for part in parts) for parts in names]
        works[key] = (people, entry.fields["year"])
    return works
