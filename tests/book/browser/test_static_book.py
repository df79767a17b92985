"""The static book as a reader meets it: from the file system, offline, by keyboard, on a phone and on a desk."""

from __future__ import annotations

import json
import time

import pytest
import walk

from rankedu import reference

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
CHAPTER = next((name for name in walk.PAGES if name.startswith("chapters/02")), "index.html")


#: Where the phone's layout differs from the desk's in more than the width: axe looks at these twice.
ON_A_PHONE = {"index.html", CHAPTER, "results.html", "search.html", "api/metrics.html"}


@pytest.mark.parametrize("name", walk.PAGES)
def test_page(window, name):
    """One visit: everything loads, nothing from outside, every slider moves its picture, axe finds nothing serious."""
    page = walk.visited(window(viewport=walk.SIZES["desk"]).new_page(), name)
    found = (
        walk.predictions(page) + walk.formulas(page) + walk.width(page) + walk.pictures(page) + walk.weight(page, name)
    )
    found += walk.pace(page, name) + walk.sliders(page) + walk.columns(page, scrolls=False)
    page.set_viewport_size(walk.SIZES["phone"])
    found += walk.width(page) + walk.columns(page, scrolls=True)
    found += walk.accessibility(page) if name in ON_A_PHONE else []
    page.set_viewport_size(walk.SIZES["desk"])
    found += walk.requests(page) + walk.accessibility(page, themes=("light", "dark"))  # which takes the page apart
    page.evaluate("localStorage.clear()")
    page.close()
    assert not found, "\n".join(found)


def test_letters_that_come_late_leave_no_accent_faded(window):
    """Until they come an accent leans out of its box, and no box gets another size when they have come."""
    page, waited = window(viewport=walk.SIZES["phone"]).new_page(), []

    def late(route):
        waited.append(route.request.url)
        time.sleep(0.3)
        route.continue_()

    page.route("**/MathJax*.woff", late)
    page.goto((walk.HTML / "chapters" / "05_minibatch_bias.html").as_uri())
    assert not walk.columns(page, scrolls=True) and waited
    page.close()


@pytest.fixture
def reader(chromium):
    """Opens pages for a reader, and closes them after the test."""
    pages = []

    def visit(name, **options):
        pages.append(walk.opened(chromium, name, **{"viewport": walk.SIZES["desk"], **options}))
        return pages[-1]

    yield visit
    for page in pages:
        assert not walk.requests(page)
        page.context.close()


def test_on_a_phone_a_finger_moves_the_slider(reader):
    page = reader(CHAPTER, viewport=walk.SIZES["phone"], has_touch=True, is_mobile=True, device_scale_factor=2)
    assert not walk.width(page)
    slider = page.locator("figure.explorable input[type=range]").first
    before = page.locator("figure.explorable[data-frames] img").first.get_attribute("src")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box["height"] >= 24, "a finger is wider than that"
    page.touchscreen.tap(box["x"] + 0.95 * box["width"], box["y"] + box["height"] / 2)
    expect(page.locator("figure.explorable[data-frames] img").first).not_to_have_attribute("src", before)


def test_the_front_page_shows_the_explorable_above_the_fold(reader):
    page = reader("index.html")
    box = page.locator("figure.explorable").first.bounding_box()
    assert box["y"] + 0.6 * box["height"] < walk.SIZES["desk"]["height"]


def test_the_front_pages_items_are_dragged_offline_by_mouse_finger_and_keys(reader):
    """On the built page itself; what is shown is held against the definitions of the library's reference."""
    page = reader("index.html", has_touch=True)
    figure = page.locator("figure.explorable[data-live]")
    item = figure.locator("[data-handle]").nth(2)
    finger = page.context.new_cdp_session(page)

    def by_mouse(x, y):
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 3)
        page.mouse.up()

    def by_finger(x, y):
        for kind, points in (("Start", [{"x": x, "y": y}]), ("Move", [{"x": x - 90, "y": y}]), ("End", [])):
            finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})

    for move in (by_mouse, by_finger, lambda x, y: item.press("ArrowRight")):
        before, box = figure.get_attribute("data-state"), item.bounding_box()
        move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(100)
        page.wait_for_function("old => document.querySelector('[data-live]').dataset.state !== old", arg=before)
        old, told = json.loads(before), json.loads(figure.get_attribute("data-state"))
        assert [a != b for a, b in zip(old["scores"], told["scores"], strict=True)].index(True) == 2
        assert told["ranks"] == reference.rank(told["scores"])
        value = reference.average_precision(told["scores"], told["relevance"])
        assert told["average_precision"] == pytest.approx(value, abs=1e-12)


def test_without_scripts_every_explorable_is_a_picture(chromium):
    """On every page that has one; the front page and every chapter have."""
    page = chromium.new_context(java_script_enabled=False).new_page()
    having = [name for name in walk.PAGES if 'class="explorable"' in (walk.HTML / name).read_text(encoding="utf-8")]
    assert {name for name in walk.PAGES if name.startswith(("index", "chapters/"))} <= set(having)
    for name in having:
        page.goto((walk.HTML / name).as_uri())
        figures = page.locator("figure.explorable").all()
        assert figures, name
        for figure in figures:
            assert figure.locator("img, svg.live").is_visible(), name
            assert not figure.locator(".explorable-controls").is_visible(), name
    page.context.close()


@pytest.mark.parametrize(("query", "chapter"), [("outranking", "07_recall_loss"), ("permutahedron", "03_ranking")])
def test_search_finds_the_chapter_offline(reader, query, chapter):
    page = reader("index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    page.locator(".search-summary").filter(has_text="found").wait_for()
    page.locator(f"#search-results a[href*='{chapter}']").first.wait_for()


def test_the_choice_of_dark_is_kept(reader):
    page = reader("index.html", color_scheme="light")
    theme = "document.documentElement.dataset.theme"
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(theme) == "light"
    light = page.evaluate(ground)
    switch = page.locator(
        ".article-header-buttons .theme-switch-button, .article-header-buttons .theme-switch-container"
    )
    for _ in range(3):
        if page.evaluate(theme) != "dark":
            choose_dark(page, switch.first)
    assert page.evaluate(theme) == "dark" and page.evaluate(ground) != light
    page.goto((walk.HTML / CHAPTER).as_uri())
    walk.found_again(page, "the dark theme", lambda: page.evaluate(theme) == "dark")


def choose_dark(page, switch):
    switch.click()
    entry = page.locator("[data-mode=dark]:visible, [data-theme-mode=dark]:visible")
    if entry.count():
        entry.first.click()


def test_a_page_can_be_read_with_the_keyboard_alone(reader):
    """The first Tab offers to skip the navigation; every stop shows itself; a fold opens and closes."""
    page = reader(CHAPTER)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"
    page.keyboard.press("Enter")
    reached, hidden = set(), []
    for _ in range(400):
        page.keyboard.press("Tab")
        kind, seen = page.evaluate(
            """() => {
              const here = document.activeElement, look = getComputedStyle(here);
              const drawn = here instanceof SVGElement && parseFloat(look.strokeWidth) >= 2 && look.stroke !== "none";
              const seen = look.outlineStyle !== "none" || look.boxShadow !== "none" || drawn;
              return [here.closest("main") ? here.tagName + "." + (here.type ?? "") : "", seen];
            }"""
        )
        if not kind:
            break
        reached.add(kind)
        hidden += [] if seen else [kind]
    assert {"INPUT.range", "BUTTON.button", "SUMMARY.", "A."} <= reached
    assert not hidden
    fold = page.locator(".admonition.dropdown button.toggle-button").first
    fold.focus()
    for expanded in ("true", "false"):
        page.keyboard.press("Enter")
        expect(fold).to_have_attribute("aria-expanded", expanded)


def test_code_can_be_copied_and_output_not(reader):
    page = reader(CHAPTER)
    assert page.locator(".cell_input button.copybtn").count() == page.locator(".cell_input pre").count() > 5
    assert page.locator(".cell_output button.copybtn").count() == 0
    assert page.locator(".cell_output pre").count() > 1


def test_on_paper_there_is_the_text_and_nothing_to_press(reader):
    """Folds are opened, sliders and navigation are gone, dark becomes light, and all of it comes back."""
    page = reader(CHAPTER, color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for gone in (".explorable-controls", ".bd-sidebar-primary", ".bd-sidebar-secondary", ".prev-next-area", ".copybtn"):
        assert not any(part.is_visible() for part in page.locator(gone).all()), gone
    solution = page.locator(".solution.dropdown p, .admonition.dropdown p:not(.admonition-title)").first
    assert solution.is_visible()
    assert page.evaluate("Promise.all([...document.images].map((image) => image.decode())).then(() => true)")
    assert page.locator("figure.explorable :is(img, svg.live)").first.is_visible()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert not solution.is_visible()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
