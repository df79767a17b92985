"""A Sphinx extension: the text of every section in one file, so that the search can show where it found a word.

Sphinx's own script fetches each page that it found, which a browser forbids for pages from the file system. The search
page alone loads this file (`search.js`).
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes

#: Nodes that are no prose: titles, programs and their outputs, formulas, HTML for browsers.
_SKIPPED = (nodes.title, nodes.literal_block, nodes.math_block, nodes.raw, nodes.comment, nodes.system_message)


def sections(doctree: nodes.document) -> dict[str, str]:
    """Return the words of each section by its anchor, without nested sections; "" is the page itself."""
    found: dict[str, str] = {}
    for section in doctree.findall(nodes.section):
        anchor = "" if section.parent is doctree else section["ids"][0]
        found.setdefault(anchor, " ".join(" ".join(_words(section)).split()))
    return found


def _words(node: nodes.Node) -> list[str]:
    """Return the text of a node, paragraph by paragraph."""
    said = []
    for child in node.children:
        if isinstance(child, nodes.TextElement) and not isinstance(child, _SKIPPED):
            said.append("".join(text for text in child.findall(nodes.Text) if not isinstance(text.parent, nodes.raw)))
        elif not isinstance(child, (nodes.section, *_SKIPPED)):
            said += _words(child)
    return said


def collect(app: Any, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Collect the text of a page, and let the search page load the script."""
    if doctree is not None:
        app.builder.excerpts = getattr(app.builder, "excerpts", {}) | {page: sections(doctree)}
    if page == "search":
        app.add_js_file("excerpts.js")
        app.add_js_file("search.js")


def write(app: Any, error: Exception | None) -> None:
    """Write the collected texts as a script."""
    if not error and app.builder.name == "html":
        encoded = json.dumps(app.builder.excerpts, ensure_ascii=False, separators=(",", ":"))
        target = Path(app.outdir) / "_static" / "excerpts.js"
        target.write_text(f"window.bookExcerpts = {encoded};\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.connect("html-page-context", collect)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
