"""Chapter 3: the ranks of three items are the corner of a hexagon, and a gradient joins two of its corners."""

import math

from rankedu.reference import rank
from rankedu_book.kit.live.hands import along, handle, scene
from rankedu_book.kit.live.marks import arrow, dot, line, polygon, scaled, text

START = {"tip": [0.9, 1.0], "ahead": [0.55, 0.75], "tick": False}
TELLING = {"ahead": [-0.5, 1.2]}
X, Y, UNIT, FAR = 240, 182, 84, 1.9
#: The plane in which the ranks of three items lie: two directions of length 1 in which they sum to 0.
ALONG_X = [1 / math.sqrt(2), -1 / math.sqrt(2), 0.0]
ALONG_Y = [-1 / math.sqrt(6), -1 / math.sqrt(6), 2 / math.sqrt(6)]


def hexagon(state):
    """Where must the tip of the second arrow reach until there is a gradient? Drag both tips."""
    tip, ahead = state["tip"], state["ahead"]
    y, moved = scores(tip), scores(ahead)
    lam = math.hypot(tip[0] - ahead[0], tip[1] - ahead[1])
    ranks, then = rank(y), rank(moved)
    gradient = [(after - before) / lam if after != before else 0.0 for after, before in zip(then, ranks)]
    shown = {**state, "scores": y, "ranks": ranks, "ranks_ahead": then, "lam": lam, "gradient": gradient}
    marks = [*cones(ranks, then), *corners(ranks, then)]
    marks += support(tip, ranks)
    if ranks != then:
        start, end = place(ranks), place(then)
        marks += [arrow(*start, *end, "gradient thick"), named("gradient", *start, *end, "gradient")]
    marks += [arrow(X, Y, *at(tip)), arrow(*at(tip), *at(ahead), "ahead")]
    marks += [named("−y", X, Y, *at(tip)), named("−λc", *at(tip), *at(ahead), "ahead")]
    marks += [dot(*at(tip), "ink", 5), dot(*at(ahead), "ahead", 5)]
    values = [f"{score:+.2f}" for score in y]
    marks += [
        text(12, 20, f"scores y = ({', '.join(values)}), ranks {name(ranks)}"),
        text(12, 350, f"λ c has length {lam:.2f}; the ranks there are {name(then)}", "ahead"),
        text(12, 372, f"gradient ({', '.join([f'{slope:+.1f}' for slope in gradient])})", "gradient"),
    ]
    found = f"There is a gradient: the second tip is in the cone of {name(then)}." if ranks != then else ""
    handles = []
    for key, label, point in (("tip", "Tip of −y", tip), ("ahead", "Tip of −(y + λc)", ahead)):
        moves = [along("x", key, 0, -FAR, FAR, X - FAR * UNIT, X + FAR * UNIT)]
        moves.append(along("y", key, 1, -FAR, FAR, Y + FAR * UNIT, Y - FAR * UNIT))
        corner = name(ranks if key == "tip" else then)
        handles.append(handle(label, *at(point), f"at {point[0]:.2f} and {point[1]:.2f}, ranks {corner}", moves))
    return scene(shown, 384, marks, handles, [], words(shown), found)


def named(name, x, y, to_x, to_y, kind=""):
    """The name of an arrow, to the left of its middle as it points; none where it is too short."""
    far = math.hypot(to_x - x, to_y - y)
    if far < 30:
        return text(x, y, "")
    return text(
        (x + to_x) / 2 + 14 * (to_y - y) / far, (y + to_y) / 2 - 14 * (to_x - x) / far + 4, name, kind, "middle"
    )


def scores(point):
    """The scores whose negative stands at a point of the plane."""
    return [-(point[0] * u + point[1] * v) for u, v in zip(ALONG_X, ALONG_Y)]


def at(point):
    """Where a point of the plane is drawn."""
    return [
        scaled(point[0], -2.5, 2.5, X - 2.5 * UNIT, X + 2.5 * UNIT),
        scaled(point[1], -2, 2, Y + 2 * UNIT, Y - 2 * UNIT),
    ]


def place(ranks):
    """Where ranks stand: a corner of the hexagon."""
    return at([sum(u * (r - 2) for u, r in zip(axis, ranks)) for axis in (ALONG_X, ALONG_Y)])


def name(ranks):
    return "(" + ", ".join([f"{r:d}" for r in ranks]) + ")"


#: Around the hexagon: neighbours exchange two ranks that follow each other.
AROUND = [[1, 2, 3], [2, 1, 3], [3, 1, 2], [3, 2, 1], [2, 3, 1], [1, 3, 2]]


def cones(ranks, then):
    """The directions that lead to one corner: in the whole cone nothing changes."""
    marks = []
    for k in range(6):
        if AROUND[k] in (ranks, then):
            sides = [between(k - 1), between(k)]
            marks.append(polygon([(X, Y), *sides], "area"))
        marks.append(line([(X, Y), between(k)], "guide"))
    return marks


def between(k):
    """Far out, beyond the middle of the side from one corner to the next."""
    (ax, ay), (bx, by) = place(AROUND[k]), place(AROUND[(k + 1) % 6])
    return [X + 1.42 * ((ax + bx) / 2 - X), Y + 1.42 * ((ay + by) / 2 - Y)]


def corners(ranks, then):
    """The hexagon, its corners named."""
    marks = [line([place(corner) for corner in [*AROUND, AROUND[0]]], "ink")]
    for corner in AROUND:
        x, y = place(corner)
        kind = "ink" if corner == ranks else "ahead" if corner == then else "hollow"
        flat = abs(y - Y) < 5
        label_x, label_y = x + (46 if flat else 14) * (1 if x > X else -1), y + (4 if flat else -14 if y < Y else 24)
        marks += [dot(x, y, kind, 6), text(label_x, label_y, name(corner), "small", "middle")]
    return marks


def support(tip, ranks):
    """The line across −y through the corner that reaches farthest along it."""
    far = math.hypot(tip[0], tip[1])
    if far < 0.01:
        return []
    x, y = place(ranks)
    across, down = 70 * tip[1] / far, 70 * tip[0] / far
    return [line([(x - across, y - down), (x + across, y + down)], "negative")]


def words(shown):
    """The picture for those who do not see it."""
    slopes, ranks, then = [
        ", ".join([f"{one:.2g}" for one in shown[of]]) for of in ("gradient", "ranks", "ranks_ahead")
    ]
    return (
        f"A hexagon whose corners are the ranks of three items. The arrow −y points into the cone of {ranks}; the "
        f"second, {shown['lam']:.2f} long, ends in that of {then}. The gradient is {slopes}."
    )
