"""Every chapter is one text and one executed notebook, equal by content."""

from __future__ import annotations

import shutil
from pathlib import Path

import jupytext
import nbformat
import pytest
from tools.notebooks import pairs

CHAPTERS = pairs.pairs()


def test_all_sixteen_chapters_are_there():
    assert {text.stem[:2] for text in CHAPTERS} >= {f"{number:02d}" for number in range(1, 17)}


def test_every_notebook_is_the_executed_text_and_none_is_without_a_text():
    assert {text.stem: wrong for text, notebook in CHAPTERS.items() if (wrong := pairs.problem(text, notebook))} == {}
    notebooks = {*(pairs.ROOT / "notebooks").glob("*.ipynb"), *(pairs.ROOT / "notebooks" / "labs").glob("*.ipynb")}
    assert notebooks == set(CHAPTERS.values())
    text = pairs.ROOT / "book" / "errata.md"
    assert CHAPTERS[text] == pairs.ROOT / "notebooks" / "errata.ipynb" and pairs.address(text) == "errata.html"
    assert pairs.address(next(iter(CHAPTERS))) == "chapters/01_rank_based_metrics.html"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    text, notebook = next(iter(CHAPTERS.items()))
    return Path(shutil.copy(text, tmp_path)), Path(shutil.copy(notebook, tmp_path))


def cells(notebook: Path) -> list:
    return [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]


def test_a_text_between_the_same_cells_is_noticed_and_taken_over_with_their_outputs(pair):
    text, notebook = pair
    before = cells(notebook)
    text.write_text(text.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    assert "differs" in pairs.problem(text, notebook)
    assert pairs.retold(text, notebook) and pairs.problem(text, notebook) is None
    assert [cell.outputs for cell in cells(notebook)] == [cell.outputs for cell in before]


def test_a_cell_that_changed_must_be_run_and_not_copied(pair):
    text, notebook = pair
    text.write_text(text.read_text(encoding="utf-8").replace("import torch", "import torch  # !", 1), encoding="utf-8")
    before = notebook.read_bytes()
    assert not pairs.retold(text, notebook) and notebook.read_bytes() == before
    book, wanted = nbformat.read(notebook, as_version=4), jupytext.read(text)
    for old, new in zip(book.cells, wanted.cells, strict=True):
        old.source = new.source
    nbformat.write(book, notebook)
    assert "not executed as they stand" in pairs.problem(text, notebook)


def test_a_damaged_notebook_and_one_of_other_code_of_the_package_are_noticed(pair, monkeypatch):
    text, notebook = pair
    assert pairs.problem(text, notebook) is None
    whole = notebook.read_bytes()
    for damage, expected in (({"execution_count": None}, "never executed"), ({"source": "1 + 1"}, "differs")):
        book = nbformat.reads(whole, as_version=4)
        next(cell for cell in book.cells if cell.cell_type == "code").update(damage)
        nbformat.write(book, notebook)
        assert expected in pairs.problem(text, notebook)
    notebook.write_bytes(whole)
    monkeypatch.setattr(pairs, "pins", lambda: "torch==0")
    assert "other code of the package" in pairs.problem(text, notebook)


def test_a_chapter_that_fails_keeps_its_notebook_and_what_had_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pairs, "ROOT", tmp_path)
    text, notebook = tmp_path / "99_x.md", tmp_path / "99_x.ipynb"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in ("print(6 * 7)", "1 / 0")])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    jupytext.write(book, text, fmt="md:myst")
    notebook.write_text("as it was", encoding="utf-8")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        pairs.execute(text, notebook)
    assert notebook.read_text(encoding="utf-8") == "as it was"
    assert "42" in (tmp_path / "book" / "_build" / "partial" / "99_x.ipynb").read_text(encoding="utf-8")
    assert "partial/99_x.ipynb" in capsys.readouterr().err


def test_a_name_that_no_notebook_has_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["notebooks", "execute", "7"])
    with pytest.raises(SystemExit):
        pairs.main()
    assert "such as 07_recall_loss, got '7'" in capsys.readouterr().err
