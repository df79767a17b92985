"""The book as an EPUB: well-formed, whole, and its links lead to what is inside."""

import posixpath
import re
import struct
import zipfile
import zlib
from xml.etree import ElementTree

import pytest
from PIL import Image
from tools.site import offline, paper

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


def test_a_packed_pdf_holds_every_object_where_its_table_says():
    bodies = [b"<</Type /Catalog\n/Pages 2 0 R>>", b"<</Kids []>>", b"<</Length 5>> stream\nendob\nendstream", b"[1 2]"]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<</Size 5\n/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(made)
    pdf = paper.packed(made + b"xref\n0 5\n0000000000 65535 f \n" + rows + trailer)

    def stream(at):
        head, _, rest = pdf[at:].partition(b"\nstream\n")
        return head, zlib.decompress(rest.partition(b"\nendstream")[0])

    head, table = stream(int(pdf.split()[-2]))
    assert b"/Size 7" in head and b"/Root 1 0 R" in head and b"/W [1 4 2]" in head
    found = [struct.unpack(">BIH", table[at : at + 7]) for at in range(0, len(table), 7)]
    assert [kind for kind, _, _ in found] == [0, 2, 2, 1, 2, 1, 1]
    assert pdf[found[3][1] :].startswith(b"3 0 obj\n" + bodies[2])
    head, packed = stream(found[5][1])
    first = int(re.search(rb"/First (\d+)", head)[1])
    pairs = [*map(int, packed[:first].split())]
    starts = dict(zip(pairs[::2], pairs[1::2], strict=True))
    assert [*starts] == [1, 2, 4] and [place for _, _, place in (found[n] for n in starts)] == [0, 1, 2]
    assert all(packed[first + at :].startswith(bodies[number - 1]) for number, at in starts.items())
