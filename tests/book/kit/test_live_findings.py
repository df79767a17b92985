"""What a reader shall find with each live explorable can be found, and its numbers are those of the definitions."""

from __future__ import annotations

import itertools
import random

import pytest

from rankbook.ch02_blackbox_differentiation.live import look_ahead, paths
from rankbook.ch03_ranking_is_a_solver.live import hexagon
from rankbook.ch04_interpolated_ranking.live import ball, units
from rankbook.ch06_ties_and_margins.live import collapse
from rankbook.ch07_recall_loss.live import bricks
from rankbook.ch13_hierarchical_ap.live import tiles
from rankbook.ch14_happier.live import hunt
from rankedu import reference


def run(function, state):
    """Press start, and let the clock tick until it stops."""
    state = function({**state, "playing": True})["state"]
    while state["playing"]:
        state = function({**state, "tick": True})["state"]
    return state


def inversions(before, after):
    pairs = itertools.combinations(range(len(before)), 2)
    return sum((before[i] < before[j]) != (after[i] < after[j]) for i, j in pairs)


@pytest.mark.parametrize("lam", [0.3, 1.1, 2.4, 5.7])
def test_look_ahead_counts_overtakings_and_its_gradient_is_that_of_the_interpolation(lam):
    shown = look_ahead.look_ahead({**look_ahead.START, "lam": lam})["state"]
    assert shown["overtakings"] == inversions(shown["ranks"], shown["ranks_ahead"])
    y, c = shown["scores"], shown["incoming"]
    for i, slope in enumerate(shown["gradient"]):
        low, high = ([*y[:i], y[i] + side, *y[i + 1 :]] for side in (-1e-6, 1e-6))
        difference = reference.interpolated(high, c, lam) - reference.interpolated(low, c, lam)
        assert slope == pytest.approx(difference / 2e-6, abs=1e-6)
    assert bool(any(shown["gradient"])) == (shown["overtakings"] > 0)


@pytest.mark.parametrize("margin", [0.05, 0.1, 0.2, 0.3])
def test_collapse_leaves_a_gap_of_the_margin(margin):
    end = run(collapse.collapse, {**collapse.START, "margin": margin})
    assert end["reached"] == [1, 1]
    assert end["gaps"][0] < 0.04 and end["gaps"][1] == pytest.approx(margin, abs=0.02)
    assert end["shaken"][0] < end["shaken"][1]


def test_collapse_needs_a_lambda_that_reaches():
    assert run(collapse.collapse, {**collapse.START, "lam": 0.5})["reached"][1] < 1


def test_hunt_finds_nothing_where_the_theorem_holds_and_something_where_it_does_not():
    dice = random.Random(0)
    lists = [[dice.uniform(0, 0.3) for _ in range(5)] for _ in range(300)]
    for start, offset, bound in ((0.5, 1.44, True), (0.5, 1.0, True), (0.0, 1.0, False), (0.5, 0.0, False)):
        state = {**hunt.START, "start": start, "offset": offset}
        for scores in lists:
            state = hunt.hunt({**state, "scores": scores})["state"]
        assert (state["best"] is None) == bound, (start, offset)
    again = hunt.hunt({**state, **{key: state["best"][key] for key in ("scores", "start", "offset")}})["state"]
    assert again["gap"] == state["best"]["gap"] < 0, "the find is shown again"


def test_tiles_average_precision_and_h_ap_can_disagree():
    dice, found = random.Random(0), 0
    for _ in range(200):
        a, b = (tiles.metrics([dice.random() for _ in range(6)], [2, 0, 1, 2, 1, 0]) for _ in range(2))
        found += (a[0] - b[0]) * (a[2] - b[2]) < 0
    assert found > 5
    levels = [0, 0, 0, 0, 0, 0]
    assert tiles.metrics(tiles.START["scores"], levels) == [0, 0, 0, 0], "without a relevant tile nothing is a nan"


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


def test_units_are_those_of_chapter_4():
    shown = units.units(units.START)["state"]
    assert (shown["lam_of_the_paper"], shown["step"]) == pytest.approx((512, 4 / 3))
    low, high = shown["useful"]
    assert (low, high) == pytest.approx((3 / 128, 1))


def test_ball_small_lambdas_stall_large_ones_forget():
    ends = [ball.ball({**ball.START, "log_lam": power})["state"]["losses"] for power in (-1, 0.6, 1.6)]
    assert ends[0][-1] == ends[0][0], "no step is felt"
    assert ends[1][-1] < ends[0][-1] - 1.5
    assert ends[2][-1] > ends[1][-1] + 1
    adam = ball.ball({**ball.START, "log_lam": 1.6, "adam": True})["state"]["losses"]
    assert adam[-1] < ends[2][-1], "Adam makes up for the length"


def test_paths_two_calls_teach_if_lambda_is_neither_small_nor_large():
    assert run(paths.paths, paths.START)["wrong"] == 0
    for power in (-2, 2):
        assert run(paths.paths, {**paths.START, "log_lam": power})["wrong"] > 0


def test_paths_the_solver_finds_the_cheapest_path():
    """Against the distances that relaxation until nothing changes gives."""
    dice = random.Random(0)
    for _ in range(20):
        costs = [dice.uniform(0.1, 1) for _ in range(paths.SIDE**2)]
        far = [costs[0], *[1e9 for _ in costs[1:]]]
        for _ in costs:
            far = [
                min([far[cell], *[far[one] + costs[cell] for one in paths.beside(cell)]]) for cell in range(len(far))
            ]
        found = paths.shortest_path(costs)
        assert sum(cost for cost, cell in zip(costs, found, strict=True) if cell) == pytest.approx(far[-1], abs=1e-4)


def test_paths_a_cell_that_is_painted_dear_is_walked_around():
    shown = paths.paths(paths.START)["state"]
    cell = next(k for k in range(1, paths.SIDE**2 - 1) if shown["path"][k])
    handles = paths.paths({**paths.START, "marked": [cell // paths.SIDE, cell % paths.SIDE]})["handles"]
    (move,) = next(one["moves"] for one in handles if one["name"].startswith("Cost"))
    costs = [*paths.START["costs"]]
    costs[move["at"]] = 10
    after = paths.paths({**shown, "costs": costs})["state"]
    assert move["at"] == cell and not after["path"][cell] and after["steps"] == 0


def test_collapse_a_shake_moves_what_is_seen_and_not_what_was_learnt():
    end = run(collapse.collapse, collapse.START)
    shaken = [collapse.collapse({**end, "turn": turn})["state"] for turn in range(1, 25)]
    assert all(one["lanes"] == end["lanes"] for one in shaken)
    for number, lane in enumerate(end["lanes"]):
        seen = [reference.average_precision(collapse.noisy(lane, one["turn"]), end["relevance"]) for one in shaken]
        assert sum(seen) / 24 == pytest.approx(end["shaken"][number])
        assert min(seen) < 1 == max(seen)


def test_bricks_the_push_is_the_brick_that_one_overtaking_saves():
    weights = [0.1, 0.2, 0.3, 0.4, 0.5]
    state = {**bricks.START, "weights": weights}
    arrows = [words for tag, words, _ in bricks.bricks(state)["marks"] if tag == "polyline" and "two" in words["class"]]
    arrows += [words for tag, words, _ in bricks.bricks(state)["marks"] if words["class"] == "three"]
    found = bricks.bricks(state)["state"]["outranking"]
    lengths = []
    for one in arrows:
        if "points" in one:
            first, second = ([float(part) for part in point.split(",")] for point in one["points"].split()[:2])
            lengths.append(second[0] - first[0])
    pushes = [60 * weights[r - 1] for r, good in zip(found, state["relevance"], strict=True) if good]
    assert sorted(lengths) == pytest.approx(sorted(pushes), abs=0.11)
