"""The errata page: every row has where it was seen, a cell, what follows from it, and what `rankedu` does."""

from __future__ import annotations

import ast
import re

import jupytext
import pytest
from tools.notebooks import pairs

PAGE = pairs.ROOT / "book" / "errata.md"
TEXT = PAGE.read_text(encoding="utf-8")
HEAD, *_ = TEXT.split("## Contents")
_ROW = re.compile(r"^\((errata-[\w-]+)\)=\n### ([^\n]+)\n(.*?)(?=^\(errata-|\Z)", re.DOTALL | re.MULTILINE)
ROWS = {label: body for label, _, body in _ROW.findall(TEXT)}

PARTS = ["Seen", "For you", "In `rankedu`"]
#: One of these says in which text, or whether in a program as it was read or run.
VERSIONS = r"version|both|as read|as run|supplementary material|Sec\. |Eq\. |Fig\. |published formula"
#: The ten, in their order.
TEN = ["pseudo-code", "self", "pml", "lambda", "memory", "shape", "hrank", "bound", "h-ap-2", "inverted"]
#: Rows that have nothing to compute.
AS_READ = {"no-settings", "cuda-only", "no-ap", "matlab", "unused-margin", "no-weights"}
#: What each row is about, by words that it must have: the list of what has been found, kept apart from the page.
CLAIMS = {
    "pseudo-code": "Table S1",
    "self": "exclude_self",
    "pml": "pytorch-metric-learning 2.9",
    "lambda": "divides the ranks by their number",
    "memory": "recall loss of the released code",
    "shape": "number of\n*rows*",
    "hrank": "with_hrank",
    "bound": "iNaturalist",
    "h-ap-2": "counted for each",
    "inverted": "Eq. 4",
    "ties": "as printed",
    "highest": "highest-scoring",
    "point": "point **s**",
    "minimisers": "arg\\min",
    "argsort": "`argsort`",
    "within": "among the positives",
    "log-log": "1/(K \\log K)",
    "lemma": "positive integers",
    "index": "upper limit",
    "complement": "complement",
    "in-shop": "54,642",
    "best-step": "the step at which R@1 *on the test set* was largest",
    "detection": "AP⁵⁰",
    "320k": "320,000",
    "general": "General ranking",
    "question-marks": "question marks",
    "full": "Full RaMBO",
    "factor-5": "within a factor 5",
    "cubic": "O(M³)",
    "diagonal": "never below $1/m$",
    "all-ranks": "ranks of the positives",
    "fig-3": "5/3 and 4/3",
    "smooth": "A smooth upper bound",
    "numbers": "study.GAINS",
    "random-margin": "fresh normal number",
    "epsilon": "10^{-5}",
    "unstable": "Two sorts",
    "float32": "2^{24}",
    "constant": "2^{23}",
    "one-dimension": "shape (1, n)",
    "weight": "*incoming* gradient",
    "no-positives": "nan",
    "no-settings": "training script",
    "no-labels": "sorted blocks of equal size",
    "cuda-only": "GPU",
    "no-ap": "NMI",
    "one-level": "$L - 1$",
    "heaviside": "no derivative",
    "counted-self": "|\\Omega^{(L)}|",
    "last": "separate\ngallery",
    "half": "by half in the denominator",
    "dyml": "first image follows",
    "delta": "ρ(x − δ)",
    "mutates": "*in place*",
    "half-precision": "float16",
    "n-half": "the gradient that comes in",
    "old-torch": "booleans",
    "matlab": "does not run",
    "bins": "share a bin",
    "many-bins": "lose as much",
    "exact": "a year before Smooth-AP",
    "map-loss": "sums the ranks",
    "unused-margin": "never reads it",
    "fixed": "one length",
    "no-weights": "weights",
    "recall-at-k": "takes rank 1",
    "torchmetrics": "not above 0",
    "sampler": "shuffles all batches",
}


def cells(body: str) -> list[str]:
    return re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", body, re.DOTALL | re.MULTILINE)


def test_the_rows_are_those_of_the_list():
    assert [label.removeprefix("errata-") for label in ROWS] == list(CLAIMS)
    assert list(CLAIMS)[:10] == TEN


@pytest.mark.parametrize("label", ROWS)
def test_a_row_is_complete(label):
    body, name = ROWS[label], label.removeprefix("errata-")
    assert CLAIMS[name] in body
    parts = [re.search(rf"^\*\*{part}:\*\* (.+?)\n(?:\n|\Z)", body, re.DOTALL | re.MULTILINE) for part in PARTS]
    assert all(parts), [part for part, found in zip(PARTS, parts, strict=True) if not found]
    assert [found.start() for found in parts] == sorted(found.start() for found in parts)
    seen = parts[0].group(1)
    assert re.search(VERSIONS, seen), "a row says in which version it was seen"
    made = [cell for cell in cells(body) if "assert " in cell]
    if name in AS_READ:
        assert "as read" in seen and not cells(body)
    else:
        assert any("print(" in cell for cell in made), "a cell asserts the claim and prints it"


def test_the_head_names_the_rows_without_a_cell():
    assert {f"errata-{name}" for name in AS_READ} == set(re.findall(r"\]\((errata-[\w-]+)\)", HEAD))


def test_the_contents_lead_to_the_ten_and_to_every_part():
    contents = TEXT.split("## Contents")[1].split("```")[0]
    parts = re.findall(r"^\((errata-[\w-]+)\)=\n## ", TEXT, re.MULTILINE)
    linked = re.findall(r"\]\((errata-[\w-]+)\)", contents)
    assert set(linked) == {*(f"errata-{name}" for name in TEN), *parts} and len(linked) == len(set(linked))


def test_no_long_function_in_a_cell():
    for cell in jupytext.read(PAGE).cells:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.FunctionDef):
                    assert (node.end_lineno or 0) - node.lineno < 10, f"{node.name} belongs in rankedu"


def test_at_most_three_figures():
    assert len(re.findall(r"^show\(", TEXT, re.MULTILINE)) <= 3
