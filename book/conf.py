"""Sphinx configuration of the book. Run through `book/build.py`, which stages the source."""

from __future__ import annotations

import importlib.metadata

project = "Optimising rank-based metrics"
author = "The rankedu authors"
copyright = "The rankedu authors. Text: CC BY 4.0. Code: MIT"
release = version = importlib.metadata.version("rankedu")
language = "en"

extensions = [
    "myst_nb",
    "sphinxcontrib.bibtex",
    "sphinx_design",
    "sphinx_proof",
    "sphinx_exercise",
    "sphinx_togglebutton",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
    "rankedu.explorables.book",
]
exclude_patterns = ["_generated/*", "_build"]
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "smartquotes"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
numfig = True
numfig_format = {"figure": "Figure %s", "table": "Table %s"}
math_numfig = True
math_eqref_format = "({number})"
prf_realtyp_to_countertyp = {
    "lemma": "theorem",
    "proposition": "theorem",
    "definition": "theorem",
    "corollary": "theorem",
    "remark": "theorem",
}
nitpicky = True
suppress_warnings = ["mystnb.unknown_mime_type"]

html_theme = "sphinx_book_theme"
html_title = "Optimising rank-based metrics"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = ["explorable.js"]
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "show_navbar_depth": 1,
    "navbar_persistent": [],
    "logo": {"text": "Optimising rank-based metrics"},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
togglebutton_hint = "Show"
togglebutton_hint_hide = "Hide"
