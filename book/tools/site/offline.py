"""The whole book as EPUB and as PDF: `python book/tools offline --out offline`, after `make book`.

Sphinx makes both from the source of the built book, with the settings in `book/on_paper/conf.py`: the EPUB with its own
builder, and for the PDF one long page, which Chromium prints. As an extension of Sphinx this module turns HTML that
stands in a page into XHTML, and says at each figure to play with where it can be played with.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes

from tools.closure import ROOT
from tools.site import discovery
from tools.site.paper import to_pdf

BOOK = ROOT / "book"
SOURCE, MADE = BOOK / "_build" / "source", BOOK / "_build" / "offline"


def on_paper(app: Any, document: nodes.document, page: str) -> None:
    """Make XHTML of a page's raw HTML, without scripts, and say where its figures move."""
    site = discovery.site()
    for node in list(document.findall(nodes.raw)):
        html = BeautifulSoup(node.astext(), "html.parser")
        for idle in html.select("script, style, input, button, iframe"):
            idle.decompose()
        for picture in html.select("svg[viewbox]"):  # the parser reads all names in small letters
            picture["viewBox"] = picture.attrs.pop("viewbox")
        for figure in html.select("figure[id]"):
            address = f"{site}{page}.html#{figure['id']}"
            where = f'at <a href="{address}">{address}</a>' if site else f"on the page {page}.html of the built book"
            figure.append(BeautifulSoup(f'<p class="moves">It can be played with {where}.</p>', "html.parser"))
        node.parent.replace(node, nodes.raw("", str(html), format="html"))


def complete(app: Any, config: Any) -> None:
    """Let one long page show every node that a page can show, because some extensions name only some of them."""
    shown = app.registry.translation_handlers
    shown["singlehtml"] = {**shown.get("html", {}), **shown.get("singlehtml", {})}


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.connect("config-inited", complete)
    app.connect("doctree-resolved", on_paper)
    return {"parallel_read_safe": True}


def run_sphinx(builder: str) -> Path:
    """Run Sphinx on the source of the built book; what it has read is kept for the other builder."""
    command = [sys.executable, "-m", "sphinx", "-b", builder, "-q", "-c", str(BOOK / "on_paper")]
    command += ["-d", str(MADE / "doctrees"), str(SOURCE), str(MADE / builder)]
    found = os.pathsep.join(filter(None, [str(BOOK), os.environ.get("PYTHONPATH")]))
    subprocess.run(command, env={**os.environ, "PYTHONPATH": found}, check=True)
    return MADE / builder


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("offline"), help="folder to write to")
    out = parser.parse_args().out
    if not (SOURCE / "index.md").exists():
        raise SystemExit("the book must be built first: run `make book`")
    out.mkdir(parents=True, exist_ok=True)
    print(shutil.copy(run_sphinx("epub") / "book.epub", out), flush=True)
    print(to_pdf(run_sphinx("singlehtml") / "index.html", out / "book.pdf", "--generate-pdf-document-outline"))
