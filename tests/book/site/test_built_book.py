"""The built book: internal links, no outside resource, alternative texts, sizes. Needs `make book` or `make test`."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import tinycss2
from PIL import Image
from tools.notebooks import pairs

HTML = pairs.ROOT / "book" / "_build" / "html"
if not (HTML / "index.html").exists():
    pytest.skip("the book is not built: run `make book`", allow_module_level=True)
PAGES = sorted(path for path in HTML.rglob("*.html") if "_static" not in path.parts)


class Tags(HTMLParser):
    """The start tags of a page, and its text: all that these tests look at, in a tenth of a full parser's time."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, {name: value or "" for name, value in attributes}))

    def handle_data(self, data):
        self.words += data.split()

    def of(self, *names: str) -> list[dict[str, str]]:
        return [about for tag, about in self.tags if tag in names]


@cache
def parsed(page: Path) -> Tags:
    return Tags(page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(about["id"] for _, about in parsed(page).tags if "id" in about)


def test_the_book_is_that_of_this_package():
    from tools.site import build

    assert build.is_built(HTML), "run `make book`"


def is_dead(page: Path, address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme or address.startswith("//") or not address:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    lost = parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target)
    return not target.is_file() or bool(lost)


def test_internal_links_lead_somewhere():
    links = [(page, about.get("href", "")) for page in PAGES for about in parsed(page).of("a", "area")]
    assert len(links) > 1000
    assert [f"{page.relative_to(HTML)}: {address}" for page, address in links if is_dead(page, address)] == []


def test_every_resource_is_local_and_there_and_no_page_needs_a_script_for_its_icons():
    for page in PAGES:
        fetched = [about.get("src") for about in parsed(page).of("script", "img", "iframe", "source")]
        links = [about.get("href") for about in parsed(page).of("link") if about.get("rel") != "canonical"]
        for address in filter(None, fetched + links):
            parts = urlsplit(address)
            assert not parts.scheme and not address.startswith("//") and "fontawesome" not in address, (page, address)
            assert (page.parent / unquote(parts.path)).exists(), (page, address)
        assert not [about for about in parsed(page).of("i") if "fa-" in about.get("class", "")], page


def test_every_picture_has_an_alternative_text_and_a_size_and_is_not_empty():
    """A picture of one colour shows nothing; neither does one that differs from it by next to nothing."""
    for page in PAGES:
        for about in parsed(page).of("img"):
            text = about.get("alt", "")
            assert len(text.split()) > 3 and not re.search(r"\.(png|webp)$|_images/", text), (page, about)
            sized = "width" in about or "width" in about.get("style", "")
            assert about.get("loading") == "lazy" and sized, (page, about)
    pictures = [path for path in (HTML / "_images").iterdir() if path.suffix in {".png", ".webp"}]
    assert len(pictures) > 60
    for path in pictures:
        with Image.open(path) as picture:
            low, high = picture.convert("L").reduce(4).getextrema()
        assert high - low > 60, path.name


def test_the_common_stylesheet_has_every_rule_of_the_figures():
    """A rule is dropped if a script puts the name of its class together from parts."""
    site = (HTML / "_static" / "site.css").read_text(encoding="utf-8")
    source = (pairs.ROOT / "book" / "_static" / "figures" / "figures.css").read_text(encoding="utf-8")
    rules = [rule for rule in tinycss2.parse_stylesheet(source, True, True) if rule.type == "qualified-rule"]
    selectors = [tinycss2.serialize(rule.prelude).rpartition("\n")[2].rpartition(", ")[2].strip() for rule in rules]
    assert len(selectors) > 30 and [one for one in selectors if one not in site] == []
