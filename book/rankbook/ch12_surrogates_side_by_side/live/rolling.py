"""Chapter 12: a ball for every ranker, and one that looks at no score, from one place on one landscape."""

import math

from rankbook.kit.live.marks import along, apart, button, dot, handle, line, scaled, scene, shaded, text
from rankedu.reference import histogram_rank, interpolated, mean, projected_rank, rank, sigmoid_rank

START = {"ball": [-1.0, 1.0], "share": 1.0, "even": True, "steps": 0, "playing": False, "tick": False}
#: Six scores as the balls move to the right and upwards, and the weight that the loss gives each rank: chapter 4's.
RIGHTWARDS, UPWARDS = [0.9, -0.2, -1.0, 0.5, 0.1, -0.4], [-0.3, 1.0, 0.2, 0.7, -0.9, -0.6]
HOME, WEIGHTS = [0.1, -0.2, 0.3, 0.05, -0.1, -0.15], [0.3, 0.1, -0.25, -0.3, 0.2, -0.05]
FAR, CELLS, STEPS, PACE, LENGTH, RATE = 1.6, 32, 60, 2, 0.06, 0.2
LOWEST, HIGHEST, REACH = -1.5, 2.1, 2.4
MAP, ENDS = (14, 24, 284), (330, 400)
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
    steps = min(state["steps"] + (PACE if state["playing"] and state["tick"] else 0), STEPS)
    at = int(state["share"] + 0.5)
    trails = {name: descent(name, at, state["ball"], state["even"], steps) for name in KINDS}
    losses = {name: loss(scores(trail[-1])) for name, trail in trails.items()}
    shown = {**state, "steps": steps, "playing": state["playing"] and steps < STEPS, "losses": losses}
    left, top, bottom = MAP
    marks = [text(left, 16, f"distorted by {100 * SHARES[at]:.0f} %", "small"), *landscape()]
    for name, trail in trails.items():
        way = [place(point) for point in trail]
        marks += [line(way, kind) for kind in ("under", KINDS[name] + " thick")]
    marks += [dot(*place(trail[-1]), KINDS[name], 6) for name, trail in trails.items()]
    marks += [dot(*place(state["ball"]), "hollow", 7), text(ENDS[0], 16, f"loss after {steps} steps", "small")]
    heights = apart([scaled(end, LOWEST, HIGHEST, bottom, top + 10) for end in losses.values()], 18, top + 14, bottom)
    for (name, end), y in zip(losses.items(), heights):
        level = scaled(end, LOWEST, HIGHEST, bottom, top + 10)
        marks += [line([(ENDS[0], level), (ENDS[0] + 10, level), (ENDS[0] + 20, y - 4)], KINDS[name])]
        marks += [text(ENDS[0] + 24, y, f"{name} {end:.2f}", "")]
    x = scaled(at, 0, 4, 120, 450)
    marks += [line([(120, 306), (450, 306)], "axis"), dot(x, 306, "ink", 7), text(14, 310, "distortion")]
    says = f"{state['ball'][0]:.2f} to the right, {state['ball'][1]:.2f} up"
    moves = [along("x", "ball", 0, -FAR, FAR, left, left + bottom - top), along("y", "ball", 1, -FAR, FAR, bottom, top)]
    handles = [handle("Balls", *place(state["ball"]), says, moves)]
    handles += [handle("Distortion", x, 306, f"{SHARES[at]:.2f}", [along("x", "share", None, 0, 4, 120, 450)])]
    buttons = [button("Steps of one length", {"even": True}, state["even"])]
    buttons += [button("In proportion", {"even": False}, not state["even"])]
    buttons += [button("Roll", {"steps": 0, "playing": True}), button("Start anew", START)]
    ends = "; ".join([f"{name} {end:.2f}" for name, end in losses.items()])
    words = (
        f"A map of six scores in a plane, shaded by a loss of their ranks. After {steps} steps the losses are: {ends}."
    )
    return scene(shown, 326, marks, handles, buttons, words)


def scores(point):
    return [at + point[0] * u + point[1] * v for at, u, v in zip(HOME, RIGHTWARDS, UPWARDS)]


def loss(y):
    """The loss itself, a staircase: the weighted ranks."""
    return sum(weight * place for weight, place in zip(WEIGHTS, rank(y)))


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


def place(point):
    """Where a point of the plane is drawn."""
    left, top, bottom = MAP
    return [scaled(point[0], -FAR, FAR, left, left + bottom - top), scaled(point[1], -FAR, FAR, bottom, top)]


def landscape():
    """The loss in shades. It never changes."""
    if not KEPT["cells"]:
        left, top, bottom = MAP
        centres = [(k + 0.5) * 2 * FAR / CELLS - FAR for k in range(CELLS)]
        rows = [[loss(scores([x, -y])) for x in centres] for y in centres]
        KEPT["cells"] = shaded(rows, LOWEST, HIGHEST, left, top, (bottom - top) / CELLS)
    return KEPT["cells"]
