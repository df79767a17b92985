"""What a reader sees at two widths: a formula that is broken, words that can be read, a ball that waits for a guess."""

from __future__ import annotations

import pytest
import walk
from rolling import roll

from rankbook.ch04_interpolated_ranking.explorables import interpolation_landscape
from rankbook.kit.explorable.grounds import SIDE, ground_of
from rankbook.kit.live import names

pytestmark = pytest.mark.browser


def test_a_long_formula_goes_on_before_a_relation_and_is_whole_on_a_desk(window):
    """The second line of Eq. 1.12 begins with its equals sign; on a desk there is one line."""
    page = walk.visited(window(viewport=walk.SIZES["phone"]).new_page(), "chapters/01_rank_based_metrics.html")
    page.wait_for_function("'formulas' in document.documentElement.dataset")
    lines = """() => {
      const formula = document.querySelector("#equation-eq-spearman mjx-math");
      const equals = [...formula.querySelectorAll(":scope > * > mjx-mrow")].map((side) => side.getBoundingClientRect());
      return equals.map((side) => [Math.round(side.left), Math.round(side.bottom)]);
    }"""
    (left, low), (next_left, next_low) = page.evaluate(lines)
    assert next_low > low + 10 and abs(next_left - left) < 10
    page.set_viewport_size(walk.SIZES["desk"])
    (left, _), (next_left, _) = page.evaluate(lines)
    assert next_left > left + 30
    page.close()


#: Words of a live picture that are small, cut off, or on one another, and handles that are no place for a finger.
LOOKS = """(figure) => {
  const svg = figure.querySelector("svg.live"), scale = svg.getScreenCTM().a, frame = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll(".marks text")].filter((one) => one.textContent.trim());
  const boxes = words.map((one) => one.getBoundingClientRect());
  const found = [];
  words.forEach((word, i) => {
    const box = boxes[i], text = word.textContent, size = parseFloat(getComputedStyle(word).fontSize) * scale;
    if (size < 11) found.push(`${text} is ${size.toFixed(1)} pixels high`);
    if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(`${text} is cut off`);
    if (box.top < frame.top - 1 || box.bottom > frame.bottom + 1) found.push(`${text} is cut off`);
    boxes.slice(0, i).forEach((other, j) => {
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (across > 2 && down > 4) found.push(`${text} lies on ${words[j].textContent}`);
    });
  });
  for (const handle of svg.querySelectorAll(".handle"))
    if (handle.getBoundingClientRect().width < 24) found.push(`${handle.dataset.handle} is too small`);
  return found;
}"""
LIVE = {name: page for page in walk.PAGES for name in names()
        if f'data-live="{name}"' in (walk.HTML / page).read_text(encoding="utf-8")}  # fmt: skip


@pytest.mark.parametrize("size", walk.SIZES)
@pytest.mark.parametrize("name", names())
def test_words_of_a_flagship_can_be_read_wherever_its_handles_are(window, name, size):
    page = walk.visited(window(viewport=walk.SIZES[size]).new_page(), LIVE[name])
    figure = page.locator(f"figure[data-live={name}]")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    figure.scroll_into_view_if_needed()
    found = figure.evaluate(LOOKS)
    for key in () if name == "tiles" else ("End", "Home", "PageUp"):  # tiles on one another hide their ranks
        for handle in figure.locator("[data-handle]").all():
            handle.press(key)
        page.wait_for_timeout(100)
        found += figure.evaluate(LOOKS)
    page.evaluate("localStorage.clear()")
    page.close()
    assert sorted(set(found)) == []


def test_the_ball_waits_for_a_guess(window):
    """Neither its trail nor the curve over λ is shown before Roll; afterwards they follow the ball."""
    page = walk.visited(window(viewport=walk.SIZES["desk"], reduced_motion="reduce").new_page(), LIVE["ball"])
    figure = page.locator("figure[data-live=ball]")
    trail, guess = figure.locator("polyline.thick"), figure.get_by_text("?", exact=True)
    figure.locator("[data-handle='λ']").press("PageUp")
    assert trail.count() == 0 and guess.count() == 1 and "stands at" not in figure.locator(".says").inner_text()
    figure.get_by_role("button", name="Roll").click()
    trail.wait_for(state="attached")
    assert guess.count() == 0 and "stands at" in figure.locator(".says").inner_text()
    before = trail.get_attribute("points")
    figure.locator("[data-handle='λ']").press("End")
    page.wait_for_function("old => document.querySelector('polyline.thick').getAttribute('points') !== old", arg=before)
    assert guess.count() == 0
    page.close()


#: A kernel that keeps what it is sent.
MODEL = """async ([source, state]) => {
  const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const heard = {};
  window.sent = {};
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { window.sent[name] = value; },
    save_changes: () => {},
    on: (names, call) => names.split(" ").forEach((name) => (heard[name] ??= []).push(call)),
    tell: (name, value) => { state[name] = value; (heard[`change:${name}`] ?? []).forEach((call) => call()); },
  };
  module.default.render({ model: window.model, el: document.querySelector("main") });
}"""


def test_in_jupyterlab_the_ball_is_dropped_where_the_reader_points(window):
    """It rolls as Python has it, anew where the kernel sends another map, and goes where there is none."""
    picture = pytest.importorskip("rankbook.kit.explorable.sliders", exc_type=ImportError).Picture
    made = interpolation_landscape()
    made.canvas.draw()
    ground = ground_of(made)
    state = {"value": None, "alt": "", "holds": {}, "side": SIDE, "ground": ground._asdict()}
    page = window(viewport=walk.SIZES["desk"]).new_page()
    page.set_content(f"<style>{picture._css}</style><main></main>")
    page.evaluate(MODEL, [picture._esm, state])
    page.evaluate("document.querySelector('img').style = 'width: 600px; height: 400px'")
    around = page.locator(".rankedu-map").bounding_box()
    assert around["width"] == pytest.approx(600 * ground.box[2], abs=1)
    page.mouse.click(around["x"] + 0.5 * around["width"], around["y"] + 0.25 * around["height"])
    ball, points = page.get_by_role("slider", name="Ball"), page.locator("polyline").first
    assert ball.get_attribute("aria-valuetext") == "20 to the right and 30 up, of 40"
    ball.press("ArrowRight")
    for way in (ground.way, ground.way[::-1]):
        page.evaluate("ground => model.tell('ground', ground)", ground._replace(way=way)._asdict())
        trail, _ = roll(way, (21, 30))
        drawn = [[float(value) for value in place.split(",")] for place in points.get_attribute("points").split()]
        assert len(drawn) == len(trail) and drawn[-1] == pytest.approx([trail[-1][0], 40 - trail[-1][1]])
        assert f". {len(trail) - 1} steps; the loss itself: " in page.get_by_role("status").inner_text()
    page.evaluate("model.tell('ground', {})")
    assert not page.locator(".rankedu-map").is_visible(), "a picture without a map has no ball"
    page.close()
