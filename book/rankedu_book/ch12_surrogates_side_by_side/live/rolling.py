"""Chapter 12: a ball for every ranker, and one that looks at no score, from one place on one landscape."""

import math

from rankedu.reference import histogram_rank, interpolated, mean, projected_rank, sigmoid_rank
from rankedu_book.kit.live.descents import FAR, HIGHEST, LOWEST, WEIGHTS, landscape, loss, pin, place, scores
from rankedu_book.kit.live.hands import RUN, along, ask, button, run, run_button, scene, slider
from rankedu_book.kit.live.marks import apart, counted, dot, key, line, scaled, text

START = {**RUN, "ball": [-1.0, 1.0], "share": 1.0, "even": True}
CELLS, STEPS, PACE, LENGTH, RATE, REACH = 32, 60, 2, 0.06, 0.2, 2.4
MAP, ENDS = (14, 24, 284), (316, 400)
#: Distortion over the map, and the strength at which each method has it: λ, τ, ε, and bins.
SHARES = [0.05, 0.1, 0.2, 0.4, 0.7]
STRENGTHS = {
    "blackbox": [0.057, 0.16, 0.56, 1.8, 9.3],
    "sigmoid": [0.017, 0.06, 0.23, 0.71, 2.1],
    "histogram": [130, 38, 10, 3, 1],
    "projection": [0.038, 0.11, 0.27, 0.64, 1.5],
}
KINDS = {**{name: name for name in STRENGTHS}, "blind": "grey"}
KEPT: dict[str, list[object]] = {"cells": []}


def rolling(state):
    """Which ball stops first, and does any get lower than the blind one? Drag them; guess, then press Roll."""
    at, even = int(state["share"] + 0.5), state["even"]
    of = [*state["ball"], at, even]
    gone = run(state, STEPS, of, PACE)
    steps = gone["steps"]
    trails = {name: descent(name, at, state["ball"], even, steps) for name in KINDS}
    losses = {name: loss(scores(trail[-1])) for name, trail in trails.items()}
    shown = {**state, **gone, "losses": losses}
    top, bottom = MAP[1:]
    if not KEPT["cells"]:
        KEPT["cells"] = landscape(loss, CELLS, MAP)
    marks = [*KEPT["cells"], *key(MAP[0] + 260, 16, f"the loss {LOWEST:g}", f"{HIGHEST:g}")]
    for name, trail in trails.items():
        way = [place(point, MAP) for point in trail]
        marks += [line(way, kind) for kind in ("under", KINDS[name] + " thick")]
    marks += [dot(*place(trail[-1], MAP), KINDS[name], 6) for name, trail in trails.items()]
    marks += [
        dot(*place(state["ball"], MAP), "hollow", 7),
        text(ENDS[0], 16, f"loss after {counted(steps, 'step')}", "small"),
    ]
    heights = apart([scaled(end, LOWEST, HIGHEST, bottom, top + 10) for end in losses.values()], 18, top + 14, bottom)
    for (name, end), y in zip(losses.items(), heights):
        level = scaled(end, LOWEST, HIGHEST, bottom, top + 10)
        marks += [line([(ENDS[0], level), (ENDS[0] + 10, level), (ENDS[0] + 20, y - 4)], KINDS[name])]
        marks += [text(ENDS[0] + 24, y, f"{name} {end:.2f}", "")]
    told = f"distorted by {100 * SHARES[at]:.0f} %"
    track, knob = slider("Distortion", told, at, 318, along("x", "share", None, 0, 4, 30, 266))
    marks, handles = [*marks, *track], [pin("Balls", "ball", state["ball"], MAP), knob]
    buttons = [button("Steps of one length", {"even": True}, even), button("In proportion", {"even": False}, not even)]
    buttons.append(run_button(shown, STEPS, "Roll"))
    lowest = [name for name, end in losses.items() if end < min(losses.values()) + 1e-9]
    question = ask("Which will end lowest?", list(KINDS.keys()), state["guess"], lowest if steps == STEPS else [])
    rest = [f"{name} after {len(trail) - 1:d}" for name, trail in trails.items() if len(trail) <= steps]
    found = f"{'At rest: ' + ', '.join(rest) if rest else 'None has come to rest'}." if steps == STEPS else ""
    ends = "; ".join([f"{name} {end:.2f}" for name, end in losses.items()])
    words = f"A map of six scores in a plane, shaded by a loss of their ranks. After {counted(steps, 'step')}: {ends}."
    return scene(shown, 334, marks, handles, buttons, words, found, question)


def surrogate(name, at, y):
    """What is descended; the blind ball's is minus the weighted sum of the scores."""
    if name == "blind":
        return sum((mean(WEIGHTS) - weight) * score for weight, score in zip(WEIGHTS, y))
    strength = STRENGTHS[name][at]
    if name == "blackbox":
        return interpolated(y, WEIGHTS, strength)
    if name == "sigmoid":
        ranks = sigmoid_rank(y, strength)
    elif name == "projection":
        ranks = projected_rank(y, strength)
    else:
        ranks = histogram_rank([score / REACH for score in y], strength)
    return sum(weight * place for weight, place in zip(WEIGHTS, ranks))


def descent(name, at, start, even, steps):
    """The way of a ball against the slope, by central differences in the plane; it stays on the map."""
    x, y, trail, tiny = start[0], start[1], [list(start)], 0.00001
    for _ in range(steps):
        across = surrogate(name, at, scores([x + tiny, y])) - surrogate(name, at, scores([x - tiny, y]))
        up = surrogate(name, at, scores([x, y + tiny])) - surrogate(name, at, scores([x, y - tiny]))
        length = math.hypot(across, up) / (2 * tiny)
        if length < 0.00001:
            break
        factor = (LENGTH / length if even else RATE) / (2 * tiny)
        x, y = [min(max(value, -FAR), FAR) for value in (x - factor * across, y - factor * up)]
        trail.append([x, y])
    return trail
