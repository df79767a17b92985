"""A prediction is answered first: what answers it is folded, opened by one gesture, and remembered."""

from __future__ import annotations

import pytest
import walk

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
CHAPTERS = [name for name in walk.PAGES if name.startswith("chapters/")]


def test_an_answer_is_shown_beside_the_result_and_found_again(reader):
    page = reader(CHAPTERS[0])
    box, reveal = page.locator(".admonition.predict").first, page.locator(".admonition.reveal").first
    show, skip, again = (box.locator(f"button:text-is('{name}')") for name in ("Show", "Skip", "Fold again"))
    show.click()
    expect(box.locator("[role=status]")).to_contain_text("Commit to an answer")
    assert not reveal.is_visible()
    answer(page, box)
    show.press("Enter")
    expect(reveal).to_contain_text("You said", use_inner_text=True)
    assert reveal.is_visible() and not show.is_visible()
    said = reveal.locator(".prediction-said").inner_text()
    walk.reloaded(page, "the answer open", reveal.is_visible)
    assert reveal.locator(".prediction-said").inner_text() == said
    again.click()
    expect(reveal).to_be_hidden()
    walk.reloaded(page, "the answer folded", lambda: not reveal.is_visible())
    skip.click()
    expect(reveal).to_be_visible()
    assert not reveal.locator(".prediction-said").inner_text()


def answer(page, box):
    """Some answer, in whatever field the prediction has."""
    typed = box.locator("form.prediction input")
    if typed.count():
        typed.first.fill("1")
    elif box.locator("input[type=radio]").count():
        box.locator("input[type=radio]").first.check()
    elif box.locator("[role=slider]").count():
        box.locator("[role=slider]").first.press("ArrowUp")


def test_on_paper_and_without_scripts_every_prediction_is_open(reader, chromium):
    page = reader(CHAPTERS[0])
    page.emulate_media(media="print")
    hidden = page.locator(".admonition.reveal:not(:visible), .prediction:visible")
    assert page.locator(".admonition.reveal").count() >= 2 and not hidden.count()
    plain = chromium.new_context(java_script_enabled=False).new_page()
    plain.goto((walk.HTML / CHAPTERS[0]).as_uri())
    assert plain.locator(".admonition.reveal").first.is_visible() and not plain.locator("form.prediction").count()
    plain.context.close()


def test_the_search_of_the_browser_opens_what_it_finds(reader):
    """A link to words in what is folded is what a search does: the part opens, and nothing claims an answer."""
    page = reader(CHAPTERS[0])
    part = page.locator(".admonition.reveal").first
    assert part.get_attribute("hidden") == "until-found"
    part.evaluate("part => part.dispatchEvent(new Event('beforematch'))")
    expect(part).to_be_visible()
    assert not part.locator(".prediction-said").inner_text()


FIELDS = """
<div class="admonition predict {kind}" id="p"><p class="admonition-title">Predict</p><p>Question</p>{items}</div>
<div class="cell"><div class="cell_output"><p>7</p></div></div>
<div class="admonition reveal dropdown" id="r"><p class="admonition-title">Reveal</p><p>It is 7.</p></div>"""
ITEMS = "<ul><li>first</li><li>second</li><li>third</li></ul>"


@pytest.mark.parametrize(
    ("kind", "items", "act", "said"),
    [
        ("words", "", lambda box: box.locator("input").fill("both fall"), "You said: both fall."),
        ("number", "", lambda box: box.locator("input").fill("0.8"), "You said: 0.8."),
        ("choice", ITEMS, lambda box: box.get_by_label("second").check(), "You said: second."),
        ("order", ITEMS, lambda box: box.get_by_label("Move third up").click(), "You said: first, third, second."),
        ("curve", "", lambda box: box.get_by_role("slider").first.press("ArrowUp"), "You drew:"),
    ],
)
def test_each_kind_of_field_takes_an_answer_and_puts_it_back(chromium, tmp_path, kind, items, act, said):
    script = "".join((walk.HTML / "_static" / name).read_text(encoding="utf-8") for name in ("kept.js", "predict.js"))
    body = FIELDS.format(kind=kind, items=items)
    (tmp_path / "page.html").write_text(f"<meta charset=utf-8><main>{body}</main><script>{script}</script>", "utf-8")
    page = chromium.new_context().new_page()
    page.goto((tmp_path / "page.html").as_uri())
    reveal = page.locator("#r")
    assert not reveal.is_visible()
    act(page.locator("#p"))
    page.get_by_role("button", name="Show", exact=True).click()
    expect(reveal).to_contain_text(said, use_inner_text=True)
    walk.reloaded(page, said, lambda: said in reveal.inner_text())
    page.context.close()
