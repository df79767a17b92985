"""Chapter 2: how far Algorithm 1 looks ahead, and what it sees on the way."""

from rankedu.reference import interpolated, optimal_value, rank, rank_gradient
from rankedu_book.kit.live.hands import along, handle, scene
from rankedu_book.kit.live.marks import (
    NAMES,
    apart,
    arrow,
    axes,
    counted,
    dot,
    line,
    polygon,
    scaled,
    span,
    stairs,
    text,
)

START = {"scores": [0.92, 0.3, 0.5, 0.7, 0.08], "incoming": [-0.1, 0.15, 0.0, -0.05, 0.05], "lam": 0.6, "tick": False}
TELLING = {"lam": 3.0}
FAR = 6.0
LEFT, RIGHT = 42, 392
LINES, CURVE, STEPS = (26, 190), (240, 306), (340, 402)
across, height = span(0, FAR, LEFT, RIGHT), span(0, 1, LINES[1], LINES[0])


def look_ahead(state):
    """How long must the arrow be until you feel the step? Drag its tip, then the items."""
    y, c, lam = state["scores"], state["incoming"], state["lam"]

    def ahead(t):
        return [score + t * slope for score, slope in zip(y, c)]

    crossings = meetings(y, c)
    knots = [0.0, *[one[0] for one in crossings], FAR]
    ranks, then, gradient = rank(y), rank(ahead(lam)), rank_gradient(y, c, lam)
    value = interpolated(y, c, lam)
    shown = {**state, "ranks": ranks, "ranks_ahead": then, "gradient": gradient, "loss": product(c, ranks)}
    shown = {**shown, "interpolated": value, "overtakings": len([one for one in crossings if one[0] < lam])}
    marks = [*lines(y, c, lam, crossings), *curve(ahead, knots, lam), *steps(c, ahead, knots, lam, value)]
    passing, found = overtaken(c, crossings, lam, ahead)
    marks += passing
    for score, slope in zip(y, gradient):
        tip = height(score) - min(max(30 * slope, -40), 40)
        marks.append(arrow(LEFT + 19, height(score), LEFT + 19, tip, "gradient thick"))
    marks.append(text(RIGHT + 70, 15, "arrows: gradient", "gradient", "end"))
    handles = []
    for i, score in enumerate(y):
        says, move = f"score {score:.2f}, rank {ranks[i]}", along("y", "scores", i, 0, 1, LINES[1], LINES[0])
        handles.append(handle(f"Item {NAMES[i]}", LEFT, height(score), says, [move]))
    tip = [along("x", "lam", None, 0.1, FAR, across(0.1), RIGHT)]
    handles.append(handle("Tip of the arrow", across(lam), LINES[1] + 16, f"λ is {lam:.2f}", tip))
    return scene(shown, 420, marks, handles, [], words(shown, lam), found)


def product(a, b):
    return sum(x * z for x, z in zip(a, b))


def meetings(y, c):
    """When one item overtakes another on the way, at which score, and which they are, in order of time."""
    found = []
    for i in range(len(y)):
        for j in range(i):
            t = (y[j] - y[i]) / (c[i] - c[j])
            if 0 < t < FAR:
                found.append((t, y[i] + t * c[i], i, j))
    return sorted(found)


def lines(y, c, lam, crossings):
    """The scores along the arrow, and a ring where two cross."""
    slopes = ", ".join([f"{slope:.2f}" for slope in c])
    marks = [line([(LEFT, LINES[0]), (LEFT, LINES[1])], "axis"), text(LEFT, 15, f"c = ({slopes})")]
    marks.append(
        polygon([(LEFT, LINES[0]), (across(lam), LINES[0]), (across(lam), STEPS[1]), (LEFT, STEPS[1])], "area")
    )
    names = apart([height(score) + 4 for score in y], 14, LINES[0], LINES[1] + 4)
    for i in range(len(y)):
        kind = "ahead" if c[i] else "grey"
        ends = [0.0, *[t for t in [-y[i] / c[i], (1 - y[i]) / c[i]] if 0 < t < FAR]] if c[i] else [0.0]
        last = min([*ends[1:], FAR])
        marks.append(line([(LEFT, height(y[i])), (across(last), height(y[i] + last * c[i]))], kind))
        marks.append(dot(LEFT, height(y[i]), "ink", 6))
        marks.append(text(LEFT - 17, names[i], NAMES[i], "small", "end"))
    for t, score, _, _ in crossings:
        marks.append(line([(across(t), height(score)), (across(t), STEPS[1])], "guide"))
        if 0 <= score <= 1:
            marks.append(dot(across(t), height(score), "hollow", 3.5))
    base, tip = LINES[1] + 16, across(lam)
    marks += [line([(LEFT, base), (tip, base), (tip - 6, base - 4), (tip, base), (tip - 6, base + 4)], "thick")]
    marks.append(text(min(tip + 22, RIGHT - 4), base + 5, f"λ = {lam:.2f}", ""))
    return marks


def curve(ahead, knots, lam):
    """m along the arrow, concave, with a kink at each overtaking; and its secant over the arrow."""
    values = [optimal_value(ahead(t)) for t in [0.0, lam, *knots]]
    start, end, *way = [scaled(value, min(values), max(values) + 1e-9, CURVE[1], CURVE[0]) for value in values]
    return [
        *axes((LEFT, RIGHT, *CURVE), (0, 1, {}), (0, 1, {})),
        line([(across(t), y) for t, y in zip(knots, way)]),
        *over_arrow("m", way[-1], "secant", start, end, lam),
        dot(across(lam), end, "ahead", 4),
    ]


def over_arrow(name, y, other, start, end, lam):
    """A line over the arrow alone; its name, at its tip, and that of another line, at the right."""
    heights = apart([y + 4, end + 4], 18, CURVE[0], STEPS[1] - 4)
    names = text(RIGHT + 10, heights[0], name, "small"), text(across(lam) + 10, heights[1], other, "ahead small")
    return [line([(LEFT, start), (across(lam), end)], "ahead"), *names]


def steps(c, ahead, knots, lam, value):
    """The loss c·rk along the arrow, which is the slope of m, and its mean over the arrow."""
    way = [(across(x), y) for x, y in stairs(knots, lambda t: level_of(c, product(c, rank(ahead(t)))))]
    low, high = optimal_value(c), -optimal_value([-slope for slope in c])
    ticks, mean = {f"{one:.1f}": one for one in (low, high)}, level_of(c, value)
    return [
        *axes((LEFT, RIGHT, *STEPS), (0, FAR, {f"{t:d}": t for t in range(0, 7, 2)}), (low, high, ticks)),
        line(way),
        *over_arrow("loss", way[-1][1], "its mean", mean, mean, lam),
        dot(LEFT, mean, "ahead", 4),
    ]


def level_of(c, value):
    """Where a loss is drawn, between the least and the most that it can be."""
    return scaled(value, optimal_value(c), -optimal_value([-slope for slope in c]) + 1e-9, STEPS[1], STEPS[0])


def overtaken(c, crossings, lam, ahead):
    """Who has overtaken whom last before the tip, and the step that the loss takes there."""
    passed = [one for one in crossings if one[0] < lam]
    if not passed:
        return [], ""
    t, score, i, j = passed[-1]
    winner, loser = (i, j) if c[i] > c[j] else (j, i)
    before, after = [product(c, rank(ahead(t + side))) for side in (-1e-6, 1e-6)]
    x, y = across(t), min(max(height(score) - 10, LINES[0] + 8), LINES[1] - 4)
    anchor, at = ("start", x + 6) if x < 300 else ("end", x - 6)
    marks = [text(at, y, f"{NAMES[winner]} passes {NAMES[loser]}", "ahead", anchor)]
    marks += [
        dot(x, height(score), "ahead", 5),
        line([(x, level_of(c, before)), (x, level_of(c, after))], "ahead thick"),
    ]
    found = f"{NAMES[winner]} passes {NAMES[loser]} at {t:.2f}: the loss steps from {before:.2f} to {after:.2f}."
    return marks, found


def words(shown, lam):
    """The picture for those who do not see it."""
    slopes = ", ".join([f"{name} {slope:.2f}" for name, slope in zip(NAMES, shown["gradient"])])
    return (
        f"Five scores move along the incoming gradient for a time of λ = {lam:.2f}, with "
        f"{counted(shown['overtakings'], 'overtaking')}. The loss c·rk(y) is {shown['loss']:.2f}; its mean over the "
        f"way, the interpolated loss, is {shown['interpolated']:.2f}. The gradient is {slopes}."
    )
