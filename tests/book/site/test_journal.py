"""The numbers in the paper about the book are those of the book."""

from collections import Counter

from tools.site import equation_index, reading
from tools.teaching.exercises_page import exercises, grade

TEXT = (reading.BOOK.parent / "paper" / "paper.md").read_text(encoding="utf-8")


def test_its_numbers_are_those_of_the_book():
    chapters = reading.chapters().values()
    grades = Counter(grade(label) for chapter in chapters for label in exercises(chapter.stem))
    items = [one for paper, listed in equation_index.printed() if not paper.since for one in listed]
    expected = (
        f"Its {len(chapters)} chapters ask for about 50 predictions and set about 100 exercises, half of which",
        f"Of the {len(items)} equations",
        f"it treats {sum(not one.why for one in items)}, each",
        "the shortest takes about half an hour",
    )
    flat = " ".join(TEXT.split())
    assert [words for words in expected if words not in flat] == [], "correct paper/paper.md"
    assert 25 <= min(way.minutes for way in reading.ways()) <= 40
    predictions = sum(page["predictions"] for page in reading.script_data()["pages"].values())
    assert 45 <= predictions <= 65 and 90 <= grades.total() <= 110 and 0.4 <= grades["code"] / grades.total() <= 0.6
