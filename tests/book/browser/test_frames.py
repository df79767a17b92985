"""Explorables made of frames as a reader has them in hand: held, chosen by name, pinned, told of goals; and a ball."""

import io
import json
import math

import numpy as np
import pytest
import walk
from PIL import Image

from rankedu_book.ch04_interpolated_ranking.explorables import interpolation_landscape
from rankedu_book.kit import style
from rankedu_book.kit.explorable import Control, choice, explorable, goal, hold, pick, slider, tell
from rankedu_book.kit.explorable.grounds import FIRST, LETTERS, SIDE

pytestmark = pytest.mark.browser
PHONE = {"viewport": walk.SIZES["phone"], "has_touch": True, "is_mobile": True}
LAMS = (0.001, 0.1, 1.0)


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


@explorable(lam=Control(LAMS, LAMS, 0.1, "λ", str))
def hills(lam: float):
    """The map of chapter 4, for three λ."""
    made = interpolation_landscape.draw(lam, 1)
    hold(made.axes[0], lam=lambda lam: (LAMS.index(lam) - 1, 0))
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return walk.framed(tmp_path_factory.mktemp("frames"), lanes=two_lanes, hills=hills)


@pytest.fixture
def kept(folder) -> dict:
    """What the page has of the map."""
    return json.loads((folder / "hills-frames" / "grounds.js").read_text(encoding="utf-8").partition(" = ")[2][:-2])


@pytest.fixture
def reader(visit, folder):
    def reader(name="lanes", **options):
        page = visit((folder / f"{name}.html").as_uri(), **options)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("[data-handle]", state="attached")
        return page

    return reader


def test_in_the_dark_a_map_keeps_its_colours_on_a_dark_ground(reader):
    page, seen = reader("hills"), []
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        stage = page.locator(".explorable-stage").screenshot()
        seen.append(np.asarray(Image.open(io.BytesIO(stage)).convert("RGB"), float))
    high, wide, _ = seen[0].shape
    middle = (slice(int(0.3 * high), int(0.7 * high)), slice(int(0.3 * wide), int(0.6 * wide)))
    assert np.abs(seen[0][middle] - seen[1][middle]).mean() < 3, "the map"
    assert np.median(seen[0][:, :10]) > 240 and np.median(seen[1][:, :10]) < 30, "its ground"


def pictures(page) -> list[str]:
    """What the pictures show, the present one first."""
    return [picture.get_attribute("alt") for picture in page.locator("figure.explorable img").all()]


def settings(page) -> list[str]:
    return page.locator(".explorable-setting").all_inner_texts()


def ring(page, handle: str, number: int = 0) -> tuple[float, float]:
    """Where on the screen the middle of a ring is."""
    box = page.locator(f"[data-handle={handle}]").nth(number).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_mouse_takes_a_ring_to_the_nearest_stop_or_the_item_that_it_takes_hold_of(reader):
    """The ring lies at the fifth stop of five, on axes that matplotlib's defaults put at known shares of the figure."""
    page = reader()
    picture, (x, y) = page.locator("figure.explorable img").bounding_box(), ring(page, "score")
    assert (x - picture["x"]) / picture["width"] == pytest.approx(0.125 + 0.775 * 3 / 6, abs=0.005)
    assert (y - picture["y"]) / picture["height"] == pytest.approx(1 - (0.11 + 0.77 / 3), abs=0.005)
    page.mouse.move(x, y)
    page.mouse.down()
    seen = pictures(page)
    for step in (20, 70, 300):
        page.mouse.move(x + step, y + 9)
        seen += pictures(page)
    page.mouse.up()
    assert seen == ["A at 2", "A at 2", "A at 3", "A at 4"]
    assert ring(page, "score")[0] > x + 100, "the ring has moved along"
    page.mouse.move(x, y)
    assert pictures(page) == ["A at 4"], "what was let go of does not follow"
    page.keyboard.press("ArrowLeft")
    assert pictures(page) == ["A at 3"] and page.url.endswith("?item=A&score=3")
    page.keyboard.press("ArrowLeft")
    x, y = ring(page, "item", 1)
    page.mouse.move(x, y)
    page.mouse.down()
    assert pictures(page) == ["B at 2"]
    x, y = ring(page, "item", 1)
    page.mouse.move(x + 60, y)
    assert pictures(page) == ["B at 3"] and page.get_by_label("B", exact=True).is_checked()


def test_a_finger_drags_a_ring_and_scrolls_beside_it_and_puts_the_ball_down(reader):
    page = reader(**PHONE)
    finger = page.context.new_cdp_session(page)

    def swipe(x, y, dx, dy):
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for share in (0.25, 0.5, 1):
            there = {"x": x + share * dx, "y": y + share * dy}
            finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [there]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    page.evaluate("document.body.style.height = '3000px'")
    x, y = ring(page, "score")
    swipe(x, y, -150, 2)
    page.locator("figure.explorable img[alt='A at 0']").wait_for()
    assert page.evaluate("scrollY") == 0
    picture = page.locator("figure.explorable img").bounding_box()
    swipe(picture["x"] + 0.8 * picture["width"], picture["y"] + 0.9 * picture["height"], 0, -100)
    walk.until(page, "scrollY > 0")
    assert pictures(page) == ["A at 0"]
    page = reader("hills")
    box = page.locator(".explorable-map").bounding_box()
    page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.get_by_role("slider", name="Ball").and_(page.locator(f"[aria-valuetext='{place(20, 20)}']")).wait_for()
    assert walk.width(page) == []


def test_names_are_chosen_with_the_keyboard_and_a_goal_that_is_reached_stays_so(reader):
    page = reader()
    goal, told = page.locator(".explorable-goals > li"), page.locator(".explorable-goals [role=status]")
    assert goal.get_attribute("data-reached") is None and told.inner_text() == ""
    slider = page.locator("input[type=range]")
    slider.press("End")
    assert told.inner_text() == "", "A is at its right end, not B"
    assert page.get_by_role("radiogroup", name="item").count() == 1
    page.get_by_label("A", exact=True).press("ArrowDown")
    assert pictures(page) == ["B at 4"]
    assert told.inner_text() == "B is at 4." and goal.get_attribute("data-reached") == ""
    slider.press("Home")
    assert told.inner_text() == "B is at 4."


def test_a_pinned_frame_stays_while_the_other_moves_and_goes_when_it_is_unpinned(reader):
    page = reader()
    assert pictures(page) == ["A at 2"] and settings(page) == ["", ""]
    slider = page.locator("input[type=range]")
    slider.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Unpin"
    assert settings(page) == ["Now: item A, score 2", "Pinned: item A, score 2"]
    status = page.get_by_role("status").filter(has_text="Pinned")
    assert status.inner_text() == "Pinned: item A, score 2", "a screen reader is told"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    assert pictures(page) == ["A at 1", "Pinned: A at 2"]
    assert page.locator(".explorable-setting b").all_inner_texts() == ["score 1", "score 2"], "what differs is bold"
    page.get_by_label("B", exact=True).check()
    assert settings(page) == ["Now: item B, score 1", "Pinned: item A, score 2"]
    for picture in page.locator("figure.explorable img").all():
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 500
    assert page.locator("figure.explorable img").nth(1).get_attribute("src").endswith("/02.webp")
    page.get_by_role("button", name="Unpin").click()
    assert pictures(page) == ["B at 1"] and settings(page) == ["", ""]
    page.get_by_role("button", name="Pin this one").click()
    assert pictures(page)[1] == "Pinned: B at 1"


@pytest.mark.parametrize("size", walk.SIZES)
def test_the_two_stand_beside_each_other_on_a_desk_and_below_on_a_phone_and_axe_finds_nothing(reader, size):
    page = reader(viewport=walk.SIZES[size], has_touch=True)
    button = page.get_by_role("button", name="Pin this one")
    assert all(one.bounding_box()["height"] >= 24 for one in (button, page.locator("input[type=range]")))
    button.tap()
    page.locator("input[type=range]").press("End")
    here, there = (picture.bounding_box() for picture in page.locator("figure.explorable img").all())
    assert here["width"] == pytest.approx(there["width"], abs=1)
    if size == "desk":
        assert here["y"] == pytest.approx(there["y"], abs=1) and here["x"] + here["width"] < there["x"]
    else:
        assert there["y"] > here["y"] + here["height"] and here["width"] > 290
    assert walk.width(page) + walk.accessibility(page, themes=("light", "dark")) == []
    page = reader("hills")
    rolled(page)
    assert walk.width(page) + walk.accessibility(page, themes=("light", "dark")) == []


def place(right: int, up: int) -> str:
    return f"{right} to the right and {up} up, of {SIDE - 1}"


def rolled(page) -> tuple[list, str]:
    """Run, and wait for the end: the trail and how it ended."""
    page.get_by_role("button", name="Run").click()
    walk.until(page, "document.querySelector('.explorable-run [role=status]').textContent.includes('loss')")
    return trail(page)


def trail(page) -> tuple[list, str]:
    shown = page.locator("figure.explorable")
    return json.loads(shown.get_attribute("data-trail")), shown.get_attribute("data-end")


def same(one: tuple[list, str], other: tuple[list, str]) -> bool:
    places = zip(*([value for place in path for value in place] for path, _ in (one, other)), strict=True)
    return one[1] == other[1] and all(abs(here - there) < 1e-6 for here, there in places)


def roll(way: str, start: tuple[float, float]) -> tuple[list[tuple[float, float]], str]:
    """How a ball rolls on a map, written anew: the places from the start on, and how it ends."""
    trail = [start]
    while len(trail) <= 200:
        x, y = trail[-1]
        letter = ord(way[math.floor(y + 0.5) * SIDE + math.floor(x + 0.5)]) - FIRST
        if letter == 0:
            return trail, "flat"
        angle = 2 * math.pi * (letter - 1) / (LETTERS - 1)
        there = (x + 0.5 * math.cos(angle), y + 0.5 * math.sin(angle))
        trail.append((min(max(there[0], 0), SIDE - 1), min(max(there[1], 0), SIDE - 1)))
        if trail[-1] != there:
            return trail, "edge"
        if len(trail) > 10 and math.dist(trail[-1], trail[-11]) < 1.5:
            return trail, "valley"
    return trail, "way"


def test_the_ball_rolls_as_python_does_by_the_same_directions_and_anew_for_another_lambda(reader, kept):
    page = reader("hills", reduced_motion="reduce")
    ball = page.get_by_role("slider", name="Ball")
    right, left, up = (["ArrowRight"], ["ArrowLeft"], ["ArrowUp"])
    moves = ([], 3 * right + 2 * ["PageDown"], 15 * left + 12 * up, right + 2 * ["PageUp"])
    for start, keys in zip(((10, 30), (13, 20), (0, 32), (1, 40)), moves, strict=True):
        for key in keys:
            ball.press(key)
        assert ball.get_attribute("aria-valuetext") == place(*start)
        assert same(rolled(page), roll(kept["ways"][1], start)), start
    ways = [roll(way, start) for way in kept["ways"]]
    assert len({end for _, end in ways} | {len(path) for path, _ in ways}) > 3, "the three differ"
    for key, number in (("Home", 0), ("End", 2)):
        page.locator("input[type=range]").press(key)
        walk.until(page, f"document.querySelector('figure').dataset.end === '{ways[number][1]}'")
        assert same(trail(page), ways[number])


def test_where_the_gradient_is_nothing_the_ball_stays_and_the_page_says_so(reader, kept):
    page = reader("hills")
    flat = next(at for at, letter in enumerate(kept["ways"][0]) if letter == " " and 5 < at % SIDE < 35 and at > 200)
    page.locator("input[type=range]").press("Home")
    box = page.locator(".explorable-map").bounding_box()
    right, down = flat % SIDE / (SIDE - 1), 1 - flat // SIDE / (SIDE - 1)
    page.mouse.click(box["x"] + right * box["width"], box["y"] + down * box["height"])
    assert rolled(page) == ([[flat % SIDE, flat // SIDE]], "flat")
    ground = kept["losses"][kept["loss"][0]]
    loss = ground["low"] + (ord(ground["letters"][flat]) - 32) / 94 * (ground["high"] - ground["low"])
    height = f"{loss:.0f}".replace("-", "−")
    said = page.locator(".explorable-run [role=status]").inner_text()
    assert said == f"There is no gradient here. 0 steps; the loss itself: {height} before, {height} after."


def test_the_mouse_drags_the_ball_and_moves_no_slider_and_all_stay_on_the_picture_that_moves(reader):
    page = reader("hills", reduced_motion="reduce")
    before, box = pictures(page), page.locator(".explorable-map").bounding_box()
    ball = page.locator(".explorable-ball")
    at = ball.bounding_box()
    page.mouse.move(at["x"] + 11, at["y"] + 11)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.75 * box["height"])
    page.mouse.move(box["x"] + 5 * box["width"], box["y"] + 0.75 * box["height"])
    page.mouse.up()
    assert ball.get_attribute("aria-valuetext") == place(SIDE - 1, 10) and pictures(page) == before
    page.mouse.click(*[value + 70 for value in (box["x"], box["y"])])
    assert int(ball.get_attribute("aria-valuenow")) < 12 and pictures(page) == before
    page.get_by_role("button", name="Pin this one").click()
    page.locator("input[type=range]").press("End")
    picture, grip = (page.locator(one).first.bounding_box() for one in ("figure.explorable img", ".explorable-grip"))
    _, _, stop = page.evaluate("JSON.parse(document.querySelector('figure').dataset.frames)[2].holds.lam.stops")
    assert grip["x"] + 12 == pytest.approx(picture["x"] + stop[0] * picture["width"], abs=1)
    assert grip["y"] + 12 == pytest.approx(picture["y"] + stop[1] * picture["height"], abs=1)
    assert rolled(page)[1] and len(pictures(page)) == 2
    stood = ball.get_attribute("aria-valuetext")
    page.reload()  # all of it is in the address
    page.wait_for_selector("[data-pinned]")
    assert len(pictures(page)) == 2 and ball.get_attribute("aria-valuetext") == stood
    page.get_by_role("button", name="Start anew").click()
    assert len(pictures(page)) == 1 and ball.get_attribute("aria-valuetext") == place(10, 30)
    assert "ball" not in page.url and "pin" not in page.url
