"""Build the book: stage the text and the executed notebooks, then run Sphinx with every warning an error.

`python book/build.py` takes the notebooks as committed (the tests have just proved them current);
`python book/build.py --execute` first runs every chapter afresh, unless the same text was run with the same package;
`python book/build.py --preview 04` builds one chapter into `book/_build/preview-04`, with warnings only printed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
BUILD = BOOK / "_build"
CACHE = BUILD / "cache"


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
    import generate
    import pairs

    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(BOOK, source, ignore=shutil.ignore_patterns("_build", "__pycache__", "build.py", "pairs.py"))
    for text, notebook in pairs.pairs().items():
        staged = source / text.parent.name / f"{text.stem}.ipynb"
        (source / text.parent.name / text.name).unlink()
        if not text.stem.startswith(only):
            continue
        if execute:
            kept = CACHE / "chapters" / fingerprint(text) / notebook.name
            if not kept.exists():
                print(f"executing {text.stem} … ", end="", flush=True)
                print(f"{pairs.execute(text, kept):.1f} s")
            notebook = kept
        else:
            why = pairs.problem(text, notebook)
            if why:
                raise SystemExit(f"{text.relative_to(ROOT)}: {why}; run `make notebooks`")
        shutil.copyfile(notebook, staged)
    generate.write_tables(source / "_generated")
    link_frames(source / "_static" / "explorables")


def link_frames(folder: Path) -> None:
    """Let the frames of every explorable be kept from one build to the next, until what draws them changes."""
    from rankedu.explorables import all_explorables

    folder.mkdir()
    for explorable in all_explorables().values():
        kept = CACHE / "frames" / f"{explorable.name}-{fingerprint(*files_of(explorable.module))}"
        kept.mkdir(parents=True, exist_ok=True)
        (folder / explorable.name).symlink_to(kept, target_is_directory=True)


def sphinx(source: Path, html: Path, *, strict: bool) -> None:
    """Run Sphinx on the staged source, quietly; strictly means that every warning is an error."""
    shutil.rmtree(html, ignore_errors=True)
    strictly = ["-n", "-W", "--keep-going"] if strict else []
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-E", *strictly]
    done = subprocess.run([*command, "-d", str(source.parent / "doctrees"), str(source), str(html)])
    if done.returncode:
        raise SystemExit(done.returncode)
    prune(html / "_static" / "mathjax")
    (html / "build.json").write_text(json.dumps({"fingerprint": fingerprint()}), encoding="utf-8")


def prune(mathjax: Path) -> None:
    """Keep of MathJax what the pages load: one bundle, its fonts and extensions, and speech rules in English."""
    kept = {"tex-chtml.js", "output", "input", "a11y", "ui", "sre"}
    for path in mathjax.iterdir():
        if path.name not in kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in [mathjax / "output" / "svg", mathjax / "output" / "svg.js", mathjax / "input" / "mml"]:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    for path in (mathjax / "sre" / "mathmaps").glob("*.json"):
        if path.stem not in {"base", "en", "nemeth"}:
            path.unlink()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--execute", action="store_true", help="run every chapter whose text or package changed")
    parser.add_argument("--preview", metavar="NN", default="", help="build this chapter alone")
    arguments = parser.parse_args()
    folder = BUILD / f"preview-{arguments.preview}" if arguments.preview else BUILD
    source, html = folder / "source", folder / "html"
    stage(source, execute=arguments.execute, only=arguments.preview)
    sphinx(source, html, strict=not arguments.preview)
    print("The book is built. Open the page below in a browser.")
    print(html / "index.html")


if __name__ == "__main__":
    main()
