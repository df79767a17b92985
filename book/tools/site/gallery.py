"""Figures to play with on the pages of the book: the directives ``{play}`` and ``{gallery}``, and the outputs of cells.

`rankedu_book.figures` has the figures. A page fetches the scripts of its own figures and no others.
"""

import json
import re
from typing import Any

from docutils import nodes
from myst_nb.core import render
from sphinx.util.docutils import SphinxDirective

from rankedu_book import figures
from tools.site.figures import pages


def played(name: str, environment: Any) -> nodes.raw:
    """Return a figure on the page that Sphinx is reading."""
    at = "../" * str(environment.docname).count("/") + "_static/figures"
    return nodes.raw("", figures.markup(name, f"{at}/{name}.png"), format="html")


def gallery(names: list[str], environment: Any) -> nodes.raw:
    """Return a picture, a sentence and a link for each of these figures, or of all that a page shows."""
    up, where = "../" * str(environment.docname).count("/"), pages()
    shown = names or [name for name in figures.FIGURES if name in where]
    cards = [
        f'<a href="{up}{where[name]}.html#figure-{name}">'
        f"{figures.picture(name, f'{up}_static/figures/{name}.png')}<span>{figures.caption(name)}</span></a>"
        for name in shown
    ]
    return nodes.raw("", f'<div class="gallery">{"".join(cards)}</div>', format="html")


class FigureRenderer:
    """Tell MyST-NB how to show a figure, and give every picture its alternative text and its width."""

    mime_priority_overrides = (("*", figures.MIME, 1),)

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Element] | None:
        """Return the nodes of a figure or a picture, and None for any other output."""
        if inline or data.mime_type not in ("image/png", figures.MIME):
            return None
        if data.mime_type == "image/png":
            pictures: list[nodes.Element] = renderer.render_image(data)
            about = data.output_metadata.get("image/png", {})
            for picture in pictures:
                picture["alt"] = about.get("alt", "")
                if "width" in about:
                    picture["width"] = f"{about['width']}px"
            return pictures
        content = data.content if isinstance(data.content, dict) else json.loads(data.content)
        return [played(content["play"], renderer.renderer.sphinx_env)]


class Play(SphinxDirective):
    """``{play} name``: a figure on a page that is not a notebook."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [played(self.arguments[0], self.env)]


class Gallery(SphinxDirective):
    """``{gallery}``: pictures that lead to the figures, to all of them or to those that are named."""

    optional_arguments = 20

    def run(self) -> list[nodes.Node]:
        return [gallery(self.arguments, self.env)]


def _add_scripts(app: Any, page: str, template: str, context: dict[str, Any], *_: object) -> None:
    found = re.findall(r'data-figure="([\w-]+)"', context.get("body", ""))
    if found or 'class="gallery"' in context.get("body", ""):
        app.add_css_file("figures/figures.css")
    for script in ("ranks", "common", *dict.fromkeys(found)) if found else ():
        app.add_js_file(f"figures/{script}.js", priority=900, defer="defer")


def setup(app: Any) -> dict[str, bool]:
    """Make this module a Sphinx extension.

    MyST-NB asks only installed packages for renderers. This one belongs to the book and is not installed, so it is
    put into the place where MyST-NB keeps what it found.
    """
    render.load_mime_renders = lambda: [FigureRenderer]
    app.add_directive("play", Play)
    app.add_directive("gallery", Gallery)
    app.connect("html-page-context", _add_scripts)
    return {"parallel_read_safe": True}
