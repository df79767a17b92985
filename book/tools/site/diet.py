"""What a page need not carry is taken out of the built book, so that it opens fast, also from a disk.

Each icon becomes the lines of SVG that the theme's script of 1.6 MB would put in its place, and of the theme's 1,970
icons stay those that are named; of MathJax stays what the pages load; pictures and formulas say how large they are, so
that nothing jumps, and pictures load when the reader comes near. The menu says how long a page takes. Long names get
places where a line may break, and slips of Sphinx's markup are put right.
"""

import re
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import cache, partial
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from PIL import Image

from tools.site import reading

_ICON = re.compile(r'<i class="([^"]*\bfa-[^"]*)"([^>]*)></i>')
_ICON_SCRIPT = re.compile(r"[^\n]*<script[^>]*/fontawesome\.js[^>]*></script>\n?")
_ICON_RULE, _ICON_NAME = re.compile(r'((?:\.fa-[\w-]+,?)+)\{--fa:"[^"]*"\}'), re.compile(r"\bfa-[\w-]+")
_STORED = re.compile(r"_images/([\w.-]+)\.png")
_PICTURE = re.compile(r"<img\b[^>]*>")
_MENU = re.compile(r'<nav class="bd-links.*?</nav>', re.DOTALL)
_LINK = re.compile(r'(<a class="[^"]*" href="([^"#]*)#?">)(.*?)(?=</a>)', re.DOTALL)
_FORMULA = re.compile(r'<span class="math notranslate nohighlight"(?=>(\\\(.*?)</span>)', re.DOTALL)
#: What of TeX has no width; the signs around which it leaves room; the names of other signs.
_BARE = re.compile(r"\\(?:math\w+|text|operatorname|left|right|[dt]?frac|[,;:! ()])")
_ROOMY, _SIGN = re.compile(r"\\(?:le|ge|in|to|approx|ne|cdot|times|pm)\b|&[lg]t;|[=+-]"), re.compile(r"\\[a-zA-Z]+|\\.")
_ARGUMENTS = re.compile(r"<dl>\n(?:<dd>.*?</dd>\n)+</dl>", re.DOTALL)
_PAGES_BELOW = re.compile(r'(<a class="[^"]*" href="[^"]*">([^<]+)</a><details[^>]*>)<summary>')
#: A dotted name or a path, which has no place to break a line unless it is told; in code and in cells of tables.
_LONG = re.compile(r'(<span class="pre">|<td[^>]*>(?:<p>)?)([^<>\s\\]{16,})(?=</)')
_JOINT = re.compile(r"::|[._/=,](?=\w)")
#: Of MathJax: one loader, TeX in, HTML out, and MathML beside it for screen readers.
MATHJAX = ("startup.js", "core.js", "input/tex.js", "input/tex/", "output/chtml", "a11y/assistive-mml.js")
#: Classes that say how an icon is shown, not which one it is.
_LOOKS = {"fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw"}


def slim(html: Path, pool: Executor) -> None:
    """Take out of the built book what no reader needs; pages and pictures are worked on by the processes of a pool."""
    static, mathjax = html / "_static", html / "_static" / "mathjax"
    script = static / "scripts" / "fontawesome.js"  # its licence stays beside it
    lighter = frozenset(pool.map(as_webp, sorted((html / "_images").glob("*.png"))))
    pages = [page for page in html.rglob("*.html") if not page.is_relative_to(static)]
    about = {"root": html, "icons": script.read_text(encoding="utf-8"), "lighter": lighter, "minutes": reading.times()}
    list(pool.map(partial(slim_page, **about), pages))
    theme = static / "styles" / "pydata-sphinx-theme.css"
    naming = (file.read_text(encoding="utf-8") for file in [*pages, *static.glob("*.js"), *static.glob("*.css")])
    named = {name for text in naming for name in _ICON_NAME.findall(text)}
    rules = theme.read_text(encoding="utf-8")
    rules = _ICON_RULE.sub(lambda rule: rule[0] * bool(named & set(_ICON_NAME.findall(rule[1]))), rules)
    theme.write_text(rules, encoding="utf-8")
    parts = [path for path in mathjax.rglob("*") if path.is_file()]
    unused = [path for path in parts if not path.relative_to(mathjax).as_posix().startswith(MATHJAX)]
    for leftover in [script, *static.rglob("*.map"), *unused]:
        leftover.unlink()


def slim_page(page: Path, *, root: Path, icons: str, lighter: frozenset[str], minutes: Mapping[str, int]) -> None:
    """Take out of one page what no reader needs; ``lighter`` names the pictures that are WebP now."""
    text = _ICON_SCRIPT.sub("", page.read_text(encoding="utf-8"))
    text = _ICON.sub(lambda found: inline_icon(icons, found[1], found[2]), text)
    text = _STORED.sub(lambda found: f"_images/{found[1]}.webp" if found[1] in lighter else found[0], text)
    text = _LONG.sub(lambda found: found[1] + _JOINT.sub(r"\g<0><wbr>", found[2]), valid(text))
    text = _FORMULA.sub(lambda found: f'{found[0]} style="--room: {0.82 * signs(found[1]):.1f}em"', text)

    def timed(link: re.Match[str]) -> str:
        """A link of the menu with the minutes that path.js would add to it, and so move what follows."""
        to = (page.parent / link[2]).resolve() if link[2] else page.resolve()
        time = minutes.get(to.relative_to(root.resolve()).as_posix()) if to.is_relative_to(root.resolve()) else None
        return link[0] + (f' <span class="path-mark">{time}\u00a0min</span>' if time else "")

    text = _MENU.sub(lambda menu: _LINK.sub(timed, menu[0]), text)
    page.write_text(_PICTURE.sub(lambda found: measured_picture(found[0], page.parent), text), encoding="utf-8")


def signs(tex: str) -> int:
    r"""About how many signs a formula is wide: MathJax sets it when the page is there already, and shall move nothing.

    >>> signs(r"\(\mathbf{y} + \lambda\mathbf{c}\)")
    5
    """
    return sum(sign not in "_^{} \n" for sign in _SIGN.sub("x", _ROOMY.sub("xx", _BARE.sub(" ", tex))))


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
    name = next(word for word in classes.split() if word.startswith("fa-") and word not in _LOOKS)
    width, height, path = shape(script, name.removeprefix("fa-"))
    return (
        f'<svg class="svg-inline--fa {escape(classes)}"{attributes} aria-hidden="true" focusable="false" '
        f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )


@cache
def shape(script: str, name: str) -> tuple[str, str, str]:
    """Width, height and path of an icon; of its several styles the solid one, which the script names last."""
    pattern = rf'[{{,]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]'
    width, height, path = re.findall(pattern, script)[-1]
    return width, height, path


def as_webp(path: Path) -> str:
    """Store the picture of a cell without loss as WebP, a third of the size; returns its name without the ending."""
    with Image.open(path) as picture:
        opaque = picture.convert("RGBA").getextrema()[3][0] == 255
        kept = picture.convert("RGB" if opaque else "RGBA")
    kept.save(path.with_suffix(".webp"), lossless=True, quality=40, method=2)
    path.unlink()
    return path.stem


def measured_picture(tag: str, folder: Path) -> str:
    """The tag of a picture with its size in pixels, to be loaded when it comes near."""
    source = re.search(r'\bsrc="([^"]+)"', tag)
    path = folder / unquote(urlsplit(source[1]).path) if source else None
    if path is None or path.suffix not in {".png", ".webp"} or "loading=" in tag:
        return tag
    attributes = ' loading="lazy" decoding="async"'
    if not re.search(r' (width|height)="| style="[^"]*(width|height):', tag):
        with Image.open(path) as picture:
            attributes += f' width="{picture.width}" height="{picture.height}"'
    return "<img" + attributes + tag.removeprefix("<img")
