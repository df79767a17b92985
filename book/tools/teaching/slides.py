"""Slides of the four lectures: one file each, which needs nothing beside itself, is driven by keys and can be printed.

Figures, captions, questions and exercises are those of the chapters.
"""

import re
from functools import cache
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from tools.notebooks import pairs
from tools.site import labels
from tools.site.mathml import convert, mathml
from tools.site.reading import BOOK, chapters
from tools.site.templates import filled
from tools.teaching import lectures
from tools.teaching.lectures import Lecture, Picture, Question


def write(folder: Path) -> None:
    """Write the slides of all lectures."""
    folder.mkdir(parents=True, exist_ok=True)
    for lecture in lectures.lectures():
        (folder / f"lecture-{lecture.number}.html").write_text(page(lecture), encoding="utf-8")


def page(lecture: Lecture) -> str:
    """Return all slides of a lecture as one page."""
    exercises = (f"Chapter {int(label[2:4])}: {title}, {grade}" for label, title, grade in lectures.exercises(lecture))
    return filled(
        "slides.html",
        lecture=lecture,
        count=len(lectures.lectures()),
        chapters="; ".join(f"{number} {chapters()[number].title}" for number in lecture.chapters),
        slides=[_question(one) if isinstance(one, Question) else _figure(one) for one in lecture.slides],
        exercises=list(exercises),
    )


def _question(slide: Question) -> tuple[str, str, str]:
    """Return kind, heading and body of a slide with a prediction."""
    asked = words(f"{slide.given}\n\n{slide.text}\n\n{quoted(slide.text)}")
    place = f'<p class="below">Chapter {slide.chapter}: {escape(slide.section)}</p>'
    return "predict long" if len(asked) > 400 else "predict", "Predict", to_html(asked) + place


def _figure(slide: Picture) -> tuple[str, str, str]:
    """Return kind, heading and body of a slide with a figure."""
    target, picture, about = labels.labels()[slide.label], *figures(slide.chapter)[slide.label]
    image = f'<img alt="{escape(about["alt"])}" width="{about["width"]}" src="data:image/png;base64,{picture}">'
    caption = to_html(f"Figure {target.number}: {words(target.title)}")
    return "figure", slide.say, f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


@cache
def figures(chapter: int) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the figures of a chapter by label, as its notebook has them: in base 64, with text and width."""
    found = {}
    for cell in pairs.code_cells(pairs.page(BOOK / "chapters" / f"{chapters()[chapter].stem}.md")):
        for output in cell.outputs if "figure" in cell.metadata.get("mystnb", {}) else []:
            if picture := output.get("data", {}).get("image/png"):
                found[cell.metadata["mystnb"]["figure"]["name"]] = picture.strip(), output.metadata["image/png"]
    return found


def to_html(markdown: str) -> str:
    """Turn Markdown with formulas into HTML, in which links are plain text."""
    parser = MarkdownIt("commonmark").use(dollarmath_plugin, allow_space=False, renderer=_formula)
    parser.add_render_rule("link_open", lambda *_: "")
    parser.add_render_rule("link_close", lambda *_: "")
    tokens = [token for block in parser.parse(markdown) for token in (block, *(block.children or []))]
    convert((token.content, token.type == "math_block") for token in tokens if token.type.startswith("math"))
    return parser.render(markdown)


def _formula(tex: str, options: dict[str, bool]) -> str:
    return mathml(tex, block=bool(options.get("display_mode")))


def words(text: str) -> str:
    """Return a text of a chapter with words in place of links, without places and numbers of equations."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r'<a id="[\w-]+"></a>\n*| \\tag\{[\d.]+\}', "", text))


def quoted(text: str) -> str:
    """Return the equations and statements to which a text refers."""
    parts = []
    for label in dict.fromkeys(re.findall(r"\[(?:\(\d+\.\d+\)|[A-Z]\w+ \d+\.\d+)\]\([^)#]*#([\w-]+)\)", text)):
        target = labels.labels()[label]
        if target.kind == "equation":
            parts.append(f"Equation ({target.number}):\n\n$$\n{target.text}\n$$")
        elif target.text:
            parts.append(f"{target.kind.capitalize()} {target.number}: {target.text}")
    return "\n\n".join(parts)
