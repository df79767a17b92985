"""A reader's copies are pairs, and none that the reader has changed is ever overwritten."""

import jupytext
import nbformat
from tools import copies


def test_a_changed_copy_stays_and_a_newer_edition_comes_beside_it(tmp_path):
    repository, folder = tmp_path / "repository", tmp_path / "mine"

    def publish(name: str, words: str) -> None:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(words)])
        book.metadata["jupytext"] = {"formats": "notebooks//ipynb,book/chapters//md:myst"}
        for path, kind in ((f"notebooks/{name}.ipynb", "ipynb"), (f"book/chapters/{name}.md", "md:myst")):
            (repository / path).parent.mkdir(parents=True, exist_ok=True)
            jupytext.write(book, repository / path, fmt=kind)

    def files() -> dict[str, str]:
        found = (path for path in folder.rglob("*") if path.is_file() and path.name != copies.RECORD)
        return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}

    for name in ("01_a", "02_b"):
        publish(name, "The first edition.")
    assert copies.renew(folder, repository) == [] and len(files()) == 4
    mine = folder / "notebooks" / "01_a.ipynb"
    mine.write_text(mine.read_text(encoding="utf-8").replace("first", "reader's"), encoding="utf-8")
    before = files()
    assert copies.renew(folder, repository) == [] and files() == before, "nothing is new"
    for name in ("01_a", "02_b"):
        publish(name, "The second edition.")
    assert copies.renew(folder, repository) == [folder / "notebooks" / "01_a-2.ipynb"]
    now = files()
    assert {name: now[name] for name in before if "01_a" in name} == {n: t for n, t in before.items() if "01_a" in n}
    assert "second" in now["notebooks/02_b.ipynb"] and "second" in now["book/chapters/01_a-2.md"]
    assert len(now) == 6
    publish("01_a", "The third edition.")
    assert copies.renew(folder, repository) == [], "the second was never touched, so the third replaces it"
    assert len(files()) == 6 and "third" in files()["notebooks/01_a-2.ipynb"]
