"""What the pages' scripts are told: the paths with their addresses and minutes, and the text that the search shows."""

from __future__ import annotations

import json
import re

import pytest
from docutils.core import publish_doctree
from tools.site import excerpts, reading

DATA = reading.script_data()


@pytest.mark.parametrize("way", reading.ways(), ids=lambda way: way.name)
def test_a_path_has_its_steps_with_the_minutes_that_the_front_page_tells(way):
    told = next(one for one in DATA["ways"] if one["name"] == way.name)
    assert told["title"] == way.title and [one["minutes"] for one in told["steps"]] == list(
        map(reading.minutes, way.steps)
    )
    for step, one in zip(way.steps, told["steps"], strict=True):
        page, _, anchor = one["address"].partition("#")
        assert anchor == ("" if step not in reading.homes() or step.startswith("ch-") else step)
        text = (reading.BOOK / page).with_suffix(".md").read_text(encoding="utf-8")
        assert f"({step})=" in text or page == f"{step}.html"
        assert one["title"] and not re.search(r"[$`*{}]", one["title"])


def test_pages_have_their_minutes_and_the_number_of_their_predictions():
    assert {step["address"].partition("#")[0] for way in DATA["ways"] for step in way["steps"]} <= set(DATA["pages"])
    for page, told in DATA["pages"].items():
        text = (reading.BOOK / page).with_suffix(".md").read_text(encoding="utf-8")
        assert told["minutes"] >= 1 and told["predictions"] == len(re.findall(r"\} Predict\b", text)), page


def test_the_data_is_a_script_that_needs_no_network(tmp_path):
    reading.write_script(tmp_path)
    head, _, told = (tmp_path / "paths.js").read_text(encoding="utf-8").partition("window.bookPaths = ")
    assert head.startswith("/*") and json.loads(told.rstrip(";\n")) == DATA


PAGE = """
A page
======
First words, with *emphasis*.

.. math:: x^2

::

   code()

Within
------
- one
- two

Deeper
~~~~~~
Last words.

.. raw:: html

   <svg></svg>

|line| done.

.. |line| raw:: html

   <hr>
"""


def test_an_excerpt_has_the_prose_of_its_section_alone():
    found = excerpts.sections(publish_doctree(PAGE, settings_overrides={"doctitle_xform": False}))
    assert found == {"": "First words, with emphasis.", "within": "one two", "deeper": "Last words. done."}
