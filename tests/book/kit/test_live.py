"""Live explorables in Python: the first scene, the life in a kernel, and what the translation to JavaScript refuses."""

from __future__ import annotations

import importlib
import json
import math
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from tools.site import javascript

from rankbook.idea.live import descend
from rankbook.kit.explorable.core import MIME
from rankbook.kit.live import Live, live, names
from rankedu import reference


@pytest.mark.parametrize("name", names())
def test_each_is_a_picture_in_words_and_asks_a_question(name):
    explorable = Live(name)
    data = explorable._repr_mimebundle_()
    assert data[MIME] == {"live": name}
    picture = ElementTree.fromstring(data["image/svg+xml"])
    assert picture.get("aria-label") == explorable()["says"] and len(list(picture.iter())) > 20
    assert "?" in explorable.caption
    assert explorable()["handles"], "something can be dragged"
    assert explorable(explorable()["state"]) == explorable(), "what is shown is a function of the state"


@pytest.mark.parametrize("name", names())
def test_a_page_can_run_each(name):
    for module in javascript.needed(Live(name).module):
        assert javascript.translate(module).startswith(f'py.modules["{module}"]')


def test_a_nan_is_an_error():
    explorable = live(descend)
    with pytest.raises(ValueError, match="JSON"):
        explorable({**explorable.start, "more": math.nan})


@pytest.mark.parametrize("name", names())
def test_the_kernel_answers_what_the_front_end_asks(name, monkeypatch):
    """The widget's side of the conversation: a state comes with its number, and goes back as a scene or as an error."""
    pytest.importorskip("anywidget")
    from rankbook.kit.live.widget import widget

    explorable, said = Live(name), []
    made = widget(explorable)
    monkeypatch.setattr(type(made), "send", lambda self, content: said.append(content))
    first = explorable()
    made._handle_custom_msg({"number": 1, "state": first["state"]}, [])
    made._handle_custom_msg({"number": 2, "state": {}}, [])
    assert said[0] == {"number": 1, "scene": first}
    assert said[1]["number"] == 2 and "KeyError" in said[1]["error"]
    assert f'data-live="{name}"' in made.inside and json.dumps(first["height"]) in made.inside


def test_the_gradients_that_the_lanes_descend_are_those_of_their_functions():
    """Sigmoids by central differences of half the step; Algorithm 1 by the interpolation whose gradient it is."""
    y, relevant = descend.START["scores"], descend.START["relevance"]
    n, ranks, among = sum(relevant), reference.rank(y), reference.rank_among(y, relevant)
    of_total = [b / (n * a * a) if r else 0.0 for a, b, r in zip(ranks, among, relevant, strict=True)]
    of_among = [-1 / (n * a) if r else 0.0 for a, r in zip(ranks, relevant, strict=True)]

    def interpolated(scores):
        members = [i for i, r in enumerate(relevant) if r]
        part = reference.interpolated([scores[i] for i in members], [of_among[i] for i in members], descend.LAM)
        return reference.interpolated(scores, of_total, descend.LAM) + part

    def smooth(scores):
        return 1 - reference.smooth_ap(scores, relevant, descend.TEMPERATURE)

    for function, gradient in ((interpolated, descend.blackbox_gradient), (smooth, descend.sigmoid_gradient)):
        for i, slope in enumerate(gradient(y, relevant)):
            low, high = ([*y[:i], y[i] + side, *y[i + 1 :]] for side in (-5e-6, 5e-6))
            assert slope == pytest.approx((function(high) - function(low)) / 1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import random", "import random"),
        ("class A: pass", "class A"),
        ("def f(*x): pass", r"def f\(\*x\)"),
        ("def f(x):\n    return x.upper()", r"x.upper\(\)"),
        ("def f(x):\n    return x.real", "x.real"),
        ("def f(g):\n    return g(a=1)", r"g\(a=1\)"),
        ("def f(x):\n    return x << 1", "x << 1"),
        ("def f(x):\n    return [x for x in x]", "x"),
        ("def f(x):\n    while x:\n        pass\n    else:\n        return 1", "while x:"),
        ("def f(x):\n    try:\n        return 1\n    finally:\n        pass", "try:"),
    ],
)
def test_what_a_page_cannot_run_is_refused_with_its_line(code, told, tmp_path, monkeypatch):
    (tmp_path / "refused_module.py").write_text(code + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "refused_module", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(SyntaxError, match=rf"refused_module.py:\d+: a page cannot run `{told}"):
        javascript.translate("refused_module")
