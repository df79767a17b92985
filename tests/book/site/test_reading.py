"""What the front page says of the way through the book is true of the chapters; the slides are whole."""

from __future__ import annotations

import re

import pace
import pytest
from bs4 import BeautifulSoup
from tools.notebooks import pairs
from tools.site import book_map, labels, reading
from tools.teaching import lectures, slides

CHAPTERS = reading.chapters()


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_needs_what_it_says_and_no_more(number):
    assert not pace.superfluous(number), "another need brings it along"
    assert set(CHAPTERS[number].needs) <= pace.leans_on(number, firmly=False), "a need is never referred to"
    assert pace.leans_on(number) <= reading.behind(number), "a statement of another chapter is used"


def test_every_chapter_is_reached_from_the_first():
    assert [number for number, one in CHAPTERS.items() if not one.needs] == [1]
    assert all(1 in reading.behind(number) for number in CHAPTERS if number > 1)


@pytest.mark.parametrize(
    "needs",
    [
        {1: [], 2: [1], 3: [2]},
        {1: [], 2: [1], 3: [1], 4: [2, 3], 5: [1, 4], 6: [2], 7: [3, 6]},
        {number: one.needs for number, one in CHAPTERS.items()},
    ],
)
def test_no_line_of_the_map_runs_through_a_chapter(needs):
    lanes, lines = book_map.lay_out(needs)
    assert set(lanes) == set(needs) and set(lines) == {(one, by) for by in needs for one in needs[by]}
    for (start, end), lane in lines.items():
        assert all(lanes[between] != lane for between in range(start + 1, end))


def test_the_map_links_every_chapter_and_says_in_words_what_it_draws():
    drawn = BeautifulSoup(book_map.svg(), "html.parser")
    titles = {link["href"]: " ".join(link.get_text().split()) for link in drawn.find_all("a")}
    assert titles == {f"chapters/{one.stem}.html": f"{n} {one.title}" for n, one in CHAPTERS.items()}
    assert len(drawn.find_all("path")) == sum(len(one.needs) for one in CHAPTERS.values())
    assert drawn.svg["aria-label"]
    listed = book_map.as_list().splitlines()
    assert len(listed) == len(CHAPTERS)
    for line, one in zip(listed, CHAPTERS.values(), strict=True):
        assert re.findall(r"<ch-(\d\d)>", line) == [f"{n:02d}" for n in (one.number, *one.needs)]


def test_minutes_are_those_of_the_front_matter():
    assert reading.minutes("ch-01") == CHAPTERS[1].read


@pytest.mark.parametrize(("step", "minutes"), reading.stated().items())
def test_the_minutes_of_a_section_and_of_a_page_are_near_its_words(step, minutes):
    assert minutes == pytest.approx(max(1, pace.minutes_by_words(step)), abs=1)
    assert step not in reading.homes() or minutes < CHAPTERS[reading.homes()[step]].read


@pytest.mark.parametrize("way", reading.ways(), ids=lambda way: way.name)
def test_a_path_leads_only_to_what_is_there(way):
    assert way.minutes == sum(reading.minutes(step) for step in way.steps)
    for step in way.steps:
        assert step in reading.homes() or (reading.BOOK / f"{step}.md").exists()
        assert step in reading.homes() or step in labels.labels(), "a page on a path is linked by its label"
    whole = [int(step[3:]) for step in way.steps if re.fullmatch(r"ch-\d\d", step)]
    assert whole == sorted(whole)


def test_the_idea_takes_thirty_minutes_and_the_theory_misses_no_chapter_before_another():
    ways = {way.name: way for way in reading.ways()}
    assert set(ways) >= {"idea", "loss", "theory", "teach"}
    assert 27 <= ways["idea"].minutes <= 33
    theory = {int(step[3:]) for step in ways["theory"].steps if re.fullmatch(r"ch-\d\d", step)}
    chapters = {4, 5, 6, 7, 8, 13} & theory
    assert chapters and all(reading.behind(number) <= theory for number in chapters)


LECTURES = lectures.lectures()


def test_the_path_of_a_teacher_has_the_chapters_of_the_lectures():
    teach = next(way for way in reading.ways() if way.name == "teach")
    assert list(teach.steps) == ["teaching", *(f"ch-{n:02d}" for lecture in LECTURES for n in lecture.chapters)]


def test_there_are_four_lectures_each_with_questions_and_figures_of_its_chapters():
    assert len(LECTURES) == 4
    for lecture in LECTURES:
        kinds = [isinstance(slide, lectures.Question) for slide in lecture.slides]
        assert kinds.count(True) >= 2 and kinds.count(False) >= 5
        assert not kinds[-1], "a question is answered by a figure"
        for slide in lecture.slides:
            number = slide.chapter if isinstance(slide, lectures.Question) else int(slide.label[4:6])
            assert number in lecture.chapters
        assert all(labels.labels()[label].kind == "exercise" for label in lecture.exercises)
        assert {int(label[2:4]) for label in lecture.exercises} <= set(lecture.chapters)


@pytest.mark.parametrize(
    "slide",
    [slide for lecture in LECTURES for slide in lecture.slides if isinstance(slide, lectures.Picture)],
    ids=lambda slide: slide.label,
)
def test_a_figure_of_a_slide_is_that_of_its_chapter(slide):
    text = CHAPTERS[int(slide.label[4:6])].text
    cells = re.findall(r"^```\{code-cell\}.*?^```$", text, re.DOTALL | re.MULTILINE)
    [cell] = [cell for cell in cells if re.search(rf"name: {slide.label}$", cell, re.MULTILINE)]
    assert f"{slide.draw.rpartition('.')[2]}()" in cell
    assert slides.to_html(slides.words(slide.caption, int(slide.label[4:6])))


@pytest.mark.parametrize(
    "question",
    [slide for lecture in LECTURES for slide in lecture.slides if isinstance(slide, lectures.Question)],
    ids=lambda question: question.text[:20],
)
def test_a_question_can_be_set_and_what_is_given_stands_in_its_chapter(question):
    told = slides.to_html(slides.words(question.text, question.chapter))
    assert "{" not in BeautifulSoup(told, "html.parser").get_text()
    text = CHAPTERS[question.chapter].text
    assert all(number in text for number in re.findall(r"\d+\.\d+", question.given))


@pytest.mark.parametrize(("words", "count"), [("surely no chapter says this", "0"), ("the", "[2-9]")])
def test_words_that_do_not_name_one_question_are_refused(words, count):
    with pytest.raises(ValueError, match=rf"words must be those of one prediction of chapter 1, got .*, which {count}"):
        lectures.find_question(1, words)


def test_the_slides_of_a_lecture_need_nothing_beside_themselves(monkeypatch):
    from rankbook.kit import style

    made, _ = style.figure()
    monkeypatch.setattr(lectures.Picture, "figure", lambda slide: style.describe(made, f"What {slide.label} shows."))
    lecture = LECTURES[1]
    page = BeautifulSoup(slides.page(lecture), "html.parser")
    assert len(page.select("section.slide")) == len(lecture.slides) + 2
    assert len(page.find_all("h1")) == 1 and len(page.find_all("h2")) == len(lecture.slides) + 1
    assert all(image["src"].startswith("data:image/svg+xml") for image in page.find_all("img"))
    assert all(image["alt"].startswith("What fig-") for image in page.find_all("img"))
    assert not page.find_all(["link", "iframe"]) and not page.select("script[src]")
    ids = [tag["id"] for tag in page.find_all(id=True)]
    assert len(ids) == len(set(ids)) and {tag["aria-labelledby"] for tag in page.select("section")} <= set(ids)


def test_a_formula_is_set_by_the_browser_itself():
    told = BeautifulSoup(slides.to_html(r"where $y_i \ge \frac{\alpha}{2}$"), "html.parser")
    assert told.math.mfrac and told.p.get_text().startswith("where ")
    with pytest.raises(ValueError, match="formula must be in the TeX of docutils, got"):
        slides.to_html(r"$\nonsense{1}$")


def test_the_page_for_teachers_tells_every_lecture():
    told = lectures.markdown()
    text = (pairs.ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
    assert "_generated/lectures.md" in text
    for lecture in LECTURES:
        assert f"## Lecture {lecture.number}: {lecture.title}" in told
        assert f'href="_static/slides/{lectures.file_name(lecture)}"' in told
