"""Sphinx configuration of the EPUB and of the PDF: that of the book, without what only works on a screen."""

from conf import *  # noqa: F403 (book/conf.py)

#: What folds, copies, launches, searches or runs.
_ON_A_SCREEN = {"sphinx_togglebutton", "sphinx_copybutton", "tools.site.page_links"}
_ON_A_SCREEN |= {f"tools.site.{name}" for name in ("excerpts", "discovery", "moved", "play")}
extensions = [name for name in extensions if name not in _ON_A_SCREEN]  # noqa: F405
extensions += ["tools.site.offline"]
html_theme = epub_theme = "basic"
html_theme_options = {"nosidebar": True}
html_static_path, html_css_files, html_js_files, templates_path = ["../_static", "look.css"], ["look.css"], [], []
bibtex_bibfiles, exclude_patterns = ["../references.bib"], [*exclude_patterns, "_static"]  # noqa: F405
html_domain_indices = html_use_index = epub_use_index = False
epub_basename, epub_show_urls, epub_exclude_files = "book", "no", ["search.xhtml"]
epub_identifier, epub_scheme, epub_language = f"rankedu-book-{version}", "book", "en"  # noqa: F405
suppress_warnings = [*suppress_warnings, "epub.unknown_project_files", "epub.duplicated_toc_entry"]  # noqa: F405


def setup(app):
    """Nothing of what the pages' configuration sets up is needed."""
