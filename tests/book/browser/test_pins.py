"""A frame that is pinned stays beside those that follow, both named; with the keyboard, and on a phone."""

from __future__ import annotations

import pytest
import walk

from rankbook.ch04_interpolated_ranking.explorables import interpolation_landscape
from rankbook.kit import style
from rankbook.kit.explorable import Control, choice, explorable

pytestmark = pytest.mark.browser


@explorable(item=choice("AB", label="item"), lam=Control((1, 2, 3), (1, 2, 3), 2, None, str))
def a_place(item: str, lam: int):
    """A place that two controls choose."""
    made, axes = style.figure(width=5, height=3)
    axes.plot([lam], ["AB".index(item)], "o")
    return style.describe(made, f"{item} at {lam}")


@explorable(lam=Control((0.1, 1.0), (0.1, 1.0), 0.1, None, str))
def hills(lam: float):
    """The map of chapter 4, for two λ."""
    return interpolation_landscape.draw(lam, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return walk.framed(tmp_path_factory.mktemp("pins"), page=a_place, hills=hills)


@pytest.fixture
def reader(visit, folder):
    return lambda name="page", **options: visit((folder / f"{name}.html").as_uri(), **options)


def shown(page) -> list[str]:
    """What the pictures show, the present one first."""
    return [picture.get_attribute("alt") for picture in page.locator("figure.explorable img").all()]


def settings(page) -> list[str]:
    return page.locator(".explorable-setting").all_inner_texts()


def test_a_pinned_frame_stays_while_the_other_moves_and_goes_when_it_is_unpinned(reader):
    page = reader()
    assert shown(page) == ["A at 2"] and settings(page) == ["", ""]
    page.get_by_role("button", name="Pin this one").click()
    assert settings(page) == ["Now: item A, λ 2", "Pinned: item A, λ 2"]
    page.get_by_label("B", exact=True).check()
    page.locator("input[type=range]").press("End")
    assert shown(page) == ["B at 3", "Pinned: A at 2"]
    assert settings(page) == ["Now: item B, λ 3", "Pinned: item A, λ 2"]
    for picture in page.locator("figure.explorable img").all():
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 500
    assert page.locator("figure.explorable img").nth(1).get_attribute("src").endswith("/01.webp")
    page.get_by_role("button", name="Unpin").click()
    assert shown(page) == ["B at 3"] and settings(page) == ["", ""]
    page.get_by_role("button", name="Pin this one").click()
    assert shown(page)[1] == "Pinned: B at 3"


def test_what_is_set_differently_is_bold(reader):
    page = reader()
    page.get_by_role("button", name="Pin this one").click()
    assert page.locator(".explorable-setting b").count() == 0
    page.locator("input[type=range]").press("End")
    assert page.locator(".explorable-setting b").all_inner_texts() == ["λ 3", "λ 2"]


def test_the_keyboard_pins_and_keeps_its_place(reader):
    page = reader()
    page.locator("input[type=range]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "Unpin"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    assert shown(page) == ["A at 1", "Pinned: A at 2"]
    status = page.get_by_role("status").filter(has_text="Pinned")
    assert status.inner_text() == "Pinned: item A, λ 2", "a screen reader is told"


@pytest.mark.parametrize("size", walk.SIZES)
def test_the_two_stand_beside_each_other_on_a_desk_and_below_on_a_phone(reader, size):
    page = reader(viewport=walk.SIZES[size], has_touch=True)
    button = page.get_by_role("button", name="Pin this one")
    assert button.bounding_box()["height"] >= 24
    button.tap()
    page.locator("input[type=range]").press("End")
    here, there = (picture.bounding_box() for picture in page.locator("figure.explorable img").all())
    assert here["width"] == pytest.approx(there["width"], abs=1)
    if size == "desk":
        assert here["y"] == pytest.approx(there["y"], abs=1) and here["x"] + here["width"] < there["x"]
    else:
        assert there["y"] > here["y"] + here["height"] and here["width"] > 290
    assert walk.width(page) == []


def test_rings_and_ball_stay_on_the_picture_that_moves(reader):
    page = reader("hills", reduced_motion="reduce")
    page.get_by_role("button", name="Pin this one").click()
    page.locator("input[type=range]").press("End")
    picture, grip = (
        page.locator("figure.explorable img").first.bounding_box(),
        page.locator(".explorable-grip").bounding_box(),
    )
    _, right = page.evaluate("JSON.parse(document.querySelector('figure').dataset.frames)[1].holds.lam.stops")
    assert grip["x"] + 12 == pytest.approx(picture["x"] + right[0] * picture["width"], abs=1)
    assert grip["y"] + 12 == pytest.approx(picture["y"] + right[1] * picture["height"], abs=1)
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("document.querySelector('figure').dataset.end")
    assert len(shown(page)) == 2


def test_without_scripts_there_is_one_picture_and_no_button(reader):
    page = reader(java_script_enabled=False)
    assert page.locator("figure.explorable img").count() == 1
    assert page.locator(".explorable-setting").count() == 0 and not page.get_by_role("button").count()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", walk.SIZES)
def test_axe_finds_nothing_while_one_is_pinned(reader, theme, size):
    page = reader(viewport=walk.SIZES[size])
    page.get_by_role("button", name="Pin this one").click()
    page.locator("input[type=range]").press("End")
    assert walk.accessibility(page, themes=(theme,)) == []
