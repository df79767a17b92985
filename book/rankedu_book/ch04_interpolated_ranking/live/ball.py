"""Chapter 4: a ball on the landscape of an interpolated loss, and where each λ makes it stop."""

import math

from rankedu.reference import interpolated, mean, rank_gradient
from rankedu_book.kit.live.descents import (
    AXES,
    FAR,
    HIGHEST,
    LOWEST,
    WEIGHTS,
    grid,
    landscape,
    loss,
    pin,
    place,
    scores,
)
from rankedu_book.kit.live.hands import RUN, along, ask, button, run, run_button, scene, slider
from rankedu_book.kit.live.marks import axes, borders, dot, key, line, scaled, text

START = {**RUN, "ball": [-1.0, 1.0], "flag": [0.9, -1.2], "log_lam": -0.5, "adam": False, "seen": []}
TELLING = {"log_lam": 0.5}
CELLS, STEPS, PACE, LAST, RATE, NEAR = 20, 60, 2, 10, 0.1, 0.4
BASIN, FINE = -0.8, 60  # a true loss below it is in the lowest basin, outlined on a finer grid
MAP, CURVE, STOPS = (14, 24, 264), (318, 458, 40, 116), (318, 458, 176, 252)
LOSSES = {f"{LOWEST:g}": LOWEST, "0": 0.0, f"{HIGHEST:g}": HIGHEST}
KEPT: dict[str, object] = {"log_lam": None, "cells": [], "basin": ""}  # the map changes with λ alone


def ball(state):
    """Which λ rolls the ball into the lowest basin? Drag λ and the ball; set the flag where it ends; Roll."""
    start, flag, log_lam, adam = state["ball"], state["flag"], state["log_lam"], state["adam"]
    of, here = [*start, *flag, log_lam, adam], [*start, adam]
    lam = 10**log_lam
    trail = descent(start, lam, adam)
    losses, still = [loss(scores(point)) for point in trail], trail[-1] == start
    gone = run(state, STEPS, of, STEPS if still else PACE)
    steps, stopped = gone["steps"], gone["steps"] == STEPS
    seen = [one for one in state["seen"] if one["of"] == here and not (stopped and one["log_lam"] == log_lam)]
    if stopped:
        seen = [*seen, {"of": here, "log_lam": log_lam, "loss": mean(losses[-LAST:])}]
    shown = {**state, **gone, "seen": seen, "lam": lam, "losses": losses, "stop": trail[-1]}
    if KEPT["log_lam"] != log_lam:
        KEPT["log_lam"] = log_lam
        KEPT["cells"] = landscape(lambda y: interpolated(y, WEIGHTS, lam), CELLS, MAP)
    KEPT["basin"] = KEPT["basin"] or outline()
    marks = [*KEPT["cells"], *key(MAP[0] + 250, 16, f"the map ≤ {LOWEST:g}", f"{HIGHEST:g}")]
    marks += [["path", {"class": kind, "d": KEPT["basin"]}, ""] for kind in ("outline under", "outline")]
    marks.append(text(MAP[0], MAP[2] + 18, "outlined: the true loss is lowest", "small"))
    if steps and not still:
        way = [place(point, MAP) for point in trail[: steps + 1]]
        marks += [line(way, "under"), line(way, "ink thick"), dot(*way[-1], "found", 6)]
    marks += [dot(*place(start, MAP), "hollow", 7), *curve(losses[: steps + 1]), *stops(seen)]
    track, knob = slider("λ", f"λ = {lam:.2f}", log_lam, 312, along("x", "log_lam", None, -1, 1.6, STOPS[0], STOPS[1]))
    marks, handles = [*marks, *track], [pin("Ball", "ball", start, MAP), knob]
    if state["guess"] != "skip":
        x, y = place(flag, MAP)
        flagstaff = [(x, y), (x, y - 22), (x + 13, y - 17), (x, y - 12)]
        marks += [line(flagstaff, "under"), line(flagstaff, "thick"), dot(x, y, "hollow", 4)]
        handles.append(pin("Flag", "flag", flag, MAP, {"guess": "flag"}))
    buttons = [button("SGD", {"adam": False}, not adam), button("Adam", {"adam": True}, adam)]
    buttons.append(run_button(shown, STEPS, "Roll"))
    far = math.hypot(trail[-1][0] - flag[0], trail[-1][1] - flag[1])
    inside = len([one for one in losses[-LAST:] if one <= BASIN])
    found = f"In the lowest basin: {'yes' if 2 * inside > LAST else 'no'}, {inside:d} of the last {LAST:d} steps. "
    found = "In the lowest basin: no, the gradient is 0. " if still else found
    if state["guess"] == "flag":
        found += f"It ends {far:.1f} from your flag: {'right' if far <= NEAR else 'not there'}."
    question = ask("Move the flag to where it will end, or", [], "", ["it stops"] if stopped else [])
    return scene(shown, 326, marks, handles, buttons, words(shown), found if stopped else "", question)


def descent(start, lam, adam):
    """The way of the ball down the gradient of Algorithm 1, in steps that shrink to nothing; it stays on the map."""
    x, y, trail = start[0], start[1], [list(start)]
    first, square = [0.0, 0.0], [0.0, 0.0]
    for step in range(1, STEPS + 1):
        slopes, rate = rank_gradient(scores([x, y]), WEIGHTS, lam), RATE * (1 - (step - 1) / STEPS)
        moves = []
        for k, axis in enumerate(AXES):
            slope = sum(a * b for a, b in zip(slopes, axis))
            first[k] = 0.9 * first[k] + 0.1 * slope
            square[k] = 0.99 * square[k] + 0.01 * slope * slope
            even = first[k] / (1 - 0.9**step) / (math.sqrt(square[k] / (1 - 0.99**step)) + 1e-8)
            moves.append(rate * (even if adam else slope))
        x, y = [min(max(at - move, -FAR), FAR) for at, move in zip([x, y], moves)]
        trail.append([x, y])
    return trail


def outline():
    """The border of the lowest basin: of the true loss, so it is the same for every λ."""
    left, top, bottom = MAP
    return borders(grid(lambda y: loss(y) <= BASIN, FINE), left, top, (bottom - top) / FINE)


def curve(losses):
    """The loss over the steps that the ball has gone."""
    left, right, top, bottom = CURVE
    points = [
        (scaled(k, 0, STEPS, left, right), scaled(value, LOWEST, HIGHEST, bottom, top))
        for k, value in enumerate(losses)
    ]
    marks = axes(CURVE, (0, STEPS, {"0": 0, f"{STEPS:d} steps": STEPS}), (LOWEST, HIGHEST, LOSSES))
    return [*marks, text(left, top - 10, "the true loss", "small"), line(points), dot(*points[-1], "ink", 5)]


def stops(seen):
    """The mean of the loss over the last steps, by λ, of those that have been rolled from here."""
    left, right, top, bottom = STOPS
    marks = axes(STOPS, (-1, 1.6, {"0.1": -1, "1": 0, "10": 1, "λ": 1.6}), (LOWEST, HIGHEST, LOSSES))
    marks.append(text(left, top - 10, "last true loss by λ", "small"))
    for one in seen:
        x, y = scaled(one["log_lam"], -1, 1.6, left, right), scaled(one["loss"], LOWEST, HIGHEST, bottom, top)
        marks.append(dot(x, y, "ink", 5))
    return marks if seen else [*marks, text((left + right) / 2, (top + bottom) / 2, "?", "", "middle")]


def words(shown):
    """The picture for those who do not see it."""
    end = f" and after {STEPS} steps of {'Adam' if shown['adam'] else 'SGD'} stands at {shown['losses'][-1]:.2f}."
    return (
        f"A map of six scores in a plane, shaded by the loss interpolated with λ = {shown['lam']:.2f}. The ball "
        f"starts at a loss of {shown['losses'][0]:.2f}{end if shown['steps'] == STEPS else '.'}"
    )
