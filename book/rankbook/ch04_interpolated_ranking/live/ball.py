"""Chapter 4: a ball on the landscape of an interpolated loss, and where each λ makes it stop."""

import math

from rankbook.kit.live.marks import along, button, dot, handle, line, scaled, scene, shaded, text
from rankedu.reference import interpolated, rank, rank_gradient

START = {"ball": [-1.0, 1.0], "log_lam": -0.5, "adam": False, "steps": 0, "playing": False, "tick": False}
#: Six scores as the ball moves to the right and upwards, and the weight that the loss gives each rank.
RIGHTWARDS, UPWARDS = [0.9, -0.2, -1.0, 0.5, 0.1, -0.4], [-0.3, 1.0, 0.2, 0.7, -0.9, -0.6]
HOME, WEIGHTS = [0.1, -0.2, 0.3, 0.05, -0.1, -0.15], [0.3, 0.1, -0.25, -0.3, 0.2, -0.05]
FAR, CELLS, STEPS, PACE, RATE = 1.6, 20, 60, 2, 0.05
LOWEST, HIGHEST = -1.5, 2.1
MAP, CURVE, STOPS = (14, 24, 264), (310, 458, 40, 128), (310, 458, 190, 262)
LAMS = [-1.0, -0.6, -0.2, 0.1, 0.4, 0.7, 1.0, 1.3, 1.6]
KEPT: dict[str, object] = {"log_lam": None, "cells": []}  # the last landscape: it changes with λ alone


def ball(state):
    """Where will the ball stop? Drag it, and λ; guess, then press Roll."""
    start, log_lam, adam = state["ball"], state["log_lam"], state["adam"]
    steps = min(state["steps"] + (PACE if state["playing"] and state["tick"] else 0), STEPS)
    lam = 10**log_lam
    trail = descent(start, lam, adam)
    losses = [loss(point) for point in trail]
    ends = [loss(descent(start, 10**power, adam)[-1]) for power in LAMS]
    shown = {**state, "steps": steps, "playing": state["playing"] and steps < STEPS}
    shown = {**shown, "lam": lam, "scores": scores(start), "ranks": rank(scores(start)), "losses": losses}
    shown = {**shown, "stop": trail[-1], "stops": ends}
    left, top, bottom = MAP
    marks = [text(left, 16, f"λ = {lam:.2f}; dark: low loss", "small"), *landscape(log_lam)]
    if steps:
        gone = [place(point) for point in trail[: steps + 1]]
        marks += [line(gone, "under"), line(gone, "ink thick"), dot(*gone[-1], "found", 6)]
    marks += [dot(*place(start), "hollow", 7), *curve(losses[: steps + 1])]
    marks += stops(ends, losses[-1], log_lam, steps == STEPS)
    x = scaled(log_lam, -1, 1.6, STOPS[0], STOPS[1])
    marks += [line([(STOPS[0], 306), (STOPS[1], 306)], "axis"), dot(x, 306, "ink", 7)]
    marks.append(text(STOPS[0] - 14, 310, "λ", "", "end"))
    says = f"{start[0]:.2f} to the right, {start[1]:.2f} up, loss {losses[0]:.2f}"
    moves = [along("x", "ball", 0, -FAR, FAR, left, left + bottom - top)]
    moves.append(along("y", "ball", 1, -FAR, FAR, bottom, top))
    handles = [handle("Ball", *place(start), says, moves)]
    handles.append(handle("λ", x, 306, f"{lam:.2f}", [along("x", "log_lam", None, -1, 1.6, STOPS[0], STOPS[1])]))
    buttons = [button("SGD", {"adam": False}, not adam), button("Adam", {"adam": True}, adam)]
    buttons += [button("Roll", {"steps": 0, "playing": True}), button("Start anew", START)]
    return scene(shown, 326, marks, handles, buttons, words(shown))


def scores(point):
    return [at + point[0] * u + point[1] * v for at, u, v in zip(HOME, RIGHTWARDS, UPWARDS)]


def loss(point):
    """The loss itself, a staircase: the weighted ranks."""
    return sum(weight * place for weight, place in zip(WEIGHTS, rank(scores(point))))


def descent(start, lam, adam):
    """The way of the ball down the gradient of Algorithm 1; it stays on the map."""
    x, y, trail = start[0], start[1], [list(start)]
    mean, square = [0.0, 0.0], [0.0, 0.0]
    for step in range(1, STEPS + 1):
        slopes = rank_gradient(scores([x, y]), WEIGHTS, lam)
        moves = []
        for k, axis in enumerate([RIGHTWARDS, UPWARDS]):
            slope = sum(a * b for a, b in zip(slopes, axis))
            mean[k] = 0.9 * mean[k] + 0.1 * slope
            square[k] = 0.99 * square[k] + 0.01 * slope * slope
            even = mean[k] / (1 - 0.9**step) / (math.sqrt(square[k] / (1 - 0.99**step)) + 1e-8)
            moves.append(RATE * (even if adam else slope))
        x, y = [min(max(at - move, -FAR), FAR) for at, move in zip([x, y], moves)]
        trail.append([x, y])
    return trail


def place(point):
    """Where a point of the plane is drawn."""
    left, top, bottom = MAP
    x = scaled(point[0], -FAR, FAR, left, left + bottom - top)
    return [x, scaled(point[1], -FAR, FAR, bottom, top)]


def landscape(log_lam):
    """The interpolated loss in shades."""
    if KEPT["log_lam"] != log_lam:
        left, top, bottom = MAP
        centres = [(k + 0.5) * 2 * FAR / CELLS - FAR for k in range(CELLS)]
        rows = [[interpolated(scores([x, -y]), WEIGHTS, 10**log_lam) for x in centres] for y in centres]
        KEPT["log_lam"] = log_lam
        KEPT["cells"] = shaded(rows, LOWEST, HIGHEST, left, top, (bottom - top) / CELLS)
    return KEPT["cells"]


def curve(losses):
    """The loss over the steps that the ball has gone."""
    left, right, top, bottom = CURVE
    points = [
        (scaled(k, 0, STEPS, left, right), scaled(value, LOWEST, HIGHEST, bottom, top))
        for k, value in enumerate(losses)
    ]
    axis = line([(left, top), (left, bottom), (right, bottom)], "axis")
    return [
        text(left, top - 10, "the loss by steps", "small"),
        axis,
        line(points, "ink"),
        dot(*points[-1], "ink", 5),
    ]


def stops(ends, here, log_lam, known):
    """The loss at the end over λ; nothing of it before the ball has stopped once."""
    left, right, top, bottom = STOPS

    def across(power):
        return scaled(power, -1, 1.6, left, right)

    def up(value):
        return scaled(value, LOWEST, HIGHEST, bottom, top)

    marks = [
        text(left - 16, top - 12, "the last loss over λ", "small"),
        line([(left, top), (left, bottom), (right, bottom)], "axis"),
        *[text(across(power), bottom + 16, f"{10**power:g}", "small", "middle") for power in (-1, 0, 1)],
    ]
    if not known:
        return [*marks, text((left + right) / 2, (top + bottom) / 2, "?", "", "middle")]
    return [
        line([(across(log_lam), up(here)), (across(log_lam), 306)], "guide"),
        *marks,
        line([(across(power), up(value)) for power, value in zip(LAMS, ends)], "ink"),
        dot(across(log_lam), up(here), "ink", 5),
    ]


def words(shown):
    """The picture for those who do not see it."""
    end = f" and after {STEPS} steps of {'Adam' if shown['adam'] else 'SGD'} stands at {shown['losses'][-1]:.2f}."
    return (
        f"A map of six scores in a plane, shaded by the loss interpolated with λ = {shown['lam']:.2f}. The ball "
        f"starts at a loss of {shown['losses'][0]:.2f}{end if shown['steps'] == STEPS else '.'}"
    )
