"""The built book: internal links, no outside resource, alternative texts, sizes. Needs `make book` or `make test`."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pairs
import pytest
from bs4 import BeautifulSoup

HTML = pairs.ROOT / "book" / "_build" / "html"
if not (HTML / "index.html").exists():
    pytest.skip("the book is not built: run `make book`", allow_module_level=True)
PAGES = sorted(path for path in HTML.rglob("*.html") if "_static" not in path.parts)


@cache
def soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(tag["id"] for tag in soup(page).find_all(id=True))


def test_the_book_is_that_of_this_package():
    import build

    assert json.loads((HTML / "build.json").read_text(encoding="utf-8"))["fingerprint"] == build.fingerprint()


def test_every_chapter_has_a_page():
    assert {f"{text.stem}.html" for text in pairs.pairs()} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HTML)))
def test_internal_links_lead_somewhere(page):
    for tag in soup(page).find_all(href=True):
        parts = urlsplit(tag["href"])
        if parts.scheme or tag["href"].startswith("//") or tag.name == "link":
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        assert target.exists(), tag["href"]
        if parts.fragment and target.suffix == ".html":
            assert unquote(parts.fragment) in anchors(target), tag["href"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HTML)))
def test_every_resource_is_local_and_there(page):
    tags = soup(page).find_all(["script", "img", "link", "iframe", "source"])
    for address in filter(None, (tag.get("src") or (tag.name == "link" and tag.get("href")) for tag in tags)):
        parts = urlsplit(address)
        assert not parts.scheme and not address.startswith("//"), address
        assert (page.parent / unquote(parts.path)).exists(), address


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HTML)))
def test_every_picture_has_an_alternative_text(page):
    for picture in soup(page).find_all("img"):
        text = picture.get("alt", "")
        assert len(text.split()) > 3, picture.get("src")
        assert not re.search(r"\.(png|webp)$|_images/", text), text


def test_every_frame_of_every_explorable_is_light_described_and_different():
    """The book draws all frames, so no other test draws them again."""
    folders = [path for path in (HTML / "_static" / "explorables").iterdir() if path.is_dir()]
    assert len(folders) >= 15
    for folder in folders:
        frames = json.loads((folder / "frames.json").read_text(encoding="utf-8"))
        drawn = sorted(path.name for path in folder.glob("*.webp"))
        assert drawn == [frame["file"] for frame in frames] and 2 <= len(frames) <= 60, folder.name
        assert sum((folder / name).stat().st_size for name in drawn) <= 600_000, folder.name
        assert all(re.search(r"\d", frame["alt"]) for frame in frames), folder.name
        assert len({frame["alt"] for frame in frames}) > len(frames) / 2, folder.name


def test_the_front_page_shows_an_explorable():
    assert soup(HTML / "index.html").select_one("figure.explorable input[type=range]")


@pytest.mark.parametrize("page", ["notation", "equations", "errata", "glossary", "bibliography", "how-to-read"])
def test_reference_pages_are_there(page):
    assert len(soup(HTML / f"{page}.html").get_text().split()) > 150


def test_the_equation_index_leads_to_chapter_and_test():
    """Each numbered equation has a row that names a function, a chapter and a test."""
    rows = [[cell.get_text(strip=True) for cell in row.find_all("td")] for row in table_rows("equations.html")]
    complete = {source for source, function, chapter, test in rows if function and "—" not in (chapter, test)}
    assert {f"RaMBO Eq. {number}" for number in range(1, 24)} <= complete
    assert {f"HAPPIER Eq. {number}" for number in range(1, 8)} <= complete
    assert {"RaMBO Thm. 1", "RaMBO Prop. 1", "RaMBO Alg. 1", "RaMBO Fig. 1", "Smooth-AP supp. Fig. S7"} <= complete


def table_rows(page: str) -> list:
    return soup(HTML / page).select("table tbody tr")
