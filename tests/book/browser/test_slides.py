"""The slides as a lecturer meets them: without a network, by keys and by buttons, on paper, and without scripts."""

from __future__ import annotations

import pytest
from tools.notebooks import pairs

pytestmark = pytest.mark.browser
SLIDES = pairs.ROOT / "book" / "_build" / "html" / "_static" / "slides"


@pytest.fixture(params=[1, 2, 3, 4])
def lecture(request):
    return (SLIDES / f"lecture-{request.param}.html").as_uri()


def shown(page) -> list[int]:
    """Numbers of the slides that can be seen."""
    seen = "[...document.querySelectorAll('.slide')].filter((slide) => slide.checkVisibility())"
    return page.evaluate(f"{seen}.map((slide) => Number(slide.id))")


def test_slides_move_by_keys_and_buttons_and_nothing_is_cut_off(chromium, lecture):
    context = chromium.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page = context.new_page()
    errors = []
    page.on("console", lambda said: said.type in ("error", "warning") and errors.append(said.text))
    page.on("requestfailed", lambda failed: errors.append(failed.url))
    page.goto(lecture)
    last = page.locator(".slide").count()
    for number in range(1, last + 1):
        assert shown(page) == [number]
        hidden = page.evaluate(
            "n => { const s = document.getElementById(n); return s.scrollHeight - s.clientHeight }", str(number)
        )
        assert hidden <= 1, f"slide {number} is higher than the screen"
        page.keyboard.press("ArrowRight")
    assert shown(page) == [last], "after the last comes none"
    for key, number in (("ArrowLeft", last - 1), ("Home", 1), (" ", 2), ("PageUp", 1), ("End", last)):
        page.keyboard.press(key)
        assert shown(page) == [number]
        assert page.locator("nav output").inner_text() == f"{number} of {last}"
    page.get_by_role("button", name="Back").click()
    assert shown(page) == [last - 1] and page.evaluate("location.hash") == f"#{last - 1}"
    page.emulate_media(media="print")
    assert shown(page) == list(range(1, last + 1))
    assert not errors
    context.close()


def test_without_scripts_all_slides_stand_below_each_other(chromium, lecture):
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 375, "height": 812})
    page = context.new_page()
    page.goto(lecture)
    assert len(shown(page)) == page.locator(".slide").count()
    assert not page.locator("nav").is_visible()
    context.close()
