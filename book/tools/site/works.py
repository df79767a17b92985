"""The bibliography as plain Markdown, for those who follow a citation in a notebook.

`python book/tools works` writes it. Every work of `book/references.bib` has a place of its name, to which the chapters
link. The page of the book has Sphinx's own list in place of it, which knows where a work is cited.
"""

import re
from pathlib import Path

from pybtex.database import parse_file
from pybtex.plugin import find_plugin

BOOK = Path(__file__).resolve().parents[2]
#: The text of the page in the built book.
DIRECTIVE = "# Bibliography\n\n```{bibliography}\n:all:\n```\n"


def page() -> str:
    """Return the page: works by the family name of the first author, each with its anchor."""
    style = find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "markdown")()
    parts = ["# Bibliography"]
    for entry in style.format_bibliography(parse_file(str(BOOK / "references.bib"))):
        words = re.sub(r"\\([-.()#!+])", r"\1", entry.text.render(backend))
        parts.append(f'<a id="{entry.key}"></a>\n\n{words}')
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the page."""
    (BOOK / "bibliography.md").write_text(page(), encoding="utf-8")
