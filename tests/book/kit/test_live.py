"""Live explorables: what a page can run, what a kernel answers, and what a reader shall find, by the definitions."""

import importlib
import itertools
import json
import math
import random
import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from tools.site import javascript

from rankedu import reference
from rankedu_book.ch02_blackbox_differentiation.live import look_ahead, paint, paths
from rankedu_book.ch03_ranking_is_a_solver.live import hexagon
from rankedu_book.ch04_interpolated_ranking.live import ball
from rankedu_book.ch06_ties_and_margins.live import collapse
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


def test_a_ball_is_in_the_lowest_basin_if_most_of_its_last_steps_are_and_a_short_or_a_very_long_look_ahead_is_not():
    for log_lam, said in ((-0.5, "no, the gradient is 0"), (0.3, "no, 0 of"), (0.5, "yes, 6 of"), (1.2, "no, 0 of")):
        end = run(ball.ball, {**ball.START, "log_lam": log_lam, "guess": "skip"})
        assert ball.ball(end)["found"].startswith(f"In the lowest basin: {said}"), log_lam
        inside = [one <= ball.BASIN for one in end["losses"][-10:]]
        assert ("yes" in said) == (sum(inside) > 5), log_lam


def test_the_ball_shows_neither_trail_nor_end_before_it_has_rolled_and_with_another_lambda_it_waits_again():
    waiting = ball.ball({**ball.START, "log_lam": 1.6})
    end = run(ball.ball, {**waiting["state"], "guess": "flag"})
    over, again = ball.ball(end), ball.ball({**end, "log_lam": -1})
    assert [str(one["marks"]).count("thick'") for one in (waiting, over, again)] == [1, 2, 1], "the flag, and the trail"
    assert ["stands at" in one["says"] for one in (waiting, over, again)] == [False, True, False]
    assert [str(one["marks"]).count("'?'") for one in (waiting, over)] == [1, 0]
    assert waiting["buttons"][-1]["locked"] and not waiting["found"] and "from your flag" in over["found"]


@pytest.mark.parametrize("lam", [0.3, 1.1, 2.4, 5.7])
def test_look_ahead_counts_overtakings_and_its_gradient_is_that_of_the_interpolation(lam):
    shown = look_ahead.look_ahead({**look_ahead.START, "lam": lam})["state"]
    y, c, before, after = (shown[key] for key in ("scores", "incoming", "ranks", "ranks_ahead"))
    pairs = itertools.combinations(range(len(y)), 2)
    assert shown["overtakings"] == sum((before[i] < before[j]) != (after[i] < after[j]) for i, j in pairs)
    assert shown["gradient"] == pytest.approx(slopes(lambda y: reference.interpolated(y, c, lam), y), abs=1e-6)
    assert bool(any(shown["gradient"])) == (shown["overtakings"] > 0)


@pytest.mark.parametrize("margin", [0.05, 0.3])
def test_collapse_leaves_a_gap_of_the_margin_and_a_shake_moves_what_is_seen_and_not_what_was_learnt(margin):
    end = run(collapse.collapse, {**collapse.START, "margin": margin})
    assert end["reached"] == [1, 1] and end["shaken"][0] < end["shaken"][1]
    assert end["gaps"][0] < 0.04 and end["gaps"][1] == pytest.approx(margin, abs=0.02)
    shaken = [collapse.collapse({**end, "turn": turn})["state"] for turn in range(1, 25)]
    assert all(one["lanes"] == end["lanes"] for one in shaken)
    for number, lane in enumerate(end["lanes"]):
        seen = [reference.average_precision(collapse.noisy(lane, one["turn"]), end["relevance"]) for one in shaken]
        assert sum(seen) / 24 == pytest.approx(end["shaken"][number])
    told, pairs = collapse.passing([0.6, 0.5, 0.3, 0.2], [0.4, 0.5, 0.3, 0.45], [True, True, False, False])
    assert (told, pairs) == ("D passes A", [3, 0]), "B passes A, and C and D change places: AP sees neither"


def test_bricks_the_logarithms_weights_make_a_logarithm():
    scene = bricks.bricks(bricks.START)
    assert scene["state"]["from_log"] > 0.1
    changes = next(one["changes"] for one in scene["buttons"] if "logarithm" in one["label"])
    shown = bricks.bricks({**scene["state"], **changes})["state"]
    assert shown["from_log"] < 1e-12
    y, relevant = shown["scores"], shown["relevance"]
    assert shown["loss"] == pytest.approx(reference.recall_loss(y, relevant, reference.W_log), abs=1e-12)


def test_hexagon_the_gradient_is_algorithm_1_on_three_items():
    dice = random.Random(0)
    moving = 0
    for _ in range(200):
        tip, ahead = ([dice.uniform(-1.9, 1.9) for _ in range(2)] for _ in range(2))
        shown = hexagon.hexagon({**hexagon.START, "tip": tip, "ahead": ahead})["state"]
        c = [(b - a) / shown["lam"] for a, b in zip(shown["scores"], hexagon.scores(ahead), strict=True)]
        assert sum(x * x for x in c) == pytest.approx(1)
        assert shown["gradient"] == pytest.approx(reference.rank_gradient(shown["scores"], c, shown["lam"]))
        moving += any(shown["gradient"])
    assert 50 < moving < 200


def test_paths_the_solver_finds_the_cheapest_path():
    dice = random.Random(0)
    for _ in range(20):
        costs = [dice.uniform(0.1, 1) for _ in range(paths.SIDE**2)]
        far = [costs[0], *[1e9 for _ in costs[1:]]]
        for _ in costs:
            far = [min(far[k], *[far[one] + costs[k] for one in paths.beside(k)]) for k in range(len(far))]
        found = paths.shortest_path(costs)
        assert sum(cost for cost, cell in zip(costs, found, strict=True) if cell) == pytest.approx(far[-1], abs=1e-4)


@pytest.mark.parametrize("lam", [0.07, 0.14, 0.4])
def test_what_is_painted_is_the_mean_over_the_window_and_its_slope_is_algorithm_1(lam):
    told = paint.paint({**paint.START, **paint.TELLING, "lam": lam, "at": 0.62})["state"]
    assert told["painted"]["reach"] == [0.62, 0.62], "another window paints anew"
    for at in (0.0, 0.23, 0.62, 0.84, 1.0):
        shown = paint.paint({**told, "at": at})["state"]
        stairs = [paint.rank_at(at + (k + 0.5) / 4000 * lam) for k in range(4000)]
        assert shown["mean"] == pytest.approx(sum(stairs) / 4000, abs=0.002)
        ahead = [i for i in (0, 1, 2, 4) if at < paint.scores(at)[i] < at + lam]
        assert shown["passed"] == ahead and shown["slope"] == pytest.approx(-len(ahead) / lam)
        one_item = slopes(lambda y: paint.mean_ahead(y[0], lam), [at])[0]
        assert shown["slope"] == pytest.approx(one_item, abs=1e-5)
        [(_, marks, _)] = paint.trail(told, [0.0, 1.0], lam)[:1]
        corners = [list(map(float, point.split(","))) for point in marks["points"].split()]
        wanted = [paint.up(paint.mean_ahead(paint.KNOTS[k], lam)) for k in range(7)]
        xs, ys = zip(*corners, strict=True)
        assert np.interp([paint.across(knot) for knot in paint.KNOTS], xs, ys) == pytest.approx(wanted, abs=0.2)


def test_a_curve_is_judged_when_all_of_it_is_painted_and_another_one_is_painted_anew():
    right = [paint.mean_ahead(at, 0.15) for at in paint.KNOTS]
    for curve, answer in ((right, "You drew it right"), ([level + 0.5 for level in right], "never lies above")):
        state = paint.paint({**paint.START, "drawn": curve, "guess": "drawn"})["state"]
        assert "?" in str(paint.paint({**state, "at": 1.0})["marks"]), "nothing is painted before D is touched"
        for at in (0.3, 1.0, 0.0):
            scene = paint.paint({**state, "at": at})
            scene = paint.paint({**scene["state"], **scene["handles"][0]["also"]})
            state = scene["state"]
        assert answer in scene["found"] and scene["ask"]["known"]
    assert paint.paint({**state, "drawn": right})["found"] == ""
