"""The built book: internal links, no outside resource, alternative texts, sizes. Needs `make book` or `make test`."""

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from PIL import Image
from tools.notebooks import pairs

from rankedu_book.kit.explorable import all_explorables

HTML = pairs.ROOT / "book" / "_build" / "html"
if not (HTML / "index.html").exists():
    pytest.skip("the book is not built: run `make book`", allow_module_level=True)
PAGES = sorted(path for path in HTML.rglob("*.html") if "_static" not in path.parts)
FRAMES = HTML / "_static" / "explorables"


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
        told = [about.get("src") for about in parsed(page).of("script", "img", "iframe", "source")]
        links = [about.get("href") for about in parsed(page).of("link") if about.get("rel") != "canonical"]
        for address in filter(None, told + links):
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


def kept(folder: Path) -> list[dict]:
    return json.loads((folder / "frames.json").read_text(encoding="utf-8"))


def test_every_frame_of_every_explorable_is_light_described_and_different():
    """The book draws all frames, so no other test draws them again."""
    folders = [path for path in FRAMES.iterdir() if path.is_dir()]
    assert len(folders) >= 14
    for folder in folders:
        frames, drawn = kept(folder), sorted(folder.glob("*.webp"))
        assert [path.name for path in drawn] == [frame["file"] for frame in frames], folder.name
        assert 2 <= len(frames) <= 60 and sum(path.stat().st_size for path in drawn) <= 600_000, folder.name
        assert all(re.search(r"\d", frame["alt"]) for frame in frames), folder.name
        assert len({frame["alt"] for frame in frames}) > len(frames) / 2, folder.name
        assert min(path.stat().st_size for path in drawn) > 1500, "one colour would take a tenth of that"
        assert len({Image.open(path).size for path in drawn}) == 1, folder.name


#: What their slider moves has no place in the picture.
BY_SLIDER_ALONE = {"method_and_strength", "who_learns"}


def test_frames_are_held_in_the_picture_reach_every_goal_and_follow_every_control():
    """Along each control, from where the page opens, there are different pictures: not only other descriptions."""
    for explorable in all_explorables().values():
        name, grid = explorable.name, list(explorable.grid())
        frames = kept(FRAMES / name)
        for frame in frames:
            held = frame.get("holds", {})
            assert held.keys() <= explorable.controls.keys() and bool(held) != (name in BY_SLIDER_ALONE), name
            for control, where in held.items():
                assert len({tuple(place) for place in where["stops"]}) > 1, f"{name}: {control}"
        for number, goal in enumerate(explorable.goals):
            said = [frame["goals"][number] for frame in frames]
            assert any(said) and said[grid.index(explorable.defaults)] is None, goal.text
        for control, about in explorable.controls.items():
            numbers = [grid.index({**explorable.defaults, control: stop}) for stop in about.stops]
            row = {(FRAMES / name / f"{number:02d}.webp").read_bytes() for number in numbers}
            assert len(row) > len(numbers) / 2, f"{name}: {control}"
