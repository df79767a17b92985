"""A Sphinx extension that lets a page be found and quoted, by a description, a picture and a plain text.

Every page has a description of one sentence. All pages are available as Markdown in `texts/`, and `llms.txt` lists
them. If the site's address is known, which follows from that of the repository, pages have a preview for links, the
front page describes the course, and `sitemap.xml` lists all pages.
"""

import json
import re
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup
from docutils import nodes

from tools.site import page_links, reading

#: Nodes that are no text of the page: HTML for browsers, and nodes that Sphinx uses itself.
_SKIPPED = (nodes.raw, nodes.comment, nodes.system_message, nodes.target, nodes.meta)
_FOLDERS = {"chapters": "Chapters", "labs": "Labs", "api": "The library", "contributing": "For contributors"}
_ASKS = re.compile(r"<figcaption>([^<]+)")
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


def words(node: nodes.Node) -> str:
    """The text of a paragraph, formulas as TeX."""
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.image):
        return f"[Picture: {node.get('alt', '')}]"
    said = "".join(words(child) for child in node.children if not isinstance(child, _SKIPPED))
    return f"`{said}`" if isinstance(node, nodes.literal) else said


def markdown(node: nodes.Node, depth: int = 0) -> list[str]:
    """The blocks of a page or a part of it: titles, paragraphs, lists, rows of tables, programs, formulas, pictures."""
    said = []
    for child in node.children:
        if isinstance(child, nodes.raw):
            said += (f"[Figure to move: {one}]" for one in _ASKS.findall(child.astext()))
            for table in BeautifulSoup(child.astext(), "html.parser").select("table"):
                rows = ([" ".join(cell.text.split()) for cell in row.select("th, td")] for row in table.select("tr"))
                said.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        elif isinstance(child, nodes.title):
            said.append(f"{'#' * max(depth, 1)} {words(child)}")
        elif isinstance(child, nodes.literal_block):
            said.append(f"```\n{child.astext().rstrip()}\n```")
        elif isinstance(child, nodes.math_block):
            number = f" ({child['number']})" if child.get("number") else ""
            said.append(f"$$\n{child.astext().strip()}\n$${number}")
        elif isinstance(child, nodes.image):
            said.append(words(child))
        elif isinstance(child, nodes.list_item):
            said.append("- " + "\n\n".join(markdown(child, depth)).replace("\n", "\n  "))
        elif isinstance(child, nodes.table):
            rows = ([" ".join(markdown(entry)) for entry in row.children] for row in child.findall(nodes.row))
            said.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        elif isinstance(child, nodes.TextElement) and not isinstance(child, _SKIPPED):
            said.append(" ".join(words(child).split()))
        elif not isinstance(child, _SKIPPED):
            said += markdown(child, depth + isinstance(child, nodes.section))
    return list(filter(None, said))


def description(doctree: nodes.document, length: int = 200) -> str:
    """What a page says of itself, or how its text begins, up to the end of a sentence or a word."""
    stated = (one["content"] for one in doctree.findall(nodes.meta) if one.get("name") == "description")
    prose = (one for one in doctree.findall(nodes.paragraph) if isinstance(one.parent, (nodes.section, nodes.document)))
    begun = (" ".join(words(one).split()) for one in prose)
    said = next((one for one in (*stated, *begun) if len(one.split()) > 5), "")
    said = re.sub(r" ?\\cdot ?", "·", re.sub(r"\\(?:mathbf|mathrm|operatorname)\b|[$`{}]", "", said)).replace("\\", "")
    if len(said) <= length:
        return said
    ends = [end.end() for end in re.finditer(r"[.?!](?= )", said[:length])]
    return said[: ends[-1]] if ends and ends[-1] > 60 else said[:length].rpartition(" ")[0] + " …"


def course(app: Any, says: str) -> dict[str, Any]:
    """The book as a course, in the words of schema.org."""
    base, chapters = app.config.html_baseurl, reading.chapters().values()
    parts = [
        {"@type": "LearningResource", "name": one.title, "timeRequired": f"PT{one.read}M"}
        | {"url": f"{base}chapters/{one.stem}.html"}
        for one in chapters
    ]
    work = {"courseMode": "Online", "courseWorkload": f"PT{sum(one.read for one in chapters)}M"}
    return {
        "@context": "https://schema.org",
        "@type": "Course",
        "name": app.config.project,
        "description": says,
        "url": base,
        "inLanguage": "en",
        "isAccessibleForFree": True,
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "provider": {"@type": "Organization", "name": app.config.author},
        "hasCourseInstance": {"@type": "CourseInstance", **work},
        "hasPart": parts,
    }


def describe(app: Any, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Tell a page's head what it is, and write its text down."""
    if page == app.config.root_doc:
        context["docstitle"] = "an interactive textbook"  # its own title is that of the book already
    if doctree is None or app.builder.name != "html":
        return
    says, title, base = description(doctree), re.sub(r"<[^>]+>", "", context["title"]), app.config.html_baseurl
    text = Path(app.outdir, "texts", f"{page}.md")
    text.parent.mkdir(parents=True, exist_ok=True)
    text.write_text("\n\n".join(markdown(doctree)) + "\n", encoding="utf-8")
    app.builder.described = getattr(app.builder, "described", {}) | {page: (title, says)}
    if says and not any(one.get("name") == "description" for one in doctree.findall(nodes.meta)):
        context["metatags"] += f'<meta name="description" content="{escape(says)}">\n'
    if base:
        shown = (re.search(r"_images/.+", one["uri"]) for one in doctree.findall(nodes.image))
        picture = next((one[0] for one in shown if one), _PICTURE)
        about = {"type": "article", "title": title, "description": says, "url": f"{base}{page}.html"}
        about |= {"site_name": app.config.project, "image": base + picture}
        context["metatags"] += "".join(
            f'<meta property="og:{name}" content="{escape(value)}">\n' for name, value in about.items()
        )
        context["metatags"] += '<meta name="twitter:card" content="summary_large_image">\n'
        if page == app.config.root_doc:
            encoded = json.dumps(course(app, says), ensure_ascii=False).replace("<", "\\u003c")
            context["metatags"] += f'<script type="application/ld+json">{encoded}</script>\n'


def write(app: Any, error: Exception | None) -> None:
    """List the texts, and with an address the pages."""
    if error or app.builder.name != "html":
        return
    base, pages = app.config.html_baseurl, getattr(app.builder, "described", {})
    lines = [f"# {app.config.project}", f"> {pages[app.config.root_doc][1]}"]
    for folder, named in {"": "The book", **_FOLDERS}.items():
        inside = [one for one in sorted(pages) if one.rpartition("/")[0] == folder]
        listed = (f"- [{pages[one][0]}]({base}texts/{one}.md): {pages[one][1]}".rstrip(": ") for one in inside)
        lines += [f"## {named}", "\n".join(listed)] if inside else []
    Path(app.outdir, "llms.txt").write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    if base:
        urls = "\n".join(f"<url><loc>{escape(base)}{page}.html</loc></url>" for page in sorted(pages))
        head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        Path(app.outdir, "sitemap.xml").write_text(f"{head}\n{urls}\n</urlset>\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.connect("html-page-context", describe)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
