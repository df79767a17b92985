"""What a chapter or a lab asks its reader to predict: something to commit to, its answer folded until then."""

import re

import pytest
from tools.notebooks import pairs

PAGES = sorted(path for folder in ("chapters", "labs") for path in (pairs.ROOT / "book" / folder).glob("*.md"))
PREDICTION = re.compile(
    r"\{admonition\} Predict\n:class: predict ?(\w*)\n(.*?)\n:::\n(.*?)\{admonition\} Reveal", re.DOTALL
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_prediction_is_followed_by_its_experiment_folded_and_a_reveal(path):
    """The fold of the page is a script's; in JupyterLab it is in the metadata of the cells."""
    text, chapter = path.read_text(encoding="utf-8"), path.parent.name == "chapters"
    found = PREDICTION.findall(text)
    assert len(found) == text.count("{admonition} Predict") >= 1 + chapter
    assert not chapter or len(found) == text.count("{admonition} Reveal")
    for kind, question, answer in found:
        assert kind in {"number", "choice", "order", "curve", "words"}, question
        options = re.findall(r"^- .+", question.strip().rpartition("\n\n")[2], re.MULTILINE)
        assert (len(options) >= 3) == (kind in {"choice", "order"}), question
        cells = re.findall(r"```\{code-cell\}.*?\n```", answer, re.DOTALL)
        assert cells and "admonition" not in answer.rpartition("\n")[0], "between the two stands the experiment"
        assert all("outputs_hidden: true" in cell or "remove-cell" in cell for cell in cells), question
