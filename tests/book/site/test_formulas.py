"""Formulas as MathML: what is not read is refused, and a long formula in pieces says what it says in one."""

import re
from xml.etree import ElementTree

import pytest
from tools.site import stylesheet
from tools.site.mathml import mathml, pieces

LONG = (
    r"f_\lambda(\mathbf{y}) = \frac{m(\mathbf{y} + \lambda\mathbf{c}) - m(\mathbf{y})}{\lambda}, \qquad c = (a = b) - 1"
)


@pytest.mark.parametrize("wrong", [r"\unknown x", r"\frac{1}", "{x", r"\begin{cases} x"])
def test_a_formula_that_cannot_be_read_is_refused(wrong):
    with pytest.raises(ValueError, match=r"(?s)formulas must be TeX that Pandoc reads.*" + re.escape(wrong)):
        mathml(wrong)


def test_pieces_break_before_signs_outside_of_parentheses_and_lose_nothing():
    def words(made):
        return "".join(ElementTree.fromstring(f"<a>{made.replace('<wbr/>', '')}</a>").itertext())

    made = pieces(LONG, block=True)
    assert words(made) == words(mathml(LONG, block=True))
    assert [words(one)[0] for one in re.findall("<math.*?</math>", made)] == ["f", "=", "c", "=", "−"]


def test_a_sign_knows_whether_it_stands_between_two_things():
    assert "<mi>−</mi>" in mathml("-x") and "<mo>−</mo>" in mathml("y - x")
    assert mathml("|x| + |y|").count('form="postfix"') == 2 and "<mo>+</mo>" in mathml("|x| + |y|")


def test_rules_that_no_page_needs_are_left_out_of_the_stylesheet():
    made = stylesheet.without_the_unused(
        [
            "@media print { .a { top: 0 } .b { top: 0 } }",
            ".a:not(.c), .b > p { --used: 1; --idle: 2; color: var(--used) }",
        ],
        frozenset("a"),
    )
    assert made == "@media print{.a{top:0;}\n}\n.a:not(.c){--used:1;color:var(--used);}\n"
