"""What is folded on a page, and what is not."""

from __future__ import annotations

import re

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

HIDDEN = {"source_hidden": True, "outputs_hidden": True}
#: What begins each fold of the page below.
FOLDED = ["oproof", "sanswer", "sfigure", "ofigure", "ostub", "oaside", "otable"]


def cell(word: str, **metadata):
    """A cell whose source and output are told apart by their first letters."""
    return new_code_cell(f"s{word}", metadata=metadata, outputs=[new_output("stream", text=f"o{word}\n")])


def test_what_stands_beside_the_story_is_folded_and_nothing_else(tmp_path):
    cells = [
        new_markdown_cell("# A chapter\n\n```{prf:proof}\noproof\n```"),
        cell("plain"),
        new_markdown_cell(":::{admonition} Predict\n:class: predict words\nWhat comes?\n:::"),
        cell("answer", jupyter=HIDDEN),
        new_markdown_cell(":::{admonition} Reveal\n:class: reveal\nThis.\n:::"),
        cell("figure", jupyter=HIDDEN),
        cell("stub", tags=["exercise"]),
        new_markdown_cell("(sec-main)=\n## A story\n\nostory"),
        new_markdown_cell("(aside-cost)=\n(sec-cost)=\n## What it costs\n\noaside"),
        cell("cost"),
        new_markdown_cell("## Paper map\n\n| source | here |\n|---|---|\n| Eq. 1 | otable |"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "index.ipynb")
    options = {
        "extensions": ["myst_nb", "sphinx_proof", "sphinx_togglebutton", "tools.site.folds"],
        "nb_execution_mode": "off",
        "myst_enable_extensions": ["colon_fence"],
    }
    folders = (tmp_path, None, tmp_path / "html", tmp_path / "trees")
    with patch_docutils(), docutils_namespace():  # what Sphinx teaches docutils is for this build alone
        Sphinx(*folders, "html", options, status=None, warning=None).build()
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    inside = page.split('<section id="a-chapter">')[1]
    folds = re.split(r'<(?:div|table) class="[^"]*\btoggle\b[^"]*">', inside)[1:]
    words = r"\b[so](?:proof|plain|answer|figure|stub|story|aside|cost|table)\b"
    assert [re.findall(words, fold)[0] for fold in folds] == FOLDED
    assert re.findall(words, folds[5]) == ["oaside", "scost", "ocost"], "the section with its cells"
