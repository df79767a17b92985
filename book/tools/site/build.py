"""Build the book: bring the notebooks up to date, lay out the source, run Sphinx with every warning an error.

`python book/tools build` executes only the notebooks that are not current (see `pairs.py`), draws what has not been
drawn from the same code before, and does nothing if nothing has changed. After an interruption it continues.
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
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from rankedu_book.kit.explorable import Explorable, all_explorables
from tools.closure import ROOT, fingerprint, hashed, home
from tools.notebooks import pairs
from tools.site import api_reference, cores, diet, explorables, generate, page_links, reading, works
from tools.teaching import lectures, slides

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


def frames_of(explorable: Explorable) -> Path:
    """Return the folder of the frames of an explorable, which changes with the code that draws them."""
    made_from = fingerprint(home(explorable.module), Path(explorables.__file__))
    return BUILD / "cache" / "frames" / f"{explorable.name}-{made_from}"


def draw(pool: ProcessPoolExecutor) -> list[Future[Any]]:
    """Start to draw all frames that are missing, and to write the slides of all lectures."""
    drawn = [
        pool.submit(explorables.draw, one.address, frames_of(one))
        for one in all_explorables().values()
        if not (frames_of(one) / "frames.json").exists()
    ]
    return drawn + [pool.submit(slides.write, BUILD / "slides", one.number) for one in lectures.lectures()]


def put_frames(html: Path) -> None:
    """Put the explorables into their places in the pages, and their frames beside the pages."""

    def frames(one: Explorable) -> list[dict[str, Any]]:
        found = explorables.write_frames(one, frames_of(one))
        shutil.copytree(frames_of(one), html / "_static" / "explorables" / one.name, dirs_exist_ok=True)
        return found

    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(explorables.fill(text, frames), encoding="utf-8")


def build(source: Path, html: Path, *, strict: bool, only: str = "") -> None:
    """Run Sphinx on one core while the others draw; with `strict`, every warning is an error."""
    stage(source, only=only)
    shutil.rmtree(html, ignore_errors=True)
    with cores.pool() as pool:
        waiting = [] if only else draw(pool)
        generate.write_tables(source / "_generated")
        reading.write_script(source / "_static")
        page_links.write_notebooks(source)
        run_sphinx("html", source, html, *(["-n", "-W", "--keep-going"] if strict else ALONE))
        for done in waiting:
            done.result()
        put_frames(html)
        explorables.write_scripts(html / "_static" / "live")
        if not only:
            shutil.copytree(BUILD / "slides", html / "_static" / "slides")
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
