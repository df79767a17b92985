"""The book as an EPUB: well-formed, whole, and its links lead to what is inside."""

import posixpath
import zipfile
from xml.etree import ElementTree

import pytest
from PIL import Image
from tools.site import offline

INDEX = """<nav class="bd-links"><a class="internal" href="#">Home</a>
<a class="internal" href="chapters/one.html">1</a></nav><article class="bd-article"><h1>Home</h1><p id="top">To
<a href="chapters/one.html#deep">it</a>, <a href="_static/some.zip">a file</a></p><script>no()</script></article>"""
ONE = r"""<article class="bd-article"><h1>One</h1><p id="deep">A rank, <span class="math">\(r_i\)</span>, as
<a href="../index.html#top">there</a>, <a href="#deep">here</a> and <a href="https://example.org/">elsewhere</a></p>
<img src="../_images/dot.webp" alt="a dot" loading="lazy"><input value="4"><svg class="icon"></svg>
<details><summary><p class="expanded">Hide</p><p>Show</p></summary><p><p>Twice</p></p></details>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg> <span class="math">\(\tfrac{1}{2}\)</span></article>"""


@pytest.fixture
def book(tmp_path, monkeypatch):
    for folder in ("chapters", "_images", "_static"):
        (tmp_path / folder).mkdir()
    for name, text in {"index": INDEX, "chapters/one": ONE}.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    for name in ("build.json", "_static/pygments.css", "_static/live.css"):
        (tmp_path / name).touch()
    Image.new("RGB", (1, 1)).save(tmp_path / "_images" / "dot.webp")
    monkeypatch.setattr(offline, "HTML", tmp_path)
    return offline.pages(offline.contents())


def test_an_epub_is_well_formed_and_its_links_lead_inside(book, tmp_path):
    made = zipfile.ZipFile(offline.as_epub(book, tmp_path / "book.epub"))
    first, *names = made.infolist()
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    texts = {one.filename: made.read(one).decode() for one in names if one.filename.endswith(("ml", "opf"))}
    elements = [(name, element) for name, text in texts.items() for element in ElementTree.fromstring(text).iter()]
    links = [(name, one.get("href") or one.get("src")) for name, one in elements if {*one.keys()} & {"href", "src"}]
    for name, link in links:
        inside = posixpath.join(posixpath.dirname(name), link.partition("#")[0])
        assert link.startswith("https:") or inside in made.namelist(), (name, link)
    assert {"index.xhtml#top", "chapters-one.xhtml#deep", "pictures/_images-dot.png"} <= {link for _, link in links}
    one = texts["book/chapters-one.xhtml"]
    assert "<msub>" in one and not any(left in one for left in ("\\(", "<input", "loading", "icon", "Hide", "viewbox"))
    assert "<summary><span>Show</span></summary><p>Twice</p>" in one and 'viewBox="0 0 1 1"' in one
    assert 'scriptlevel="0"><mfrac>' in one and "<mstyle" in one
    assert 'properties="mathml svg"' in texts["book/book.opf"]
    assert not any(left in texts["book/index.xhtml"] for left in ("no()", "some.zip"))
