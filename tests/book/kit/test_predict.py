"""`%%predict` folds what a cell shows, gives it back to the pages, and hides no error; `text_says` compares digits."""

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from rankedu_book.kit import predict


@pytest.fixture
def run(monkeypatch):
    """Run a cell with `%%predict` and return the HTML that it shows."""
    shell = InteractiveShell.instance()
    monkeypatch.setattr(predict, "shell", shell)
    shell.magics_manager.register_function(predict.predict, "cell")

    def shown(line: str, cell: str) -> str:
        with capture_output() as captured:
            shell.run_cell(f"%%predict {line}\n{cell}").raise_error()
        assert captured.stdout == "" and len(captured.outputs) == 1, "nothing is shown beside the fold"
        return captured.outputs[0].data["text/html"]

    yield shown
    InteractiveShell.clear_instance()
    if hasattr(sys, "ps1"):
        del sys.ps1  # which the shell has set, and which says that somebody sits at a prompt


def test_what_a_cell_shows_is_inside_of_a_closed_fold_and_is_given_back_as_it_was(run):
    html = run("number", "print('a < b & c')\n40 + 2")
    before, inside = html.split("<details>")
    assert 'type="number"' in before and "42" not in before and inside.endswith("</details></div>")
    stream, result = predict.held(html)
    assert stream.text == "a < b & c\n" and result.data == {"text/plain": "42"}
    picture = (
        "from IPython.display import publish_display_data as show\nshow({'image/png': 'iVBO', 'text/plain': 'x'}, "
    )
    [given] = predict.held(run("fold", picture + "metadata={'image/png': {'alt': 'A \"b\"', 'width': 640}})"))
    assert given.data["image/png"] == "iVBO" and given.metadata["image/png"] == {"alt": 'A "b"', "width": 640}
    assert "<input" not in run("fold", "1") and run("choice 3", "1").count("<input") == 3
    assert run("words", "x = 7; x") == run("words", "x = 7; x"), "two runs print the same"


def test_an_error_is_not_folded_and_a_guess_is_of_a_known_kind(run):
    with pytest.raises(ZeroDivisionError):
        run("number", "1 / 0")
    for wrong in ("choice", "choice x", "numbers"):
        with pytest.raises(ValueError, match="%%predict must be followed by number, words, fold or 'choice 3', got"):
            run(wrong, "1")
