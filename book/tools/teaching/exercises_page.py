"""The parts of the page of exercises: a list, notebooks to download, and an answer of `check`."""

import contextlib
import io
import shutil
from pathlib import Path

from rankedu_book.kit.check import check
from tools.notebooks.exercises import ROOT, SOLUTIONS, derived
from tools.teaching.exercise_texts import GRADES, chapters


def block() -> str:
    """Return the list of all exercises for the page."""
    lines = []
    for chapter in chapters():
        offered = {"starter notebook": "exercises", "solutions": "solutions"}
        files = (f"{{download}}`{name} <_generated/{kind}_{chapter.stem}.ipynb>`" for name, kind in offered.items())
        lines += [f"### {chapter.number}. {chapter.title}", "", " · ".join(files), ""]
        for grade, title in GRADES.items():
            asked = [one for one in chapter.exercises if one.grade == grade]
            listed = " · ".join(f"{{ref}}`{one.number} {one.title} <{one.label}>`" for one in asked)
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
