"""What a browser keeps for its reader: the path taken, what was read, predicted, answered; and what is searched for."""

import re
from urllib.parse import unquote

import pytest
import walk
from tools.site import reading
from tools.teaching import question_bank

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
DATA = reading.script_data()
LOSS, THEORY = (next(way for way in DATA["ways"] if way["name"] == name) for name in ("loss", "theory"))
OURS = ".path-bar, .path-mark, .path-choice, .path-forget"
CHAPTER = next(name for name in walk.PAGES if name.startswith("chapters/"))


@pytest.fixture
def visit(visit):
    """Opens pages whose storage is that of their window."""

    def heard(address, **options):
        page = visit(address, **options)
        return walk.heard(page) if options.get("java_script_enabled", True) else page

    return heard


def take(page, name="loss"):
    """Open the fold of a path on the front page, and take it."""
    fold = page.locator(f"#path-{name}")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    fold.get_by_role("button", name="Take this path").click()
    expect(fold.get_by_role("button", name="Leave this path")).to_be_visible()
    return fold


def kept(page, key):
    return page.evaluate("key => JSON.parse(localStorage.getItem(key))", key)


def know_the_path(page):
    """Reload a page until it sees what others have kept: of files a busy browser shows 1 in 200 an empty storage."""
    walk.found_again(page, "the path", lambda: page.evaluate("'rankedu:path' in localStorage"))
    return page


def arrive(page, number) -> None:
    """Wait for the page of a step, and for its bar: what the page before has kept comes a little later."""
    page.wait_for_url(lambda url: unquote(url).endswith(LOSS["steps"][number - 1]["address"]))
    know_the_path(page)
    expect(page.locator(".path-bar")).to_contain_text(f"step {number} of {len(LOSS['steps'])}")
    walk.until(page, "n => JSON.parse(localStorage.getItem('rankedu:read') ?? '[]').length === n", arg=number - 1)


def test_a_path_leads_from_step_to_step_to_its_end_and_what_was_read_can_be_forgotten(reader):
    page = reader("index.html")
    assert not page.locator(".path-forget").is_visible() and not page.locator(".path-bar").count()
    take(page).get_by_role("link", name="Go on with step 1").click()
    for number in range(1, len(LOSS["steps"]) + 1):
        arrive(page, number)
        bar = page.get_by_role("navigation", name="Reading path")
        assert LOSS["title"] in bar.inner_text()
        bar.locator(".path-next").click()
    page.wait_for_url("**/index.html#path-loss")
    fold = know_the_path(page).locator("#path-loss")
    expect(fold.locator("li", has_text="read\u00a0✓")).to_have_count(len(LOSS["steps"]))
    assert fold.get_by_role("link", name="All read").is_visible()
    assert set(kept(page, "rankedu:read")) == {step["address"] for step in LOSS["steps"]}
    page.get_by_role("button", name="Forget what I have read").click()
    expect(page.get_by_text("read\u00a0✓")).to_have_count(0)
    assert kept(page, "rankedu:read") is None


def test_the_bar_shows_on_the_pages_of_the_path_alone_until_it_is_left(reader):
    take(reader("index.html"))
    for address, step in (("use-it.html", ""), (LOSS["steps"][3]["address"], "step 4 of")):
        page = know_the_path(reader(address))
        expect(page.locator(".path-bar")).to_contain_text(step)
    other = know_the_path(reader("glossary.html"))
    assert not other.locator(".path-bar").count()
    page.get_by_role("button", name="Leave the path").press("Enter")
    expect(page.locator(".path-bar")).to_have_count(0)
    walk.found_again(page, "no bar", lambda: not page.locator(".path-bar").count())


def test_a_chapter_is_read_when_its_end_has_come_by_and_not_when_it_was_jumped_over(reader):
    address = THEORY["steps"][0]["address"]
    page = reader(address)
    mark = page.locator(".bd-links li.current > a .path-mark")
    assert not mark.count()
    page.mouse.move(400, 300)  # a page that moves by itself is not read
    jump = """(scroll) => new Promise((done) => {
      addEventListener("scroll", () => requestAnimationFrame(done), { once: true });
      eval(scroll);
    })"""
    page.evaluate(jump, "document.querySelector('section#self-test').scrollIntoView({behavior: 'instant'})")
    assert not mark.count()
    page.evaluate(jump, "window.scrollTo({top: 0, behavior: 'instant'})")
    page.evaluate(
        """async () => {
          const end = document.querySelector("section#exercises");
          while (end.getBoundingClientRect().top > 300) {
            window.scrollBy({ top: 500, behavior: "instant" });
            await new Promise(requestAnimationFrame);
          }
        }"""
    )
    expect(mark).to_contain_text("read")
    assert address in kept(page, "rankedu:read")


def test_a_path_is_taken_without_hindering_anybody(reader):
    """Nothing is wider than the window, axe finds nothing, and paper shows none of it."""
    take(reader("index.html", viewport=walk.SIZES["phone"]))
    for address in ("index.html", LOSS["steps"][2]["address"]):
        page = know_the_path(reader(address))
        expect(page.locator(".path-bar, .path-choice a").first).to_be_visible()
        assert not walk.width(page)
        page.emulate_media(media="print")
        assert not page.locator(":visible").and_(page.locator(OURS)).count()
        page.emulate_media(media="screen")
        assert not walk.accessibility(page, themes=("light", "dark"), within=OURS)


def test_predictions_that_were_answered_are_counted_beside_the_chapter(reader):
    page, count = reader("idea.html"), DATA["pages"]["idea.html"]["predictions"]
    assert page.locator("form.prediction").count() == count
    first, second = (page.locator("form.prediction").nth(number) for number in (0, 1))
    first.locator("input").fill("0.5")
    first.get_by_role("button", name="Show").click()
    expect(page.locator(".admonition.reveal").first).to_contain_text("You said: 0.5", use_inner_text=True)
    second.get_by_role("button", name="Skip").click()
    told = f"1 of {count} predicted"
    expect(page.locator(".bd-links .path-mark", has_text=told)).to_be_attached()
    front = reader("index.html")
    walk.found_again(front, told, lambda: front.locator("#path-idea li", has_text=told).count())
    first.get_by_role("button", name="Fold again").click()
    expect(page.locator(".bd-links")).not_to_contain_text("predicted")


def test_what_is_folded_opens_for_the_search_of_the_browser_and_without_scripts(reader):
    """A link to words in what is folded is what a search does: the part opens, and nothing claims an answer."""
    part = reader(CHAPTER).locator(".admonition.reveal").first
    assert part.get_attribute("hidden") == "until-found"
    part.evaluate("part => part.dispatchEvent(new Event('beforematch'))")
    expect(part).to_be_visible()
    assert not part.locator(".prediction-said").inner_text()
    plain = reader(CHAPTER, java_script_enabled=False)
    assert plain.locator(".admonition.reveal").first.is_visible() and not plain.locator("form.prediction").count()


FIELD = """
<div class="admonition predict {kind}" id="p"><p class="admonition-title">Predict</p><p>Question</p>{items}</div>
<div class="cell"><div class="cell_output"><p>7</p></div></div>
<div class="admonition reveal dropdown" id="r"><p class="admonition-title">Reveal</p><p>It is 7.</p></div>"""
ITEMS = "<ul><li>first</li><li>second</li><li>third</li></ul>"


def test_each_kind_of_field_is_answered_first_shown_beside_the_result_found_again_and_folded(visit, tmp_path):
    fields = {
        "words": ("", lambda box: box.locator("input").fill("both fall"), "You said: both fall."),
        "number": ("", lambda box: box.locator("input").fill("0.8"), "You said: 0.8."),
        "choice": (ITEMS, lambda box: box.get_by_label("second").check(), "You said: second."),
        "order": (ITEMS, lambda box: box.get_by_label("Move third up").click(), "You said: first, third, second."),
        "curve": ("", lambda box: box.get_by_role("slider").first.press("ArrowUp"), "You drew:"),
    }
    for name in ("kept.js", "predict.js"):
        (tmp_path / name).write_text((walk.HTML / "_static" / name).read_text(encoding="utf-8"), encoding="utf-8")
    for kind, (items, act, said) in fields.items():
        walk.written(tmp_path, kind, ("kept.js", "predict.js"), FIELD.format(kind=kind, items=items))
        page = visit((tmp_path / f"{kind}.html").as_uri())
        box, reveal = page.locator("#p"), page.locator("#r")
        show, skip, again = (box.locator(f"button:text-is('{name}')") for name in ("Show", "Skip", "Fold again"))
        if kind != "order":  # which is some order from the start
            show.click()
            expect(box.locator("[role=status]")).to_contain_text("Commit to an answer")
        assert not reveal.is_visible()
        act(box)
        show.press("Enter")
        expect(reveal).to_contain_text(said, use_inner_text=True)
        assert not show.is_visible()
        page.reload()
        walk.found_again(page, said, lambda reveal=reveal, said=said: said in reveal.inner_text())
        again.click()
        expect(reveal).to_be_hidden()
        page.reload()
        walk.found_again(page, "the answer folded", lambda reveal=reveal: not reveal.is_visible())
        skip.click()
        expect(reveal).to_be_visible()
        assert not reveal.locator(".prediction-said").inner_text()


def test_a_question_is_answered_scored_and_found_again(reader):
    page, bank = reader("questions.html"), {question.key: question for question in question_bank.bank()}
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
    page.reload()
    walk.found_again(page, "the score", lambda: score.inner_text().startswith("1 of 2 right"))
    assert "1 of 2 right" in page.locator(".question-total").inner_text()
    second.get_by_role("button", name="Again").click()
    expect(score).to_have_text(re.compile("^1 of 1 right"))
    page.get_by_role("button", name="Begin again").click()
    expect(score).not_to_contain_text("right")
    assert kept(page, "rankedu:questions") is None
    page.evaluate("localStorage.setItem('rankedu:questions', '{broken')")
    page.reload()
    expect(page.locator("div.question form")).to_have_count(len(bank))  # what cannot be read is forgotten


def test_an_answer_is_added_to_what_was_kept_elsewhere_and_a_page_that_only_opens_keeps_nothing(reader):
    page, (mine, other) = reader("questions.html"), list(question_bank.bank())[:2]
    assert kept(page, "rankedu:questions") is None
    elsewhere = {f"question-{other.key}": other.options[0].text}
    page.evaluate("kept => localStorage.setItem('rankedu:questions', JSON.stringify(kept))", elsewhere)
    form = page.locator(f"#question-{mine.key} form")
    form.locator("input").first.check()
    form.get_by_role("button", name="Answer").click()
    assert {**kept(page, "rankedu:questions")}.items() > elsewhere.items()
    form.get_by_role("button", name="Again").click()
    assert kept(page, "rankedu:questions") == elsewhere


def test_an_answered_question_is_accessible_and_paper_has_every_reason(reader):
    page, first = reader("questions.html"), next(iter(question_bank.bank())).key
    form = page.locator(f"#question-{first} form")
    form.locator("input").last.check()
    form.get_by_role("button", name="Answer").click()
    page.emulate_media(media="print")
    assert page.locator(".question-reason:visible").count() == page.locator(".question-reason").count()
    assert not page.locator(".question button:visible, .question input:visible").count()
    page.emulate_media(media="screen")
    assert not walk.accessibility(page, themes=("light", "dark"), within=f"#question-{first}")
    plain = reader("questions.html", java_script_enabled=False)
    assert plain.locator("div.question details").count() == sum(len(one.options) for one in question_bank.bank())


def test_search_finds_the_chapter_and_shows_where_the_words_stand_from_the_file_system_too(reader):
    page = reader("index.html")
    for query, chapter in (("outranking", "07_recall_loss"), ("permutahedron", "03_ranking")):
        page.keyboard.press("Control+k")
        page.keyboard.type(query)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/search.html?q={query}*")
        expect(page.locator(f"#search-results a[href*='{chapter}']").first).to_be_visible()
    excerpts = page.locator("#search-results li p.context")
    expect(excerpts.filter(has_text=re.compile(query, re.IGNORECASE)).first).to_be_visible()
    expect(page.locator(".search-summary")).to_contain_text("found")
    assert excerpts.first.locator("strong").count() and max(map(len, excerpts.all_inner_texts())) < 400
    assert not walk.accessibility(page, themes=("light", "dark"))
    loading = [name for name in walk.PAGES if "excerpts.js" in (walk.HTML / name).read_text(encoding="utf-8")]
    assert loading == ["search.html"], "the excerpts burden the search page alone"


#: What readers type → where they want to go.
WANTED = {
    "batch size": "chapters/05",
    "margin": "chapters/06",
    "average precision": "chapters/0[18]",
    "triplet": "chapters/15",
    "lambda": "chapters/0[24]",
    "tau": "chapters/09",
    "H-AP": "chapters/1[34]",
    "NDCG": "chapters/18",
    "install": "use-it|running-labs",
    "GPU": "on-a-gpu|running-labs",
    "ties": "chapters/06",
    "memory": "chapters/05|chapters/20",
    "histogram": "chapters/10",
    "permutahedron": "chapters/03",
    "APLoss": "api/losses|chapters/08",
}


def test_search_lists_the_right_page_among_the_first_two(reader):
    page, missed = reader("search.html"), {}
    for query, wanted in WANTED.items():
        page.get_by_role("searchbox").last.fill(query)
        first = page.locator("#search-results li > a:first-child").evaluate_all(
            "all => all.slice(0, 2).map((one) => one.getAttribute('href'))"
        )
        if not any(re.match(wanted, address) for address in first):
            missed[query] = first
    assert not missed


def test_a_chapter_offers_its_notebook_and_its_exercises(reader):
    page = reader("chapters/02_blackbox_differentiation.html")
    links = page.locator(".about-page a[download]")
    assert links.all_inner_texts() == ["Notebook", "Exercises"]
    page.get_by_role("button", name="Download or print this page").click()
    offered = page.locator(".article-header-buttons .dropdown-item:visible")
    expect(offered).to_have_text(["Notebook", "Exercises", "Print, or save as PDF"])
    assert not reader("glossary.html").locator(".about-page a[download]").count()
