"""A reader takes a path, is led along it, finds again what was read; moves sliders, answers questions, searches."""

from __future__ import annotations

import json
import re
from functools import partial
from urllib.parse import unquote

import pytest
import walk
from tools.site import reading
from tools.teaching import question_bank

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
DATA = reading.script_data()
LOSS = next(way for way in DATA["ways"] if way["name"] == "loss")
OURS = ".path-bar, .path-mark, .path-choice, .path-forget"
THEORY = next(way for way in DATA["ways"] if way["name"] == "theory")


def take(page, name="loss"):
    """Open the fold of a path on the front page, and take it."""
    fold = page.locator(f"#path-{name}")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    fold.get_by_role("button", name="Take this path").click()
    return fold


def kept(page, key):
    return page.evaluate("key => JSON.parse(localStorage.getItem(key))", key)


def stands_at(page, number):
    """Whether the bar shows this step of the path, and all steps before it are read."""
    here = page.locator(".path-bar").get_by_text(f"step {number} of {len(LOSS['steps'])}")
    return here.count() and len(kept(page, "rankedu:read") or []) == number - 1


def test_a_path_leads_from_step_to_step_to_its_end(reader):
    page = reader("index.html")
    take(page).get_by_role("link", name="Go on with step 1").click()
    for number, step in enumerate(LOSS["steps"], 1):
        bar = page.get_by_role("navigation", name="Reading path")
        page.wait_for_url(lambda url, step=step: unquote(url).endswith(step["address"]))
        walk.found_again(page, f"step {number} in its bar", partial(stands_at, page, number))
        assert unquote(page.evaluate("location.href")).endswith(step["address"]) and LOSS["title"] in bar.inner_text()
        bar.locator(".path-next").click()
    page.wait_for_url("**/index.html#path-loss")
    fold = page.locator("#path-loss")
    walk.found_again(page, "every step read", lambda: fold.locator("li", has_text="read").count() == len(LOSS["steps"]))
    assert fold.get_by_role("link", name="All read").is_visible()
    assert set(kept(page, "rankedu:read")) == {step["address"] for step in LOSS["steps"]}


def test_a_path_is_left_and_what_was_read_can_be_forgotten(reader):
    page = reader("index.html")
    assert not page.locator(".path-forget").is_visible()
    take(page).get_by_role("link", name="Go on").click()
    page.wait_for_url(lambda url: unquote(url).endswith(LOSS["steps"][0]["address"]))
    walk.found_again(page, "step 1 in its bar", partial(stands_at, page, 1))
    page.locator(".path-next").click()
    page.get_by_role("button", name="Leave the path").press("Enter")
    expect(page.locator(".path-bar")).to_have_count(0)
    walk.reloaded(page, "no bar", lambda: not page.locator(".path-bar").count())
    page.goto(f"{walk.HTML.as_uri()}/index.html")
    walk.found_again(page, "a button to forget", page.locator(".path-forget").is_visible)
    page.get_by_role("button", name="Forget what I have read").click()
    expect(page.get_by_text("read\u00a0✓")).to_have_count(0)
    assert kept(page, "rankedu:read") is None


def test_the_bar_shows_on_the_pages_of_the_path_alone(reader):
    page = reader("index.html")
    take(page)
    assert not page.locator(".path-bar").count()
    page = reader("use-it.html")
    walk.found_again(page, "a bar", page.locator(".path-bar").is_visible)
    assert not reader("glossary.html").locator(".path-bar").count()
    fourth = reader(LOSS["steps"][3]["address"])
    walk.found_again(fourth, "a bar", fourth.locator(".path-bar").count)
    assert "step 4 of" in fourth.locator(".path-bar").inner_text()


def test_a_chapter_is_read_when_its_end_has_come_by_and_not_when_it_was_jumped_over(reader):
    address = THEORY["steps"][0]["address"]
    page = reader(address)
    mark = page.locator(".bd-links li.current > a .path-mark")
    assert mark.inner_text() == f"{THEORY['steps'][0]['minutes']}\u00a0min"
    page.evaluate("document.querySelector('section#self-test').scrollIntoView({behavior: 'instant'})")
    page.wait_for_timeout(200)
    assert "read" not in mark.inner_text()
    page.evaluate("window.scrollTo({top: 0, behavior: 'instant'})")
    page.evaluate(
        """async () => {
          const end = document.querySelector("section#exercises");
          while (end.getBoundingClientRect().top > 300) {
            window.scrollBy({ top: 500, behavior: "instant" });
            await new Promise(requestAnimationFrame);
          }
        }"""
    )
    page.get_by_text("read\u00a0✓").first.wait_for(state="attached")
    assert "read" in mark.inner_text() and address in kept(page, "rankedu:read")


def test_predictions_that_were_answered_are_counted_beside_the_chapter(reader):
    page = reader("idea.html")
    count = DATA["pages"]["idea.html"]["predictions"]
    assert page.locator("form.prediction").count() == count
    first, second = page.locator("form.prediction").nth(0), page.locator("form.prediction").nth(1)
    first.locator("input").fill("0.5")
    first.get_by_role("button", name="Show").click()
    second.get_by_role("button", name="Skip").click()
    told = f"1 of {count} predicted"
    page.locator(".bd-links .path-mark", has_text=told).wait_for(state="attached")
    front = reader("index.html")
    walk.found_again(front, told, lambda: told in front.locator("#path-idea li").inner_text())
    page.locator("form.prediction").first.get_by_role("button", name="Fold again").click()
    page.wait_for_function("!document.querySelector('.bd-links').innerText.includes('predicted')")


@pytest.mark.parametrize("address", ["index.html", "use-it.html", LOSS["steps"][2]["address"]])
@pytest.mark.parametrize("size", walk.SIZES)
def test_a_path_is_taken_without_hindering_anybody(reader, address, size):
    """Nothing is wider than the window, axe finds nothing, and paper shows none of it."""
    take(reader("index.html", viewport=walk.SIZES[size]))
    page = reader(address)
    walk.found_again(page, "the path", page.locator(".path-bar, .path-choice a").count)
    ours = page.locator(OURS)
    assert not walk.width(page)
    page.emulate_media(media="print")
    assert not any(one.is_visible() for one in ours.all())
    page.emulate_media(media="screen")
    assert not walk.accessibility(page, themes=("light", "dark"), within=OURS)


def test_the_first_screen_says_for_whom_and_where_to_start(reader):
    page = reader("index.html")
    start = page.get_by_role("link", name="start reading", exact=True)
    assert start.bounding_box()["y"] < 300 and "PyTorch" in start.locator("..").inner_text()
    page.get_by_role("link", name="take a path").click()
    page.wait_for_url("**#find-your-way")
    page.wait_for_function("document.querySelector('#path-idea').getBoundingClientRect().top < innerHeight")


def test_without_scripts_the_front_page_has_every_path_with_its_minutes(chromium):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto((walk.HTML / "index.html").as_uri())
    assert not page.locator(".path-choice, .path-bar, .path-mark").count()
    for way in DATA["ways"]:
        for step in way["steps"]:
            assert f"{step['minutes']}\u00a0min" in page.locator(f"#path-{way['name']}").text_content()
    page.get_by_role("link", name="Start reading: the idea in thirty minutes").click()
    page.wait_for_url("**/idea.html#idea")
    page.context.close()


def test_the_address_says_where_the_sliders_stand_and_puts_them_back(reader):
    page = reader(next(name for name in walk.PAGES if "data-frames=" in (walk.HTML / name).read_text(encoding="utf-8")))
    slider = page.locator("figure.explorable[data-frames] input[type=range]").first
    figure = page.locator("figure.explorable[data-frames]").first
    assert "?" not in page.url
    slider.press("End")
    slider.press("ArrowLeft")
    told, frame = slider.get_attribute("aria-valuetext"), figure.get_attribute("data-frame")
    name = figure.get_attribute("id")
    address = page.evaluate("location.href").removeprefix(f"{walk.HTML.as_uri()}/")
    assert f"#{name}?" in address and page.evaluate("history.length") <= 2, "no slider fills the history"
    other = reader(address)
    expect(other.locator(f"#{name}")).to_have_attribute("data-frame", frame)
    assert other.locator(f"#{name} input[type=range]").first.get_attribute("aria-valuetext") == told
    other.wait_for_function("name => document.getElementById(name).getBoundingClientRect().top < innerHeight", arg=name)
    other.evaluate("name => { location.hash = `${name}?nonsense=1&t=no` }", name)
    assert other.locator(f"#{name}").get_attribute("data-frame") == frame, "what is not known moves nothing"


def test_a_question_is_answered_scored_and_found_again(reader):
    page = reader("questions.html")
    bank = {question.key: question for question in question_bank.bank()}
    assert page.locator("div.question form").count() == len(bank)
    (first, question), (second, other) = [(page.locator(f"#question-{key}"), bank[key]) for key in list(bank)[:2]]
    right = next(option for option in question.options if option.right)
    score = first.locator("xpath=ancestor::section[1]").locator(".question-score")
    assert not first.get_by_text(right.reason[:30]).is_visible()
    first.get_by_role("button", name="Answer").click()
    expect(first).to_contain_text("Choose an option first")
    first.get_by_label(right.text, exact=True).check()
    first.get_by_role("button", name="Answer").press("Enter")
    expect(first.locator("[role=status]")).to_contain_text("Right.")
    assert all(first.get_by_text(option.reason[:20]).is_visible() for option in question.options)
    wrong = next(option for option in other.options if not option.right)
    second.get_by_label(wrong.text, exact=True).check()
    second.get_by_role("button", name="Answer").click()
    expect(second.locator("[role=status]")).to_contain_text("see why")
    expect(score).to_have_text(re.compile("^1 of 2 right"))
    walk.reloaded(page, "the score", lambda: score.inner_text().startswith("1 of 2 right"))
    assert "1 of 2 right" in page.locator(".question-total").inner_text()
    second.get_by_role("button", name="Again").click()
    expect(score).to_have_text(re.compile("^1 of 1 right"))
    page.get_by_role("button", name="Begin again").click()
    expect(score).not_to_contain_text("right")
    assert kept(page, "rankedu:questions") == {}


def test_answers_that_were_kept_and_cannot_be_read_are_forgotten(reader):
    page = reader("questions.html")
    page.evaluate("localStorage.setItem('rankedu:questions', '{broken')")
    page.reload()
    assert page.locator("div.question form").count() == len(question_bank.bank())


def test_an_answered_question_is_accessible_and_paper_has_every_reason(reader, chromium):
    page = reader("questions.html")
    form = page.locator("div.question form").first
    form.locator("input").last.check()
    form.get_by_role("button", name="Answer").click()
    page.emulate_media(media="print")
    reasons = page.locator(".question-reason")
    assert all(reason.is_visible() for reason in reasons.all()[:12])
    assert not page.locator(".question button:visible, .question input:visible").count()
    page.emulate_media(media="screen")
    page.set_viewport_size(walk.SIZES["phone"])
    assert not walk.width(page)
    assert not walk.accessibility(page, themes=("light", "dark"), within="div.question")
    plain = chromium.new_context(java_script_enabled=False).new_page()
    plain.goto((walk.HTML / "questions.html").as_uri())
    assert plain.locator("div.question details").count() == sum(len(one.options) for one in question_bank.bank())
    plain.context.close()


@pytest.mark.parametrize(("query", "words"), [("permutahedron", "permutahedron"), ("staircase", "staircase")])
def test_the_search_shows_where_the_words_stand_also_from_the_file_system(reader, query, words):
    page = reader(f"search.html?q={query}")
    page.locator(".search-summary").filter(has_text="found").wait_for()
    excerpts = page.locator("#search-results li p.context")
    excerpts.nth(1).wait_for()
    assert any(words in text.lower() for text in excerpts.all_inner_texts())
    assert excerpts.first.locator("strong").count()
    assert max(map(len, excerpts.all_inner_texts())) < 400
    assert not walk.accessibility(page, themes=("light", "dark"))


def test_the_excerpts_stay_small_and_burden_the_search_page_alone():
    assert (walk.HTML / "_static" / "excerpts.js").stat().st_size < 1_500_000
    assert (walk.HTML / "searchindex.js").stat().st_size < 2_000_000
    loading = [name for name in walk.PAGES if "excerpts.js" in (walk.HTML / name).read_text(encoding="utf-8")]
    assert loading == ["search.html"]


def test_a_chapter_offers_its_notebook_and_its_exercises(reader):
    page = reader("chapters/02_blackbox_differentiation.html")
    links = page.locator(".about-page a[download]")
    assert links.all_inner_texts() == ["Notebook", "Exercises"]
    for link in links.all():
        path = (walk.HTML / "chapters" / link.get_attribute("href")).resolve()
        made = json.loads(path.read_text(encoding="utf-8"))
        assert made["cells"] and not any(cell.get("outputs") for cell in made["cells"])
    menu = page.get_by_role("button", name="Notebooks of this page")
    menu.click()
    expect(page.locator(".article-header-buttons .dropdown-item:visible")).to_have_text(["Notebook", "Exercises"])
    assert not reader("glossary.html").locator(".about-page a[download]").count()
