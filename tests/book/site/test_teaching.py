"""What is handed out: questions whose every number is computed, and syllabi in an order that works."""

import itertools
import json
import math
import re

import numpy as np
import pytest
import torch
from tools.site import labels
from tools.site.reading import behind, chapters
from tools.teaching import lectures
from tools.teaching import question_bank as questions

import rankedu
from rankedu import blackbox, hierarchy, losses, metrics, rankers, reference
from rankedu_book.kit import solvers
from rankedu_book.kit.check import find
from rankedu_lab import contestants

BANK = questions.bank()
NUMBER = re.compile(r"(?<![\w.])[−-]?\d+(?:\.\d+)?(?:/\d+)?")


def t(values):
    return torch.tensor(values, dtype=torch.float64)


def b(values):
    return torch.tensor(values, dtype=torch.bool)


def close(first, second) -> bool:
    return torch.allclose(torch.as_tensor(first).double(), torch.as_tensor(second).double())


def gradient(loss, scores, relevance):
    leaf = t(scores).requires_grad_()
    loss(leaf, b(relevance)).backward()
    return leaf.grad


def gradient_of_rank(ranker, scores, item=0):
    leaf = t(scores).requires_grad_()
    ranker(leaf)[item].backward()
    return leaf.grad


def hap(relevance):
    return metrics.hierarchical_average_precision(t([4, 3, 2, 1]), t(relevance))


#: What a check may use.
PARTS = contestants, blackbox, hierarchy, losses, metrics, rankers, solvers
SCOPE = {name: getattr(part, name) for part in PARTS for name in part.__all__}
SCOPE |= {"t": t, "b": b, "close": close, "gradient": gradient, "gradient_of_rank": gradient_of_rank, "hap": hap}
SCOPE |= {"torch": torch, "np": np, "math": math, "itertools": itertools, "rank": rankedu.rank, "reference": reference}
SCOPE["answer"] = lambda name: find(name).reference


def shows(text: str, values: list[float]) -> bool:
    """Whether the numbers of a text are these, to half a unit of the last digit that it gives."""
    shown = NUMBER.findall(text.replace("−", "-"))
    if len(shown) != len(values):
        return False
    for number, wanted in zip(shown, values, strict=True):
        value, _, below = number.partition("/")
        digits = len(value.partition(".")[2])
        slack = 0.5000001 * 10**-digits if digits and not below else 1e-6
        if abs(float(value) / float(below or 1) - wanted) > slack:
            return False
    return True


def test_the_answer_is_what_the_package_computes():
    for question in BANK:
        value = eval(question.check, dict(SCOPE)) if question.check else None
        if value is None:
            numbers = [NUMBER.findall(option.text) for option in question.options]
            assert not all(numbers), f"{question.key}: compute the answer"
        elif isinstance(value, (bool, np.bool_)):
            assert value, question.key
        else:
            values = [float(v) for v in (value if isinstance(value, list) else [value])]
            found = [option.right for option in question.options if shows(option.text, values)]
            assert found == [True], (question.key, values)


def test_a_question_is_complete_and_every_chapter_has_four():
    for question in BANK:
        texts, reasons = zip(*((option.text, option.reason) for option in question.options), strict=True)
        assert 3 <= len(texts) == len(set(texts)), question.key
        assert sum(option.right for option in question.options) == 1, question.key
        assert question.grade in questions.GRADES and set(question.chapters) <= set(range(1, 17)), question.key
        assert all(len(reason.split()) >= 5 and reason.endswith((".", ".)")) for reason in reasons), question.key
        assert not re.search(r"[{}]`|\$", " ".join([question.text, *texts, *reasons])), question.key
        assert len(question.chapters) > 1 or not question.across, question.key
    for chapter in range(1, 17):
        own = [question for question in BANK if question.chapters[0] == chapter and not question.across]
        assert len(own) >= 4 and len({question.grade for question in own}) >= 2, chapter


def test_the_page_and_the_exports_hold_every_question_and_self_test():
    page, selves = questions.page(), questions.self_tests()
    assert [test.key[-1] for test in selves] == len(chapters()) * [*"12345"]
    assert page.count("::::{dropdown} ") == sum(len(question.options) for question in BANK) + len(selves)
    assert "glue:text" not in page and page.count("**Right.**") == len(BANK)
    assert all(page.count(f":::::{{container}} question\n:name: question-{one.key}\n") == 1 for one in BANK)
    rows = json.loads(questions.as_json())
    assert len(rows) == len(BANK) + len(selves) and all(row.get("answer") or row["options"] for row in rows)
    assert not any(re.search(r"\{[\w:]+\}`|\]\(", row["question"] + row.get("answer", "")) for row in rows)
    gift = questions.as_gift()
    assert gift.count("::") == 2 * len(rows) and not re.search(r"[$`]|\*\w", gift.replace("$CATEGORY: ", ""))


@pytest.mark.parametrize("meetings", [lectures.lectures(), lectures.meetings()], ids=["four", "twelve"])
def test_a_syllabus_has_no_chapter_before_those_it_needs_and_sets_its_own_exercises(meetings):
    read = [number for one in meetings for number in one.chapters]
    assert len(meetings) in (4, 12) and read == sorted(set(read))
    assert len(meetings) == 4 or read == list(chapters())
    known = {label for label, one in labels.labels().items() if one.kind == "exercise"}
    for one in meetings:
        assert {*one.exercises} <= known and {int(label[2:4]) for label in one.exercises} <= {*one.chapters}
    if len(meetings) == 12:
        assert all(behind(number) <= set(read[:place]) for place, number in enumerate(read))
