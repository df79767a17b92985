"""What a chapter or a lab asks its reader to predict: a field of its kind, and outputs that are folded until then."""

from __future__ import annotations

import re

import pytest
from tools.notebooks import pairs

PAGES = sorted([*(pairs.ROOT / "book" / "chapters").glob("*.md"), *(pairs.ROOT / "book" / "labs").glob("*.md")])
PREDICTION = re.compile(
    r"\{admonition\} Predict\n:class: predict ?(\w*)\n(.*?)\n:::\n(.*?)\{admonition\} Reveal", re.DOTALL
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_prediction_asks_for_something_to_commit_to_and_its_outputs_are_folded(path):
    """The fold of the page is a script's; in JupyterLab it is in the metadata of the cells."""
    text = path.read_text(encoding="utf-8")
    found = PREDICTION.findall(text)
    assert len(found) == text.count("{admonition} Predict")
    assert len(found) >= (2 if path.parent.name == "chapters" else 1)
    for kind, question, answer in found:
        assert kind in {"number", "choice", "order", "curve", "words"}, question
        options = re.findall(r"^- .+", question.strip().rpartition("\n\n")[2], re.MULTILINE)
        assert (len(options) >= 3) == (kind in {"choice", "order"}), question
        for cell in re.findall(r"```\{code-cell\}.*?\n```", answer, re.DOTALL):
            assert "outputs_hidden: true" in cell or "remove-cell" in cell, cell
