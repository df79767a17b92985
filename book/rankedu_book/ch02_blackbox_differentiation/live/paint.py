"""Chapters 2 and 4: a window that looks ahead over a staircase, and the mean in it, which is the interpolation."""

from rankedu.reference import interpolated, rank, rank_gradient
from rankedu_book.kit.live.hands import along, ask, handle, scene
from rankedu_book.kit.live.marks import NAMES, apart, arrow, axes, bar, dot, item, line, span, stairs, text

#: What the reader draws at the places of KNOTS; and what is painted: beside which curve, with which λ, how far.
START = {
    "drawn": [3.0] * 7,
    "at": 0.3,
    "lam": 0.15,
    "guess": "",
    "painted": {"beside": [], "lam": 0.15, "reach": [0.3, 0.3]},
    "tick": False,
}
TELLING = {"guess": "skip", "at": 0.42, "painted": {"beside": [], "lam": 0.15, "reach": [0.0, 1.0]}}
KNOTS, NEAR = [k / 6 for k in range(7)], 0.35
#: Five items; D, the fourth, is relevant and moves, so that the loss is its rank.
OTHERS, MOVED, INCOMING = [0.9, 0.7, 0.5, 0.1], 3, [0.0, 0.0, 0.0, 1.0, 0.0]
LEFT, RIGHT, TOP, BOTTOM, ITEMS, WINDOW, FAR = 48, 460, 40, 200, 232, 282, 1.5
across, up = span(0, FAR, LEFT, RIGHT), span(0, 5, BOTTOM, TOP)


def paint(state):
    """What is the mean of the staircase over the window ahead? Draw it, then paint it: drag D."""
    x, lam, curve, painted = state["at"], state["lam"], state["drawn"], state["painted"]
    known = state["guess"] == "skip" or (state["guess"] != "" and painted["beside"] == curve)
    reach = [min(painted["reach"][0], x), max(painted["reach"][1], x)] if known and painted["lam"] == lam else [x, x]
    whole = reach[0] < 1e-9 and reach[1] > 1 - 1e-9
    value, gradient = mean_ahead(x, lam), rank_gradient(scores(x), INCOMING, lam)
    slope, passed = gradient[MOVED], [i for i in range(len(gradient)) if gradient[i] > 0]
    painted = {"beside": list(curve) if known else [], "lam": lam, "reach": reach}
    shown = {**state, "painted": painted, "rank": rank_at(x), "mean": value, "slope": slope, "passed": passed}
    left, right, high = across(x), across(x + lam), up(value) if known else BOTTOM
    marks = [
        bar(left, TOP, right - left, WINDOW - TOP, "area"),
        bar(left, high, right - left, BOTTOM - high, "ahead area"),
    ]
    marks += staircase()
    if state["guess"] != "skip":
        marks.append(line([(across(at), up(level)) for at, level in zip(KNOTS, curve)], "guide"))
        marks += [dot(across(at), up(level), "hollow", 4) for at, level in zip(KNOTS, curve)]
    if known:
        marks += [*lit(x, passed), *trail(state, reach, lam), dot(left, high, "ahead", 6), tangent(x, value, slope)]
        marks.append(text(RIGHT, 16, f"slope {slope:.2f}{passes(passed)}", "gradient", "end"))
    marks += [text(LEFT, 16, f"mean {value:.2f}" if known else "mean ?", "ahead"), *items(x)]
    end, anchor = (right + 22, "start") if right < 390 else (left - 10, "end")
    marks += [
        arrow(left, WINDOW, right, WINDOW, "ahead thick"),
        text(end, WINDOW + 5, f"λ = {lam:.2f}", "ahead", anchor),
    ]
    begin = {} if known or state["guess"] == "" else {"painted": {"beside": list(curve), "lam": lam, "reach": [x, x]}}
    moves = [along("x", "at", None, 0, 1, across(0), across(1))]
    handles = [handle("Item D", left, ITEMS, f"score {x:.2f}, rank {rank_at(x):d}", moves, begin)]
    moves = [along("x", "lam", None, 0.05, 0.5, across(x + 0.05), across(x + 0.5))]
    handles.append(handle("Tip of the window", right, WINDOW, f"λ is {lam:.2f}", moves, begin))
    for k, level in enumerate(curve):
        moves = [along("y", "drawn", k, 1, 5, up(1), up(5))]
        name = f"Your curve at {KNOTS[k]:.2f}"
        handles.append(handle(name, across(KNOTS[k]), up(level), f"{level:.1f}", moves, {"guess": "drawn"}))
    question = ask(
        "Draw the mean for each score of D, then drag D, or", [], state["guess"], ["it is painted"] if whole else []
    )
    found = verdict(curve, lam) if whole and state["guess"] == "drawn" else ""
    return scene(shown, 306, marks, handles, [], words(shown, known), found, question)


def scores(x):
    """All five, with D at x."""
    return [*OTHERS[:MOVED], x, *OTHERS[MOVED:]]


def rank_at(x):
    return rank(scores(x))[MOVED]


def mean_ahead(x, lam):
    """f_λ: the mean rank of D over the scores from x to x + λ."""
    return interpolated(scores(x), INCOMING, lam)


def staircase():
    """The rank of D over its score."""
    way = [(across(at), up(level)) for at, level in stairs([0.0, *sorted(OTHERS), FAR], rank_at)]
    numbers = [text(LEFT - 19, up(k) + 4, f"{k:d}", "small", "end") for k in range(1, 6)]
    box = axes((LEFT, RIGHT, TOP, BOTTOM), (0, 1, {}), (0, 1, {}))
    return [*box, *numbers, line(way), text(RIGHT, up(1) + 17, "rank of D", "small", "end")]


def trail(state, reach, lam):
    """The means that are painted, straight between the corners of f_λ; this and the reader's curve have their names."""
    low, high = reach
    corners = sorted([score - side for score in OTHERS for side in (0, lam) if low < score - side < high])
    drawn = [state["drawn"][-1]] if state["guess"] == "drawn" else []
    heights = apart([up(level) - 6 for level in [mean_ahead(high, lam), *drawn]], 18, TOP, up(1) - 4)
    marks = [line([(across(at), up(mean_ahead(at, lam))) for at in [low, *corners, high]], "ahead thick")]
    marks.append(text(across(high) + 18, heights[0], "its mean", "ahead small"))
    return [*marks, *[text(across(1) + 18, y, "yours", "small") for y in heights[1:]]]


def lit(x, passed):
    """The items that D passes within the window, and the stair of each."""
    marks = []
    for i in passed:
        score = scores(x)[i]
        stair = [(across(score), up(rank_at(score + side))) for side in (-1e-6, 1e-6)]
        marks += [line([stair[1], (across(score), ITEMS)], "gradient thin"), line(stair, "gradient thick")]
        marks.append(dot(across(score), ITEMS, "gradient", 11))
    return marks


def tangent(x, value, slope):
    """A piece of the line that the curve follows here."""
    far = min(0.08, 0.25 / max(-slope, 1))
    return line([(across(x + side), up(value + side * slope)) for side in (-far, far)], "gradient thick")


def items(x):
    """The items on the line of scores."""
    marks = [line([(LEFT, ITEMS), (RIGHT, ITEMS)], "axis"), text(RIGHT, ITEMS + 22, "score", "small", "end")]
    labels = apart([across(score) for score in scores(x)], 15, 12, 400)
    for i, score in enumerate(scores(x)):
        marks += [item(across(score), ITEMS, i == MOVED), text(labels[i], ITEMS + 24, NAMES[i], "small", "middle")]
    return marks


def passes(passed):
    return f": D passes {', '.join([NAMES[i] for i in reversed(passed)]) if passed else 'nobody'}"


def verdict(curve, lam):
    """Whether what was drawn is what was painted, and else where it is farthest off."""
    means = [mean_ahead(at, lam) for at in KNOTS]
    off = [abs(level - mean) for level, mean in zip(curve, means)]
    k = off.index(max(off))
    if off[k] <= NEAR:
        return f"You drew it right, to within {off[k]:.2f} of a rank."
    above = [level for at, level in zip(KNOTS, curve) if level > rank_at(at) + NEAR]
    told = f"No: at a score of {KNOTS[k]:.2f} you drew {curve[k]:.1f}, and the mean is {means[k]:.2f}."
    return told + (" It never lies above the staircase, which only falls ahead." if above else "")


def words(shown, known):
    """The picture for those who do not see it."""
    told = f"its mean is {shown['mean']:.2f}, and the slope {shown['slope']:.2f}{passes(shown['passed'])}."
    return (
        f"The rank of D, one of five items, over its score: a staircase that falls from 5 to 1. D stands at "
        f"{shown['at']:.2f}, where its rank is {shown['rank']:d}. Over the window ahead, λ = {shown['lam']:.2f} long, "
        f"{told if known else 'the mean is to be guessed.'}"
    )
