"""Every chapter keeps the contract of book/contributing/chapter.md: headings, tags, exercises, links."""

import ast
import re
from functools import cache
from pathlib import Path

import equation_gaps
import jupytext
import pytest
from tools.notebooks import pairs
from tools.site import equation_index, form

from rankedu_book.kit.check import names

CHAPTERS = sorted((pairs.ROOT / "book" / "chapters").glob("*.md"))
FOUND = ["Five items by hand", "Pitfall", "Paper map", "Exercises", "Self-test", "Takeaways"]
FENCE = re.compile(r"^(`{3,}|:{3,})\{admonition\} (?P<title>.*?)\n(?P<body>.*?)^\1\s*$", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def text_of(path: Path) -> str:
    """The chapter with its solutions, in the form of the pages."""
    return form.text(path)


def section(path: Path, title: str) -> str:
    found = re.search(rf"^## {title}[^\n]*\n(.*?)(?=^## |\Z)", text_of(path), re.DOTALL | re.MULTILINE)
    assert found, f"{path.name} has no section '## {title}'"
    return found.group(1)


@cache
def read(text: str):
    return jupytext.reads(text, "md:myst")


def is_short(path: Path) -> bool:
    """A short chapter is about works other than the five texts: a slider to explore, fewer exercises, no paper map."""
    return read(text_of(path)).metadata["rankedu"].get("short", False)


def code_cells(path: Path, tag: str | None = None) -> list[str]:
    cells = [cell for cell in read(text_of(path)).cells if cell.cell_type == "code"]
    return [cell.source for cell in cells if tag is None or tag in cell.metadata.get("tags", [])]


def test_front_matter_label_and_sections(path):
    number, about = int(path.stem[:2]), read(text_of(path)).metadata["rankedu"]
    assert about["chapter"] == number and set(about["needs"]) <= set(range(1, number))
    assert about["read"] > 0 and 0 < about["run"] <= 1, "a chapter runs within a minute"
    assert re.search(rf"^\(ch-{number:02d}\)=\n# \S", text_of(path), re.MULTILINE)
    assert all(len(section(path, title).split()) > 15 for title in FOUND if title != "Paper map" or not is_short(path))
    assert "minute" in section(path, "Objectives") and "{cite" in section(path, "Further reading")
    assert len(re.findall(r"^(?:\* |- |\d\. )", section(path, "Takeaways"), re.MULTILINE)) == 5


def test_something_to_move_and_a_pitfall_that_asserts(path):
    assert re.search(r"^(play|@interact)\(", text_of(path), re.MULTILINE)
    cells = code_cells(path, "pitfall")
    assert cells and all(any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell))) for cell in cells)


def test_exercises_in_three_grades_each_with_a_solution_and_those_in_code_with_a_check(path):
    number, text = path.stem[:2], text_of(path)
    exercises = re.findall(rf"\{{exercise\}}[^\n]*\n:label: (ch{number}-ex-(hand|code|research)-\d+)", text)
    assert {grade for _, grade in exercises} >= {"hand", "code"} | (set() if is_short(path) else {"research"})
    assert {label for label, _ in exercises} == set(re.findall(r"\{solution(?:-start)?\} (\S+)", text))
    cells = ("\n".join(code_cells(path, tag)) for tag in ("exercise", "solution"))
    asked, solved = (set(re.findall(r'check\("(\w+)"', cell)) for cell in cells)
    assert asked and asked <= set(names()) and asked == solved


def test_five_self_test_questions_with_reasons(path):
    answers = [m for m in FENCE.finditer(section(path, "Self-test")) if m["title"].strip() == "Answer"]
    assert len(answers) == 5
    assert all("dropdown" in answer["body"] and len(answer["body"].split()) > 10 for answer in answers)


def test_no_long_function_in_a_cell(path):
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", cell, flags=re.MULTILINE))):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                assert (node.end_lineno or 0) - node.lineno < 10, f"belongs in rankedu_book: {ast.unparse(node)[:60]}"


def test_paper_map_rows_resolve(path):
    rows = [row for row in equation_index.paper_maps() if row.page == f"chapters/{path.stem}"]
    assert rows or is_short(path), "the paper map is empty"
    assert [lost for row in rows if (lost := equation_gaps.unresolved(row))] == []
