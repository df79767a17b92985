"""Explorables made of frames as a reader has them in hand: held, chosen by name, pinned, told of goals; and a ball."""

import pytest
import walk

from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, hold, pick, slider, tell

pytestmark = pytest.mark.browser
PHONE = {"viewport": walk.SIZES["phone"], "has_touch": True, "is_mobile": True}


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
def folder(tmp_path_factory):
    return walk.framed(tmp_path_factory.mktemp("frames"), lanes=two_lanes)


@pytest.fixture
def reader(visit, folder):
    def reader(name="lanes", **options):
        page = visit((folder / f"{name}.html").as_uri(), **options)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("[data-handle]", state="attached")
        return page

    return reader


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


def test_a_finger_drags_a_ring_and_scrolls_beside_it(reader):
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
