"""Explorables made of frames as a reader has them in hand: held in the picture, chosen by name, told of goals."""

from __future__ import annotations

import shutil

import pytest
import walk
from tools.notebooks import pairs
from tools.site.explorables import markup, write_frames

from rankedu.book.explorables import choice, explorable, goal, hold, pick, slider, tell
from rankedu.book.figures import style

pytestmark = pytest.mark.browser
STATIC = pairs.ROOT / "book" / "_static"
HEAD = """<!doctype html><html lang="en" data-theme="light"><head><title>Frames</title><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="book.css">
<script src="explorable.js"></script></head><body><main style="padding: 1rem"><h1>Frames</h1>"""


@goal("Bring B to its right end.", lambda at: at.reach == ("B", 4), "{item} is at {score:g}.")
@explorable(item=choice("AB", label="item"), score=slider(0, 4, default=2, steps=5, stops=5))
def two_lanes(item: str, score: float):
    """Two items, one of which moves."""
    made, axes = style.figure(width=5, height=3)
    made.set_layout_engine("none")
    axes.set(xlim=(-1, 5), ylim=(-1, 2))
    places = {"A": (2.0, 0.0), "B": (2.0, 1.0)} | {item: (score, float(item == "B"))}
    for place in places.values():
        axes.plot(*place, "o", markersize=20)
    pick(axes, item=places.get)
    hold(axes, score=lambda score: (score, places[item][1]))
    tell(made, reach=(item, score))
    return style.describe(made, f"{item} at {score:g}")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frames")
    for name in ("book.css", "explorable.js"):
        shutil.copy(STATIC / name, folder)
    page = markup(two_lanes, write_frames(two_lanes, folder / "frames"), "frames")
    (folder / "page.html").write_text(f"{HEAD}{page}</main></body></html>", encoding="utf-8")
    return (folder / "page.html").as_uri()


@pytest.fixture
def reader(chromium, address):
    pages = []

    def visit(**options):
        page = chromium.new_context(**{"viewport": walk.SIZES["desk"], **options}).new_page()
        pages.append(page)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector("[data-handle]", state="attached")
        return page

    yield visit
    for page in pages:
        assert not page.errors
        page.context.close()


def shown(page) -> str:
    return page.locator("figure.explorable img").get_attribute("alt")


def ring(page, handle: str, number: int = 0) -> tuple[float, float]:
    """Where on the screen the middle of a ring is."""
    box = page.locator(f"[data-handle={handle}]").nth(number).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_ring_lies_on_what_it_holds(reader):
    """The fifth stop of five, on axes that matplotlib's defaults put at known shares of the figure."""
    page = reader()
    picture = page.locator("figure.explorable img").bounding_box()
    x, y = ring(page, "score")
    assert (x - picture["x"]) / picture["width"] == pytest.approx(0.125 + 0.775 * 3 / 6, abs=0.005)
    assert (y - picture["y"]) / picture["height"] == pytest.approx(1 - (0.11 + 0.77 / 3), abs=0.005)


def test_the_mouse_drags_to_the_nearest_stop_and_leaves_the_arrow_keys_there(reader):
    page = reader()
    x, y = ring(page, "score")
    page.mouse.move(x, y)
    page.mouse.down()
    seen = [shown(page)]
    for step in (20, 70, 300):
        page.mouse.move(x + step, y + 9)
        seen.append(shown(page))
    page.mouse.up()
    assert seen[0] == seen[1] == "A at 2" and seen[2] == "A at 3" and seen[3] == "A at 4"
    assert ring(page, "score")[0] > x + 100, "the ring has moved along"
    page.mouse.move(x, y)
    assert shown(page) == "A at 4", "what was let go of does not follow"
    page.keyboard.press("ArrowLeft")
    assert shown(page) == "A at 3"
    assert page.url.endswith("?item=A&score=3")


def test_whoever_takes_hold_of_an_item_drags_that_item(reader):
    page = reader()
    page.mouse.move(*ring(page, "item", 1))
    page.mouse.down()
    assert shown(page) == "B at 2"
    page.mouse.move(*[value + 60 * (at == 0) for at, value in enumerate(ring(page, "item", 1))])
    assert shown(page) == "B at 3"
    assert page.get_by_label("B", exact=True).is_checked()


def test_a_finger_drags_a_ring_and_scrolls_beside_it(reader):
    page = reader(viewport=walk.SIZES["phone"], has_touch=True, is_mobile=True)
    finger = page.context.new_cdp_session(page)

    def swipe(x, y, dx, dy):
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for share in (0.25, 0.5, 1):
            there = {"x": x + share * dx, "y": y + share * dy}
            finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [there]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(100)

    page.evaluate("document.body.style.height = '3000px'")
    x, y = ring(page, "score")
    swipe(x, y, -150, 2)
    assert shown(page) == "A at 0" and page.evaluate("scrollY") == 0
    picture = page.locator("figure.explorable img").bounding_box()
    swipe(picture["x"] + 0.8 * picture["width"], picture["y"] + 0.9 * picture["height"], 0, -100)
    assert shown(page) == "A at 0" and page.evaluate("scrollY") > 0


def test_names_are_chosen_with_the_keyboard(reader):
    page = reader()
    page.get_by_label("A", exact=True).focus()
    page.keyboard.press("ArrowDown")
    assert shown(page) == "B at 2"
    assert page.get_by_role("radiogroup", name="item").count() == 1


def test_a_goal_is_told_when_it_is_reached_and_stays_so(reader):
    page = reader()
    goal, told = page.locator(".explorable-goals > li"), page.locator(".explorable-goals [role=status]")
    assert goal.get_attribute("data-reached") is None and told.inner_text() == ""
    slider = page.locator("input[type=range]")
    slider.press("End")
    assert told.inner_text() == "", "A is at its right end, not B"
    page.get_by_label("B", exact=True).check()
    assert told.inner_text() == "B is at 4." and goal.get_attribute("data-reached") == ""
    slider.press("Home")
    assert told.inner_text() == "B is at 4."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(reader, theme):
    page = reader(viewport=walk.SIZES["phone"])
    assert walk.width(page) == []
    assert walk.accessibility(page, themes=(theme,)) == []
