"""A Sphinx extension: an exercise with code is one box, and below each listing of the reference one can run it.

A box holds the statement, the starter, which `play.js` makes an editor, and the solution.
"""

import ast
import doctest
import html
import inspect
import re
from pathlib import Path
from typing import Any

from docutils import nodes

from rankedu import reference
from rankedu_book.kit.check import find
from rankedu_book.kit.play import PAGE, in_page, script

#: What a definition without an example is called with, by the names of its parameters.
INPUTS = {
    "y": "[0.9, 0.8, 0.7]",
    "z": "[0.5, 0.9, 0.1]",
    "rel": "[2, 0, 1]",
    "levels": "[2, 1, 0]",
    "label": "0",
    "weights": "[0.5, 0.5]",
    "cosines": "[0.9, 0.2, 0.5]",
    "scores": "[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]",
    "relevant": "[[True, False], [False, True], [False, True]]",
}
NOTE = "This exercise needs NumPy or PyTorch, so it runs in the chapter's notebook and not in the page."
LISTS = "Here you get plain Python lists, not arrays. You may import math, itertools and rankedu.reference."


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def starter(names: list[str]) -> str:
    """Calls to start from: the first examples of these definitions, or typical inputs where there are none."""
    lines = []
    for name in names:
        for example in doctest.DocTestParser().get_examples(getattr(reference, name).__doc__ or ""):
            source = ast.unparse(ast.parse(example.source))  # without comments
            lines.append(f"print({source})" if example.want else source)
    for name in [] if lines else names:
        given = inspect.signature(getattr(reference, name)).parameters.values()
        lines.append(f"print({name}({', '.join(INPUTS[one.name] for one in given if one.default is one.empty)}))")
    lines = lines[:6]
    used = ", ".join(name for name in names if re.search(rf"\b{name}\b", "\n".join(lines)))
    return "\n".join([f"from rankedu.reference import {used}", "", *lines])


def _try(names: list[str]) -> nodes.raw:
    return _raw(
        '<details class="code-box code-box-try" data-try><summary>Try it</summary>'
        f"<pre>{html.escape(starter(names))}</pre></details>"
    )


def put(app: Any, document: nodes.document, page: str) -> None:
    """Put the boxes around the exercises of a page, and an editor below its listings."""
    found = False
    for cell in list(document.findall(nodes.Element)):
        parent = cell.parent
        if cell.get("nb_element") == "cell_code" and "tag_exercise" in cell["classes"]:
            name = re.search(r'check\("(\w+)"', cell.astext())[1]  # type: ignore[index]
            runs, at = in_page(find(name)), parent.index(cell)
            box = f'<div class="code-box" data-exercise="{name}">' if runs else '<div class="code-box">'
            last = at + 1 if at + 1 < len(parent) and "solution" in parent[at + 1].get("classes", []) else at
            parent.insert(last + 1, _raw("</div>"))
            parent.insert(at, _raw(f'<p class="code-box-note">{LISTS if runs else NOTE}</p>'))
            parent.insert(at - 1, _raw(box))
            if runs:  # what the starter printed
                cell[:] = [part for part in cell.children if part.get("nb_element") != "cell_code_output"]
            found = True
        elif cell.get("nb_element") == "cell_code" and (shown := re.search(r"show_source\(([^)]*)\)", cell.astext())):
            names = re.findall(r"reference\.(\w+)", shown[1])
            if names:
                parent.insert(parent.index(cell) + 1, _try(names))
                found = True
        elif isinstance(cell, nodes.literal_block) and str(cell.get("source", "")).endswith("_generated/reference.py"):
            names = re.findall(r"^def (\w+)", cell.astext(), re.MULTILINE)
            parent.insert(parent.index(cell) + 1, _try(names))
            found = True
    document["plays"] = found


def add_scripts(app: Any, page: str, template: str, context: dict[str, Any], document: nodes.document | None) -> None:
    """Only a page with something to run loads the script."""
    if document is not None and document.get("plays"):
        app.add_js_file("play.js", priority=900, defer="defer")  # after kept.js
        app.add_css_file("play.css")


def thin(file: Path) -> str:
    """A script or a style without comments and most spaces, because every page with a box loads it."""
    text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\s*\n\s*", "\n", text).strip()  # a line that ends with a comment keeps its end
    return re.sub(r"\s*([{};:,>])\s*", r"\1", text) if file.suffix == ".css" else text


def write(app: Any, error: Exception | None) -> None:
    """Write what is loaded at the first click."""
    if not error and app.builder.name == "html":
        static = Path(app.outdir) / "_static"
        (static / "engine.js").write_text(script(), encoding="utf-8")
        for file in PAGE.iterdir():
            (static / file.name).write_text(thin(file), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension."""
    app.config.html_static_path.append(str(PAGE))
    app.connect("doctree-resolved", put, priority=900)
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
