"""What lets a page be found: its title and description, its plain text, and, with an address, previews and a map."""

import json
import re

import pytest
import small_book
import yaml
from tools.notebooks import pairs
from tools.site import discovery, reading

BASE = "https://someone.github.io/rankedu/latest/"
INDEX = """---
myst:
  html_meta:
    description: A book that is made for this test alone.
---

# The book

Words.

```{toctree}
chapters/one
```
"""
PAGE = r"""# One *chapter*

Here $λ$ is larger than "nothing" & `rank` is a function. A second sentence goes on. And a third, which is so long
that there is no room for it in what is said of the page by whoever links to it from some other place.

## A part

$$a = b$$ (eq-one)

- an item
- another

| a | b |
|---|---|
| 1 | 2 |

![A square, all blue](../square.png)

```{raw} html
<figure><figcaption>Drag it.</figcaption><svg></svg></figure>
<table><tr><th>c</th></tr><tr><td>30.1
± <b>0.1</b></td></tr></table>
```

```python
rank(scores)
```
"""
TEXT = r"""# One chapter

Here $λ$ is larger than “nothing” & `rank` is a function. A second sentence goes on. And a third, which is\
 so long that there is no room for it in what is said of the page by whoever links to it from some other place.

## A part

$$
a = b
$$ (1)

- an item

- another

| a | b |
| 1 | 2 |

[Picture: A square, all blue]

[Figure to move: Drag it.]

| c |
| 30.1 ± 0.1 |

```
rank(scores)
```
""".replace("\\\n", "")
SAYS = "Here λ is larger than “nothing” & rank is a function. A second sentence goes on."


def built(folder, base):
    (folder / "chapters").mkdir(parents=True)
    (folder / "index.md").write_text(INDEX, encoding="utf-8")
    (folder / "chapters" / "one.md").write_text(PAGE, encoding="utf-8")
    (folder / "square.png").write_bytes((pairs.ROOT / "book" / "_static" / "rambo_fig_1.png").read_bytes())
    options = {"extensions": ["myst_parser", "tools.site.discovery"], "project": "Book", "author": "Jo Doe"}
    options |= {"myst_enable_extensions": ["dollarmath", "smartquotes"], "html_baseurl": base, "html_theme": "basic"}
    return small_book.build(folder, options, {".md": "markdown"})


@pytest.mark.filterwarnings("ignore:'sphinx.environment")
@pytest.mark.parametrize("base", ["", BASE])
def test_a_page_says_what_it_is_in_its_head_and_in_a_plain_text_and_names_no_address_that_is_not_known(tmp_path, base):
    html = built(tmp_path / "book", base)
    front, page = ((html / name).read_text(encoding="utf-8") for name in ("index.html", "chapters/one.html"))
    assert "<title>The book &#8212; an interactive textbook</title>" in front and "<title>One chapter &#8212;" in page
    assert front.count('name="description"') == 1 and "made for this test alone" in front
    assert f'<meta name="description" content="{SAYS.replace("&", "&amp;")}">' in page
    assert (html / "texts" / "chapters" / "one.md").read_text(encoding="utf-8") == TEXT
    assert (html / "llms.txt").read_text(encoding="utf-8") == (
        "# Book\n\n> A book that is made for this test alone.\n\n## The book\n\n"
        f"- [The book]({base}texts/index.md): A book that is made for this test alone.\n\n## Chapters\n\n"
        f"- [One chapter]({base}texts/chapters/one.md): {SAYS}\n"
    )
    about = dict(re.findall(r'<meta property="og:(\w+)" content="(.*?)">', page))
    assert ("ld+json" in front, bool(about), (html / "sitemap.xml").exists()) == (bool(base),) * 3
    if base:
        assert about["url"] == f"{base}chapters/one.html" and about["title"] == "One chapter"
        assert about["image"] == f"{base}_images/square.png" and (html / "_images" / "square.png").exists()
        course = json.loads(re.search(r"ld\+json\">(.*?)</script>", front)[1])
        assert course["@type"] == "Course" and course["provider"]["name"] == "Jo Doe" and course["url"] == base
        assert [one["name"] for one in course["hasPart"]] == [one.title for one in reading.chapters().values()]
        urls = re.findall("<loc>(.*?)</loc>", (html / "sitemap.xml").read_text(encoding="utf-8"))
        assert urls == [f"{base}chapters/one.html", f"{base}index.html"]


def test_the_site_follows_from_the_repository_and_the_authors_from_the_citation(monkeypatch):
    told = {"https://github.com/someone/rankedu": BASE, "https://forge.example.org/a/b": "", "": ""}
    for address, site in told.items():
        monkeypatch.setattr(discovery.page_links, "address", lambda address=address: address)
        assert discovery.site() == site
    people = [{"name": "A group"}, {"given-names": "Jo", "family-names": "Doe"}]
    monkeypatch.setattr(yaml, "safe_load", lambda text: {"authors": people})
    assert discovery.authors() == "A group, Jo Doe"
