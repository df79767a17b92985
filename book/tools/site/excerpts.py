"""A Sphinx extension: what the search reads. Of every page its title, its headings and the words below each.

The search page alone loads this file, and ranks the pages by it (`search.js`). It also works from the file system,
where a browser forbids that a script fetches other pages.
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

#: Of what a page holds, this is not its prose: titles, programs, what they print, what only a browser reads.
_SKIPPED = (nodes.title, nodes.literal_block, nodes.math_block, nodes.raw, nodes.comment, nodes.system_message)


def sections(doctree: nodes.document) -> list[tuple[str, str, str]]:
    """Anchor, heading and the words of each section without those of the sections within it; "" stands for the page.

    In the API reference a definition is a section, and its name is the heading.
    """
    found = []
    for part in doctree.findall(lambda node: isinstance(node, (nodes.section, addnodes.desc))):
        if isinstance(part, addnodes.desc):
            signature = part.next_node(addnodes.desc_signature)
            if signature is None or not signature.get("ids"):
                continue
            anchor, heading = signature["ids"][0], signature["ids"][0].rpartition(".")[2]
        else:
            title = part.next_node(nodes.title)
            anchor = "" if part.parent is doctree else part["ids"][0]
            heading = title.astext() if title is not None else ""
        found.append((anchor, heading, " ".join(" ".join(_words(part)).split())))
    return found


def _words(node: nodes.Node) -> list[str]:
    """The text of a node, paragraph by paragraph."""
    said = []
    for child in node.children:
        if isinstance(child, nodes.TextElement) and not isinstance(child, _SKIPPED):
            said.append("".join(text for text in child.findall(nodes.Text) if not isinstance(text.parent, nodes.raw)))
        elif not isinstance(child, (nodes.section, addnodes.desc, *_SKIPPED)):
            said += _words(child)
    return said


def collect(app: Any, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Keep what a page says until all of them are written; have the search page load it."""
    if doctree is not None:
        kept = getattr(app.builder, "excerpts", {})
        app.builder.excerpts = kept | {page: [_title(doctree), sections(doctree)]}
    if page == "search":
        for script in ("excerpts.js", "search.js"):
            app.add_js_file(script, priority=900, loading_method="defer")  # after kept.js


def _title(doctree: nodes.document) -> str:
    title = doctree.next_node(nodes.title)
    return title.astext() if title is not None else ""


def write(app: Any, error: Exception | None) -> None:
    """Write the file beside the scripts."""
    if not error and app.builder.name == "html":
        encoded = json.dumps(app.builder.excerpts, ensure_ascii=False, separators=(",", ":"))
        target = Path(app.outdir) / "_static" / "excerpts.js"
        target.write_text(f"window.bookExcerpts = {encoded};\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.connect("html-page-context", collect)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
