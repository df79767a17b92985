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

import pikepdf
from bs4 import BeautifulSoup
from docutils import nodes

from tools.closure import ROOT
from tools.site import discovery

BOOK = ROOT / "book"
SOURCE, MADE = BOOK / "_build" / "source", BOOK / "_build" / "offline"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


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


def print_pdf(page: Path, pdf: Path) -> None:
    """Print a page with Chromium."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"printing needs one of {', '.join(BROWSERS)}; none is on this machine")
    how = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--no-pdf-header-footer"]
    how += ["--generate-pdf-document-outline", f"--print-to-pdf={pdf.resolve()}", page.as_uri()]
    subprocess.run([browser, *how], check=True, capture_output=True)
    # Chromium writes the structure for screen readers uncompressed, which is half of the file.
    with pikepdf.open(pdf, allow_overwriting_input=True) as made:
        made.save(pdf, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("offline"), help="folder to write to")
    out = parser.parse_args().out
    if not (SOURCE / "index.md").exists():
        raise SystemExit("the book must be built first: run `make book`")
    out.mkdir(parents=True, exist_ok=True)
    print(shutil.copy(run_sphinx("epub") / "book.epub", out), flush=True)
    print_pdf(run_sphinx("singlehtml") / "index.html", out / "book.pdf")
    print(out / "book.pdf")
