"""The static book as a reader meets it: from the file system, offline, by keyboard, on a phone and on a desk."""

from __future__ import annotations

import pairs
import pytest

pytestmark = pytest.mark.browser
HTML = pairs.ROOT / "book" / "_build" / "html"
PAGES = ["index.html", *(f"{text.parent.name}/{text.stem}.html" for text in pairs.pairs())]
WITH_SLIDERS = [name for name in PAGES if not name.startswith("labs/")]
SIZES = {"phone": {"width": 375, "height": 812}, "desk": {"width": 1280, "height": 900}}


@pytest.fixture(params=SIZES)
def page(request, chromium):
    """A page that is offline and that keeps everything it asked for and complained of."""
    context = chromium.new_context(viewport=SIZES[request.param], offline=True)
    made = context.new_page()
    made.requests, made.errors = [], []
    made.on("request", lambda asked: made.requests.append(asked.url))
    made.on("requestfailed", lambda failed: made.errors.append(f"failed: {failed.url}"))
    made.on("console", lambda said: said.type in ("error", "warning") and made.errors.append(said.text))
    made.on("pageerror", lambda error: made.errors.append(str(error)))
    yield made
    context.close()


def visit(page, name: str) -> None:
    """Open a page and wait until its formulas are set and its sliders live."""
    page.goto((HTML / name).as_uri())
    page.wait_for_function("!window.MathJax || MathJax.startup.promise.then(() => true)")
    page.wait_for_function("[...document.querySelectorAll('figure.explorable')].every(figure => figure.dataset.frame)")


@pytest.mark.parametrize("name", PAGES)
def test_page_is_clean_and_asks_for_nothing_outside(page, name):
    visit(page, name)
    assert not page.errors
    assert all(url.startswith(("file:", "data:", "blob:")) for url in page.requests)
    assert page.locator("mjx-merror").count() == 0, "a formula that MathJax cannot read"


@pytest.mark.parametrize("name", PAGES)
def test_page_does_not_scroll_sideways(page, name):
    visit(page, name)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 1


@pytest.mark.parametrize("name", WITH_SLIDERS)
def test_every_slider_moves_its_picture_by_keyboard(page, name):
    visit(page, name)
    figures = page.locator("figure.explorable")
    assert figures.count() >= 1
    for figure in figures.all():
        picture, sliders = figure.locator("img"), figure.locator("input[type=range]")
        for slider in sliders.all():
            slider.focus()
            page.keyboard.press("Home")
            first = (picture.get_attribute("src"), picture.get_attribute("alt"), slider.get_attribute("aria-valuetext"))
            page.keyboard.press("ArrowRight")
            second = (
                picture.get_attribute("src"),
                picture.get_attribute("alt"),
                slider.get_attribute("aria-valuetext"),
            )
            assert first[0] != second[0] and first[1] != second[1] and first[2] != second[2]
            output = figure.locator(f"output[for='{slider.get_attribute('id')}']")
            assert output.inner_text() == second[2]
            page.keyboard.press("End")
        page.wait_for_function("figure => figure.querySelector('img').complete", arg=figure.element_handle())
        assert picture.evaluate("image => image.naturalWidth") > 300, "the last frame is there"
    assert not page.errors


def test_sliders_have_names_and_focus_is_visible(page):
    visit(page, "index.html")
    slider = page.locator("figure.explorable input[type=range]").first
    assert page.locator(f"label[for='{slider.get_attribute('id')}']").inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.evaluate("element => getComputedStyle(element).outlineStyle") != "none"


def test_the_front_page_shows_the_explorable_above_the_fold(chromium):
    page = chromium.new_page(viewport=SIZES["desk"])
    visit(page, "index.html")
    box = page.locator("figure.explorable").first.bounding_box()
    assert box["y"] + 0.6 * box["height"] < SIZES["desk"]["height"]
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_without_scripts_every_explorable_is_a_picture(chromium, name):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((HTML / name).as_uri())
    for figure in page.locator("figure.explorable").all():
        assert figure.locator("img").is_visible()
        assert not figure.locator("input").first.is_visible()
    context.close()
