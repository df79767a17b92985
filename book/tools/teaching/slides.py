"""Slides of the four lectures: one file each, which needs nothing beside itself, is driven by keys and can be printed.

`python book/tools slides --out slides` writes them. The figures are drawn afresh, as sharp as any projector; captions,
questions and exercises are those of the chapters.
"""

import argparse
import base64
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from rankedu.files import written
from rankedu_book.kit import style
from tools.site import labels
from tools.site.mathml import mathml
from tools.site.reading import chapters
from tools.site.templates import filled
from tools.teaching import lectures
from tools.teaching.lectures import Lecture, Picture, Question


def write(folder: Path, number: int) -> Path:
    """Write the slides of one lecture."""
    path = folder / f"lecture-{number}.html"
    with written(path) as part:
        part.write_text(page(lectures.lectures()[number - 1]), encoding="utf-8")
    return path


def page(lecture: Lecture) -> str:
    """Return all slides of a lecture as one page: title, figures, questions and exercises."""
    slides = [("title", lecture.title, _opening(lecture)), *map(_content, lecture.slides)]
    set_out = (f"Chapter {int(label[2:4])}: {title}, {grade}" for label, title, grade in lectures.exercises(lecture))
    slides.append(("exercises", "To work out", _list(set_out)))
    return filled("slides.html", title=lecture.title, slides=slides)


def _opening(lecture: Lecture) -> str:
    names = "; ".join(f"{number} {chapters()[number].title}" for number in lecture.chapters)
    return (
        f'<p class="over">Lecture {lecture.number} of {len(lectures.lectures())}</p><p>Afterwards you can</p>'
        f'{_list(lecture.aims)}<p class="below">Optimising rank-based metrics: {escape(names)}</p>'
    )


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _content(slide: Question | Picture) -> tuple[str, str, str]:
    """Return kind, heading and body of a slide."""
    if isinstance(slide, Question):
        asked = words(f"{slide.given}\n\n{slide.text}\n\n{quoted(slide.text)}")
        place = f'<p class="below">Chapter {slide.chapter}: {escape(slide.section)}</p>'
        return "predict long" if len(asked) > 400 else "predict", "Predict", to_html(asked) + place
    drawn = slide.figure()
    picture = base64.b64encode(style.svg(drawn)).decode("ascii")
    width, height = (round(100 * inches) for inches in drawn.get_size_inches())
    number = labels.labels()[slide.label].number
    image = (
        f'<img alt="{escape(style.description(drawn))}" width="{width}" height="{height}" '
        f'src="data:image/svg+xml;base64,{picture}">'
    )
    caption = to_html(f"Figure {number}: {words(slide.caption)}")
    return "figure", slide.say, f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def to_html(markdown: str) -> str:
    """Turn Markdown with formulas into HTML, in which links are plain text."""
    parser = MarkdownIt("commonmark").use(dollarmath_plugin, allow_space=False, renderer=_formula)
    parser.add_render_rule("link_open", lambda *_: "")
    parser.add_render_rule("link_close", lambda *_: "")
    return parser.render(markdown)


def _formula(tex: str, options: dict[str, bool]) -> str:
    return mathml(tex, block=bool(options.get("display_mode")))


def words(text: str) -> str:
    """Return a text of a chapter with words in place of references."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", labels.spoken(text))


def quoted(text: str) -> str:
    """Return the equations and statements to which a text refers."""
    parts = []
    for label in dict.fromkeys(re.findall(r"\{(?:eq|prf:ref)\}`([\w-]+)`", text)):
        target = labels.labels()[label]
        if target.kind == "equation":
            parts.append(f"Equation ({target.number}):\n\n$$\n{target.text}\n$$")
        elif target.text:
            body = re.sub(r"(?<=\$\$) \([\w-]+\)$", "", target.text, flags=re.MULTILINE)
            parts.append(f"{target.kind.capitalize()} {target.number}: {labels.spoken(body)}")
    return "\n\n".join(parts)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("slides"), help="folder to write to")
    folder = parser.parse_args().out
    for lecture in lectures.lectures():
        print(write(folder, lecture.number))
