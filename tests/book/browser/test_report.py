"""What a page offers whoever finds a mistake: an issue that knows the page and the place, and its text to be mended."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import small_book
import yaml
from tools.notebooks import pairs
from tools.site import page_links

import rankedu

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser
GITHUB = "https://github.com/someone/rankedu"
FORMS = pairs.ROOT / ".github" / "ISSUE_TEMPLATE"
#: A page named as one of the book: a long way from one heading to the next, and an equation in the last.
PAGE = """# How to read

{0}

(sec-late)=
## A *late* section

{0}

$$a = b$$ (eq-late)

{0}
""".format("A line.\n\n" * 40)
OPTIONS = {
    "extensions": ["myst_parser", "tools.site.page_links"],
    "myst_enable_extensions": ["dollarmath"],
    "root_doc": "how-to-read",
    "html_theme": "sphinx_book_theme",
    "html_theme_options": {"article_footer_items": ["about-page.html"]},
    "html_static_path": [str(pairs.ROOT / "book" / "_static")],
    "templates_path": [str(pairs.ROOT / "book" / "_templates")],
    "mathjax_path": "kept.js",
}


def built(folder, monkeypatch, address):
    """The page, in a small book with this address."""
    monkeypatch.setattr(page_links, "address", lambda: address)
    folder.mkdir()
    (folder / "how-to-read.md").write_text(PAGE, encoding="utf-8")
    return small_book.build(folder, OPTIONS, {".md": "markdown"}) / "how-to-read.html"


@pytest.mark.filterwarnings("ignore:'sphinx.environment")
def test_with_an_address_an_issue_is_prepared_and_the_text_is_a_click_away_and_without_one_neither(
    tmp_path, monkeypatch, chromium
):
    without = built(tmp_path / "without", monkeypatch, "").read_text(encoding="utf-8")
    elsewhere = built(tmp_path / "elsewhere", monkeypatch, "https://forge.example.org/a/b").read_text(encoding="utf-8")
    assert not re.search(r"Report a mistake|Edit this page|issues/new|report\.js", without + elsewhere)
    page = chromium.new_page()
    page.goto(built(tmp_path / "with", monkeypatch, GITHUB).as_uri())
    assert page.get_by_role("link", name="Edit this page").get_attribute("href") == (
        f"{GITHUB}/edit/main/book/how-to-read.md"
    )
    links = page.get_by_role("link", name="Report a mistake on this page")
    expect(links).to_have_count(2)
    page.evaluate("document.addEventListener('click', (event) => event.preventDefault())")
    found = {}
    for place in ("h1", "#equation-eq-late"):
        page.evaluate("id => document.querySelector(id).scrollIntoView({block: 'center', behavior: 'instant'})", place)
        links.first.evaluate("link => link.click()")
        address = urlsplit(links.first.get_attribute("href"))
        assert f"{address.scheme}://{address.netloc}{address.path}" == f"{GITHUB}/issues/new"
        found[place] = {name: value for name, [value] in parse_qs(address.query).items()}
    assert found["h1"].pop("place") == "#how-to-read"
    assert found["#equation-eq-late"].pop("place") == "#sec-late, equation (1) #equation-eq-late"
    told = {"template": "mistake.yml", "title": "how-to-read: ", "page": "how-to-read"}
    told |= {"version": rankedu.__version__, "commit": page_links.commit()}
    assert found == dict.fromkeys(found, told) and re.fullmatch(r"[0-9a-f]{40}(-dirty)?", told["commit"])
    page.close()
    fields = {field.get("id") for field in yaml.safe_load((FORMS / "mistake.yml").read_text("utf-8"))["body"]}
    assert told.keys() - {"template", "title"} | {"place"} <= fields


def test_every_form_asks_at_least_one_thing_and_names_it():
    forms = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in FORMS.glob("*.yml") if path.stem != "config"]
    assert len(forms) == 3
    for form in forms:
        assert {"name", "description", "body"} <= form.keys()
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids)) and all(field["attributes"]["label"] for field in form["body"])
        assert any(field.get("validations", {}).get("required") for field in form["body"])
