"""Live explorables as a reader has them in hand: the page computes what Python computes, and nothing can be broken."""

import importlib
import json
import math
import random
import re
import shutil

import pytest
import walk
from tools.notebooks import pairs
from tools.site import explorables, javascript

from rankedu_book.kit.live import PAGE, Live, names

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
STATIC = pairs.ROOT / "book" / "_static"
FILES = ("book.css", "live.css", "live.js")
STATE = "JSON.parse(document.querySelector('figure[data-live]').dataset.state)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page for each live explorable, with the scripts and the style of the book and nothing else of it."""
    folder = tmp_path_factory.mktemp("live")
    for file in [STATIC / "python.js", STATIC / "book.css", *PAGE.iterdir()]:
        shutil.copy(file, folder)
    explorables.write_scripts(folder / "live")
    for name in names():
        walk.written(folder, name, FILES, explorables.live_markup(Live(name), ""))
    return folder


@pytest.fixture
def reader(visit, folder):
    return lambda name, state="", **options: visit((folder / f"{name}.html").as_uri() + state, **options)


def ready(page, name) -> str:
    """Wait for the scripts, which are fetched at a first touch: from then on a key is answered before the next one."""
    page.locator("figure").hover()
    walk.until(page, "module => globalThis.py?.modules[module]", arg=Live(name).module)
    return Live(name).module


def raw(page) -> str:
    return page.locator("figure[data-live]").get_attribute("data-state")


def state(page):
    return json.loads(raw(page))


def changed(page, before) -> str:
    walk.until(page, "before => document.querySelector('figure[data-live]').dataset.state !== before", arg=before)
    return raw(page)


def agree(a, b):
    """Whether two values of JSON are the same but for the last digits of numbers, those within text too."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(agree(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(agree, a, b))
    if isinstance(a, str):
        number = r"-?\d+\.\d+"
        rounded = [list(map(float, re.findall(number, text))) for text in (a, b)]
        close = len(rounded[0]) == len(rounded[1]) and all(abs(x - y) < 0.11 for x, y in zip(*rounded, strict=True))
        return close and re.sub(number, "", a) == re.sub(number, "", b)
    if isinstance(a, float) or isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


PYTHON = """
import math

def values():
    x, y = [3, 1, 2], {"b": 1, "a": [2]}
    x[-1] = 5
    x[1:2] = [7, 8]
    x += [9]
    first, *rest = x
    total = 0
    for k, (a, b) in enumerate(zip(x, x[1:])):
        if k == 3:
            break
        total += a * b
    while total > 100:
        total //= 2
    return [
        x, y, first, rest, total, x[::-1], x[-2:], x[:100], x[1:-1:2], -7 // 2, -7 % 3, 7.5 % -2, 2**-1, not [],
        [] or 5, [1] and "yes", 0 or None, None is None, (1, 2) < (1, 3), [1, 2] <= [1, 2], [2] > [1, 9],
        1 < 2 <= 2 < 1, "ab" < "b", [1, [2]] == [1, [2]], True == 1, True + True, 2 in x, "a" in y,
        5 not in {1, 5}, [1, 2] + [3], 2 * [0, 1], "ab" * 2, sorted([3, 1, 2], key=lambda one: -one),
        sorted([[2, 1], [1, 2]]), sorted("hello", reverse=True), max([1, 3, 2]), min(4, 2), max([], default=-1),
        min(x, key=lambda one: abs(one - 6)), sum([0.1, 0.2], 1), any([]), all([]), round(2.5), round(-0.5),
        round(2.675, 2), int(-3.7), abs(-2), len({1, 2, 2}), list(range(5, 0, -2)),
        [a for a in range(3) for b in range(a) if a != b], {k: v for v, k in enumerate("ab")},
        ", ".join(["p", "q"]), dict(zip("ab", [1, 2])), y.get("z", 3), [*y], {**y, "a": 0}, math.hypot(3, 4),
        math.log10(1000), next(k for k in x if k > 6), [list(pair) for pair in {"k": 1}.items()], x.index(8),
        x.count(9), [3, 1].pop(), bool([0]), bool(""), list(reversed(x)),
        math.log(2), math.log2(8), math.log1p(0.5), math.exp(1), math.sqrt(2), math.tanh(1), math.sin(1), math.cos(1),
        math.tan(1), math.atan2(1, 2), math.floor(-0.5), math.ceil(0.2), math.isnan(math.nan), math.isfinite(math.inf),
    ]
"""
FORMS = [".2f", "+.1f", ".0f", "d", "g", ".3g", "+.2g", ".1%"]


def test_what_python_means_the_translation_means(reader, folder, monkeypatch):
    """Where JavaScript would mean something else: indices, slices, truth, comparisons, division, rounding, formats."""
    (folder / "meanings.py").write_text(PYTHON, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    page = reader("descend")
    ready(page, "descend")
    page.add_script_tag(content=javascript.translate("meanings"))
    here = importlib.import_module("meanings").values()
    there = page.evaluate("() => py.to(py.modules.meanings.values())")
    for number, pair in enumerate(zip(json.loads(json.dumps(here)), there, strict=True)):
        assert agree(*pair), (number, pair)
    dice = random.Random(0)
    numbers = [0.125, 0.375, 2.5, 3.5, -0.5, 0.0, -0.0, 1e-5, 123456.5, 1e16, 999999.5, 0.045, 1.005]
    numbers += [dice.choice([-1, 1]) * 10 ** dice.uniform(-7, 8) for _ in range(200)]
    wanted = [[format(int(x) if form == "d" else x, form) for form in FORMS] for x in numbers]
    run = "([xs, forms]) => xs.map((x) => forms.map((form) => py.format(form === 'd' ? Math.trunc(x) + 0 : x, form)))"
    for x, one, other in zip(numbers, wanted, page.evaluate(run, [numbers, FORMS]), strict=True):
        assert one == other, x


def wander(explorable, steps, random):
    """States that a reader can come to: handles at any place of their range, buttons, ticks of the clock."""
    scene = explorable()
    for _ in range(steps):
        yield scene["state"]
        state = scene["state"]
        kind = random.random()
        if kind < 0.65 and scene["handles"]:
            handle = random.choice(scene["handles"])
            state |= handle["also"]
            for move in handle["moves"]:
                value = random.choice([move["low"], move["high"], random.uniform(move["low"], move["high"])])
                if move["at"] is None:
                    state[move["of"]] = value
                else:
                    state[move["of"]][move["at"]] = value
        elif kind < 0.8 and scene["buttons"]:
            state |= random.choice(scene["buttons"])["changes"]
        else:
            state["tick"] = True
        scene = explorable(state)


def the_page_draws_what_python_draws_wherever_the_reader_goes(page, name):
    """State after state, the whole scene: marks, handles, buttons, words; nowhere an exception or a nan."""
    explorable, module = Live(name), ready(page, name)
    states = list(wander(explorable, 60, random.Random(name)))
    run = f"states => states.map((one) => py.to(py.modules['{module}'].{name}(py.from(one))))"
    for one, there in zip(states, page.evaluate(run, states), strict=True):
        here = explorable(one)
        assert not re.search(r"\b(nan|inf)\b", json.dumps(here["marks"])), one
        inside = [(handle["x"], handle["y"]) for handle in here["handles"]]
        assert all(0 <= x <= 480 and 0 <= y <= here["height"] for x, y in inside), one
        marks = zip(here["marks"], there["marks"], strict=False)
        assert agree(here, there), (one, [pair for pair in marks if not agree(*pair)])


def every_handle_follows_mouse_finger_and_keys(page, name):
    ready(page, name)
    finger = page.context.new_cdp_session(page)
    for handle in page.locator("[data-handle]").all():
        handle.scroll_into_view_if_needed()
        box, before = handle.bounding_box(), raw(page)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        low, now, high = (float(handle.get_attribute(f"aria-value{one}")) for one in ("min", "now", "max"))
        side = 1 if now < (low + high) / 2 else -1
        page.mouse.move(x + 31 * side, y - 17 * side)
        page.mouse.move(x + 40 * side, y - 23 * side)
        page.mouse.up()
        dragged = changed(page, before)
        for key in ("Home", "ArrowRight", "ArrowUp", "End", "PageDown"):
            handle.press(key)
        changed(page, dragged)
        for side in (-5000, 5000):
            handle.hover(force=True)
            page.mouse.down()
            page.mouse.move(side, side / 3)
            page.mouse.up()
        svg, circle = page.locator("svg.live").bounding_box(), handle.bounding_box()
        for start, size in (("x", "width"), ("y", "height")):
            assert svg[start] <= circle[start] + circle[size] / 2 <= svg[start] + svg[size]
        before, (x, y) = raw(page), (circle["x"] + circle["width"] / 2, circle["y"] + circle["height"] / 2)
        for kind, side in (("Start", 0), ("Move", -20), ("Move", -60), ("End", None)):
            points = [] if side is None else [{"x": x + side, "y": y + side / 2}]
            finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
        changed(page, before)
    assert page.locator(".trouble").is_hidden()


def settings(name, told):
    """What a reader sets by the handles of the first scene."""
    return {move["of"]: told[move["of"]] for one in Live(name)()["handles"] for move in one["moves"]}


def bad_values_in_an_address_are_ignored(page, name):
    start = settings(name, Live(name).start)
    for text in ["NaN", "Infinity,1e9", "-1e9", "", "%00", ",,,,", "[1]", "true"]:
        page.evaluate(
            """at => new Promise((done) => {
              addEventListener("hashchange", () => setTimeout(done), { once: true });
              location.hash = at;
            })""",
            f"explorable-{name}?more=1&" + "&".join(f"{key}={text}" for key in start),
        )
        assert settings(name, state(page)) == start, text
    assert page.locator(".trouble").is_hidden()


#: Whether the address tells of every setting, to the digits that it gives, or leaves it as it was at the start.
KEPT = f"""start => {{
  const kept = new URLSearchParams(location.hash.split("?")[1]), told = {STATE};
  const text = (value) => [value].flat().map((one) => (one.toFixed ? Number(one.toFixed(4)) : one)).join(",");
  return kept.size && Object.keys(start).every((key) => (kept.get(key) ?? text(start[key])) === text(told[key]));
}}"""


def the_address_keeps_what_the_reader_set(page, name):
    start = settings(name, Live(name).start)
    for handle in page.locator("[data-handle]").all():
        for key in ("PageUp", "PageDown", "PageDown"):
            handle.press(key)
    walk.until(page, KEPT, arg=start)
    kept, there = settings(name, state(page)), page.evaluate("location.hash")
    page.reload()
    walk.until(page, walk.SETTLED)
    changed(page, json.dumps(Live(name)()["state"], separators=(",", ":")))
    walk.until(page, KEPT, arg=start)
    for key, value in settings(name, state(page)).items():
        assert value == pytest.approx(kept[key], abs=1e-4), key
    assert kept != start and page.evaluate("location.hash") == there


def what_fails_leaves_the_picture_and_one_sentence(page, name):
    module, picture, told = ready(page, name), page.locator("svg.live .marks").inner_html(), raw(page)
    for broken in ("() => { throw new Error('broken') }", "(s) => new Map([['state', s], ['height', NaN]])"):
        page.evaluate(f"() => {{ py.modules['{module}'].{name} = {broken}; }}")
        page.locator("[data-handle]").first.press("ArrowLeft")
        page.locator(".trouble").wait_for(state="visible")
        assert page.locator(".trouble").inner_text().count(".") == 1
        assert page.locator("svg.live .marks").inner_html() == picture and raw(page) == told


def axe_finds_nothing(page, name):
    for size in walk.SIZES.values():
        page.set_viewport_size(size)
        assert walk.width(page) + walk.accessibility(page) == []
    assert walk.accessibility(page, themes=("light", "dark")) == []


#: In this order: what breaks the page, and what takes it apart, comes last.
CLAIMS = (
    the_page_draws_what_python_draws_wherever_the_reader_goes,
    every_handle_follows_mouse_finger_and_keys,
    bad_values_in_an_address_are_ignored,
    the_address_keeps_what_the_reader_set,
    what_fails_leaves_the_picture_and_one_sentence,
    axe_finds_nothing,
)


@pytest.mark.parametrize("name", names())
def test_a_live_explorable_keeps_every_claim(reader, folder, name):
    page = reader(name, has_touch=True)
    assert "#" not in page.url, "a page that is only read keeps its address"
    for claim in CLAIMS:
        claim(page, name)
    scripts = json.loads(page.locator("figure").get_attribute("data-scripts"))
    assert sum((folder / one).stat().st_size for one in [*scripts, "live.js", "live.css"]) < 400_000


def test_without_motion_the_end_is_shown_at_once(reader):
    page = reader("descend", reduced_motion="reduce")
    page.get_by_label("just show me").check()
    page.get_by_role("button", name="Start", exact=True).click()
    walk.until(page, f"{STATE}.steps > 0")
    end = state(page)
    assert end["steps"] == 150 and not end["playing"] and not page.evaluate("document.querySelector('figure').ticking")


def test_it_moves_by_itself_until_it_is_stopped(reader):
    page = reader("descend", "#explorable-descend?guess=skip")
    page.get_by_role("button", name="Start", exact=True).click()
    walk.until(page, f"{STATE}.steps > 3")
    page.get_by_role("button", name="Stop").click()
    walk.until(page, f"!{STATE}.playing && !document.querySelector('figure').ticking")
    assert 3 < state(page)["steps"] < 150


def test_a_guess_unlocks_the_run_is_kept_and_is_answered_with_what_has_happened_when_that_is_over(reader):
    page = reader("descend", reduced_motion="reduce")
    start, told_of = page.get_by_role("button", name="Start", exact=True), page.locator(".told")
    expect(start).to_be_disabled()
    page.locator("[data-handle='A corner of the frame']").press("ArrowUp")
    walk.until(page, "location.hash === '#explorable-descend?frame=0.35,-2.056,0.9,-1&guess=frame'")
    page.reload()
    start.click()
    told = "Your frame is right on 49 % of the map: not there. Sorted, of each map: blackbox 32 %, sigmoid 52 %,"
    expect(told_of).to_contain_text(told)
    assert told_of.get_attribute("role") == "status" and page.get_by_label("just show me").is_disabled()
    items = page.locator(".marks .positive[r='5.0'], .marks .negative[width='8.0']")
    assert len(set(items.evaluate_all("all => all.map((one) => one.outerHTML)"))) == 24, "none hides another"
    ring = page.locator("[data-handle='Ring of sigmoid']")
    ring.press("End")
    expect(ring).to_have_attribute("aria-valuetext", re.compile("^H at 1.00, τ = 0.04, AP "))
    page.get_by_role("button", name="Start anew").click()
    expect(start).to_be_disabled()


def test_who_would_rather_see_has_nothing_to_draw_a_guess_with(reader):
    for name, gone in (("descend", 2),):
        page = reader(name)
        handles = page.locator("[data-handle]")
        before = handles.count()
        page.get_by_label("just show me").check()
        expect(handles).to_have_count(before - gone)
        walk.until(page, f"{STATE}.playing || {STATE}.steps")  # what there is to see has begun
        page.get_by_role("button", name="Start anew").click()
        expect(handles).to_have_count(before)


def test_a_script_that_does_not_load_leaves_the_picture(chromium, folder):
    lost = (folder / "descend.html").read_text(encoding="utf-8").replace("python.js", "lost.js")
    (folder / "lost.html").write_text(lost, encoding="utf-8")
    with chromium.new_context() as window:
        page = window.new_page()
        page.goto((folder / "lost.html").as_uri())
        page.locator("[data-handle]").first.press("ArrowLeft")
        expect(page.locator(".trouble")).to_be_visible()
        assert page.locator("svg.live").is_visible()
