"""The static book as a reader meets it: from the file system, offline, by keyboard, on a phone and on a desk."""

import json

import pytest
import walk
from tools.notebooks import pairs

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
CHAPTER = next((name for name in walk.PAGES if name.startswith("chapters/02")), "index.html")
#: Where the phone's layout differs from the desk's in more than the width: axe looks at these twice.
ON_A_PHONE = {"index.html", CHAPTER, "results.html", "search.html", "api/metrics.html"}
#: Pages alike in all but their words: axe looks at one of them.
ALIKE = {name for name in walk.PAGES if name.startswith("api/")} - ON_A_PHONE
SLIDES = sorted((walk.HTML / "_static" / "slides").glob("lecture-*.html"))


@pytest.mark.parametrize("name", walk.PAGES)
def test_page(reader, name):
    """One visit: everything loads, nothing from outside, axe finds nothing serious."""
    page = reader(name, viewport=walk.SIZES["phone"])
    found = walk.predictions(page) + walk.formulas(page) + walk.pictures(page) + walk.weight(page, name)
    found += walk.width(page) + walk.columns(page)
    found += walk.accessibility(page) if name in ON_A_PHONE else []
    page.set_viewport_size(walk.SIZES["desk"])
    page.evaluate("resized = performance.now()")
    found += walk.width(page) + walk.columns(page)
    walk.until(page, "performance.now() > resized + 400")  # the theme looks at its header 300 ms after a resize
    found += [] if name in ALIKE else walk.accessibility(page, themes=("light", "dark"))  # which takes the page apart
    assert not found, "\n".join(found)


def test_without_scripts_every_figure_to_move_is_a_picture(reader):
    """On the front page, in *The idea* and in every chapter whose cells show a figure to play with."""
    having = [name for name in walk.PAGES if 'class="play"' in (walk.HTML / name).read_text(encoding="utf-8")]
    texts = {text.stem: text.read_text(encoding="utf-8") for text in (pairs.ROOT / "book" / "chapters").glob("*.md")}
    showing = {f"chapters/{name}.html" for name, text in texts.items() if "\nplay(" in text}
    assert len(showing) > 10 and {"index.html", "idea.html", *showing} == set(having)
    page = reader(having[0], java_script_enabled=False)
    for name in having:
        page.goto((walk.HTML / name).as_uri())
        count = page.locator("figure.play").count()
        assert page.locator("figure.play img:visible").count() == count > 0, name
        assert not page.locator(".play-here:visible").count(), name


@pytest.mark.parametrize("window", [{"width": 1280, "height": 800}, {"width": 360, "height": 640}])
def test_the_front_pages_first_screen_has_the_whole_figure_and_a_door_and_its_slider_moves(reader, window):
    page = reader("index.html", has_touch=True, viewport=window)
    doors = [door.bounding_box() for door in page.locator(".doors .sd-card").all()]
    seen = [door["y"] + (door["height"] if window["width"] > 600 else 44) <= window["height"] for door in doors]
    assert len(seen) == 3 and (all(seen) if window["width"] > 600 else seen[0])
    figure, slider = page.locator("figure.play"), page.locator("figure.play input").bounding_box()
    box = figure.bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= window["height"] and slider["width"] >= 280
    before = json.loads(figure.get_attribute("data-state"))["lam"]
    page.touchscreen.tap(slider["x"] + 0.9 * slider["width"], slider["y"] + slider["height"] / 2)
    walk.until(page, "old => JSON.parse(document.querySelector('.play').dataset.state).lam > old", arg=before)
    assert page.evaluate("scrollY") == 0


#: How far what is in sight moves while a page comes, as browsers count it: the sum of shares of the window.
SHIFT = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((one) => { sum += one.value; }))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 1000);
})"""


@pytest.mark.parametrize("size", walk.SIZES)
def test_nothing_in_sight_moves_while_a_page_comes(reader, size):
    for name in ("index.html", CHAPTER, "chapters/04_interpolated_ranking.html"):
        assert reader(name, viewport=walk.SIZES[size]).evaluate(SHIFT) <= 0.01, name


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
    assert {"INPUT.range", "BUTTON.button", "SUMMARY.", "A."} <= reached and not hidden
    fold = page.locator(".admonition.dropdown button.toggle-button").first
    for expanded in ("true", "false"):
        fold.press("Enter")
        expect(fold).to_have_attribute("aria-expanded", expanded)
    assert page.locator(".cell_input button.copybtn").count() == page.locator(".cell_input pre").count() > 5
    assert page.locator(".cell_output button.copybtn").count() == 0 < page.locator(".cell_output pre").count()


def test_what_scrolls_is_reached_by_keys_when_the_page_is_slow_to_have_its_width(reader):
    page = reader("claims-protocol.html", viewport=walk.SIZES["phone"])
    page.add_style_tag(content="* { transition-duration: 1s !important; }")
    page.set_viewport_size(walk.SIZES["desk"])
    walk.until(page, "[...document.querySelectorAll('pre')].every((code) => code.scrollWidth > code.clientWidth)")
    walk.until(page, walk.SCROLLED_BY_KEYS)


def test_on_a_phone_the_bar_makes_room_rows_are_cards_and_one_taps(reader):
    """What one presses is 44 pixels high or more; the bar comes back when one scrolls up, or with the focus in it."""
    phone = {"viewport": walk.SIZES["phone"], "has_touch": True, "is_mobile": True}
    page, bar = reader("use-it.html", **phone), "document.querySelector('.bd-header-article')"
    for top, seen in ((1500, False), (1300, True), (1700, False)):
        page.evaluate(f"scrollTo({{ top: {top}, behavior: 'instant' }})")
        walk.until(page, f"({bar}.getBoundingClientRect().bottom > 10) === {str(seen).lower()}")
    page.evaluate(f"{bar}.querySelector('button').focus()")
    walk.until(page, f"{bar}.getBoundingClientRect().top >= 0")
    table = page.locator("table").first
    heads, cells = table.locator("th").all_text_contents(), table.locator("tbody tr").first.locator("td")
    assert len(heads) == cells.count() > 2
    shown = "one => getComputedStyle(one, '::before').content.slice(1, -1)"
    assert [cells.nth(at).evaluate(shown) for at in range(1, len(heads))] == heads[1:]
    assert max(cell.bounding_box()["x"] for cell in cells.all()) < 100, "the parts are below each other"
    assert "tap" in reader("idea.html", **phone).locator(".play figcaption").first.inner_text()
    chapter = reader(CHAPTER, **phone)
    pressed = chapter.locator("form.prediction button:visible, .prediction-choices label:visible").all()
    assert len(pressed) >= 4 and min(one.bounding_box()["height"] for one in pressed) >= 44


def test_on_paper_there_is_the_text_and_nothing_to_press(reader):
    """Folds are opened, sliders and navigation are gone, dark becomes light, and all of it comes back."""
    page, theme = reader(CHAPTER, color_scheme="dark"), "document.documentElement.dataset.theme"
    walk.until(page, "[...document.images].every((image) => image.naturalWidth)")  # without having been scrolled to
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    gone = ".play-here .bd-sidebar-primary .bd-sidebar-secondary .prev-next-area .copybtn .prediction"
    assert not page.locator(", ".join(f"{one}:visible" for one in gone.split())).count()
    solution = page.locator(".solution.dropdown p, .admonition.dropdown p:not(.admonition-title)").first
    assert solution.is_visible()
    assert page.locator(".admonition.reveal:visible").count() == page.locator(".admonition.reveal").count() >= 2
    assert page.locator(".solution:visible").count() == page.locator(".solution").count() > 3
    assert not [box for box in page.locator(".code-box textarea").all() if "Copy" in box.input_value()]
    assert page.evaluate("Promise.all([...document.images].map((image) => image.decode())).then(() => true)")
    assert page.locator("figure.play img").first.is_visible()
    assert page.evaluate(theme) == "light"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not solution.is_visible() and page.evaluate(theme) == "dark"


def slides(page) -> list[int]:
    """Numbers of the slides that can be seen."""
    seen = "[...document.querySelectorAll('.slide')].filter((slide) => slide.checkVisibility())"
    return page.evaluate(f"{seen}.map((slide) => Number(slide.id))")


def test_slides_move_by_keys_and_buttons_and_nothing_is_cut_off(visit):
    assert len(SLIDES) == 4
    for lecture in SLIDES:
        page = visit(lecture.as_uri(), viewport={"width": 1280, "height": 720})
        last = page.locator(".slide").count()
        assert page.locator("img").count() == page.locator("img[src^='data:image/png'][alt*=' ']").count() > 0
        for number in range(1, last + 1):
            assert slides(page) == [number]
            hidden = "n => { const slide = document.getElementById(n); return slide.scrollHeight - slide.clientHeight }"
            assert page.evaluate(hidden, str(number)) <= 1, f"{lecture.name}: {number} is higher than the screen"
            page.keyboard.press("ArrowRight")
        assert slides(page) == [last], "after the last comes none"
        for key, number in (("ArrowLeft", last - 1), ("Home", 1), (" ", 2), ("PageUp", 1), ("End", last)):
            page.keyboard.press(key)
            assert slides(page) == [number] and page.locator("nav output").inner_text() == f"{number} of {last}"
        page.get_by_role("button", name="Back").click()
        assert slides(page) == [last - 1] and page.evaluate("location.hash") == f"#{last - 1}"
        page.emulate_media(media="print")
        assert slides(page) == list(range(1, last + 1))
        page = visit(lecture.as_uri(), java_script_enabled=False, viewport=walk.SIZES["phone"])
        assert len(slides(page)) == last and not page.locator("nav").is_visible()
