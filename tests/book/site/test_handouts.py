"""What is handed out is whole: syllabi in an order that works, all answers, formulas, figures as pictures and lines."""

import zipfile

import pytest
from tools.notebooks import exercise_texts
from tools.site.reading import behind, chapters
from tools.teaching import handouts, question_bank, syllabus


@pytest.mark.parametrize("meetings", [syllabus.four(), syllabus.twelve()], ids=["four", "twelve"])
def test_a_syllabus_has_no_chapter_before_those_it_needs_and_sets_its_own_exercises(meetings):
    read = [number for one in meetings for number in one.chapters]
    assert len(meetings) in (4, 12) and read == sorted(set(read))
    assert len(meetings) == 4 or read == list(chapters())
    known = {one.label for chapter in exercise_texts.chapters() for one in chapter.exercises}
    for one in meetings:
        assert {*one.exercises} <= known and {int(label[2:4]) for label in one.exercises} <= {*one.chapters}
    if len(meetings) == 12:
        assert all(behind(number) <= set(read[:place]) for place, number in enumerate(read))


def test_the_answers_are_complete_and_stand_without_their_questions():
    page = handouts.answers()
    listed = [one for chapter in exercise_texts.chapters() for one in chapter.exercises]
    assert all(f"<h2>Exercise {one.number}, " in page for one in listed) and "glue:text" not in page
    assert page.count("<h2>Self-test</h2>") == len(chapters())
    assert page.count("<strong>") >= len(question_bank.self_tests()) and "{ref}" not in page
    assert not any(" ".join(one.text.split())[:80] in page for one in listed)


def test_the_sheet_has_numbered_formulas_and_an_archive_the_figures_and_equations(tmp_path):
    assert handouts.formulas().count("<math") >= handouts.formulas().count("<dt>") > 25
    made = zipfile.ZipFile(handouts.archive("17_since_then", tmp_path))
    names = {name.partition(".")[0] for name in made.namelist() if name.endswith(".png")}
    assert names and all(
        b"<svg" in made.read(f"{name}.svg") and made.read(f"{name}.png")[1:4] == b"PNG" for name in names
    )
    assert made.read("equations.tex").count(b"\\label{eq-17") == 7
    assert all(f"{name}: Figure 17." in made.read("captions.txt").decode() for name in names)
