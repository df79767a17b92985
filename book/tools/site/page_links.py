"""A Sphinx extension: what each page says of itself. Launch it, take its notebooks, edit it, report a mistake on it.

The repository's address has one place: `Repository` among `[project.urls]` in `pyproject.toml`. The environment
variable `RANKEDU_REPOSITORY` stands in for it (and `RANKEDU_BRANCH` for `main`), for a copy that is published from
elsewhere. Only for GitHub is it known where a file is edited and launched; without an address no page has a button
that leads nowhere.
"""

import importlib.metadata
import os
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import nbformat
from nbformat.v4 import new_code_cell

from rankedu_lab.runs.runner import git_revision
from tools.notebooks import pairs

ROOT = pairs.ROOT
#: What a service that runs notebooks has, or does not need, of what the extra `lab` brings.
_THERE = ("torch>", "numpy", "jupyter", "jupytext", "myst-nb", "rankedu")
#: The first cell of a notebook that a page offers.
_SETUP = """\
# Where the book is installed, this cell does nothing. Elsewhere (on Colab, on Kaggle, in an empty folder with torch and
# Jupyter) it fetches the book's code and installs what the notebooks need.
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

if importlib.util.find_spec("rankedu_book") is None:
    home = Path("rankedu-book").resolve()
    if not (home / "rankedu").exists():
        for words in ("init", "fetch --depth 1 {address} {commit}", "checkout FETCH_HEAD"):
            command, *more = words.split()
            home.mkdir(exist_ok=True)
            subprocess.run(["git", "-C", str(home), command, "--quiet", *more], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *{needs}], check=True)
    found = [str(home), str(home / "lab"), str(home / "book")]
    sys.path[:0] = found
    os.environ["PYTHONPATH"] = os.pathsep.join(found)"""


def address() -> str:
    """The repository's address without a slash at its end; empty where none is configured."""
    urls = [line.partition(", ") for line in importlib.metadata.metadata("rankedu").get_all("Project-URL") or []]
    known = next((value for name, _, value in urls if name.lower() == "repository"), "")
    found = os.environ.get("RANKEDU_REPOSITORY") or known
    if found and not re.match(r"https://[^/]+/[^/]+/[^/]+", found):
        raise ValueError(f"RANKEDU_REPOSITORY must read https://host/owner/name, got {found!r}: correct or unset it")
    return found.removesuffix("/").removesuffix(".git")


@cache
def commit() -> str:
    """What is checked out while the book is built, with *dirty* if files differ from it; empty outside of git."""
    found = git_revision(ROOT)
    return found["revision"] + "-dirty" * found["modified"] if found else ""


def sources(page: str) -> list[str]:
    """The file that a person edits for a page, then the notebook that is made of it, as paths in the repository."""
    text = ROOT / "book" / f"{page}.md"
    files = [text, *filter(None, [pairs.pairs().get(text)])] if text.exists() else []
    return [str(file.relative_to(ROOT)) for file in files]


def notebooks(page: str) -> dict[str, str]:
    """Name → address, from the root of the book, of every notebook that a page offers: its own, and its exercises."""
    made = pairs.pairs().get(ROOT / "book" / f"{page}.md")
    found = {"Notebook": made, "Exercises": ROOT / "notebooks" / "exercises" / made.name} if made else {}
    return {name: _address(path) for name, path in found.items() if path.exists()}


def _address(notebook: Path) -> str:
    return f"_static/notebooks/{notebook.relative_to(ROOT / 'notebooks').as_posix()}"


def needs() -> list[str]:
    """The requirements of the extra `lab` that the first cell of a notebook installs."""
    listed = (one.partition(";") for one in importlib.metadata.requires("rankedu") or [])
    wanted = {need.strip() for need, _, when in listed if re.search("['\"](lab|cli|vision)['\"]", when)}
    return sorted(need for need in wanted if not need.startswith(_THERE))


def write_notebooks(source: Path) -> None:
    """Put the notebooks among the files of the book, a twentieth of their size without outputs."""
    site, starters = address(), ROOT / "notebooks" / "exercises"
    own = [pairs.pairs()[text] for text in pairs.pages()]
    for notebook in filter(Path.exists, [*own, *(starters / one.name for one in own)]):
        made = nbformat.read(notebook, as_version=4)
        if site:
            setup = _SETUP.format(address=site, commit=commit().removesuffix("-dirty"), needs=needs())
            made.cells.insert(0, new_code_cell(setup, id="set-up"))
        made.metadata = {"kernelspec": made.metadata["kernelspec"]}
        for cell in pairs.code_cells(made):
            cell.outputs, cell.execution_count = [], None
        target = source / _address(notebook)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(made, target)


def about(page: str) -> dict[str, Any]:
    """What a page shows of itself: its notebooks, and where it can be edited, followed, launched and reported."""
    files = sources(page)
    found: dict[str, Any] = {"launch": {}, "downloads": notebooks(page)}
    site, branch = address(), os.environ.get("RANKEDU_BRANCH", "main")
    if files and site.startswith("https://github.com/"):
        found |= {"edit": f"{site}/edit/{branch}/{files[0]}", "history": f"{site}/commits/{branch}/{files[0]}"}
        report = {"template": "mistake.yml", "title": f"{page}: ", "page": page, "commit": commit()}
        report["version"] = importlib.metadata.version("rankedu")
        found["report"] = f"{site}/issues/new?{urlencode(report)}"  # the window's place is added by report.js
        owner = site.removeprefix("https://github.com/")
        if len(files) > 1:
            shown = f"gh-pages/{report['version']}/{_address(ROOT / files[1])}"  # this page's, with its set-up cell
            found["launch"] = {
                "Colab": f"https://colab.research.google.com/github/{owner}/blob/{shown}",
                "Kaggle": f"https://www.kaggle.com/kernels/welcome?{urlencode({'src': f'{site}/blob/{shown}'})}",
                "Binder": f"https://mybinder.org/v2/gh/{owner}/{branch}?urlpath=lab/tree/{files[1]}",
            }
    return found


def add_context(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the templates what they show."""
    context["about_page"] = about(page)


def add_buttons(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the header the buttons that launch a page, fetch its notebooks and report a mistake, where there are any."""
    shown = context["about_page"]
    tooltip = "A Jupyter notebook" + ("" if shown["launch"] else ", to be run where rankedu is installed")
    launch = [
        _button(name, f"Run this page on {name}, with live sliders", "fa-play", url)
        for name, url in shown["launch"].items()
    ]
    taken = [_button(name, tooltip, "fa-file", context["pathto"](path, 1)) for name, path in shown["downloads"].items()]
    if taken:
        paper = {"type": "javascript", "javascript": "window.print()", "icon": "fa-solid fa-print"}
        taken.append({**paper, "text": "Print, or save as PDF", "tooltip": "With all folds open"})
    for buttons, words, icon, label in (
        (launch, "Launch this page", "fa-solid fa-rocket", "launch-buttons"),
        (taken, "Download or print this page", "fa-solid fa-download", "download-buttons"),
    ):
        group = {"type": "group", "tooltip": words, "icon": icon, "buttons": buttons, "label": label}
        context["header_buttons"] += [group] if buttons else []
    if "report" in shown:
        report = _button("", "Report a mistake on this page", "fa-flag", shown["report"])
        context["header_buttons"].append(report)
        app.add_js_file("report.js", loading_method="defer")


def _button(text: str, tooltip: str, icon: str, url: str) -> dict[str, str]:
    return {"type": "link", "text": text, "tooltip": tooltip, "icon": f"fa-solid {icon}", "url": url}


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension: one hook runs before the theme reads templates, one after it has buttons."""
    app.connect("html-page-context", add_context, priority=400)
    app.connect("html-page-context", add_buttons, priority=502)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
