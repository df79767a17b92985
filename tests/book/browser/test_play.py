"""Exercises in the page: starters are refused, known mistakes are named, solutions accepted, endless loops stopped."""

import html
import re
import shutil
from functools import cache

import jupytext
import pytest
import walk
from tools.site.play import starter, thin

from rankedu_book.kit.check import find, names
from rankedu_book.kit.play import PAGE, engine, in_page, script

IN_PAGE = [name for name in names() if in_page(find(name))]


@cache
def cells(folder, tag):
    """Name of an exercise → its cell, from the texts of the chapters or of the solutions."""
    found = {}
    for path in sorted((walk.pairs.ROOT / "book" / folder).glob("*.md")):
        for cell in jupytext.read(path).cells:
            name = re.search(r'check\("(\w+)"', cell.source)
            if name and tag in cell.metadata.get("tags", []):
                found[name[1]] = cell.source
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page with all boxes, as it lies on a disk."""
    folder = tmp_path_factory.mktemp("play")
    for path in (walk.pairs.ROOT / "book" / "_static" / "kept.js", *PAGE.iterdir()):
        shutil.copy(path, folder)
    (folder / "engine.js").write_text(script(), encoding="utf-8")
    box = (
        '<div class="code-box" data-exercise="{}">'
        '<div class="tag_exercise"><div class="cell_input"><pre>{}</pre></div></div>'
        '<div class="solution"><pre>{}</pre></div></div>'
    )
    starters, solutions = cells("chapters", "exercise"), cells("solutions", "solution")
    boxes = [box.format(name, html.escape(starters[name]), html.escape(solutions[name])) for name in IN_PAGE]
    example = (
        '<div data-try class="code-box"><pre>from rankedu.reference import rank\nprint(rank([0.5, 0.9]))</pre></div>'
    )
    walk.written(folder, "page", ("play.css", "kept.js", "play.js"), "".join(boxes) + example)
    return folder


@pytest.fixture
def page(visit, folder):
    return visit((folder / "page.html").as_uri())


def answer(page, name, code=None):
    """Check a box, after writing code into it: the verdict and what is said."""
    box = page.locator(f'[data-exercise="{name}"]')
    if code is not None:
        box.locator("textarea").fill(code)
    box.get_by_role("button", name="Check").click()
    walk.until(page, f"""() => document.querySelector('[data-exercise="{name}"]').dataset.verdict""")
    return box.get_attribute("data-verdict"), box.locator(".code-box-said").inner_text()


def table(name, values):
    """A function that returns these values, one after the other."""
    given = f'nan, inf = float("nan"), float("inf")\nvalues = iter({values!r})\n'
    return given + f'check("{name}", lambda *given: next(values))'


def test_at_least_39_exercises_run_in_the_page_which_loads_little_before_the_first_click(page):
    assert len(IN_PAGE) >= 39
    assert sum(len(thin(path).encode()) for path in PAGE.iterdir()) <= 5_000
    assert not [url for url in page.requests if url.endswith("engine.js")]


def test_what_stands_under_a_listing_runs():
    texts = [path.read_text(encoding="utf-8") for path in (walk.pairs.ROOT / "book" / "chapters").glob("*.md")]
    listings = [
        re.findall(r"reference\.(\w+)", one) for text in texts for one in re.findall(r"show_source\(([^)]*)", text)
    ]
    assert len(listings) > 10
    for names_shown in filter(None, listings):
        exec(starter(names_shown), {})


def test_starters_are_refused_known_mistakes_named_and_solutions_accepted(page):
    wrong = []
    for name in IN_PAGE:
        if answer(page, name)[0] == "right" or "three dots" not in answer(page, name)[1]:
            wrong.append(f"{name}: the starter gets {answer(page, name)}")
        known = {"nan": float("nan"), "inf": float("inf")}
        exec(engine.definition(find(name)), known)
        for values, hint in known["exercise"][2]:
            if "" not in values and hint not in answer(page, name, table(name, values))[1]:
                wrong.append(f"{name}: {hint!r} gets {answer(page, name, table(name, values))}")
        verdict, said = answer(page, name, cells("solutions", "solution")[name])
        if verdict != "right":
            wrong.append(f"{name}: the solution gets {verdict}: {said}")
    assert not wrong, "\n".join(wrong)


def test_an_endless_loop_is_stopped_and_the_page_stays_usable(page):
    name = IN_PAGE[0]
    assert answer(page, name, "while True:\n    pass")[0] == "stopped"
    assert answer(page, name, cells("solutions", "solution")[name])[0] == "right"
    box = page.locator(f'[data-exercise="{name}"]')
    box.locator("textarea").fill("while True:\n    pass")
    box.get_by_role("button", name="Check").click()
    box.get_by_role("button", name="Stop").click()
    assert box.get_attribute("data-verdict") == "stopped"


def test_what_the_reader_wrote_is_kept_and_errors_name_their_line(page):
    name = IN_PAGE[0]
    verdict, said = answer(page, name, "import numpy")
    assert verdict == "error" and "rankedu.reference" in said
    verdict, said = answer(page, name, f'def mine(scores):\n    return scores.sum()\n\ncheck("{name}", mine)')
    assert verdict == "error" and "(line 2)" in said and "for scores=" in said
    page.reload()
    assert "scores.sum()" in page.locator("textarea").first.input_value()
    box = page.locator("[data-try]")
    box.get_by_role("button", name="Run").click()
    walk.until(page, "() => document.querySelector('[data-try]').dataset.verdict")
    assert box.locator(".code-box-said").inner_text().strip() == "[2, 1]"


def test_keyboard_hint_and_solution(page):
    box = page.locator("[data-exercise]").first
    box.locator("textarea").click()
    assert page.evaluate("getSelection().toString()") == "...", "what is typed takes the place of the three dots"
    page.keyboard.press("Control+Enter")
    walk.until(page, "() => document.querySelector('[data-exercise]').dataset.verdict")
    box.get_by_role("button", name="Hint").click()
    assert box.locator(".code-box-hints li").first.inner_text() == find(IN_PAGE[0]).statement
    assert not box.locator(".solution").is_visible()
    box.get_by_role("button", name="Solution").click()
    assert box.locator(".solution").is_visible()
