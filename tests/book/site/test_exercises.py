"""Starters are those of the chapters' texts: solutions pass every check, starters pass none, both run."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
import torch
from ruff import find_ruff_bin
from tools.notebooks import exercises
from tools.notebooks.exercises import SOLUTIONS, STARTERS
from tools.site import form
from tools.site.reading import BOOK, chapters
from tools.teaching.exercises_page import exercises as listed

from rankedu_book.kit.check import Feedback, names

ROOT = exercises.ROOT
FOLDERS = (STARTERS, SOLUTIONS)
EACH = pytest.mark.parametrize("chapter", chapters().values(), ids=lambda chapter: chapter.stem)


@pytest.fixture(autouse=True)
def settings():
    """What a solution sets holds for its notebook alone."""
    kind = torch.get_default_dtype()
    yield
    torch.set_default_dtype(kind)
    torch.set_printoptions(profile="default")


@cache
def cells(folder: Path, stem: str) -> list[nbformat.NotebookNode]:
    return nbformat.read(ROOT / folder / f"{stem}.ipynb", as_version=4).cells


def feedback_of(folder: Path, stem: str) -> dict[str, Feedback]:
    """Run the cells in one namespace, as a reader runs all; only what belongs to research is left out."""
    scope: dict[str, object] = {"__name__": "__main__"}
    found, grade = {}, ""
    for cell in cells(folder, stem):
        if cell.cell_type == "markdown":
            headings = re.findall(r"^## Exercise \S+ \(([\w ]+)\)", cell.source, re.MULTILINE)
            grade = headings[-1] if headings else grade
        if cell.cell_type != "code" or grade == "research":
            continue
        tree = ast.parse(cell.source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), scope)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
            if isinstance(value, Feedback):
                found[value.name] = value
    return found


def test_the_notebooks_are_those_that_the_chapters_give():
    wanted = exercises.derived()
    there = {path.relative_to(ROOT) for path in (ROOT / STARTERS).glob("*.ipynb")}
    stale = [path for path in wanted if (ROOT / path).read_text(encoding="utf-8") != wanted[path]]
    assert there == set(wanted) and stale == [], "run `python book/tools exercises`"


@EACH
def test_every_solution_passes_and_every_stub_is_refused_and_nothing_crashes(chapter):
    solved, given = feedback_of(SOLUTIONS, chapter.stem), feedback_of(STARTERS, chapter.stem)
    assert set(solved) == set(given) == set(names(chapter.number)) and all(solved.values()), solved
    assert all(not one and "nothing returned yet" in one.message for one in given.values()), given


@EACH
def test_a_starter_has_every_exercise_with_room_to_work_and_no_line_of_a_solution(chapter):
    text = [cell.source for cell in cells(STARTERS, chapter.stem)]
    headings = [re.match(r"## Exercise (\S+) \((.*)\): ", source) for source in text]
    assert [m[1] for m in headings if m] == [one.number for one in listed(chapter.stem).values()]
    rooms = sum(source == "*Your answer:*" or "    ..." in source for source in text)
    assert rooms == len(listed(chapter.stem)) >= 2
    solved = form.solved(jupytext.read(BOOK / "solutions" / f"{chapter.stem}.md"))
    for label in listed(chapter.stem):
        lines = [line for cell in solved[label] for line in cell.source.splitlines() if len(line) > 25]
        own = [line for line in lines if not re.match(r"\s*(def|class|from|import|check\(|for) ?", line)]
        assert own and not any(line in "\n".join(text) for line in own), label


def test_every_name_is_defined_before_it_is_used():
    command = [find_ruff_bin(), "check", "--isolated", "--no-cache", "--select", "F821", *FOLDERS]  # research, too
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


@EACH
def test_every_link_leads_somewhere(chapter):
    for folder in FOLDERS:
        text = "\n\n".join(cell.source for cell in cells(folder, chapter.stem) if cell.cell_type == "markdown")
        assert not re.search(r"\{[\w:]+\}`|^:::|^\(.*\)=$|\$\$ \(", text, re.MULTILINE), f"{folder}: MyST is left"
        links = re.findall(r"\]\((\.\.?/[^)#]+)", text)
        assert len(links) >= 2 and all((ROOT / folder / link).exists() for link in links), links
