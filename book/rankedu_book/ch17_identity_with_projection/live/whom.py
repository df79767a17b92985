"""Chapter 17: two rankers side by side, and whom each of them pushes."""

import math

from rankedu.reference import identity_gradient, rank, rank_gradient
from rankedu_book.kit.live.hands import along, ask, button, listed, scene, slider
from rankedu_book.kit.live.marks import NAMES, apart, arrow, lettered, span, text

START = {
    "scores": [0.9, 0.7, 0.6, 0.4, 0.3],
    "relevance": [False, True, False, False, True],
    "log_lam": -0.602,
    "project": "mean",
    "guess": "",
    "tick": False,
}
#: A perfect list.
TELLING = {"scores": [0.5, 0.9, 0.3, 0.2, 0.8]}
LEFT, RIGHT, LONGEST = 48, 432, 44
LANES = (190, 286)
across = span(0, 1, LEFT, RIGHT)


def whom(state):
    """In a perfect list, who still pushes? Guess, then drag the relevant items (discs) to the right of the others."""
    y, relevant, lam = state["scores"], state["relevance"], 10 ** state["log_lam"]
    incoming = [1.0 if r else 0.0 for r in relevant]
    steps = [
        [0.0 - slope for slope in rank_gradient(y, incoming, lam)],
        [0.0 - slope for slope in identity_gradient(y, incoming, state["project"])],
    ]
    least = min([score for score, r in zip(y, relevant) if r])
    perfect = least > max([score for score, r in zip(y, relevant) if not r])
    pushed = [max([abs(step) for step in lane]) > 1e-9 for lane in steps]
    ranks = rank(y)
    shown = {**state, "lam": lam, "ranks": ranks, "steps": steps, "pushed": pushed, "perfect": perfect}
    marks, handles = listed(y, relevant, 48, LEFT, RIGHT)
    move = along("x", "log_lam", None, -1.5, 1, LEFT, RIGHT)
    track, knob = slider("λ", f"λ = {lam:.2f}", state["log_lam"], 116, move)
    marks += [text(LEFT, 18, "scores; the loss is the sum of the ranks of the discs"), *track]
    longest = max([abs(step) for lane in steps for step in lane])
    titles = [
        "Algorithm 1; arrows: logarithm of the step" if state["guess"] else "Algorithm 1",
        "identity, mean taken out" if state["project"] == "mean" else "identity, mean and length taken out",
    ]
    for number, y_of_lane in enumerate(LANES):
        marks += lane(titles[number], y_of_lane, y, relevant, steps[number], longest if state["guess"] else 0)
    right = ["identity"] if perfect and pushed[1] and not pushed[0] else []
    right = ["neither"] if perfect and not pushed[1] else right
    question = ask(
        "In a perfect list, who still pushes?", ["Algorithm 1", "identity", "both", "neither"], state["guess"], right
    )
    buttons = [
        button("Mean taken out", {"project": "mean"}, state["project"] == "mean"),
        button("And the length", {"project": "std"}, state["project"] == "std"),
    ]
    return scene(shown, 346, marks, [*handles, knob], buttons, words(shown), "", question)


def lane(title, height, y, relevant, steps, longest):
    """The items once more, each with its step once they shall be seen: longest is that of both lanes."""
    places = [across(score) for score in y]
    marks = [text(LEFT, height - 30, title, "small"), *lettered(places, height, LEFT, RIGHT, relevant)]
    numbers = apart(places, 60, LEFT, RIGHT)
    for i, x in enumerate(places if longest else []):
        size, y_of_arrow = LONGEST * math.log1p(abs(steps[i])) / math.log1p(longest), height + 8 + 6 * i
        kind = "positive" if relevant[i] else "negative"
        marks.append(arrow(x, y_of_arrow, x + (size if steps[i] > 0 else -size), y_of_arrow, kind))
        step = f"{NAMES[i]} {steps[i]:+.2g}" if abs(steps[i]) > 1e-9 else f"{NAMES[i]} 0"
        marks.append(text(numbers[i], height + 50, step, f"{kind} small", "middle"))
    return marks


def words(shown):
    """The picture for those who do not see it."""
    by = [", ".join([f"{NAMES[i]} {step:+.2f}" for i, step in enumerate(lane)]) for lane in shown["steps"]]
    told = f" Steps by Algorithm 1: {by[0]}. By identity: {by[1]}." if shown["guess"] else " Who is pushed?"
    kind = "a perfect list" if shown["perfect"] else "not a perfect list"
    return f"Five scores, two of them relevant, {kind}, with λ = {shown['lam']:.2f}.{told}"
