"""Explorables made of frames as a reader has them in hand: held in the picture, chosen by name, told of goals."""

from __future__ import annotations

import json

import pytest
import walk
from rolling import roll

from rankbook.ch04_interpolated_ranking.explorables import interpolation_landscape
from rankbook.kit import style
from rankbook.kit.explorable import Control, choice, explorable, goal, hold, pick, slider, tell
from rankbook.kit.explorable.grounds import SIDE

pytestmark = pytest.mark.browser


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


LAMS = (0.001, 0.1, 1.0)


@explorable(lam=Control(LAMS, LAMS, 0.1, "λ", str))
def hills(lam: float):
    """The map of chapter 4, for three λ."""
    return interpolation_landscape.draw(lam, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return walk.framed(tmp_path_factory.mktemp("frames"), page=two_lanes, hills=hills)


@pytest.fixture
def kept(folder) -> dict:
    """What the page has of the map."""
    return json.loads((folder / "hills-frames" / "grounds.js").read_text(encoding="utf-8").partition(" = ")[2][:-2])


@pytest.fixture
def reader(visit, folder):
    def reader(name="page", **options):
        page = visit((folder / f"{name}.html").as_uri(), **options)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("[data-handle]", state="attached")
        return page

    return reader


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

    page.evaluate("document.body.style.height = '3000px'")
    x, y = ring(page, "score")
    swipe(x, y, -150, 2)
    page.locator("figure.explorable img[alt='A at 0']").wait_for()
    assert page.evaluate("scrollY") == 0
    picture = page.locator("figure.explorable img").bounding_box()
    swipe(picture["x"] + 0.8 * picture["width"], picture["y"] + 0.9 * picture["height"], 0, -100)
    page.wait_for_function("scrollY > 0")
    assert shown(page) == "A at 0"


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


def rolled(page) -> tuple[list, str]:
    """Run, and wait for the end: the trail and how it ended."""
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("document.querySelector('.explorable-run [role=status]').textContent.includes('loss')")
    return trail(page)


def trail(page) -> tuple[list, str]:
    shown = page.locator("figure.explorable")
    return json.loads(shown.get_attribute("data-trail")), shown.get_attribute("data-end")


def same(one: tuple[list, str], other: tuple[list, str]) -> bool:
    places = zip(*([value for place in path for value in place] for path, _ in (one, other)), strict=True)
    return one[1] == other[1] and all(abs(here - there) < 1e-6 for here, there in places)


@pytest.mark.parametrize(
    ("start", "keys"),
    [((10, 30), {}), ((13, 20), {"ArrowRight": 3, "PageDown": 2}), ((0, 40), {"ArrowLeft": 15, "ArrowUp": 12})],
)
def test_the_ball_rolls_as_python_does_by_the_same_directions(reader, kept, start, keys):
    page = reader("hills", reduced_motion="reduce")
    ball = page.get_by_role("slider", name="Ball")
    for key, times in keys.items():
        for _ in range(times):
            ball.press(key)
    assert ball.get_attribute("aria-valuetext") == f"{start[0]} to the right and {start[1]} up, of {SIDE - 1}"
    assert same(rolled(page), roll(kept["ways"][1], start))


def test_another_lambda_rolls_the_same_ball_anew(reader, kept):
    page = reader("hills", reduced_motion="reduce")
    ways = [roll(way, (10, 30)) for way in kept["ways"]]
    assert len({end for _, end in ways} | {len(path) for path, _ in ways}) > 3, "the three differ"
    assert same(rolled(page), ways[1])
    for key, number in (("Home", 0), ("End", 2)):
        page.locator("input[type=range]").press(key)
        page.wait_for_function(f"document.querySelector('figure').dataset.end === '{ways[number][1]}'")
        assert same(trail(page), ways[number])


def test_where_the_gradient_is_nothing_the_ball_stays_and_the_page_says_so(reader, kept):
    page = reader("hills")
    flat = next(at for at, letter in enumerate(kept["ways"][0]) if letter == " " and 5 < at % SIDE < 35 and at > 200)
    page.locator("input[type=range]").press("Home")
    box = page.locator(".explorable-map").bounding_box()
    right, down = flat % SIDE / (SIDE - 1), 1 - flat // SIDE / (SIDE - 1)
    place = {"x": box["x"] + right * box["width"], "y": box["y"] + down * box["height"]}
    page.mouse.click(**place)
    assert rolled(page) == ([[flat % SIDE, flat // SIDE]], "flat")
    said = page.locator(".explorable-run [role=status]").inner_text()
    ground = kept["losses"][kept["loss"][0]]
    loss = ground["low"] + (ord(ground["letters"][flat]) - 32) / 94 * (ground["high"] - ground["low"])
    height = f"{loss:.0f}".replace("-", "−")
    assert said == f"There is no gradient here. 0 steps; the loss itself: {height} before, {height} after."


def test_the_mouse_drags_the_ball_and_moves_no_slider(reader):
    page = reader("hills")
    before, box = shown(page), page.locator(".explorable-map").bounding_box()
    ball = page.locator(".explorable-ball")
    at = ball.bounding_box()
    page.mouse.move(at["x"] + 11, at["y"] + 11)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.75 * box["height"])
    page.mouse.move(box["x"] + 5 * box["width"], box["y"] + 0.75 * box["height"])
    page.mouse.up()
    assert ball.get_attribute("aria-valuetext") == f"{SIDE - 1} to the right and 10 up, of {SIDE - 1}"
    assert shown(page) == before
    page.mouse.click(*[value + 70 for value in (box["x"], box["y"])])
    assert int(ball.get_attribute("aria-valuenow")) < 12 and shown(page) == before


def test_a_finger_puts_the_ball_down(reader):
    page = reader("hills", viewport=walk.SIZES["phone"], has_touch=True, is_mobile=True)
    box = page.locator(".explorable-map").bounding_box()
    page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    ball = page.locator(".explorable-ball")
    assert ball.get_attribute("aria-valuetext") == f"20 to the right and 20 up, of {SIDE - 1}"
    assert walk.width(page) == []


def test_without_scripts_the_map_is_a_picture(reader):
    page = reader("hills", java_script_enabled=False)
    assert page.locator("figure.explorable img").is_visible()
    assert page.locator(".explorable-ball, .explorable-map, .explorable-run").count() == 0
    assert not page.locator(".explorable-controls").is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_about_the_ball(reader, theme):
    page = reader("hills", viewport=walk.SIZES["phone"], reduced_motion="reduce")
    rolled(page)
    assert walk.accessibility(page, themes=(theme,)) == []
