"""One stylesheet for all pages: what the theme and the extensions bring, without the rules that no page needs.

The theme alone is 310 KB, because it holds all of Bootstrap. A rule is kept if every class and identifier that it names
stands in a page or in a script; a variable is kept if something reads it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import tinycss2

_NAMES = re.compile(r'\b(?:class|id)="([^"]*)"')
_WORDS, _STRINGS = re.compile(r"[\w-]+"), re.compile(r"""\"[^"\n]*\"|'[^'\n]*'|`[^`]*`""")
_READ = re.compile(r"var\(\s*(--[\w-]+)")
_URL = re.compile(r"""url\((["']?)(?!["'#]|[a-z]+:)""")
#: What stands in place of the icons that these fonts would bring: SVG in the page (diet.py), or nothing.
_FONTS = re.compile(r"Font ?Awesome", re.IGNORECASE)


def names(pages: Iterable[str], scripts: Iterable[str]) -> frozenset[str]:
    """Every word that pages have as a class or identifier, and every word in a string of a script."""
    found = {name for page in pages for names in _NAMES.findall(page) for name in names.split()}
    return frozenset(found.union(*(_WORDS.findall(said) for one in scripts for said in _STRINGS.findall(one))))


def relocated(sheet: Path, folder: Path) -> str:
    """A stylesheet whose addresses are those from another folder."""
    to = os.path.relpath(sheet.parent, folder).replace(os.sep, "/")
    text = sheet.read_text(encoding="utf-8")
    return text if to == "." else _URL.sub(lambda found: f"url({found[1]}{to}/", text)


def without_the_unused(sheets: Iterable[str], known: frozenset[str], readers: Iterable[str] = ()) -> str:
    """Stylesheets in one, in this order, with the rules for ``known`` names and the variables that are read.

    >>> without_the_unused(["a.b{color:red} .c, .d:not(.e) {color:var(--f); --g: 1}"], frozenset("bd"))
    'a.b{color:red;}\\n.d:not(.e){color:var(--f);}\\n'
    """
    kept = "".join(_rules(tinycss2.parse_stylesheet("\n".join(sheets), True, True), known))
    readers = list(readers)
    while True:
        read = {name for text in (kept, *readers) for name in _READ.findall(text)}
        read |= {name for text in readers for name in re.findall(r"--[\w-]+", text)}
        lighter = "".join(_rules(tinycss2.parse_stylesheet(kept, True, True), known, read))
        if lighter == kept:
            return kept
        kept = lighter


def _rules(nodes: Iterable[Any], known: frozenset[str], read: set[str] | None = None) -> Iterator[str]:
    for node in nodes:
        if node.type == "qualified-rule":
            selectors = [*_selectors(node.prelude, known)]
            held = _declarations(node.content, read) if selectors else ""
            if held:
                yield f"{','.join(selectors)}{{{held}}}\n"
        elif node.type == "at-rule":
            prelude = tinycss2.serialize(node.prelude).strip()
            if node.lower_at_keyword in {"media", "supports", "layer"} and node.content is not None:
                inside = "".join(_rules(tinycss2.parse_blocks_contents(node.content, True, True), known, read))
                if inside:
                    yield f"@{node.at_keyword} {prelude}{{{inside}}}\n"
            elif node.lower_at_keyword not in {"charset", "import"}:
                text = tinycss2.serialize(node.content or [])
                if not _FONTS.search(text):
                    yield f"@{node.at_keyword} {prelude}{{{text}}}\n".replace(" {", "{")


def _selectors(prelude: Iterable[Any], known: frozenset[str]) -> Iterator[str]:
    """Yield the selectors that can select something: they name known classes and identifiers, parentheses apart."""
    for comma, tokens in groupby(prelude, key=lambda one: one == ","):
        listed = [*tokens]
        dotted = [one.value for before, one in pairwise(listed) if before == "." and one.type == "ident"]
        if not comma and known.issuperset(dotted + [one.value for one in listed if one.type == "hash"]):
            yield tinycss2.serialize(listed).strip()


def _declarations(content: list[Any], read: set[str] | None) -> str:
    held = []
    for one in tinycss2.parse_blocks_contents(content, True, True):
        if one.type == "declaration":
            value = tinycss2.serialize(one.value).strip()
            unread = read is not None and one.name.startswith("--") and one.name not in read
            if not unread and not (one.lower_name == "font-family" and _FONTS.search(value)):
                held.append(f"{one.name}:{value}{'!important' * one.important};")
    return "".join(held)
