"""Every chapter is one text and one executed notebook, equal by content."""

import importlib.util
import re
import shutil
from pathlib import Path

import jupytext
import nbformat
import pytest
from tools import closure
from tools.notebooks import pairs
from tools.site import form

CHAPTERS = pairs.pairs()


def test_every_notebook_is_the_executed_text_and_none_is_without_a_text():
    assert {text.stem[:2] for text in CHAPTERS} >= {f"{number:02d}" for number in range(1, 17)}
    assert {str(text): why for text, notebook in CHAPTERS.items() if (why := pairs.problem(text, notebook))} == {}
    folders = (pairs.ROOT / "notebooks", *(pairs.ROOT / "notebooks" / name for name in ("labs", "solutions")))
    notebooks = {path for folder in folders for path in folder.glob("*.ipynb")}
    assert notebooks == set(CHAPTERS.values())
    assert CHAPTERS[pairs.ROOT / "book" / "errata.md"] == pairs.ROOT / "notebooks" / "errata.ipynb"
    assert pairs.address(next(iter(CHAPTERS))) == "chapters/01_rank_based_metrics.html"


def test_a_page_is_made_of_its_text():
    for text in pairs.pages():
        page = pairs.page(text)
        assert [cell.source for cell in page.cells] == [cell.source for cell in form.book(text).cells]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    text, notebook = next(iter(CHAPTERS.items()))
    return Path(shutil.copy(text, tmp_path)), Path(shutil.copy(notebook, tmp_path))


def outputs(notebook: Path) -> list:
    return [cell.outputs for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]


def test_a_new_text_is_taken_over_with_the_outputs_and_a_cell_that_changed_must_be_run(pair):
    text, notebook = pair
    whole, before = text.read_text(encoding="utf-8"), outputs(notebook)
    text.write_text(whole + "\nOne more sentence.\n", encoding="utf-8")
    assert "differs" in pairs.problem(text, notebook)
    assert pairs.take_over(text, notebook) and pairs.problem(text, notebook) is None and outputs(notebook) == before
    text.write_text(
        whole.replace("from rankedu_book.kit.notebook", "# !\nfrom rankedu_book.kit.notebook", 1), encoding="utf-8"
    )
    was = notebook.read_bytes()
    assert not pairs.take_over(text, notebook) and notebook.read_bytes() == was
    text.write_text(text.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    book = nbformat.read(notebook, as_version=4)
    for old, new in zip(book.cells, jupytext.read(text).cells, strict=True):
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


CELLS = (
    "import rankedu.cli\n\n```{code-cell} ipython3\n---\ntags: [a]\n---\n%matplotlib inline\nimport rankedu.ranks\n```"
)
BATCH_SIZE = {"book/_static/figures/batch-size.js", "book/_static/figures/batch-size.png"}
#: Code, and the files in which the names that it takes are defined, or the data that it names.
NAMED = [
    ("from rankedu.ranks import rank", {"rankedu/ranks.py"}),
    ("import rankedu\nrankedu.rank(y)", {"rankedu/ranks.py"}),
    ("def late():\n    from rankedu import rank", {"rankedu/ranks.py"}),
    ("from rankedu.losses import FastAPLoss", {"rankedu/losses/fast_ap.py"}),
    ("from rankedu import losses as L\nL.FastAPLoss()", {"rankedu/losses/__init__.py", "rankedu/losses/fast_ap.py"}),
    ("path = root / 'book' / 'data' / 'effects.json'", {"book/data/effects.json"}),
    ("play('batch-size')", BATCH_SIZE),
    (CELLS, {"rankedu/ranks.py"}),
    (CELLS.replace("---\ntags: [a]\n---", ":tags: [b]\n"), {"rankedu/ranks.py"}),
]


def test_a_name_depends_on_the_module_that_defines_it_and_on_no_other(tmp_path):
    for number, (code, wanted) in enumerate(NAMED):
        path = tmp_path / f"{number}.{'md' if code is CELLS or ':tags:' in code else 'py'}"
        path.write_text(code, encoding="utf-8")
        found = closure.imported(path) | closure.used(path)
        assert {one.relative_to(closure.ROOT).as_posix() for one in found} == wanted, code


def test_a_change_makes_stale_only_what_shows_it():
    def stale(*changed: str) -> set[str]:
        return {text.stem for text in CHAPTERS if closure.made_from(text) & {closure.ROOT / name for name in changed}}

    assert stale("lab/rankedu_lab/runs/sweeps.py", "lab/rankedu_lab/datasets/voc.py") == set()
    assert stale("rankedu/losses/happier.py") == {"14_happier", "15_baselines"}
    assert stale(*BATCH_SIZE) == {"05_minibatch_bias"}


_spec = importlib.util.spec_from_file_location("comparison", pairs.ROOT / "notebooks" / "conftest.py")
comparison = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(comparison)

SAME = {
    "0.5414529675558116": "0.5414529675558126",
    "5.264012995322622e-05": "5.2640129953231414e-05",
    "tensor([1., 0.123456, -3.000001])": "tensor([1., 0.123457, -3.000000])",
    "9.999999e-01": "1.000000e+00",
}
OTHER = {"16": "17", "0.97": "0.98", "1.00": "0.99", "0.1234": "0.1236", "0.5414": "-0.5414", "nan": "0.5"}
OTHER |= {"AP 0.541453": "mAP 0.541453", "1.5 2.5": "1.5", "1.0000001e-5": "1.0000001e-6"}


def test_pictures_that_are_held_back_and_the_names_of_cells_are_not_compared():
    def output(picture: str, kernel: int, line: str) -> list:
        html = f'<img src="data:image/png;base64,{picture}"> /some/where/ipykernel_{kernel}/{kernel}7.py:3: {line}'
        return [{"output_type": "display_data", "data": {"text/html": html}}]

    committed = output("iVBO", 11, "a warning")
    assert comparison.settled_outputs(output("iVBP", 234, "a warning"), committed) == committed
    assert comparison.settled_outputs(output("iVBO", 11, "another"), committed) != committed


def test_the_last_digits_are_the_processors_and_what_means_something_else_is_not_settled():
    assert {found: comparison.settled(found, committed) for found, committed in SAME.items()} == SAME
    for found, committed in OTHER.items():
        assert comparison.settled(found, committed) != committed, found


def test_no_notebook_names_a_file_of_the_machine_that_executed_it():
    named = re.compile(r'["\s(]((?:/[\w.-]+)+/(?:ipykernel_|(?:rankedu|rankedu_lab|rankedu_book)/)[\w/.]*)')
    assert named.search('"/some/where/lab/rankedu_lab/runs.py:1: Warning') and named.search(
        " /some/where/ipykernel_1/17.py:3"
    )
    notebooks = [*(pairs.ROOT / "notebooks").rglob("*.ipynb")]
    found = [path.name for path in notebooks if named.search(path.read_text(encoding="utf-8"))]
    assert len(notebooks) > 40 and found == []
