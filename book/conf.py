"""Sphinx configuration of the book. Run through `book/tools/site/build.py`, which stages the source."""

import importlib.metadata

from sphinx.ext import autosummary
from tools.site import discovery

project = "Optimising rank-based metrics"
author = discovery.authors()
copyright = f"{author}. Text: CC BY 4.0. Code: MIT"
release = version = importlib.metadata.version("rankedu")

extensions = [
    *("myst_nb", "sphinxcontrib.bibtex", "sphinx_design", "sphinx_proof", "sphinx_exercise", "sphinx_togglebutton"),
    *("tools.site.mathml", "tools.site.gallery", "tools.site.folds"),
    *("tools.site.page_links", "tools.site.excerpts", "tools.site.discovery", "tools.site.moved", "tools.site.play"),
    *("sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "tools.site.api_reference"),
]
exclude_patterns = ["_generated/*", "_build", "data/*"]
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "smartquotes"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "unsrt"
numfig = True
numfig_format = {"figure": "Figure %s", "table": "Table %s"}
math_numfig = True
html_math_renderer = "mathml"
math_eqref_format = "({number})"
prf_realtyp_to_countertyp = dict.fromkeys(("lemma", "proposition", "definition", "corollary", "remark"), "theorem")
nitpicky = True
suppress_warnings = ["mystnb.unknown_mime_type"]

# The API reference. The docstrings state types with their shapes, so signatures have none.
autodoc_typehints = "none"
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autosummary_generate = False
autosummary.WELL_KNOWN_ABBREVIATIONS += ("Eq.", "Fig.", "Sec.")  # else a summary ends there
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = False  # else every word of "Tensor, shape (n,)" would be a reference
napoleon_custom_sections = ["Source", ("Attributes", "params_style")]
nitpick_ignore_regex = [("py:.*", r"(torch|numpy|scipy|matplotlib)\..*")]
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 100

html_theme = "sphinx_book_theme"
html_baseurl = discovery.site()
html_title = "Optimising rank-based metrics"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["look.css", "book.css", "api.css", "predict.css", "path.css", "questions.css"]
html_favicon = "_static/favicon.svg"
html_js_files = [
    ("kept.js", {"defer": "defer"}),  # what the scripts below share
    ("shell.js", {"defer": "defer"}),
    ("comforts.js", {"defer": "defer"}),
    ("predict.js", {"defer": "defer"}),
    ("paths.js", {"defer": "defer"}),  # what book/tools/site/reading.py makes for the next
    ("path.js", {"defer": "defer"}),
]
html_show_sourcelink = False
html_copy_source = False
html_domain_indices = ["prf-prf"]  # theorems; the modules have their pages in the API reference
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "collapse_navbar": True,
    "show_navbar_depth": 1,
    "navbar_persistent": [],
    "article_footer_items": ["about-page.html"],
    "search_bar_text": "Search the book",
    "logo": {"text": "Optimising rank-based metrics"},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
togglebutton_hint = "Show"
togglebutton_hint_hide = "Hide"

# `python book/tools build --links` asks slow sites again, and does not look for anchors.
linkcheck_timeout, linkcheck_retries, linkcheck_anchors = 20, 2, False
