"""The question bank: `data/questions.yaml` and the self-tests of the chapters, as a page and for quiz systems."""

import html
import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.site.form import markdown
from tools.site.reading import BOOK, chapters
from tools.teaching.slides import words

BANK = BOOK / "data" / "questions.yaml"
GRADES = ("recall", "apply", "reason")
_ANSWER = re.compile(r"^<details><summary>Answer</summary>\n\n(?P<answer>.*?)^</details>$", re.DOTALL | re.MULTILINE)
_MARKS = {
    r"\$([^$]+)\$": r"\\(\1\\)",
    r"`([^`]+)`": r"<code>\1</code>",
    r"(?<![\w^])\*([^*\s][^*]*)\*": r"<em>\1</em>",
}


class Option(NamedTuple):
    """A possible answer, and why it is right, or why it is tempting and wrong."""

    text: str
    reason: str
    right: bool


class Question(NamedTuple):
    """A question with its options, in the order in which they are shown."""

    key: str
    chapters: list[int]
    grade: str
    text: str
    options: list[Option]
    check: str
    across: bool


class SelfTest(NamedTuple):
    """A question from the end of a chapter, with the answer that gives its reason."""

    stem: str
    number: int
    question: str
    answer: str


@cache
def bank() -> list[Question]:
    """Return the questions of the bank; options are shuffled, always in the same way."""
    found = []
    for entry in yaml.safe_load(BANK.read_text(encoding="utf-8")):
        options = [Option(text, reason, not number) for number, (text, reason) in enumerate(entry["options"])]
        random.Random(entry["id"]).shuffle(options)
        about = (entry[key] for key in ("id", "chapters", "grade", "ask"))
        found.append(Question(*about, options, entry.get("check", ""), entry.get("theme") == "across"))
    return found


@cache
def self_tests() -> list[SelfTest]:
    """Return the self-tests at the ends of the chapters."""
    found = []
    for chapter in chapters().values():
        section = re.search(r"^## Self-test\n(.*?)(?=^## )", chapter.plain, re.DOTALL | re.MULTILINE)
        at = 0
        for number, match in enumerate(_ANSWER.finditer(section[1]), 1):
            question = re.sub(r"^(\*\*)?\d+\.(\*\*)?\s+", "", section[1][at : match.start()].strip())
            question = "\n".join(line.strip() for line in question.splitlines())
            found.append(SelfTest(chapter.stem, number, question, match["answer"].strip()))
            at = match.end()
    return found


def page() -> str:
    """Return all questions for the page, on which an option opens to its reason."""
    lines = []
    for number, chapter in chapters().items():
        lines += [f"## {number}. {chapter.title}", "", f"From {{ref}}`ch-{number:02d}`.", ""]
        for test in (one for one in self_tests() if one.stem == chapter.stem):
            lines += [f"**{number}.{test.number}** {markdown(test.question)}", ""]
            lines += ["::::{dropdown} Answer", markdown(test.answer), "::::", ""]
        own = [question for question in bank() if question.chapters[0] == number and not question.across]
        for count, question in enumerate(own, 6):
            lines += _choice(f"{number}.{count}", question)
    lines += ["## Across the chapters", ""]
    for count, question in enumerate((one for one in bank() if one.across), 1):
        lines += _choice(f"A.{count}", question)
    return "\n".join(lines) + "\n"


def _choice(number: str, question: Question) -> list[str]:
    others = question.chapters if question.across else question.chapters[1:]
    more = "".join(f", {{ref}}`chapter {c} <ch-{c:02d}>`" for c in others)
    lines = [":::::{container} question", f":name: question-{question.key}", ""]
    lines += [f"**{number}** *({question.grade}{more})* {question.text}", ""]
    for text, reason, right in question.options:
        said = f":class-container: right-option\n\n**Right.** {reason}" if right else f"**No.** {reason}"
        lines += [f"::::{{dropdown}} {text}", said, "::::", ""]
    return [*lines, ":::::", ""]


def listed() -> list[dict[str, Any]]:
    """Return every question as plain data."""
    rows: list[dict[str, Any]] = []
    for stem, number, *texts in self_tests():
        question, answer = (" ".join(words(text).split()) for text in texts)
        about = {"id": f"{stem[:2]}-self-test-{number}", "chapters": [int(stem[:2])], "grade": "reason"}
        rows.append({**about, "question": question, "answer": answer})
    for one in bank():
        options = [{"text": o.text, "right": o.right, "reason": o.reason} for o in one.options]
        about = {"id": one.key, "chapters": one.chapters, "grade": one.grade}
        rows.append({**about, "question": one.text, "options": options})
    return rows


def as_json() -> str:
    """Return all questions as JSON."""
    return json.dumps(listed(), ensure_ascii=False, indent=1) + "\n"


def as_gift() -> str:
    """Return all questions in GIFT for Moodle: choices with feedback, and self-tests as essays."""
    parts = []
    for number, rows in _by_chapter().items():
        parts.append(f"$CATEGORY: Optimising rank-based metrics/{number}. {chapters()[number].title}")
        parts += map(_in_gift, rows)
    return "\n\n".join(parts) + "\n"


def _by_chapter() -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {number: [] for number in chapters()}
    for row in listed():
        found[row["chapters"][0]].append(row)
    return found


def _in_gift(row: dict[str, Any]) -> str:
    head = f"::{row['id']}:: [html]{_for_moodle(row['question'])}"
    if "options" not in row:
        return f"{head} {{\n\t####{_for_moodle(row['answer'])}\n}}"
    signs = (("=" if one["right"] else "~", one) for one in row["options"])
    body = "\n".join(f"\t{sign}{_for_moodle(one['text'])}#{_for_moodle(one['reason'])}" for sign, one in signs)
    return f"{head} {{\n{body}\n}}"


def _for_moodle(text: str) -> str:
    """Return HTML in which the special characters of GIFT are escaped."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", in_html(text))


def in_html(text: str) -> str:
    """Return HTML with formulas in the delimiters that quiz systems know."""
    text = html.escape(text, quote=False)
    for mark, made in _MARKS.items():
        text = re.sub(mark, made, text)
    return text


def write(folder: Path) -> None:
    """Write the block of the page and the exports."""
    files = {"md": page(), "json": as_json(), "gift": as_gift()}
    for ending, text in files.items():
        (folder / f"questions.{ending}").write_text(text, encoding="utf-8")
