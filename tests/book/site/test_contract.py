"""Every chapter keeps the contract of book/contributing/chapter.md: headings, tags, exercises, links."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import equation_gaps
import jupytext
import pytest
from tools.notebooks import pairs
from tools.site import equation_index

from rankbook.kit.explorable import all_explorables

CHAPTERS = sorted((pairs.ROOT / "book" / "chapters").glob("*.md"))
SECTIONS = [
    "Objectives",
    "Five items by hand",
    "Explore",
    "Pitfall",
    "Paper map",
    "Exercises",
    "Self-test",
    "Takeaways",
    "Further reading",
]
FENCE = re.compile(r"^(`{3,}|:{3,})\{admonition\} (?P<title>.*?)\n(?P<body>.*?)^\1\s*$", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    """The chapter without its code cells."""
    return re.sub(r"^```\{code-cell\}.*?^```$", "", text_of(path), flags=re.DOTALL | re.MULTILINE)


def section(path: Path, title: str) -> str:
    found = re.search(rf"^## {title}[^\n]*\n(.*?)(?=^## |\Z)", text_of(path), re.DOTALL | re.MULTILINE)
    assert found, f"{path.name} has no section '## {title}'"
    return found.group(1)


def code_cells(path: Path, tag: str | None = None) -> list[str]:
    cells = [cell for cell in jupytext.read(path).cells if cell.cell_type == "code"]
    return [cell.source for cell in cells if tag is None or tag in cell.metadata.get("tags", [])]


def test_front_matter_and_label(path):
    number = int(path.stem[:2])
    about = jupytext.read(path).metadata["rankedu"]
    assert about["chapter"] == number
    assert set(about["needs"]) <= set(range(1, number))
    assert about["read"] > 0 and 0 < about["run"] <= 1, "a chapter runs within a minute"
    assert re.search(rf"^\(ch-{number:02d}\)=\n# \S", text_of(path), re.MULTILINE)


@pytest.mark.parametrize("title", SECTIONS)
def test_section_is_there_and_not_empty(path, title):
    assert len(section(path, title).split()) > 15


def test_objectives_say_the_minutes(path):
    assert re.search(r"minute", section(path, "Objectives"))


def test_two_predictions_each_followed_by_code_and_a_reveal(path):
    text = text_of(path)
    titles = [match["title"].strip() for match in FENCE.finditer(text)]
    assert titles.count("Predict") >= 2
    assert titles.count("Predict") == titles.count("Reveal")
    order = [m.group(0) for m in re.finditer(r"\{admonition\} (?:Predict|Reveal)|\{code-cell\}", text)]
    for at, what in enumerate(order):
        if "Predict" in what:
            upto = next(i for i in range(at + 1, len(order)) if "admonition" in order[i])
            assert "Reveal" in order[upto], "a prediction must be followed by its reveal"
            assert upto - at > 1, "between a prediction and its reveal stands the experiment"


def test_what_only_shows_something_is_folded_in_jupyterlab_too(path):
    """On the page `tools.site.folds` folds it by the same metadata."""
    cells = [cell for cell in jupytext.read(path).cells if re.fullmatch(r"show(_source)?\([^\n]*\)", cell.source)]
    assert [cell.source for cell in cells if not cell.metadata.get("jupyter", {}).get("source_hidden")] == []


def test_explorable_with_goals(path):
    cells = code_cells(path, "explorable")
    assert cells, "no cell is tagged explorable"
    for cell in cells:
        last = ast.parse(cell).body[-1]
        assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Name), "the cell ends in the explorable's name"
    text = section(path, "Explore")
    assert not re.search("things to notice", text, re.IGNORECASE), "a list gives goals away"
    shown = re.findall(r"^(\w+)\n```", text, re.MULTILINE)
    assert all(one.goals for one in all_explorables().values() if one.name in shown)


def test_pitfall_asserts(path):
    cells = code_cells(path, "pitfall")
    assert cells and all(any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell))) for cell in cells)


def test_exercises_in_three_grades_each_with_a_solution(path):
    number, text = path.stem[:2], text_of(path)
    exercises = re.findall(rf"\{{exercise\}}[^\n]*\n:label: (ch{number}-ex-(hand|code|research)-\d+)", text)
    assert {grade for _, grade in exercises} == {"hand", "code", "research"}
    solved = set(re.findall(r"\{solution(?:-start)?\} (\S+)", text))
    assert {label for label, _ in exercises} == solved


def test_code_exercises_check_a_stub_and_a_solution(path):
    from rankbook.kit.check import names

    stubs = [re.findall(r'check\("(\w+)"', cell) for cell in code_cells(path, "exercise")]
    solutions = [re.findall(r'check\("(\w+)"', cell) for cell in code_cells(path, "solution")]
    asked = {name for found in stubs for name in found}
    assert asked and asked <= set(names())
    assert asked == {name for found in solutions for name in found}


def test_five_self_test_questions_with_reasons(path):
    answers = [m for m in FENCE.finditer(section(path, "Self-test")) if m["title"].strip() == "Answer"]
    assert len(answers) == 5
    assert all("dropdown" in answer["body"] and len(answer["body"].split()) > 10 for answer in answers)


def test_five_takeaways_and_citations(path):
    assert len(re.findall(r"^(?:\* |- |\d\. )", section(path, "Takeaways"), re.MULTILINE)) == 5
    assert "{cite" in section(path, "Further reading")


def test_no_long_function_in_a_cell(path):
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", cell, flags=re.MULTILINE))):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                assert (node.end_lineno or 0) - node.lineno < 10, (
                    f"{getattr(node, 'name', 'lambda')} belongs in rankedu"
                )


def test_no_placeholder_is_left(path):
    """`rankedu new-chapter` writes ⟨brackets⟩ where an author has to."""
    from rankbook.kit.new_chapter import FILES, placeholders

    where = (pairs.ROOT / pattern.format(nn=path.stem[:2], slug=path.stem[3:]) for pattern in FILES.values())
    left = [f"{file.name}, {found}" for file in where if file.exists() for found in placeholders(text_of(file))]
    assert not left, "still to be written:\n" + "\n".join(left)


def test_numbers_are_glued(path):
    assert re.search(r"\{glue:text\}`ch\d\d-", prose_of(path)), "a chapter quotes numbers that its cells compute"
    assert "glue(" in "\n".join(code_cells(path))


def test_paper_map_rows_resolve(path):
    rows = [row for row in equation_index.paper_maps() if row.page == f"chapters/{path.stem}"]
    assert rows, "the paper map is empty"
    assert [lost for row in rows if (lost := equation_gaps.unresolved(row))] == []
