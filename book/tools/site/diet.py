"""What a page need not carry is taken out of the built book, so that it opens fast, also from a disk.

Each icon becomes the lines of SVG that the theme's script of 1.6 MB would put in its place. One stylesheet and one
script stand for those that all pages share, and what the theme brings that no page uses is left out. Pictures say how
large they are, so that nothing jumps, and load when the reader comes near. Long names get places where a line may
break, and slips of Sphinx's markup are put right.
"""

import io
import json
import os
import re
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import cache, partial
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from PIL import Image, ImageChops, ImageStat

from tools.site import play, stylesheet

_ICON = re.compile(r'<(?:i|span) class="([^"]*\bfa-[^"]*)"([^>]*)></(?:i|span)>')
_ICON_SCRIPT = re.compile(r"[^\n]*<script[^>]*/fontawesome\.js[^>]*></script>\n?")
_SHEET = re.compile(r'[ \t]*<link\b[^>]*\bhref="([^"?]+\.css)[^"]*"[^>]*>\n?')
_SCRIPT = re.compile(r'[ \t]*<script\b[^>]*\bsrc="([^"?]+)[^"]*"[^>]*></script>\n?')
_IDLE = re.compile(r'[ \t]*<(?:link rel="preload"[^>]*|script>\s*DOCUMENTATION_OPTIONS\.[^<]*</script)>\n?')
_THEME = re.compile(r'<script data-cfasync="false">.*?</script>', re.DOTALL)
#: Says before anything is drawn whether it is day or night (`shell.js`).
_DAY_OR_NIGHT = """<script>
    {
      const { dataset } = document.documentElement;
      try { dataset.mode = localStorage.getItem("mode") ?? "auto"; } catch { dataset.mode = "auto"; }
      const night = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      dataset.theme = dataset.mode === "auto" ? night : dataset.mode;
    }
  </script>"""
#: Scripts in whose place `shell.js` and `search.js` do what the book needs of them.
REPLACED = {
    *("bootstrap.js", "pydata-sphinx-theme.js", "sphinx-book-theme.js", "design-tabs.js", "fontawesome.js"),
    *("documentation_options.js", "doctools.js", "sphinx_highlight.js", "language_data.js"),
    *("searchtools.js", "searchindex.js"),
}
#: Nothing is drawn until the letters are there, or for 0.8 s: then nothing jumps when they come.
_LETTERS = """<script>
    {
      const { classList } = document.documentElement, show = () => classList.remove("without-letters");
      classList.add("without-letters");
      Promise.all(FONTS.map((font) => document.fonts.load(font, "aλ"))).finally(show);
      setTimeout(show, 800);
    }
  </script>
"""
_TEXT = ["1em 'Source Serif 4'", "600 1em 'Source Serif 4'", "italic 1em 'Source Serif 4'", "1em 'Source Sans 3'"]
#: Scripts that only pages with such an element load.
ONLY_WITH = {
    "predict.js": re.compile(r'class="[^"]*(?<![\w-])predict(?![\w-])'),
    "togglebutton.js": re.compile(r'class="(?:[^"]*(?<![\w-])toggle(?![\w-])|[^"]*admonition[^"]* dropdown\b)'),
}
_STORED = re.compile(r"(_images|_static/figures)/([\w.-]+)\.png")
_PICTURE = re.compile(r"<img\b[^>]*>")
_ARGUMENTS = re.compile(r"<dl>\n(?:<dd>.*?</dd>\n)+</dl>", re.DOTALL)
_PAGES_BELOW = re.compile(r'(<a class="[^"]*" href="[^"]*">([^<]+)</a><details[^>]*>)<summary>')
#: A dotted name or a path, in code or in a cell of a table, in which a browser breaks no line by itself.
_LONG = re.compile(r'(<span class="pre">|<td[^>]*>(?:<p>)?)([^<>\s\\]{16,})(?=</)')
_JOINT = re.compile(r"::|[._/=,](?=\w)")
#: A number and its unit, or its interval, stay in one line.
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[KMG]B|ms|px)(?!\w)|±)|(?<=±) (?=\d)")
#: Classes that say how an icon is shown, not which one it is.
_LOOKS = {"fa-solid", "fa-regular", "fa-brands", "fa-lg", "fa-fw"}


def slim(html: Path, pool: Executor) -> None:
    """Take out of the built book what no reader needs; pages and pictures are worked on by the processes of a pool."""
    static = html / "_static"
    script = static / "scripts" / "fontawesome.js"  # its licence stays beside it
    pictures = [*(html / "_images").glob("*.png"), *(static / "figures").glob("*.png")]
    lighter = frozenset(pool.map(as_webp, sorted(pictures)))
    pages = [page for page in html.rglob("*.html") if not page.is_relative_to(static)]
    about = {"icons": script.read_text(encoding="utf-8"), "lighter": lighter}
    list(pool.map(partial(slim_page, **about), pages))
    for figure in (static / "figures").glob("*.js"):
        figure.write_text(play.thin(figure), encoding="utf-8")
    unite(html, pages)
    idle = [path for path in html.rglob("*.js") if path.name in REPLACED]
    for leftover in [*idle, *static.rglob("*.map"), *(static / "vendor").rglob("*.woff2")]:
        leftover.unlink()


def unite(html: Path, pages: Iterable[Path]) -> None:
    """Put the stylesheets of all pages into one, without what none needs, and the scripts that all share into one."""
    static = html / "_static"
    texts = {page: without_idle_scripts(page.read_text(encoding="utf-8")) for page in pages}
    sheets = in_order(linked(_SHEET, page, text) for page, text in texts.items())
    scripts = [found for page, text in texts.items() if (found := linked(_SCRIPT, page, text))]
    shared = [one for one in scripts[0] if all(one in listed for listed in scripts)]
    style = re.sub(r"\s*([{};,])\s*", r"\1", one_stylesheet(sheets, static, list(texts.values())))
    (static / "site.css").write_text(style, encoding="utf-8")
    (static / "site.js").write_text("\n".join(play.thin(one) for one in shared), encoding="utf-8")
    version = {name: sha256((static / name).read_bytes()).hexdigest()[:8] for name in ("site.css", "site.js")}
    for page, text in texts.items():
        to = os.path.relpath(static, page.parent).replace(os.sep, "/")
        more = ["1em 'Source Serif 4 Greek'"] + ["1em 'STIX Two Math'"] * ("<math" in text)
        letters = _LETTERS.replace("FONTS", json.dumps(_TEXT + more))
        sheet = f'<link rel="stylesheet" href="{to}/site.css?v={version["site.css"]}">\n{letters}'
        script = f'<script defer src="{to}/site.js?v={version["site.js"]}"></script>\n'
        text = replaced(_SHEET, page, text, sheets, sheet)
        page.write_text(replaced(_SCRIPT, page, text, shared, script), encoding="utf-8")


def without_idle_scripts(text: str) -> str:
    """A page without the scripts that do nothing on it, and with a short one that says whether it is day or night."""
    needless = REPLACED | {name for name, needs in ONLY_WITH.items() if not needs.search(text)}
    kept = _SCRIPT.sub(lambda one: "" if Path(one[1]).name in needless else one[0], _IDLE.sub("", text))
    return _THEME.sub(lambda _: _DAY_OR_NIGHT, kept)


def linked(pattern: re.Pattern[str], page: Path, text: str) -> list[Path]:
    """The stylesheets or scripts that a page fetches."""
    return [Path(os.path.normpath(page.parent / unquote(one))) for one in pattern.findall(text)]


def in_order(lists: Iterable[list[Path]]) -> list[Path]:
    """All files of these lists once, each behind those that a list has before it."""
    found: list[Path] = []
    for listed in lists:
        at = 0
        for one in listed:
            if one not in found:
                found.insert(at, one)
            at = found.index(one) + 1
    return found


def one_stylesheet(sheets: Iterable[Path], static: Path, pages: list[str]) -> str:
    """One stylesheet with the rules that a page or a script needs."""
    read = [one for one in static.rglob("*.js") if one.name not in REPLACED and one.stat().st_size < 200_000]
    scripts = [one.read_text(encoding="utf-8") for one in read if one.name != "excerpts.js"]
    return stylesheet.without_the_unused(
        (stylesheet.relocated(one, static) for one in sheets), stylesheet.names(pages, scripts), [*scripts, *pages]
    )


def replaced(pattern: re.Pattern[str], page: Path, text: str, files: list[Path], link: str) -> str:
    """A page in which the first of these files gives its place to one link, and the others are gone."""
    found = [one for one in pattern.finditer(text) if linked(pattern, page, one[0])[0] in files]
    for number, one in reversed(list(enumerate(found))):
        text = text[: one.start()] + (link if number == 0 else "") + text[one.end() :]
    return text


def slim_page(page: Path, *, icons: str, lighter: frozenset[str]) -> None:
    """Take out of one page what no reader needs; ``lighter`` names the pictures that are WebP now."""
    text = _ICON_SCRIPT.sub("", page.read_text(encoding="utf-8"))
    text = _ICON.sub(lambda found: inline_icon(icons, found[1], found[2]), text)
    text = _STORED.sub(lambda found: f"{found[1]}/{found[2]}.webp" if found[2] in lighter else found[0], text)
    text = _LONG.sub(lambda found: found[1] + _JOINT.sub(r"\g<0><wbr>", found[2]), valid(text))
    text = _UNIT.sub("\u00a0", text)
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
    """Store a picture as WebP and return its name without the ending; lines and text need no more than 32 colours."""
    with Image.open(path) as picture:
        opaque = picture.convert("RGBA").getextrema()[3][0] == 255
        kept = picture.convert("RGB" if opaque else "RGBA")
    if opaque:
        few = kept.quantize(32, dither=Image.Dither.NONE).convert("RGB")
        if max(ImageStat.Stat(ImageChops.difference(kept, few)).mean) < 1:  # of 255
            kept = few
    kinds = [io.BytesIO(), io.BytesIO()]  # few colours are smaller without loss, and shades are smaller with it
    kept.save(kinds[0], "WEBP", lossless=True, quality=80, method=4)
    kept.save(kinds[1], "WEBP", quality=80, method=4)
    path.with_suffix(".webp").write_bytes(min((kind.getvalue() for kind in kinds), key=len))
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
