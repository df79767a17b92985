"""The few marks that a live explorable draws with: plain Python, for it runs in the page, too.

A mark is an element of SVG: its tag, its attributes and its text. A class says what it means (one of the ROLES in
`style.py`, `grey`, `ink`, `axis`, `guide`, `found`) or how thick it is (`thin`, `thick`); `page/live.css` gives it a
colour by day and by night.
Every scene is 480 units wide; x grows to the right and y downwards.
"""

import math

WIDTH = 480
#: What items are called.
NAMES = "ABCDEFGHIJKLMNOPQRST"
#: How many shades a map has.
SHADES = 8


def scaled(value, low, high, start, end):
    """Where a value from ``low`` to ``high`` stands between ``start`` and ``end``; never outside."""
    share = (min(max(value, low), high) - low) / (high - low)
    return start + share * (end - start)


def line(points, kind="ink"):
    """A line through points."""
    return ["polyline", {"class": kind, "points": _joined(points)}, ""]


def polygon(points, kind="area"):
    """A filled shape."""
    return ["polygon", {"class": kind, "points": _joined(points)}, ""]


def bar(x, y, width, height, kind="grey"):
    """A rectangle by its upper left corner; one that would be turned inside out has no size."""
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{max(width, 0):.1f}", "height": f"{max(height, 0):.1f}"}
    return ["rect", {"class": kind, **place}, ""]


def dot(x, y, kind="ink", size=6):
    """A disc."""
    return ["circle", {"class": kind, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": f"{size:.1f}"}, ""]


def text(x, y, words, kind="", anchor="start"):
    """One line of text; ``anchor`` is `start`, `middle` or `end`."""
    return ["text", {"class": kind, "x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}, words]


def arrow(x, y, to_x, to_y, kind="ink"):
    """A line with a head; nothing but an empty line where it would be shorter than a pixel."""
    far = math.hypot(to_x - x, to_y - y)
    if far < 1:
        return line([], kind)
    along_x, along_y, head = (to_x - x) / far, (to_y - y) / far, min(6, far)
    back_x, back_y = to_x - head * along_x, to_y - head * along_y
    wing_x, wing_y = 0.6 * head * along_y, 0.6 * head * along_x
    wings = [(back_x + wing_x, back_y - wing_y), (to_x, to_y), (back_x - wing_x, back_y + wing_y)]
    return line([(x, y), (to_x, to_y), *wings], kind)


def item(x, y, relevant, size=7):
    """An item: a filled disc if it is relevant, else a hollow square, as everywhere in the book."""
    if relevant:
        return dot(x, y, "positive", size)
    return bar(x - size + 1, y - size + 1, 2 * size - 2, 2 * size - 2, "negative hollow")


def shaded(rows, low, high, left, top, side):
    """A map of square cells, its rows from the top, with a line where a shade ends.

    Cells of one shade that lie side by side are one bar.
    """
    cells, edges, above = [], "", []
    for row, values in enumerate(rows):
        shades = [int(scaled(value, low, high, 0, SHADES - 0.001)) for value in values]
        for k, shade in enumerate(shades):
            corner = f"M{left + k * side:.1f} {top + row * side:.1f}"
            edges += f"{corner}h{side:.1f}" if above and above[k] != shade else ""
            edges += f"{corner}v{side:.1f}" if k and shades[k - 1] != shade else ""
        above = shades
        begun = 0
        for k in range(1, len(values) + 1):
            if k == len(values) or shades[k] != shades[begun]:
                kind = f"shade{shades[begun]:d}"
                cells.append(bar(left + begun * side, top + row * side, (k - begun) * side + 0.3, side + 0.3, kind))
                begun = k
    return [*cells, ["path", {"class": "edges", "d": edges}, ""]]


def apart(places, gap, low, high):
    """Where words stand that are wanted at these places: neighbours that would touch move aside, both by half."""
    moved, order = list(places), sorted(range(len(places)), key=lambda i: places[i])
    for _ in range(40):
        for i, j in zip(order, order[1:]):
            lack = max(gap - moved[j] + moved[i], 0) / 2
            moved[i] -= lack
            moved[j] += lack
        moved = [min(max(place, low), high) for place in moved]
    return moved


def stacked(places, gap):
    """On which level each disc lies: 0 is the line itself, and above it lies what would cover another one."""
    levels = []
    for i, place in enumerate(places):
        taken = [levels[k] for k in range(i) if abs(places[k] - place) < gap]
        levels.append(next(k for k in range(i + 1) if k not in taken))
    return levels


def _joined(points):
    return " ".join([f"{x:.1f},{y:.1f}" for x, y in points])


# --------------------------------------------------------------------------------- what can be dragged and pressed


def along(axis, of, at, low, high, start, end):
    """What a drag along "x" or "y" changes: ``state[of][at]``, or ``state[of]`` where ``at`` is None.

    The value is ``low`` where the pointer is at ``start`` and ``high`` where it is at ``end``, and never beyond.
    """
    return {"axis": axis, "of": of, "at": at, "low": low, "high": high, "start": start, "end": end}


def handle(name, x, y, says, moves, also=None):
    """Something to take hold of, with the keyboard too: ``moves`` has one or two of :func:`along`.

    ``says`` is what a screen reader says of where it stands; ``also`` is put into the state when it is touched.
    """
    return {"name": name, "x": x, "y": y, "says": says, "moves": moves, "also": also or {}}


def slider(name, value, says, y, move):
    """The marks and the handle of a value that moves along a horizontal line."""
    x = scaled(value, move["low"], move["high"], move["start"], move["end"])
    track = [line([(move["start"], y), (move["end"], y)], "axis"), dot(x, y, "ink", 7)]
    return track, handle(name, x, y, says, [move])


def button(label, changes, pressed=None, locked=False):
    """A button that puts ``changes`` into the state; one of several that exclude each other is ``pressed`` or not.

    One that is ``locked`` waits for the reader's guess.
    """
    return {"label": label, "changes": changes, "pressed": pressed, "locked": locked}


def scene(state, height, marks, handles, buttons, says, found="", question=None):
    """What a live explorable returns: its state with all that it shows, the picture, and the picture in words.

    ``found`` says what has happened, at the end of a run or when the reader has got there; ``question`` is of `ask`.
    """
    return {
        "state": {**state, "tick": False},
        "height": height,
        "marks": marks,
        "handles": handles,
        "buttons": buttons,
        "says": says,
        "found": (question["told"] if question else "") + found,
        "ask": question,
    }
