"""A Sphinx extension that describes each page in its head, in one sentence, for search engines and previews of links.

A preview needs the site's address, which follows from that of the repository.
"""

import re
from html import escape
from typing import Any
from urllib.parse import urlsplit

import yaml
from docutils import nodes

from tools.site import page_links

#: The picture of a preview, for a page without pictures.
_PICTURE = "_static/rambo_fig_1.png"


def authors() -> str:
    """The names in CITATION.cff."""
    cited = yaml.safe_load((page_links.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return ", ".join(one.get("name") or f"{one['given-names']} {one['family-names']}" for one in cited["authors"])


def site() -> str:
    """Where the latest version of the book is shown, with a slash at its end; empty if it is unknown."""
    parts = urlsplit(page_links.address())
    if parts.netloc != "github.com":
        return ""
    owner, name = parts.path.strip("/").split("/")
    return f"https://{owner}.github.io/{name}/latest/"


def stated(doctree: nodes.document) -> list[str]:
    """The description that a page states itself."""
    return [one["content"] for one in doctree.findall(nodes.meta) if one.get("name") == "description"]


def description(doctree: nodes.document, length: int = 200) -> str:
    """What a page says of itself, or how its text begins, up to the end of a sentence or a word."""
    prose = (one for one in doctree.findall(nodes.paragraph) if isinstance(one.parent, (nodes.section, nodes.document)))
    begun = (" ".join(one.astext().split()) for one in prose)
    text = next((one for one in (*stated(doctree), *begun) if len(one.split()) > 5), "")
    text = re.sub(r" ?\\cdot ?", "·", re.sub(r"\\(?:mathbf|mathrm|operatorname)\b|[$`{}]", "", text)).replace("\\", "")
    if len(text) <= length:
        return text
    ends = [end.end() for end in re.finditer(r"[.?!](?= )", text[:length])]
    return text[: ends[-1]] if ends and ends[-1] > 60 else text[:length].rpartition(" ")[0] + " …"


def describe(app: Any, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Put description and preview into the head of a page."""
    if page == app.config.root_doc:
        context["docstitle"] = "an interactive textbook"  # its own title is that of the book already
    if doctree is None or app.builder.name != "html":
        return
    about, base = description(doctree), app.config.html_baseurl
    if about and not stated(doctree):
        context["metatags"] += f'<meta name="description" content="{escape(about)}">\n'
    if base:
        shown = (re.search(r"_images/.+", one["uri"]) for one in doctree.findall(nodes.image))
        preview = {
            "type": "article",
            "title": re.sub(r"<[^>]+>", "", context["title"]),
            "description": about,
            "url": f"{base}{page}.html",
            "site_name": app.config.project,
            "image": base + next((one[0] for one in shown if one), _PICTURE),
        }
        context["metatags"] += "".join(
            f'<meta property="og:{name}" content="{escape(value)}">\n' for name, value in preview.items()
        )
        context["metatags"] += '<meta name="twitter:card" content="summary_large_image">\n'


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
