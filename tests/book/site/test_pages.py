"""What a page holds: its address, what can be taken from it, what is folded, what is asked before it is shown."""

import re
from email.message import Message
from urllib.parse import quote

import nbformat
import pytest
import small_book
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tools.closure import imported
from tools.notebooks import pairs
from tools.site import form, page_links

import rankedu

GITHUB = "https://github.com/someone/rankedu"
CHAPTER = "chapters/01_rank_based_metrics"
FILE, NOTEBOOK = f"book/{CHAPTER}.md", "notebooks/01_rank_based_metrics.ipynb"


def test_the_address_comes_from_one_place_is_whole_and_lets_github_edit_and_launch(monkeypatch):
    package = Message()
    monkeypatch.setattr(page_links.importlib.metadata, "metadata", lambda name: package)
    for given, found in {"": "", GITHUB: GITHUB, f"{GITHUB}/": GITHUB, f"{GITHUB}.git": GITHUB}.items():
        monkeypatch.setenv("RANKEDU_REPOSITORY", given)
        assert page_links.address() == found
    for wrong in ("github.com/someone/rankedu", "http://github.com/a/b", "https://github.com/someone"):
        monkeypatch.setenv("RANKEDU_REPOSITORY", wrong)
        with pytest.raises(ValueError, match="RANKEDU_REPOSITORY must read https://host/owner/name"):
            page_links.address()
    monkeypatch.delenv("RANKEDU_REPOSITORY")
    package["Project-URL"] = f"Repository, {GITHUB}"
    found = page_links.about(CHAPTER)
    assert found["edit"] == f"{GITHUB}/edit/main/{FILE}" and found["history"] == f"{GITHUB}/commits/main/{FILE}"
    shown = f"blob/gh-pages/{rankedu.__version__}/_static/{NOTEBOOK}"
    assert found["launch"] == {
        "Colab": f"https://colab.research.google.com/github/someone/rankedu/{shown}",
        "Kaggle": f"https://www.kaggle.com/kernels/welcome?src={quote(f'{GITHUB}/{shown}', safe='')}",
        "Binder": f"https://mybinder.org/v2/gh/someone/rankedu/main?urlpath=lab/tree/{NOTEBOOK}",
    }
    assert page_links.about("glossary")["launch"] == {}
    monkeypatch.setenv("RANKEDU_REPOSITORY", "https://forge.example.org/a/b")
    found = page_links.about(CHAPTER)
    assert "edit" not in found and not found["launch"]
    assert page_links.sources(CHAPTER) == [FILE, NOTEBOOK]
    assert page_links.sources("how-to-read") == ["book/how-to-read.md"] and page_links.sources("genindex") == []


def test_a_chapter_has_notebooks_to_take_with_its_cells_and_no_outputs_and_a_page_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(page_links, "address", lambda: "")
    found = page_links.about(CHAPTER)["downloads"]
    address, exercises = f"_static/{NOTEBOOK}", f"_static/{NOTEBOOK}".replace("notebooks/", "notebooks/exercises/")
    assert found == {"Notebook": address, "Exercises": exercises}
    assert list(page_links.about("labs/retrieval")["downloads"].values()) == ["_static/notebooks/labs/retrieval.ipynb"]
    assert page_links.about("glossary")["downloads"] == page_links.about("genindex")["downloads"] == {}
    page_links.write_notebooks(tmp_path)
    for taken in found.values():
        original = page_links.ROOT / taken.removeprefix("_static/")
        made, was = (nbformat.read(path, as_version=4) for path in (tmp_path / taken, original))
        assert [cell.source for cell in made.cells] == [cell.source for cell in was.cells]
        assert not any(cell.get("outputs") for cell in made.cells) and set(made.metadata) == {"kernelspec"}
        nbformat.validate(made)
    monkeypatch.setattr(page_links, "address", lambda: GITHUB)
    page_links.write_notebooks(tmp_path / "addressed")
    for taken in found.values():
        made = nbformat.read(tmp_path / "addressed" / taken, as_version=4)
        nbformat.validate(made)
        assert f"fetch --depth 1 {GITHUB} {page_links.commit()[:40]}" in made.cells[0].source
        exec(compile(made.cells[0].source, taken, "exec"), {})  # where the book is installed it does nothing
    needed = page_links.needs()
    assert {"matplotlib>=3.8", "torchmetrics>=1.4", "torchvision>=0.19"} <= set(needed)
    assert not [one for one in needed if one.startswith(("torch>", "jupyterlab", "rankedu", "myst-nb"))]
    chapters = [text for text in pairs.pairs() if text.parent.name == "chapters"]
    without = [text.stem for text in chapters if not any("rankedu_book" in path.parts for path in imported(text))]
    assert not without, "the page Release says that the wheel alone is enough for no chapter"


#: What begins each fold of the page below.
FOLDED = ["oproof", "sanswer", "sfigure", "ofigure", "ostub", "oaside", "otable"]


@pytest.mark.filterwarnings("ignore:'sphinx.environment")
def test_what_stands_beside_the_story_is_folded_and_nothing_else(tmp_path):
    def cell(word, **about):
        return new_code_cell(f"s{word}", metadata=about, outputs=[new_output("stream", text=f"o{word}\n")])

    hidden = {"source_hidden": True, "outputs_hidden": True}
    cells = [
        new_markdown_cell("# A chapter\n\n```{prf:proof}\noproof\n```"),
        cell("plain"),
        new_markdown_cell(":::{admonition} Predict\n:class: predict words\nWhat comes?\n:::"),
        cell("answer", jupyter=hidden),
        new_markdown_cell(":::{admonition} Reveal\n:class: reveal\nThis.\n:::"),
        cell("figure", jupyter=hidden),
        cell("stub", tags=["exercise"]),
        new_markdown_cell("(sec-main)=\n## A story\n\nostory"),
        new_markdown_cell("(aside-cost)=\n(sec-cost)=\n## What it costs\n\noaside"),
        cell("cost"),
        new_markdown_cell("## Paper map\n\n| source | here |\n|---|---|\n| Eq. 1 | otable |"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "index.ipynb")
    extensions = ["myst_nb", "sphinx_proof", "sphinx_togglebutton", "tools.site.folds"]
    options = {"extensions": extensions, "nb_execution_mode": "off", "myst_enable_extensions": ["colon_fence"]}
    html = small_book.build(tmp_path, options, {".ipynb": "myst-nb"})
    page = (html / "index.html").read_text(encoding="utf-8")
    inside = page.split('<section id="a-chapter">')[1]
    folds = re.split(r'<(?:div|table) class="[^"]*\btoggle\b[^"]*">', inside)[1:]
    words = r"\b[so](?:proof|plain|answer|figure|stub|story|aside|cost|table)\b"
    assert [re.findall(words, fold)[0] for fold in folds] == FOLDED
    assert re.findall(words, folds[5]) == ["oaside", "scost", "ocost"], "the section with its cells"
    assert 'id="proof-content"' not in page, "every proof has it"


PAGES = sorted(path for folder in ("chapters", "labs") for path in (pairs.ROOT / "book" / folder).glob("*.md"))
PAGES = [path for path in PAGES if path.stem != "figures"]  # it draws, and predicts nothing
PREDICTION = re.compile(r"(?s)\{admonition\} Predict\n:class: predict ?(\w*)\n(.*?)\n:::\n(.*?)\{admonition\} Reveal")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_prediction_is_followed_by_its_experiment_folded_and_a_reveal(path):
    text, chapter = form.text(path), path.parent.name == "chapters"
    found = PREDICTION.findall(text)
    least = 2 if chapter and "short: true" not in text else 1
    assert len(found) == text.count("{admonition} Predict") >= least
    assert not chapter or len(found) == text.count("{admonition} Reveal")
    for kind, question, answer in found:
        assert kind in {"number", "choice", "order", "curve", "words"}, question
        options = re.findall(r"^- .+", question.strip().rpartition("\n\n")[2], re.MULTILINE)
        assert (len(options) >= 3) == (kind in {"choice", "order"}), question
        cells = re.findall(r"```\{code-cell\}.*?\n```", answer, re.DOTALL)
        assert cells and "admonition" not in answer.rpartition("\n")[0], "between the two stands the experiment"
        hidden = ["outputs_hidden: true" in cell or "remove-cell" in cell for cell in cells]
        assert all(hidden) or (any(hidden) and not chapter), question  # a lab's training prints nothing


def test_the_menu_has_at_most_thirty_entries():
    front = (pairs.ROOT / "book" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)\n```", front, re.DOTALL)
    listed = [entry for tree in trees for entry in tree.splitlines()]
    chapters = list((pairs.ROOT / "book" / "chapters").glob("*.md"))
    assert listed.count("chapters/*") == 1 and len(listed) - 1 + len(chapters) <= 30
