"""The book as an EPUB: every page is XHTML, formulas are MathML, and a figure to play with is a picture."""

import zipfile
from xml.etree import ElementTree

import pytest
from tools.site import offline

PAGE = r"""# One

A rank, $r_i$, and a fraction, {eq}`eq-half`; see {doc}`index`.

$$\tfrac{1}{2}$$ (eq-half)

```{raw} html
<figure class="play" id="figure-x"><img src="../_static/rambo_fig_1.png" alt="a dot"><input value="4"></figure>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>
```
"""


@pytest.fixture
def book(tmp_path, monkeypatch):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "index.md").write_text("# The book\n\n```{toctree}\none\n```\n", encoding="utf-8")
    (tmp_path / "source" / "one.md").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(offline, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(offline, "MADE", tmp_path / "made")
    return zipfile.ZipFile(offline.run_sphinx("epub") / "book.epub")


def test_an_epub_is_well_formed_and_has_formulas_and_figures(book):
    pages = {name: book.read(name).decode() for name in book.namelist() if name.endswith(("xhtml", "opf", "ncx"))}
    assert all(ElementTree.fromstring(text) is not None for text in pages.values()) and "one.xhtml" in pages
    one = pages["one.xhtml"]
    assert all(
        part in one for part in ("<msub>", "<mfrac", "(1)", "rambo_fig_1.png", "It can be played with", 'viewBox="0')
    )
    assert "<input" not in one and "<script" not in one and "_static/rambo_fig_1.png" in book.namelist()
