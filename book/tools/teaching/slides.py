"""Slides of the four lectures: one file each, which needs nothing beside itself, is driven by keys and can be printed.

`python book/tools slides --out slides` writes them. The figures are drawn afresh, as sharp as any projector; captions,
questions and exercises are those of the chapters.
"""

from __future__ import annotations

import argparse
import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

from tools.site import labels
from tools.site.plain import plain, quoted
from tools.site.reading import BOOK, chapters
from tools.site.typeset import to_html
from tools.teaching import lectures
from tools.teaching.lectures import GRADES, Lecture, Picture, Question

HERE = Path("slides")


def write(folder: Path) -> list[Path]:
    """Write the slides of every lecture; returns the paths written."""
    return [write_one(folder, lecture.number) for lecture in lectures.lectures()]


def write_one(folder: Path, number: int) -> Path:
    """Write the slides of one lecture."""
    from rankedu.files import written

    lecture = lectures.lectures()[number - 1]
    path = folder / lectures.file_name(lecture)
    with written(path) as part:
        Path(part).write_text(page(lecture), encoding="utf-8")
    return path


def page(lecture: Lecture) -> str:
    """All slides of a lecture as one page."""
    template = Template((BOOK / "_templates" / "slides.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(lecture.title), slides="\n".join(_sections(lecture)))


def _sections(lecture: Lecture) -> Iterator[str]:
    """Title, figures and questions, exercises: a section each."""
    contents = [("title", lecture.title, _opening(lecture))]
    contents += [_content(slide) for slide in lecture.slides]
    contents.append(("exercises", "To work out", _exercises(lecture)))
    for number, (kind, heading, body) in enumerate(contents, 1):
        level = 1 if kind == "title" else 2
        yield (
            f'<section class="slide {kind}" id="{number}" tabindex="-1" aria-labelledby="heading-{number}">'
            f'<h{level} id="heading-{number}">{escape(heading)}</h{level}>\n{body}\n</section>'
        )


def _opening(lecture: Lecture) -> str:
    names = "; ".join(f"{number} {chapters()[number].title}" for number in lecture.chapters)
    aims = "".join(f"<li>{escape(aim)}</li>" for aim in lecture.aims)
    count = len(lectures.lectures())
    return (
        f'<p class="over">Lecture {lecture.number} of {count}</p><p>Afterwards you can</p><ul>{aims}</ul>'
        f'<p class="below">Optimising rank-based metrics: {escape(names)}</p>'
    )


def _content(slide: Question | Picture) -> tuple[str, str, str]:
    """Kind, heading and body of a slide."""
    if isinstance(slide, Question):
        asked = words(f"{slide.given}\n\n{slide.text}\n\n{quoted(slide.text, HERE)}", slide.chapter)
        place = f'<p class="below">Chapter {slide.chapter}: {escape(slide.section)}</p>'
        return "predict long" if len(asked) > 400 else "predict", "Predict", to_html(asked) + place
    from rankbook.kit import style

    drawn = slide.figure()
    picture = base64.b64encode(style.svg(drawn)).decode("ascii")
    width, height = (round(100 * inches) for inches in drawn.get_size_inches())
    target = labels.labels()[slide.label]
    caption = to_html(f"Figure {target.number}: {words(slide.caption, int(target.number.split('.')[0]))}")
    image = (
        f'<img alt="{escape(style.description(drawn))}" width="{width}" height="{height}" '
        f'src="data:image/svg+xml;base64,{picture}">'
    )
    return "figure", slide.say, f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def words(text: str, chapter: int) -> str:
    """A text of a chapter without its references' addresses."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain(text, chapters()[chapter].stem, HERE))


def _exercises(lecture: Lecture) -> str:
    rows = (
        f"<li>Chapter {int(label[2:4])}: {escape(labels.labels()[label].title)}, {GRADES[label.split('-')[2]]}</li>"
        for label in lecture.exercises
    )
    return f"<ul>{''.join(rows)}</ul>"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("slides"), help="folder to write to")
    for path in write(parser.parse_args().out):
        print(path)


if __name__ == "__main__":
    main()
