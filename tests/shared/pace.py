"""How fast the book is read, and what its chapters lean on."""

import re

from tools.site import reading
from tools.site.reading import Chapter, behind, chapters, homes
from tools.teaching.lectures import TO_TRY, TRYING

#: What the minutes of a chapter do not count: exercises take as long as they take, the rest is for looking up.
LATER = ("Exercises", "Self-test", "Paper map")
#: How many words are read in a minute.
WORDS = 170
#: Minutes that the story of a chapter may take, without what `LATER` names.
MOST = 25
_CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(
    r"^```\{?(?:code-cell|python|pycon|sh|bash|toctree|literalinclude)\b.*?^```$", re.DOTALL | re.MULTILINE
)
#: In the text of a chapter: places, addresses, tables and display formulas are not read as words.
_ASIDE = re.compile(r"<a id[^>]*></a>|^\|[^\n]*|(?<=\])\([^)]*\)|\$\$.*?\$\$", re.MULTILINE | re.DOTALL)
_FIGURE = re.compile(r"^\*\*Figure|^play\(", re.MULTILINE)
_REFERENCE = re.compile(r"\{(ref|eq|numref|prf:ref)\}`(?:[^`<]*<)?([\w-]+)>?`")


def story_minutes(chapter: Chapter) -> float:
    """Minutes that the main line of a chapter takes: 170 words a minute, and one for each prediction and figure.

    What is folded is left out, code and what comes after *Further reading*, too. A formula is a word.
    """
    text = (reading.BOOK / "chapters" / f"{chapter.stem}.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]
    parts = re.split(r"^## (.+)$", text.partition("\n## Further reading")[0], flags=re.MULTILINE)
    main = "".join(part for title, part in zip(["", *parts[1::2]], parts[::2], strict=True) if title not in LATER)
    seen = re.sub(r"<details>.*?</details>", "", main, flags=re.DOTALL)
    plain = _ASIDE.sub(" ", _CELL.sub("", seen))
    count = len(re.findall(r"\S*[A-Za-z0-9]\S*", re.sub(r"\$[^$\n]+\$", "X", plain)))
    return count / WORDS + len(re.findall(r"^> \*\*Predict", main, re.MULTILINE)) + len(_FIGURE.findall(seen))


def words(text: str) -> int:
    """How many words there are to read; code is not counted."""
    return len(_CODE.sub("", text).split())


def minutes_by_words(step: str) -> float:
    """Minutes for the words of a section, or of a page with what there is to try."""
    if step in homes():
        chapter = chapters()[homes()[step]]
        heading = re.search(rf"^\({step}\)=\n(#+) .+$", chapter.text, re.MULTILINE)
        rest = _CELL.sub("", chapter.text[heading.end() :])
        return words(re.split(rf"^#{{1,{len(heading[1])}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]) / WORDS
    text = (reading.BOOK / f"{step}.md").read_text(encoding="utf-8")
    return words(text) / WORDS + TRYING * len(TO_TRY.findall(text))


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
