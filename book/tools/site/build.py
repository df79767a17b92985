"""Build the book: bring the notebooks up to date, lay out the source, run Sphinx with every warning an error.

`python book/tools build` executes only the notebooks that are not current (see `pairs.py`), and does nothing if
nothing has changed. After an interruption it continues.
`python book/tools build --preview 04` (or `errata`) builds one chapter (or page) into `book/_build/preview-04`, with
warnings only printed.
"""

import argparse
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.closure import ROOT, hashed
from tools.notebooks import pairs
from tools.site import api_reference, cores, diet, generate, page_links, reading, works
from tools.teaching import slides

BOOK = ROOT / "book"
BUILD = BOOK / "_build"
#: A chapter that is built alone may refer to others; only the build of the whole book is strict about references.
ALONE = ["-D", "suppress_warnings=mystnb.unknown_mime_type,ref,toc,myst.xref_missing"]


def inputs() -> str:
    """Return a hash of all files and settings on which the built book depends."""
    found = [path for name in ("book", "notebooks", "rankedu", "lab") for path in (ROOT / name).rglob("*")]
    hidden = re.compile(r"(^|/)(_build|__pycache__|\.[^/]*)/")
    read = [path for path in found if path.is_file() and not hidden.search(path.relative_to(ROOT).as_posix())]
    read += [ROOT / "constraints.txt", ROOT / "pyproject.toml", ROOT / "CITATION.cff"]
    settings = [os.environ.get(f"RANKEDU_{name}", "") for name in ("REPOSITORY", "BRANCH")]
    return hashed(read, importlib.metadata.version("sphinx"), *settings, whole=True)


def is_built(html: Path) -> bool:
    """Return whether the built book is complete and made from the files as they are now."""
    record = html / "build.json"
    return record.exists() and json.loads(record.read_text(encoding="utf-8"))["inputs"] == inputs()


def stage(source: Path, *, only: str = "") -> None:
    """Write the source for Sphinx: the book's pages and the executed chapters."""
    pairs.renew(text for text in pairs.stale() if text.stem.startswith(only))
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(
        BOOK,
        source,
        ignore=shutil.ignore_patterns("_build", "__pycache__", "tools", "rankedu_book", "solutions", "on_paper"),
    )
    for text in pairs.pages():
        page = source / text.relative_to(BOOK)
        page.unlink()
        if text.stem.startswith(only):
            pairs.write(pairs.page(text), page.with_suffix(".ipynb"))
    (source / "bibliography.md").write_text(works.DIRECTIVE, encoding="utf-8")
    api_reference.write_pages(source / "api")


def build(source: Path, html: Path, *, strict: bool, only: str = "") -> None:
    """Build the book with Sphinx; with `strict`, every warning is an error."""
    stage(source, only=only)
    shutil.rmtree(html, ignore_errors=True)
    generate.write_tables(source / "_generated")
    reading.write_script(source / "_static")
    page_links.write_notebooks(source)
    if not only:
        slides.write(source / "_static" / "slides")
    run_sphinx("html", source, html, *(["-n", "-W", "--keep-going"] if strict else ALONE))
    with cores.pool() as pool:
        diet.slim(html, pool)


def run_sphinx(builder: str, source: Path, target: Path, *options: str) -> None:
    """Run Sphinx, and end this program with Sphinx's status if it fails."""
    command = [sys.executable, "-m", "sphinx", "-b", builder, "-q", "-E", *options]
    found = os.pathsep.join(filter(None, [str(BOOK), os.environ.get("PYTHONPATH")]))
    command += ["-d", str(source.parent / "doctrees"), str(source), str(target)]
    if status := subprocess.run(command, env={**os.environ, "PYTHONPATH": found}).returncode:
        raise SystemExit(status)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", action="store_true", help="ask the web about the external links")
    parser.add_argument("--preview", metavar="NN", default="", help="build this chapter, lab or page alone")
    arguments = parser.parse_args()
    folder = BUILD / f"preview-{arguments.preview}" if arguments.preview else BUILD
    source, html = folder / "source", folder / "html"
    if arguments.preview or not is_built(html):
        print("building the book; an interrupted build goes on where it was", flush=True)
        build(source, html, strict=not arguments.preview, only=arguments.preview)
        (html / "build.json").write_text(json.dumps({"inputs": inputs()}), encoding="utf-8")
    if arguments.links:
        run_sphinx("linkcheck", source, folder / "links")
        print("No link is broken. What was asked and answered:", folder / "links" / "output.txt", sep="\n")
        return
    print("The book is built. Open the page below in a browser.")
    print(html / "index.html")
