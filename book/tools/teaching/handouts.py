"""Handouts for teachers: `python book/tools handouts --out handouts`.

`answers.pdf` has the answers to all exercises and self-tests, away from the questions; `formulas.pdf` is one page;
`questions.gift` is for Moodle, `questions-qti.zip` for Canvas; `chapters/` has an archive for each chapter with its
figures and equations.
"""

import argparse
import base64
import re
import zipfile
from html import escape
from pathlib import Path

import yaml

from tools.notebooks import pairs
from tools.site import labels
from tools.site.mathml import mathml
from tools.site.paper import print_html
from tools.site.reading import BOOK, chapters
from tools.site.templates import filled
from tools.teaching import exercise_texts, question_bank
from tools.teaching.slides import to_html, words


def answers() -> str:
    """Return the booklet of answers: per chapter the solutions of the exercises and the self-test."""
    parts = []
    for chapter in exercise_texts.chapters():
        number, tests = chapter.number, (one for one in question_bank.self_tests() if one.stem == chapter.stem)
        parts.append(f"<h1>{number}. {escape(chapter.title)}</h1>")
        for one in chapter.exercises:
            parts.append(f"<h2>Exercise {one.number}, {escape(one.title)}</h2>")
            parts += [
                f"<pre>{escape(source)}</pre>" if kind == "code" else to_html(words(source))
                for kind, source in one.solution
            ]
        parts.append("<h2>Self-test</h2>")
        parts += [to_html(f"**{number}.{one.number}** {words(one.answer)}") for one in tests]
    return filled("sheet.html", title="Answers", body="\n".join(parts))


def formulas() -> str:
    """Return the sheet of the equations in `data/formulas.yaml`, with their numbers in the book."""
    parts = ["<main>"]
    for group in yaml.safe_load((BOOK / "data" / "formulas.yaml").read_text(encoding="utf-8")):
        parts.append(f"<h2>{group['title']}</h2><dl>")
        for label, name in group["rows"].items():
            found = labels.labels()[label]
            apart = r"\\qquad|\\quad(?=\\longrightarrow)|(?<=.{60})\n(?==)" if "\\begin" not in found.text else r"\Z"
            lines = filter(None, re.split(apart, found.text))
            made = "".join(mathml(line.strip(" .,\n"), block=True) for line in lines)
            parts.append(f"<div><dt>{escape(name)} ({found.number})</dt><dd>{made}</dd></div>")
        parts.append("</dl>")
    return filled("formulas.html", title="Optimising rank-based metrics: formulas", body="\n".join([*parts, "</main>"]))


def figures(stem: str) -> dict[str, bytes]:
    """Return the figures of a chapter by label, as its notebook has them."""
    found = {}
    for cell in pairs.code_cells(pairs.page(BOOK / "chapters" / f"{stem}.md")):
        if label := cell.metadata.get("mystnb", {}).get("figure", {}).get("name"):
            [picture] = [one["data"]["image/png"] for one in cell.outputs if "image/png" in one.get("data", {})]
            found[label] = base64.b64decode(picture)
    return found


def equations(stem: str) -> str:
    """Return the labelled equations of a chapter in LaTeX."""
    form = "\\begin{{equation}}\\tag{{{}}}\\label{{{}}}\n{}\n\\end{{equation}}"
    here = {label: one for label, one in labels.labels().items() if one.file.stem == stem and one.kind == "equation"}
    return "\n\n".join(form.format(one.number, label, one.text) for label, one in here.items())


def archive(stem: str, folder: Path) -> Path:
    """Write the figures of a chapter as PNG, with their captions, and its equations."""
    path = folder / f"{stem}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        captions = []
        for label, picture in figures(stem).items():
            made.writestr(f"{label}.png", picture)
            target = labels.labels()[label]
            captions.append(f"{label}: Figure {target.number}. {words(target.title)}")
        made.writestr("captions.txt", "\n\n".join(captions) + "\n")
        made.writestr("equations.tex", equations(stem) + "\n")
    return path


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("handouts"), help="folder to write to")
    folder = parser.parse_args().out
    (folder / "chapters").mkdir(parents=True, exist_ok=True)
    (folder / "questions.gift").write_text(question_bank.as_gift(), encoding="utf-8")
    print(folder / "questions.gift")
    print(question_bank.write_qti(folder / "questions-qti.zip"))
    for chapter in chapters().values():
        print(archive(chapter.stem, folder / "chapters"), flush=True)
    print(print_html(formulas(), folder / "formulas.pdf"))
    print(print_html(answers(), folder / "answers.pdf"))
