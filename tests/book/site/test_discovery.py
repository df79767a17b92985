"""What lets a page be found: its title and description, and, with an address, a preview for links."""

import re

import pytest
import small_book
import yaml
from tools.notebooks import pairs
from tools.site import discovery

BASE = "https://someone.github.io/rankedu/latest/"
INDEX = """---
myst:
  html_meta:
    description: A book that is made for this test alone.
---

# The book

```{toctree}
one
```
"""
PAGE = """# One *chapter*

Here $λ$ is larger than "nothing" & `rank` is a function. A second sentence goes on. And a third, which is so long
that there is no room for it in the description of the page, although somebody links to it from some other place.

![A square, all blue](square.png)
"""
ABOUT = "Here λ is larger than “nothing” &amp; rank is a function. A second sentence goes on."


@pytest.mark.filterwarnings("ignore:'sphinx.environment")
@pytest.mark.parametrize("base", ["", BASE])
def test_a_page_is_described_in_its_head_and_has_a_preview_if_the_address_is_known(tmp_path, base):
    (tmp_path / "index.md").write_text(INDEX, encoding="utf-8")
    (tmp_path / "one.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "square.png").write_bytes((pairs.ROOT / "book" / "_static" / "rambo_fig_1.png").read_bytes())
    options = {"extensions": ["myst_parser", "tools.site.discovery"], "project": "Book", "html_theme": "basic"}
    options |= {"myst_enable_extensions": ["dollarmath", "smartquotes"], "html_baseurl": base}
    html = small_book.build(tmp_path, options, {".md": "markdown"})
    front, page = ((html / name).read_text(encoding="utf-8") for name in ("index.html", "one.html"))
    assert "<title>The book &#8212; an interactive textbook</title>" in front and "<title>One chapter &#8212;" in page
    assert front.count('name="description"') == 1 and "made for this test alone" in front
    assert f'<meta name="description" content="{ABOUT}">' in page
    preview = dict(re.findall(r'<meta property="og:(\w+)" content="(.*?)">', page))
    assert bool(preview) == bool(base)
    if base:
        assert preview["url"] == f"{base}one.html" and preview["title"] == "One chapter"
        assert preview["image"] == f"{base}_images/square.png" and (html / "_images" / "square.png").exists()


def test_the_site_follows_from_the_repository_and_the_authors_from_the_citation(monkeypatch):
    for address, site in {
        "https://github.com/someone/rankedu": BASE,
        "https://forge.example.org/a/b": "",
        "": "",
    }.items():
        monkeypatch.setattr(discovery.page_links, "address", lambda address=address: address)
        assert discovery.site() == site
    people = [{"name": "A group"}, {"given-names": "Jo", "family-names": "Doe"}]
    monkeypatch.setattr(yaml, "safe_load", lambda text: {"authors": people})
    assert discovery.authors() == "A group, Jo Doe"
