"""The form of the chapters: plain Markdown in true pairs, with right links and numbers, and with folded answers."""

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import pytest
from tools.notebooks import pairs
from tools.site import form, labels, works

from rankedu_book.kit import predict

TEXTS = [text for text in pairs.pairs() if form.is_plain(text)]
TEXT_OF = {notebook: text for text, notebook in pairs.pairs().items()}
CHAPTERS = [text for text in TEXTS if text.parent.name == "chapters"]
EACH = pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text.parent.name}-{text.stem}")
CHAPTER = pytest.mark.parametrize("text", CHAPTERS, ids=lambda text: text.stem)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)")
PLACE = re.compile(r'<a id="([\w-]+)"></a>|^\(([\w-]+)\)=$', re.MULTILINE)
#: What has a number: equations, statements, figures, tables and exercises.
NAMES = (
    r"\\tag\{([\d.]+)\}",
    r"^> \*\*(?!Algorithm)[A-Z]\w+ (\d+\.\d+)",
    r"^\*\*Figure ([\d.]+)\.\*\*",
    r"^\*\*Table ([\d.]+)\.\*\*",
)
NAMES += (
    r"^> \*\*Algorithm (\d+\.\d+)",
    r"^##+ Exercise ([\d.]+) ",
)


@cache
def cells(path: Path) -> list[nbformat.NotebookNode]:
    return (jupytext.read(path) if path.suffix == ".md" else nbformat.read(path, as_version=4)).cells


@cache
def prose(path: Path) -> str:
    return "\n\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown")


@cache
def places(path: Path) -> set[str]:
    """Where a link can lead in a notebook or a page."""
    text = TEXT_OF.get(path, path).read_text(encoding="utf-8")
    return {one or other for one, other in PLACE.findall(text)}


@EACH
def test_the_text_is_plain_markdown_and_both_halves_of_the_pair_have_the_same_cells(text):
    notebook = pairs.pairs()[text]
    without_code = re.sub(r"^```.*?^```$", "", prose(text), flags=re.DOTALL | re.MULTILINE)
    assert (
        re.findall(r"\{(?:[a-z]+:)?[a-z]+\}`|^:::.*|^\([\w-]+\)=$|\$\$ \([\w-]+\)$", without_code, re.MULTILINE) == []
    )
    folder, there = text.parent.relative_to(pairs.ROOT), notebook.parent.relative_to(pairs.ROOT)
    for half in (jupytext.read(text), nbformat.read(notebook, as_version=4)):
        assert half.metadata["jupytext"]["formats"] == f"{there}//ipynb,{folder}//md:myst"
    assert [one.source for one in cells(text)] == [one.source for one in cells(notebook)], "run `make notebooks`"


@EACH
def test_every_link_leads_to_a_place_and_calls_it_by_its_number(text):
    notebook, known = pairs.pairs()[text], labels.labels()
    for words, path, place in LINK.findall(prose(text)):
        target = (notebook.parent / path).resolve() if path else notebook
        assert target.is_file(), (words, path)
        assert not place or place in places(target), (words, path, place)
        if number := re.fullmatch(r"\((\d+\.\d+)\)|[A-Z]\w+ (\d+\.\d+)", words):
            assert place.startswith("tab-") or known[place].number == (number[1] or number[2]), (words, place)
    for place in re.findall(r'<a id="([\w-]+)"></a>', prose(text)):
        assert place in known or place.startswith(("aside-", "tab-", "fig-errata-")), f"{place} is no place on the page"


@CHAPTER
def test_numbers_count_up_as_they_do_on_the_page(text):
    for name in NAMES:
        found = re.findall(name, prose(text), re.MULTILINE)
        assert found == [f"{int(text.stem[:2])}.{number}" for number in range(1, len(found) + 1)], name


def test_the_bibliography_has_a_place_for_every_work():
    assert (works.BOOK / "bibliography.md").read_text(encoding="utf-8") == works.page(), "run `python book/tools works`"


@pytest.mark.parametrize("text", [*CHAPTERS, *(one for one in TEXTS if one.parent.name == "solutions")], ids=str)
def test_a_number_that_a_cell_compares_is_in_the_text(text):
    words = "\n\n".join(prose(text.parents[1] / folder / text.name) for folder in ("chapters", "solutions"))
    for cell in pairs.code_cells(nbformat.v4.new_notebook(cells=cells(text))):
        tree = ast.parse(re.sub(r"^%.*$", "", cell.source, flags=re.MULTILINE))
        given = [one for one in ast.walk(tree) if isinstance(one, ast.Assign)]
        said = [one.value for one in given if ast.unparse(one.targets[0]) == "in_text"]
        calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and ast.unparse(one.func) == "text_says"]
        assert calls or not said
        for value in [*(one.args[0] for one in calls), *said]:
            if isinstance(value, (ast.Constant, ast.Tuple, ast.Dict)):
                kept = value.values if isinstance(value, ast.Dict) else [value]
                for one in (node for part in kept for node in ast.walk(part) if isinstance(node, ast.Constant)):
                    assert re.search(rf"(?<![\w.]){re.escape(one.value)}(?![\w]|\.\d)", words), one.value


@CHAPTER
def test_it_begins_with_its_title_how_to_run_it_and_an_import_cell_and_has_no_solution(text):
    first, imports = cells(text)[:2]
    assert re.fullmatch(rf'<a id="ch-\d\d"></a>\n\n# [^\n]+\n\n{re.escape(form.RUN)}', first.source)
    assert imports.metadata["tags"] == ["imports"] and len(imports.source.replace("\n\n", "\n").splitlines()) <= 5
    assert not [cell for cell in cells(text) if "solution" in cell.metadata.get("tags", [])]
    named = re.findall(r'<a id="(ch\d\d-ex-[\w-]+)"></a>', prose(text))
    assert named == re.findall(rf"\[Solution\]\(solutions/{text.stem}\.ipynb#([\w-]+)\)", prose(text))


@EACH
def test_the_text_has_the_numbers_that_its_cells_have_computed(text):
    outputs = [output for cell in pairs.code_cells(nbformat.read(pairs.pairs()[text], 4)) for output in cell.outputs]
    assert [output.text for output in outputs if re.search("^The text says ", output.get("text", ""), re.M)] == []


@CHAPTER
def test_no_answer_to_a_prediction_is_in_sight_after_a_run(text):
    predicting = False
    for cell in cells(pairs.pairs()[text]):
        if cell.cell_type == "markdown":
            opened = re.sub(r"<details>.*?</details>", "<details>", cell.source, flags=re.DOTALL)
            last = max(opened.rfind("**Predict**"), opened.rfind("<details>"))
            predicting = opened.startswith("**Predict**", last) if last >= 0 else predicting
        elif cell.source.startswith("%%predict"):
            [output] = cell.outputs
            assert re.search(r"<details><summary>Show the result</summary>", output.data["text/html"])
            assert predict.held(output.data["text/html"]), "it holds something back"
        else:
            assert not predicting or cell.outputs == [], cell.source


def test_an_edit_on_either_side_of_a_pair_changes_one_line_of_the_other_and_keeps_the_outputs(tmp_path):
    text = CHAPTERS[8]
    for path in (text, pairs.pairs()[text], pairs.ROOT / "jupytext.toml"):
        (tmp_path / path.relative_to(pairs.ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(pairs.ROOT))
    here = tmp_path / text.relative_to(pairs.ROOT)
    notebook = tmp_path / pairs.pairs()[text].relative_to(pairs.ROOT)
    outputs = [cell.outputs for cell in pairs.code_cells(nbformat.read(notebook, as_version=4))]

    def synchronised(edited: Path, other: Path) -> None:
        os.utime(other, (0, 0))
        command = [sys.executable, "-m", "jupytext", "--sync", str(edited)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    before = here.read_text(encoding="utf-8")
    here.write_text(before.replace("## Takeaways", "## What to take away"), encoding="utf-8")
    synchronised(here, notebook)
    made = nbformat.read(notebook, as_version=4)
    assert any("## What to take away" in cell.source for cell in made.cells)
    assert [cell.outputs for cell in pairs.code_cells(made)] == outputs
    next(cell for cell in made.cells if "## Self-test" in cell.source).source += "\n\nA line from Jupyter."
    nbformat.write(made, notebook)
    synchronised(notebook, here)
    after = here.read_text(encoding="utf-8")
    assert after.replace("\n\nA line from Jupyter.", "").replace("## What to take away", "## Takeaways") == before
