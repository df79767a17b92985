"""The built book as PDF and as EPUB: `python book/tools offline --out offline`, after `make book`.

Formulas are MathML, figures are drawn anew as lines, and what a page lets its reader move is a picture of what it comes
to, with the address of the page.
"""

import argparse
import io
import re
import zipfile
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urljoin

from bs4 import BeautifulSoup, Tag
from PIL import Image
from tqdm import tqdm

from rankedu.files import written
from rankedu_book.kit import style
from rankedu_book.kit.explorable import all_explorables
from tools.closure import fingerprint, home
from tools.site import discovery
from tools.site.mathml import mathml
from tools.site.paper import HTML, print_html
from tools.site.templates import filled
from tools.teaching.handouts import drawings

TITLE = "Optimising rank-based metrics"
VECTORS = HTML.parent / "cache" / "vectors"
#: What a page without a hand and without scripts has no use for.
_IDLE = (
    "script, noscript, style, input, button, .headerlink, .copybtn, .explorable-controls, .guess, .trouble, [hidden], "
    ".explorable-goals, .prediction, svg.live > .marks, figure > .says, .prev-next-footer, #jb-print-docs-body, "
    "svg:not([xmlns]), summary > .expanded"
)
_TEX = re.compile(r"\\[(\[](.*)\\[)\]]", re.DOTALL)


@dataclass
class Page:
    """A page of the book: the name of its file without ending, its title, and what stands on it."""

    name: str
    title: str
    body: Tag

    @property
    def key(self) -> str:
        """Its name as an identifier."""
        return self.name.replace("/", "-")

    @property
    def uses(self) -> str:
        """What of it an EPUB has to declare."""
        return " ".join(name for name, tag in {"mathml": "math", "svg": "svg"}.items() if self.body.find(tag))


def parsed(name: str) -> BeautifulSoup:
    """A page of the built book."""
    return BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def contents() -> list[str]:
    """The names of all pages, in the order of the contents."""
    menu = parsed("index").select(".bd-links a.internal")
    names = (str(link["href"]).partition("#")[0].removesuffix(".html") for link in menu)
    return list(dict.fromkeys(["index", *filter(None, names)]))


def pages(names: list[str]) -> list[Page]:
    """These pages, without what only a screen needs."""
    found = []
    for name in tqdm(names, unit="page", disable=None):
        body = parsed(name).select_one("article")
        for idle in body.select(_IDLE):
            idle.decompose()
        for formula in body.select(".math"):
            set_formula(formula)
        mend(body)
        seen: set[str] = set()
        for element in body.select("[id]"):  # Sphinx gives one identifier to all proofs without a label
            if element["id"] in seen:
                del element["id"]
            seen.add(element.get("id", ""))
        heading = body.find("h1")
        found.append(Page(name, heading.get_text().strip() if heading else TITLE, body))
    return found


def set_formula(formula: Tag) -> None:
    """Put MathML in the place of the TeX that MathJax would have set."""
    number = formula.select_one(".eqno")
    found = _TEX.search(formula.get_text().removeprefix(number.get_text() if number else ""))
    if not found:
        return
    tex = re.sub(r"\\(begin|end)\{(split|align\*?)\}", r"\\\1{aligned}", found[1])
    alone = formula.name == "div"
    wide = alone and len(tex) > 120 and "\\begin" not in tex  # several, which do not fit beside each other
    lines = (mathml(line, block=alone) for line in (tex.split("\\qquad") if wide else [tex]))
    made = BeautifulSoup("".join(lines), "html.parser")
    formula.clear()
    formula.attrs = {"class": "formula", **({"id": formula["id"]} if "id" in formula.attrs else {})}
    formula.extend([*([number] if number else []), *made.contents])


def mend(body: Tag) -> None:
    """Put right what a browser forgives and XHTML does not; leave out what says nothing."""
    for picture in body.select("svg[viewbox]"):  # the parser of HTML reads all names in small letters
        picture["viewBox"] = picture.attrs.pop("viewbox")
    for fraction in body.select("mfrac[displaystyle]"):
        around = BeautifulSoup(features="html.parser").new_tag("mstyle", attrs=fraction.attrs)
        fraction.attrs = {}
        fraction.wrap(around)
    for paragraph in body.select("p:has(> p, > div)"):
        paragraph.unwrap()
    for word in body.select("summary > p"):
        word.name = "span"
    for cited in body.select("[role=doc-biblioentry]"):
        del cited["role"]
    for plain in body.select("pre :is(.n, .nn, .p, .w)"):  # as dark as the text around them
        plain.unwrap()


def vector(label: str, module: str, draw: Callable[[], bytes | None]) -> Path | None:
    """The file of a picture's lines, drawn if what draws it has changed; None if it cannot be drawn alone."""
    path = VECTORS / f"{label}-{fingerprint(home(module))}.svg"
    if not path.exists():
        if (made := draw()) is None:
            return None
        VECTORS.mkdir(parents=True, exist_ok=True)
        path.write_bytes(re.sub(rb' id="image\w+"', b"", made))  # the same for two pictures that are alike
    return path


def sharpen(page: Page) -> None:
    """Put lines in the place of the pictures of figures and of sliders, and say where the latter move."""
    folder, _, stem = page.name.rpartition("/")
    for one in drawings(stem) if folder == "chapters" else ():
        image = page.body.select_one(f"figure#{one.label} img")
        if image and (path := vector(one.label, f"rankedu_book.ch{stem}.figures", one.svg)):
            image.attrs = {"src": path.as_uri(), "alt": image.get("alt", "")}
    moving, site = {one.name: one for one in all_explorables().values()}, discovery.site()
    for figure in page.body.select("figure.explorable"):
        name = str(figure["id"]).removeprefix("explorable-")
        if one := moving.get(name):
            path = vector(name, one.module, lambda one=one: style.svg(one(**one.defaults)))
            figure.img.attrs = {"src": path.as_uri(), "alt": figure.img.get("alt", "")}
        for printed in figure.select(".printed"):
            printed["class"] = "at-its-end"
        figure.attrs = {key: figure[key] for key in ("class", "id")}
        where = f"{page.name}.html"
        place = f"{site}{where}#{figure['id']}"
        told = f'at <a href="{place}">{place}</a>' if site else f"on the page {where} of the built book"
        figure.append(BeautifulSoup(f'<p class="moves">It moves {told}.</p>', "html.parser"))


def lead(page: Page, inside: dict[str, Page], target: Callable[[Page, str], str]) -> None:
    """Let links to pages and places of the book lead to where they are now; what leads to other files is text."""
    for link in page.body.select("a[href]"):
        path, _, place = str(link["href"]).partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        if to := inside.get(unquote(urljoin(page.name, path)).removesuffix(".html")):
            link["href"] = target(to, unquote(place))
        else:
            link.attrs = {}
    for image in page.body.select("img[src]"):
        image.attrs.pop("loading", None)
        if not str(image["src"]).startswith("file:"):
            image["src"] = (HTML / page.name).parent.joinpath(unquote(str(image["src"]))).resolve().as_uri()


def as_pdf(book: list[Page], out: Path) -> Path:
    """All pages as one, printed; an identifier begins with that of its page."""
    inside = {page.name: page for page in book}
    for page in book:
        lead(page, inside, lambda to, place: f"#{to.key}--{place}" if place else f"#{to.key}")
        for element in page.body.select("[id]"):
            element["id"] = f"{page.key}--{element['id']}"
        page.body["id"] = page.key
        for folded in page.body.select("details"):
            folded["open"] = ""
    styles = parsed("index").select('link[rel="stylesheet"]')
    whole = filled("whole.html", title=TITLE, styles=styles, pages=book)
    return print_html(whole, out, "--generate-pdf-document-outline", beside=HTML)


def as_epub(book: list[Page], out: Path) -> Path:
    """A file of XHTML for each page, with its pictures; whatever has no identifier there is not linked."""
    inside = {page.name: page for page in book}
    known = {page.name: {element["id"] for element in page.body.select("[id]")} for page in book}
    files: dict[str, tuple[bytes, str]] = {}  # name in the book → content and media type
    for page in book:
        lead(page, inside, lambda to, place: f"{to.key}.xhtml" + (f"#{place}" if place in known[to.name] else ""))
        for image in page.body.select("img[src]"):
            path = Path(unquote(str(image["src"]).removeprefix("file://")))
            name, content = path.name, path.read_bytes()
            if path.suffix == ".webp":  # not every reader knows it
                buffer = io.BytesIO()
                Image.open(path).save(buffer, "png")
                name, content = f"{path.parent.name}-{path.stem}.png", buffer.getvalue()
            kind = "image/svg+xml" if name.endswith(".svg") else f"image/{name.rpartition('.')[2]}"
            files[f"pictures/{name}"] = content, kind
            image["src"] = f"pictures/{name}"
    look = "".join((HTML / "_static" / name).read_text(encoding="utf-8") for name in ("pygments.css", "live.css"))
    built = datetime.fromtimestamp((HTML / "build.json").stat().st_mtime, timezone.utc)
    files["look.css"] = filled("epub/look.css", look=look).encode(), "text/css"
    with written(out.resolve()) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        made.writestr("META-INF/container.xml", filled("epub/container.xml"))
        for name, (content, _) in files.items():
            made.writestr(f"book/{name}", content)
        for page in book:
            made.writestr(f"book/{page.key}.xhtml", filled("epub/page.xhtml", page=page))
        for name in ("contents.xhtml", "book.opf"):
            told = {"pages": book, "files": files, "version": version("rankedu"), "authors": discovery.authors()}
            told |= {"title": TITLE, "built": built}
            made.writestr(f"book/{name}", filled(f"epub/{name}", **told))
    return out


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("offline"), help="folder to write to")
    out = parser.parse_args().out
    if not (HTML / "build.json").exists():
        raise SystemExit("the book must be built first: run `make book`")
    out.mkdir(parents=True, exist_ok=True)
    book = pages(contents())
    for page in tqdm(book, unit="page", disable=None):
        sharpen(page)
    for make, name in ((as_epub, "book.epub"), (as_pdf, "book.pdf")):
        print(make([replace(page, body=copy(page.body)) for page in book], out / name), flush=True)
