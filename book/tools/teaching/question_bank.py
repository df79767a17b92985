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
    """A question with its options, in the order in which they are shown, or a self-test with its answer."""

    key: str
    chapters: list[int]
    grade: str
    text: str
    options: tuple[Option, ...] = ()
    check: str = ""
    across: bool = False
    answer: str = ""


@cache
def bank() -> list[Question]:
    """Return the questions of the bank; options are shuffled, always in the same way."""
    found = []
    for entry in yaml.safe_load((BOOK / "data" / "questions.yaml").read_text(encoding="utf-8")):
        options = [Option(text, reason, not number) for number, (text, reason) in enumerate(entry["options"])]
        random.Random(entry["id"]).shuffle(options)
        about = (entry[key] for key in ("id", "chapters", "grade", "ask"))
        found.append(Question(*about, tuple(options), entry.get("check", ""), entry.get("theme") == "across"))
    return found


@cache
def self_tests() -> list[Question]:
    """Return the self-tests at the ends of the chapters, as they are written there."""
    found = []
    for chapter in chapters().values():
        section = re.search(r"^## Self-test\n(.*?)(?=^## )", chapter.plain, re.DOTALL | re.MULTILINE)
        at = 0
        for number, match in enumerate(_ANSWER.finditer(section[1]), 1):
            text = re.sub(r"^(\*\*)?\d+\.(\*\*)?\s+", "", section[1][at : match.start()].strip())
            key, at = f"{chapter.number:02d}-self-test-{number}", match.end()
            text = "\n".join(line.strip() for line in text.splitlines())
            found.append(Question(key, [chapter.number], "reason", text, answer=match["answer"].strip()))
    return found


def page() -> str:
    """Return all questions for the page, on which an option opens to its reason."""
    lines = []
    for number, chapter in chapters().items():
        lines += [f"## {number}. {chapter.title}", "", f"From {{ref}}`ch-{number:02d}`.", ""]
        own = [one for one in (*self_tests(), *bank()) if one.chapters[0] == number and not one.across]
        for count, question in enumerate(own, 1):
            lines += _entry(f"{number}.{count}", question)
    lines += ["## Across the chapters", ""]
    for count, question in enumerate((one for one in bank() if one.across), 1):
        lines += _entry(f"A.{count}", question)
    return "\n".join(lines) + "\n"


def _entry(number: str, question: Question) -> list[str]:
    if question.answer:
        lines = [f"**{number}** {markdown(question.text)}", "", "::::{dropdown} Answer", markdown(question.answer)]
        return [*lines, "::::", ""]
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
    for one in (*self_tests(), *bank()):
        about = {"id": one.key, "chapters": one.chapters, "grade": one.grade}
        if one.answer:
            question, answer = (" ".join(words(text).split()) for text in (one.text, one.answer))
            rows.append({**about, "question": question, "answer": answer})
        else:
            options = [{"text": o.text, "right": o.right, "reason": o.reason} for o in one.options]
            rows.append({**about, "question": one.text, "options": options})
    return rows


def as_json() -> str:
    """Return all questions as JSON."""
    return json.dumps(listed(), ensure_ascii=False, indent=1) + "\n"


def as_gift() -> str:
    """Return all questions in GIFT for Moodle: choices with feedback, and self-tests as essays."""
    parts = []
    for number, chapter in chapters().items():
        parts.append(f"$CATEGORY: Optimising rank-based metrics/{number}. {chapter.title}")
        parts += [_in_gift(row) for row in listed() if row["chapters"][0] == number]
    return "\n\n".join(parts) + "\n"


def _in_gift(row: dict[str, Any]) -> str:
    head = f"::{row['id']}:: [html]{_for_moodle(row['question'])}"
    if "options" not in row:
        return f"{head} {{\n\t####{_for_moodle(row['answer'])}\n}}"
    signs = (("=" if one["right"] else "~", one) for one in row["options"])
    body = "\n".join(f"\t{sign}{_for_moodle(one['text'])}#{_for_moodle(one['reason'])}" for sign, one in signs)
    return f"{head} {{\n{body}\n}}"


def _for_moodle(text: str) -> str:
    """Return HTML with formulas in the delimiters of quiz systems, in which GIFT's special characters are escaped."""
    text = html.escape(text, quote=False)
    for mark, made in _MARKS.items():
        text = re.sub(mark, made, text)
    return re.sub(r"([\\~=#{}:])", r"\\\1", text)


def write(folder: Path) -> None:
    """Write the block of the page and the exports."""
    for ending, text in {"md": page(), "json": as_json(), "gift": as_gift()}.items():
        (folder / f"questions.{ending}").write_text(text, encoding="utf-8")
