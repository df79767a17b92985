"""Notation and API reference agree with the package, and every public function says where it is explained."""

import inspect
import re

import pytest
from tools.notebooks import pairs
from tools.site import api_reference, generate

PARTS = ["blackbox", "hierarchy", "losses", "memory", "metrics", "rankers"]
ROOMS = ["rankedu", *(f"rankedu.{part}" for part in PARTS), "rankedu_lab.contestants", "rankedu_book.kit.solvers"]
#: What a ranker is made of: the guide for contributors explains it.
BASES = {"PairwiseRanker", "Ranker"}


def test_every_function_names_its_chapter_and_has_an_example():
    known = {row["identifier"] for row in generate.vocabulary()}
    assert known >= {"scores", "relevance", "where", "lam", "margin"}
    offered = {name: value for room in ROOMS for name, value in api_reference.public(room).items()}
    assert len(offered) > 50
    for name in offered.keys() - BASES:
        value, docstring = offered[name], inspect.getdoc(offered[name]) or ""
        if inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, Warning)):
            assert "Explained in chapter" in docstring and ">>>" in docstring, name


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    api_reference.write_pages(folder)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}


def test_every_part_of_the_library_has_a_page_and_the_front_page_leads_there(pages):
    parts = {path.stem for path in (pairs.ROOT / "rankedu").iterdir() if not path.name.startswith(("_", "py.typed"))}
    shown = {module.partition(".")[2] for page in api_reference.PAGES.values() for module in page.modules}
    assert parts - shown <= {"labels", "ranks", "pairs", "reference", "cli"}, "these have a page of another form"
    assert {"rank", "rank_among", "outranking_negatives"} <= set(api_reference.public("rankedu"))
    front = (pairs.ROOT / "book" / "api" / "index.md").read_text(encoding="utf-8")
    tree = re.search(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", front, re.DOTALL).group(1).split()
    assert tree == [*api_reference.PAGES, "cli"] and set(tree) == set(pages)
    assert all(f"{{ref}}`api-{name}`" in front and f"(api-{name})=" in pages[name] for name in tree)


def test_every_public_name_is_documented_and_every_option_of_a_command_is_there(pages):
    for module in (module for page in api_reference.PAGES.values() for module in page.modules):
        offered = api_reference.public(module)
        assert offered or module == "rankedu.proofs", module
        for thing, value in offered.items():
            assert api_reference.kind(value) == "data" or inspect.getdoc(value), f"{module}.{thing}"
    assert re.search(r"^\* `--chunk-size <int>`: .*  \[default: 1024\]$", pages["cli"], re.MULTILINE)


def test_chapters_become_links():
    lines = ["See chapters 1, 2 and 16", "    L. Default: all."]
    api_reference.prepare(None, "function", "f", None, None, lines)
    wanted = "See chapters :ref:`1 <ch-01>`, :ref:`2 <ch-02>` and :ref:`16 <ch-16>`"
    assert lines == [wanted, "    \\L. Default: all."]
