"""Live explorables: what a page can run, what a kernel answers, and what a reader shall find, by the definitions."""

import importlib
import itertools
import json
import math
import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from tools.site import javascript

from rankedu import reference
from rankedu_book.ch07_recall_loss.live import bricks
from rankedu_book.idea.live import descend
from rankedu_book.kit.explorable.core import MIME
from rankedu_book.kit.live import Live, live, marks, names
from rankedu_book.kit.live.widget import widget


@pytest.mark.parametrize("name", names())
def test_each_is_a_picture_in_words_that_asks_a_question_and_a_page_can_run(name, monkeypatch):
    explorable, said = Live(name), []
    data, first = explorable._repr_mimebundle_(), explorable()
    assert data[MIME] == {"live": name}
    picture = ElementTree.fromstring(data["image/svg+xml"])
    said_of_it, texts = picture.get("aria-label"), picture.iter("{http://www.w3.org/2000/svg}text")
    assert said_of_it == first["says"] and len(list(picture.iter())) > 20
    assert not [one.text for one in texts if re.search(r"(^|\W)-\d", one.text or "")], "one minus sign"
    assert "?" in explorable.caption and first["handles"], "something can be dragged"
    centres = [(one["x"], one["y"]) for one in first["handles"]]
    assert min(itertools.starmap(math.dist, itertools.combinations(centres, 2))) > 32, "24 pixels on a phone"
    assert explorable(first["state"]) == first, "what is shown is a function of the state"
    assert first["ask"] is None or explorable.printed()["ask"]["known"], "on paper stands what has happened"
    for module in javascript.needed(explorable.module):
        assert javascript.translate(module).startswith(f'py.modules["{module}"]')
    # The kernel's side of the conversation: a state comes with its number, and goes back as a scene or as an error.
    made = widget(explorable)
    monkeypatch.setattr(type(made), "send", lambda self, content: said.append(content))
    made._handle_custom_msg({"number": 1, "state": first["state"]}, [])
    made._handle_custom_msg({"number": 2, "state": {}}, [])
    assert said[0] == {"number": 1, "scene": first}
    assert said[1]["number"] == 2 and "KeyError" in said[1]["error"]
    assert f'data-live="{name}"' in made.inside and json.dumps(first["height"]) in made.inside


def test_one_place_writes_signs_and_counts():
    assert marks.said("-0.5, -0.00, (-0.) and x-1, -10, H-AP") == "−0.5, 0.00, (0.) and x-1, −10, H-AP"
    assert [marks.counted(number, "step") for number in (0, 1, 11)] == ["0 steps", "1 step", "11 steps"]


REFUSED = {
    "import random": "import random",
    "class A: pass": "class A",
    "def f(*x): pass": r"def f\(\*x\)",
    "def f(x):\n    return x.upper()": r"x.upper\(\)",
    "def f(x):\n    return x.real": "x.real",
    "def f(g):\n    return g(a=1)": r"g\(a=1\)",
    "def f(x):\n    return x << 1": "x << 1",
    "def f(x):\n    *y, z = x\n    return z": r"\(\*y, z\)",
    "def f(x):\n    return [x for x in x]": "x",
    "def f(x):\n    while x:\n        pass\n    else:\n        return 1": "while x:",
    "def f(x):\n    try:\n        return 1\n    finally:\n        pass": "try:",
}


def test_what_a_page_cannot_run_is_refused_with_its_line_and_a_nan_is_an_error(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for number, (code, told) in enumerate(REFUSED.items()):
        (tmp_path / f"refused_{number}.py").write_text(code + "\n", encoding="utf-8")
        importlib.invalidate_caches()
        with pytest.raises(SyntaxError, match=rf"refused_{number}.py:\d+: a page cannot run `{told}"):
            javascript.translate(f"refused_{number}")
        sys.modules.pop(f"refused_{number}", None)
    with pytest.raises(ValueError, match="JSON"):
        live(descend)({**live(descend).start, "more": math.nan})


def run(function, state):
    """Press start, and let the clock tick until it stops."""
    state = function({**state, "playing": True})["state"]
    while state["playing"]:
        state = function({**state, "tick": True})["state"]
    return state


def slopes(function, y, step=5e-6):
    """The derivatives of a function of scores, by central differences."""
    sides = [[[*y[:i], y[i] + side, *y[i + 1 :]] for side in (-step, step)] for i in range(len(y))]
    return [(function(high) - function(low)) / (2 * step) for low, high in sides]


def test_the_gradients_that_the_lanes_descend_are_those_of_their_functions():
    y, relevant = descend.START["scores"], descend.START["relevance"]
    n, ranks, among = sum(relevant), reference.rank(y), reference.rank_among(y, relevant)
    of_total = [b / (n * a * a) if r else 0.0 for a, b, r in zip(ranks, among, relevant, strict=True)]
    of_among = [-1 / (n * a) if r else 0.0 for a, r in zip(ranks, relevant, strict=True)]

    def interpolated(scores):
        members = [i for i, r in enumerate(relevant) if r]
        part = reference.interpolated([scores[i] for i in members], [of_among[i] for i in members], 10**0.7)
        return reference.interpolated(scores, of_total, 10**0.7) + part

    def smooth(scores):
        return 1 - reference.smooth_ap(scores, relevant, 0.04)

    def of_names(scores):
        inside, outside = ([y for y, r in zip(scores, relevant, strict=True) if r == side] for side in (True, False))
        return reference.mean(outside) - reference.mean(inside)

    for number, (function, log) in enumerate([(interpolated, 0.7), (smooth, math.log10(0.04)), (of_names, 0)]):
        assert descend.gradient(number, y, relevant, log) == pytest.approx(slopes(function, y), abs=1e-6)


def test_a_map_of_descend_has_what_a_descent_from_each_cell_comes_to_and_a_frame_of_what_is_sorted_is_right():
    start, held = descend.START, descend.START["held"]
    framed = {"guess": "frame", "frame": [0.2, -1.7, 1, -0.3]}
    end = run(descend.descend, {**start, **framed})
    for method, row, column in itertools.product((0, 1), range(descend.ROWS[0]), range(0, descend.ACROSS, 6)):
        y, (low, high) = list(start["scores"]), descend.LOGS[method]
        y[held] = (column + 0.5) / descend.ACROSS
        strength = 10 ** (high - (high - low) * (row + 0.5) / descend.ROWS[method])
        for _ in range(descend.STEPS):
            if method == 0:
                push = descend.ap_gradient(y, start["relevance"], strength)
            else:
                push = slopes(lambda y, tau=strength: -reference.smooth_ap(y, start["relevance"], tau), y, step=1e-7)
            y = [min(max(score - descend.RATE * slope, 0), 1) for score, slope in zip(y, push, strict=True)]
        value = reference.average_precision(y, start["relevance"])
        assert end["maps"][method][row][column] == pytest.approx(value, abs=0.03), (method, row, column)
    assert set(end["maps"][2][0]) == {1}, "the blind walk sorts from everywhere"
    assert "% of the map: right" in descend.descend(end)["found"]
    assert end["scores"] == start["scores"] != end["lanes"][0], "lanes move, the list does not"
    reached = [reference.average_precision(lane, end["relevance"]) for lane in end["lanes"]]
    assert end["reached"] == pytest.approx(reached, abs=1e-12) and reached[0] == reached[2] == 1 > reached[1]
    coarse = str(descend.descend({**end, "logs": [0.7, -1.4]})["marks"])
    assert "λ = 5: sorted" in coarse and "AP 1.00, its cell 0.37" in coarse, "words are of the ring, not of its cell"
    moved = descend.descend({**end, "scores": [*end["scores"][:held], 0.9]})
    assert moved["state"]["maps"] == end["maps"] and moved["state"]["reached"] == [1, 1, 1], "the rings replay it"
    assert not descend.descend({**end, "held": 0})["state"]["maps"][0][0], "another item's map isn't known yet"


def test_bricks_the_logarithms_weights_make_a_logarithm():
    scene = bricks.bricks(bricks.START)
    assert scene["state"]["from_log"] > 0.1
    changes = next(one["changes"] for one in scene["buttons"] if "logarithm" in one["label"])
    shown = bricks.bricks({**scene["state"], **changes})["state"]
    assert shown["from_log"] < 1e-12
    y, relevant = shown["scores"], shown["relevance"]
    assert shown["loss"] == pytest.approx(reference.recall_loss(y, relevant, reference.W_log), abs=1e-12)
