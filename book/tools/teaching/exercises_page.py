"""The parts of the page of exercises: a list, notebooks to download, and an answer of `check`."""

import contextlib
import io
import shutil
from functools import cache
from pathlib import Path

from rankedu_book.kit.check import check
from tools.notebooks.exercises import ROOT, SOLUTIONS, derived
from tools.site.labels import Target, labels
from tools.site.reading import chapters

GRADES = {"hand": "by hand", "code": "with code", "research": "research"}


@cache
def exercises(stem: str) -> dict[str, Target]:
    """Return the exercises of a chapter by label."""
    return {label: one for label, one in labels().items() if one.kind == "exercise" and one.file.stem == stem}


def grade(label: str) -> str:
    """Return the grade of an exercise: hand, code or research.

    >>> grade("ch01-ex-hand-2")
    'hand'
    """
    return label.split("-")[2]


def block() -> str:
    """Return the list of all exercises for the page."""
    lines = []
    for number, chapter in chapters().items():
        offered = {"starter notebook": "exercises", "solutions": "solutions"}
        files = (f"{{download}}`{name} <_generated/{kind}_{chapter.stem}.ipynb>`" for name, kind in offered.items())
        lines += [f"### {number}. {chapter.title}", "", " · ".join(files), ""]
        for one, title in GRADES.items():
            asked = {label: at for label, at in exercises(chapter.stem).items() if grade(label) == one}
            listed = " · ".join(f"{{ref}}`{at.number} {at.title} <{label}>`" for label, at in asked.items())
            lines += [f"{title.capitalize()}", f": {listed}", ""]
    return "\n".join(lines)


def feedback() -> str:
    """Return the answer of `check` to the example on the page."""
    with contextlib.redirect_stdout(io.StringIO()):  # `check` prints its answer outside of a notebook
        answer = check("rank_min", lambda scores: (scores[None, :] >= scores[:, None]).sum(axis=1))
    return "".join(f"> {line}".rstrip() + "\n" for line in answer._repr_markdown_().splitlines())


def write_blocks(folder: Path) -> None:
    """Write the files that the page includes, and the notebooks that it offers."""
    (folder / "exercises.md").write_text(block(), encoding="utf-8")
    (folder / "exercises_feedback.md").write_text(feedback(), encoding="utf-8")
    for path, content in derived().items():
        (folder / f"exercises_{path.name}").write_text(content, encoding="utf-8")
        shutil.copy(ROOT / SOLUTIONS / path.name, folder / f"solutions_{path.name}")
