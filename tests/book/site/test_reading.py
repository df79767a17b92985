"""What the front page says of the way through the book is true of the chapters; paths and slides are whole."""

import re

import pace
import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from tools.site import book_map, excerpts, form, labels, reading
from tools.teaching import lectures, slides

CHAPTERS = reading.chapters()
DATA = reading.script_data()
LECTURES = lectures.lectures()


def test_a_chapter_needs_what_it_says_and_no_more_and_is_reached_from_the_first():
    for number, one in CHAPTERS.items():
        assert not pace.superfluous(number), f"{number}: another need brings it along"
        assert set(one.needs) <= pace.leans_on(number, firmly=False), f"{number}: a need is never referred to"
        assert pace.leans_on(number) <= reading.behind(number), f"{number}: a statement of another chapter is used"
        assert (1 in reading.behind(number)) == bool(one.needs) == (number > 1)


def test_the_map_links_every_chapter_and_says_in_words_what_it_draws():
    drawn = BeautifulSoup(book_map.svg(), "html.parser")
    titles = {link["href"]: " ".join(link.get_text().split()) for link in drawn.find_all("a")}
    assert titles == {f"chapters/{one.stem}.html": f"{n} {one.title}" for n, one in CHAPTERS.items()}
    assert len(drawn.find_all("path")) == sum(len(one.needs) for one in CHAPTERS.values()) and drawn.svg["aria-label"]
    for line, one in zip(book_map.as_list().splitlines(), CHAPTERS.values(), strict=True):
        assert re.findall(r"<ch-(\d\d)>", line) == [f"{n:02d}" for n in (one.number, *one.needs)]


def test_a_chapter_says_the_minutes_of_its_main_line_and_they_are_few():
    for chapter in CHAPTERS.values():
        assert chapter.read == round(pace.story_minutes(chapter)) <= pace.MOST, chapter.stem
        assert f"about {chapter.read} minutes" in " ".join(chapter.text.split()), chapter.stem


def test_the_minutes_of_a_chapter_a_section_and_a_page_are_near_its_words():
    assert reading.minutes("ch-01") == CHAPTERS[1].read
    for step, minutes in reading.stated().items():
        assert minutes == pytest.approx(max(1, pace.minutes_by_words(step)), abs=1), step
        assert step not in reading.homes() or minutes < CHAPTERS[reading.homes()[step]].read, step
    said = "adds two minutes for each prediction and each figure"
    assert lectures.TRYING == 2 and said in (reading.BOOK / "teaching.md").read_text(encoding="utf-8")
    [first], tries = LECTURES[:1], len(lectures.TO_TRY.findall(CHAPTERS[1].text))
    in_all = f"{tries} to try: in all {CHAPTERS[1].read + 2 * tries} min"
    assert [*first.chapters] == [1] and in_all in lectures.table([first])


def test_a_path_leads_only_to_what_is_there_and_its_script_has_the_same():
    for way, listed in zip(reading.ways(), DATA["ways"], strict=True):
        assert (listed["name"], listed["title"]) == (way.name, way.title)
        for step, one in zip(way.steps, listed["steps"], strict=True):
            inside = step in reading.homes()
            assert inside or ((reading.BOOK / f"{step}.md").exists() and step in labels.labels()), step
            page, _, anchor = one["address"].partition("#")
            assert anchor == (step if inside and not step.startswith("ch-") else "")
            text = form.text((reading.BOOK / page).with_suffix(".md"))
            assert page in DATA["pages"] and (f"({step})=" in text or page == f"{step}.html")
            assert one["minutes"] == reading.minutes(step) and not re.search(r"[$`*{}]", one["title"])


def test_the_idea_takes_thirty_minutes_and_the_theory_misses_no_chapter_before_another():
    ways = {way.name: way for way in reading.ways()}
    assert ways.keys() >= {"idea", "loss", "theory", "teach"} and 27 <= ways["idea"].minutes <= 33
    for way in ways.values():
        chapters = [int(step[3:]) for step in way.steps if re.fullmatch(r"ch-\d\d", step)]
        assert chapters == sorted(chapters), way.name
        if way.name == "theory":
            assert all(reading.behind(number) <= set(chapters) for number in {4, 5, 6, 7, 8, 13} & set(chapters))
    taught = [f"ch-{number:02d}" for lecture in LECTURES for number in lecture.chapters]
    assert list(ways["teach"].steps) == ["teaching", *taught]


def test_an_excerpt_for_the_search_has_the_prose_of_its_section_alone():
    page = "A page\n======\nFirst words, with *emphasis*.\n\n.. math:: x^2\n\n::\n\n   code()\n\n"
    page += "Within\n------\n- one\n- two\n\nDeeper\n~~~~~~\nLast words.\n\n.. raw:: html\n\n   <svg></svg>\n"
    found = excerpts.sections(publish_doctree(page, settings_overrides={"doctitle_xform": False}))
    assert found == [
        ("", "A page", "First words, with emphasis."),
        ("within", "Within", "one two"),
        ("deeper", "Deeper", "Last words."),
    ]


def test_there_are_four_lectures_each_with_questions_and_figures_of_its_chapters():
    assert len(LECTURES) == 4
    for lecture in LECTURES:
        kinds = [isinstance(slide, lectures.Question) for slide in lecture.slides]
        assert kinds.count(True) >= 2 and kinds.count(False) >= 5 and not kinds[-1], "a figure answers"
        assert all(labels.labels()[label].kind == "exercise" for label in lecture.exercises)
        assert {int(label[2:4]) for label in lecture.exercises} <= set(lecture.chapters)
        for slide, asks in zip(lecture.slides, kinds, strict=True):
            number = slide.chapter
            text, words = CHAPTERS[number].text, slide.text if asks else labels.labels()[slide.label].title
            shown = BeautifulSoup(slides.to_html(slides.words(words)), "html.parser").get_text()
            assert number in lecture.chapters and shown and "{" not in shown, words
            if asks:
                assert all(value in text for value in re.findall(r"\d+\.\d+", slide.given)), words
            else:
                assert slide.label in slides.figures(number)
