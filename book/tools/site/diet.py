"""What a page need not carry is taken out of the built book, so that it opens fast.

The theme draws a dozen icons with a script of 1.6 MB: each icon becomes the few lines of SVG that the script would put
in its place. MathJax comes with menus, speech rules and three output formats: what the pages load is kept. Pictures say
how large they are, so that nothing jumps, and load when the reader comes near. Long names get places where a line may
break, and slips of Sphinx's markup are put right.
"""

from __future__ import annotations

import re
from concurrent.futures import Executor
from functools import cache, partial
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

_ICON = re.compile(r'<i class="([^"]*\bfa-[^"]*)"([^>]*)></i>')
_STORED = re.compile(r"_images/([\w.-]+)\.png")
_PICTURE = re.compile(r"<img\b[^>]*>")
_ARGUMENTS = re.compile(r"<dl>\n(?:<dd>.*?</dd>\n)+</dl>", re.DOTALL)
_PAGES_BELOW = re.compile(r'(<a class="[^"]*" href="[^"]*">([^<]+)</a><details[^>]*>)<summary>')
#: A dotted name or a path, which has no place to break a line unless it is told; in code and in cells of tables.
_LONG = re.compile(r'(<span class="pre">|<td[^>]*>(?:<p>)?)([^<>\s\\]{16,})(?=</)')
_JOINT = re.compile(r"::|[._/=,](?=\w)")
_ICON_SCRIPT = re.compile(r"[^\n]*<script[^>]*/fontawesome\.js[^>]*></script>\n?")
#: Of MathJax: one loader, TeX in, HTML out, and MathML beside it for screen readers.
MATHJAX = {
    "startup.js",
    "core.js",
    "input/tex.js",
    "input/tex",
    "output/chtml.js",
    "output/chtml",
    "a11y/assistive-mml.js",
}
#: Classes that say how an icon is shown, not which one it is.
_LOOKS = {"fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw"}


def slim(html: Path, pool: Executor) -> None:
    """Take out of the built book what no reader needs; pages and pictures are worked on by the processes of a pool."""
    lighter = frozenset(pool.map(as_webp, sorted((html / "_images").glob("*.png"))))
    pages = [page for page in html.rglob("*.html") if "_static" not in page.relative_to(html).parts]
    scripts = html / "_static" / "scripts"
    for _ in pool.map(partial(slim_page, icons=scripts / "fontawesome.js", lighter=lighter), pages):
        pass
    (scripts / "fontawesome.js").unlink()  # its licence stays beside it
    for leftover in (html / "_static").rglob("*.map"):
        leftover.unlink()
    if (html / "_static" / "mathjax").exists():
        keep_of(html / "_static" / "mathjax", MATHJAX)


def slim_page(page: Path, *, icons: Path, lighter: frozenset[str]) -> None:
    """Take out of one page what no reader needs; ``lighter`` names the pictures that are WebP now."""
    text = page.read_text(encoding="utf-8")
    script = icons.read_text(encoding="utf-8") if _ICON.search(text) else ""
    text = _ICON.sub(lambda found: inline_icon(script, found[1], found[2]), _ICON_SCRIPT.sub("", text))
    text = _STORED.sub(lambda found: f"_images/{found[1]}.webp" if found[1] in lighter else found[0], text)
    text = _LONG.sub(lambda found: found[1] + _JOINT.sub(r"\g<0><wbr>", found[2]), valid(text))
    page.write_text(_PICTURE.sub(lambda found: measured_picture(found[0], page.parent), text), encoding="utf-8")


def valid(text: str) -> str:
    """Sphinx's page with the slips of its markup put right at which a screen reader stumbles.

    A bibliography is announced as a list and has no list items; a signature with one argument a line has descriptions
    without a term, within a term; what unfolds the pages below another in the navigation has no name.
    """
    text = _PAGES_BELOW.sub(r'\1<summary aria-label="Pages below: \2">', text)
    text = text.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    for found in set(_ARGUMENTS.findall(text)):
        lines = found.replace("<dd>", '<span class="sig-argument">').replace("</dd>", "</span>")
        text = text.replace(found, lines.replace("<dl>", "<span>").replace("</dl>", "</span>"))
    return text


def inline_icon(script: str, classes: str, attributes: str) -> str:
    """The SVG of an icon: what Font Awesome's script would put in the place of the element."""
    words = classes.split()
    name = next(word for word in words if word.startswith("fa-") and word not in _LOOKS)
    width, height, path = shape(script, name.removeprefix("fa-"))
    return (
        f'<svg class="svg-inline--fa {escape(classes)}"{attributes} aria-hidden="true" focusable="false" '
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )


@cache
def shape(script: str, name: str) -> tuple[str, str, str]:
    """Width, height and path of an icon; of its several styles the solid one, which the script names last."""
    found = re.findall(rf'[{{,]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]', script)
    if not found:
        raise ValueError(
            f"icon must be one of the theme's Font Awesome icons, got {name!r}: name another in the template"
        )
    width, height, path = found[-1]
    return width, height, path


def as_webp(path: Path) -> str:
    """Store the picture of a cell without loss as WebP, a third of the size; returns its name without the ending."""
    from PIL import Image

    with Image.open(path) as picture:
        opaque = picture.convert("RGBA").getextrema()[3][0] == 255
        kept = picture.convert("RGB" if opaque else "RGBA")
    kept.save(path.with_suffix(".webp"), lossless=True, quality=40, method=2)
    path.unlink()
    return path.stem


def measured_picture(tag: str, folder: Path) -> str:
    """The tag of a picture with its size in pixels, to be loaded when it comes near."""
    from PIL import Image

    source = re.search(r'\bsrc="([^"]+)"', tag)
    path = folder / unquote(urlsplit(source[1]).path) if source else None
    if path is None or path.suffix not in {".png", ".webp"} or "loading=" in tag:
        return tag
    attributes = ' loading="lazy" decoding="async"'
    if not re.search(r' (width|height)="| style="[^"]*(width|height):', tag):
        with Image.open(path) as picture:
            attributes += f' width="{picture.width}" height="{picture.height}"'
    return "<img" + attributes + tag.removeprefix("<img")


def keep_of(folder: Path, kept: set[str]) -> None:
    """Remove every file of a folder that is neither named nor below a folder that is."""
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif not any(name == one or name.startswith(f"{one}/") for one in kept):
            path.unlink()
