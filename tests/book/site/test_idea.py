"""The page of thirty minutes: its code runs and answers as printed, and it is as short as it says."""

from __future__ import annotations

import doctest
import re

from tools.notebooks import pairs

PAGE = (pairs.ROOT / "book" / "idea.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_what_is_typed_answers_as_printed():
    session, runner = {}, doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for number, text in enumerate(blocks("pycon")):
        example = doctest.DocTestParser().get_doctest(text, session, f"block {number}", "idea.md", 0)
        assert example.examples
        runner.run(example, clear_globs=False)
        session.update(example.globs)
    assert runner.summarize(verbose=False).failed == 0


def test_the_losses_run_and_push_as_the_page_says(capsys):
    session: dict = {}
    for text in blocks("python"):
        exec(text, session)
    pushed = session["scores"].grad
    assert pushed.tolist() == [0.25, -0.25, 0.25, -0.25, 0.0] and str(pushed) in capsys.readouterr().out
    assert session["embeddings"].grad.norm() > 0


def test_it_can_be_read_in_thirty_minutes():
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert 1200 < len(prose.split()) < 2200
    assert PAGE.count("{live}") >= 5 and PAGE.count(":class: predict ") >= 4
