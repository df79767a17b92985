"""Build the book: stage the text and the executed notebooks, then run Sphinx with every warning an error.

`python book/build.py` takes the notebooks as committed (the tests have just proved them current);
`python book/build.py --execute` first runs every chapter afresh, unless the same text was run with the same package;
`python book/build.py --preview 04` (or `errata`) builds one chapter (or page) into `book/_build/preview-04`, with
warnings only printed.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
BUILD = BOOK / "_build"
CACHE = BUILD / "cache"
#: The book's own scripts stay where they are; Sphinx finds its extensions there.
SCRIPTS = [path.name for path in BOOK.glob("*.py") if path.name != "conf.py"]


def fingerprint(*files: Path) -> str:
    """A hash of files, of everything in the package that they import, and of the libraries that shape an output.

    Without arguments, of the whole package.
    """
    digest = hashlib.sha256()
    for path in sorted(imported(*files) if files else (ROOT / "rankedu").rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    for library in ("torch", "numpy", "scipy", "matplotlib", "sympy"):
        digest.update(importlib.metadata.version(library).encode())
    return digest.hexdigest()[:20]


def imported(*files: Path) -> set[Path]:
    """The files themselves and every module of the package that they import, however indirectly."""
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [module for name in named_in(path) for module in files_of(name)]
    return found


def named_in(path: Path) -> set[str]:
    """The dotted names of the package that a module or a chapter imports."""
    text = path.read_text(encoding="utf-8")
    names = set(re.findall(r"^\s*import (rankedu[\w.]*)", text, re.MULTILINE))
    for module, members in re.findall(r"^\s*from (rankedu[\w.]*) import (\([^)]*\)|.*)", text, re.MULTILINE):
        names |= {module, *(f"{module}.{member}" for member in re.findall(r"\w+", members))}
    return names


def files_of(name: str) -> list[Path]:
    """The files behind a dotted name; bare `rankedu` reaches every room."""
    if name == "rankedu":
        return sorted((ROOT / "rankedu").rglob("*.py"))
    path = ROOT.joinpath(*name.split("."))
    return [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()]


def stage(source: Path, *, execute: bool, only: str = "") -> None:
    """Lay out the Sphinx source: the book's pages, the executed chapters, the generated tables."""
    sys.path.insert(0, str(BOOK))
    import api_reference
    import generate
    import pairs

    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(BOOK, source, ignore=shutil.ignore_patterns("_build", "__pycache__", *SCRIPTS))
    for text, notebook in pairs.pairs().items():
        page = source / text.relative_to(BOOK)
        page.unlink()
        if not text.stem.startswith(only):
            continue
        if execute:
            tables = sorted((BOOK / "data" / "printed").glob("*.yaml")) if text.parent == BOOK else []
            kept = CACHE / "chapters" / fingerprint(text, *tables) / notebook.name
            if not kept.exists():
                print(f"executing {text.stem} … ", end="", flush=True)
                print(f"{pairs.execute(text, kept):.1f} s")
            notebook = kept
        else:
            why = pairs.problem(text, notebook)
            if why:
                raise SystemExit(f"{text.relative_to(ROOT)}: {why}; run `make notebooks`")
        shutil.copyfile(notebook, page.with_suffix(".ipynb"))
    api_reference.write_pages(source / "api")
    frames = link_frames(source / "_static" / "explorables")
    with drawing({} if only else frames):  # a preview draws what its chapter shows
        generate.write_tables(source / "_generated")
        link_slides(source / "_static" / "slides")


def link_frames(folder: Path) -> dict[str, Path]:
    """Let the frames of every explorable be kept from one build to the next, until what draws them changes.

    Returns the address of each explorable and the folder where its frames are kept.
    """
    from rankedu.explorables import all_explorables

    folder.mkdir()
    frames = {}
    for explorable in all_explorables().values():
        kept = CACHE / "frames" / f"{explorable.name}-{fingerprint(*files_of(explorable.module))}"
        kept.mkdir(parents=True, exist_ok=True)
        (folder / explorable.name).symlink_to(kept, target_is_directory=True)
        frames[explorable.address] = kept
    return frames


def link_slides(folder: Path) -> None:
    """Put the slides of the lectures into the book, those of the last build if nothing has changed that they show."""
    import lectures
    import slides

    kept = CACHE / "slides" / fingerprint(*lectures.needs())
    if not all((kept / lectures.file_name(lecture)).exists() for lecture in lectures.lectures()):
        slides.write(kept)
    folder.symlink_to(kept, target_is_directory=True)


@contextlib.contextmanager
def drawing(frames: dict[str, Path]) -> Iterator[None]:
    """Draw the frames that are not kept yet, on all cores, while the block does something else; wait at its end."""
    from rankedu.explorables.book import draw

    waiting = {address: folder for address, folder in frames.items() if not (folder / "frames.json").exists()}
    if not waiting:
        yield
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads than cores would wait for each other
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        done = [pool.submit(draw, address, folder) for address, folder in waiting.items()]
        yield
        for drawn in done:
            drawn.result()


def sphinx(source: Path, html: Path, *, strict: bool) -> None:
    """Run Sphinx on the staged source, quietly; strictly means that every warning is an error."""
    import diet

    shutil.rmtree(html, ignore_errors=True)
    run_sphinx("html", source, html, *(["-n", "-W", "--keep-going"] if strict else []))
    diet.slim(html)
    (html / "build.json").write_text(json.dumps({"fingerprint": fingerprint()}), encoding="utf-8")


def run_sphinx(builder: str, source: Path, target: Path, *options: str) -> None:
    """One run of Sphinx; what goes wrong ends this program with Sphinx's own status."""
    command = [sys.executable, "-m", "sphinx", "-b", builder, "-q", "-E", *options]
    found = os.pathsep.join(filter(None, [str(BOOK), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [*command, "-d", str(source.parent / "doctrees"), str(source), str(target)],
        env={**os.environ, "PYTHONPATH": found},
    )
    if done.returncode:
        raise SystemExit(done.returncode)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--execute", action="store_true", help="run every chapter whose text or package changed")
    parser.add_argument("--links", action="store_true", help="build nothing; ask the web about the external links")
    parser.add_argument("--preview", metavar="NN", default="", help="build this chapter, lab or page alone")
    arguments = parser.parse_args()
    folder = BUILD / f"preview-{arguments.preview}" if arguments.preview else BUILD
    source, html = folder / "source", folder / "html"
    stage(source, execute=arguments.execute, only=arguments.preview)
    if arguments.links:
        run_sphinx("linkcheck", source, folder / "links")
        print("No link is broken. What was asked and answered:", folder / "links" / "output.txt", sep="\n")
        return
    sphinx(source, html, strict=not arguments.preview)
    print("The book is built. Open the page below in a browser.")
    print(html / "index.html")


if __name__ == "__main__":
    main()
