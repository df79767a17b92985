"""How fast the book is read, and what its chapters lean on."""

import re

from tools.site import reading
from tools.site.reading import Chapter, behind, chapters, homes
from tools.teaching.syllabus import TO_TRY, TRYING

#: What the minutes of a chapter do not count: exercises take as long as they take, the rest is for looking up.
LATER = ("Exercises", "Self-test", "Paper map", "Further reading")
#: Minutes that the story of a chapter may take, without what `LATER` names.
MOST = 25
_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)
_REFERENCE = re.compile(r"\{(ref|eq|numref|prf:ref)\}`(?:[^`<]*<)?([\w-]+)>?`")


def pace(words: int, formulas: int) -> float:
    """Minutes that a student with a pencil takes: 130 words a minute, and 20 seconds for a display formula."""
    return words / 130 + formulas / 3


def words(text: str) -> int:
    """How many words there are to read; code is not counted."""
    return len(_CELL.sub("", text).split())


def rate(chapter: Chapter) -> float:
    """Words a minute, by what a chapter says of itself."""
    parts = re.split(r"^## (.+)$", _CELL.sub("", chapter.text), flags=re.MULTILINE)
    counted = [text for title, text in zip(["", *parts[1::2]], parts[::2], strict=True) if title not in LATER]
    return sum(map(words, counted)) / chapter.read


def minutes_by_words(step: str) -> float:
    """Minutes for the words of a section at the rate of its chapter, or of a page at that of all."""
    if step in homes():
        chapter = chapters()[homes()[step]]
        heading = re.search(rf"^\({step}\)=\n(#+) .+$", chapter.text, re.MULTILINE)
        rest = _CELL.sub("", chapter.text[heading.end() :])
        return words(re.split(rf"^#{{1,{len(heading[1])}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]) / rate(chapter)
    every = chapters().values()
    mean = sum(rate(chapter) * chapter.read for chapter in every) / sum(chapter.read for chapter in every)
    text = (reading.BOOK / f"{step}.md").read_text(encoding="utf-8")
    return words(text) / mean + TRYING * len(TO_TRY.findall(text))


def superfluous(number: int) -> set[int]:
    """What a chapter says it needs although another of its needs brings it along."""
    needs = chapters()[number].needs
    return {one for one in needs for other in needs if one in behind(other)}


def leans_on(number: int, *, firmly: bool = True) -> set[int]:
    """Earlier chapters whose equations, statements and figures a chapter uses.

    Not firmly, it is enough to point at a section or at the whole of a chapter. What comes after *Further reading*
    never counts.
    """
    text = chapters()[number].text.partition("\n## Further reading")[0]
    named = {label for role, label in _REFERENCE.findall(text) if not firmly or role != "ref"}
    return {home for label in named if (home := homes().get(label, number)) < number}
