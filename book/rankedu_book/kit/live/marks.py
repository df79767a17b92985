"""The few marks that a live explorable draws with: plain Python, for it runs in the page, too.

A mark is an element of SVG: its tag, its attributes and its text. A class says what it means (one of the ROLES in
`style.py`, `grey`, `ink`, `axis`, `guide`, `found`) or how thick it is (`thin`, `thick`); `page/live.css` gives it a
colour by day and by night.
Every scene is 480 units wide; x grows to the right and y downwards.
"""

import math

#: What items are called.
NAMES = "ABCDEFGHIJKLMNOPQRST"
#: Before what is no minus sign.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#: How many shades a map has.
SHADES = 8


def scaled(value, low, high, start, end):
    """Where a value from ``low`` to ``high`` stands between ``start`` and ``end``; never outside."""
    share = (min(max(value, low), high) - low) / (high - low)
    return start + share * (end - start)


def span(low, high, start, end):
    """How a scale is drawn: from a value to its place."""
    return lambda value: scaled(value, low, high, start, end)


def stairs(ends, value):
    """The corners of a staircase over these ends, whose height is a function of a place within each stair."""
    points = []
    for low, high in zip(ends, ends[1:]):
        points += [(low, value((low + high) / 2)), (high, value((low + high) / 2))]
    return points


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
    return ["text", {"class": kind, "x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}, said(words)]


def said(words):
    """Words as they are shown: what stands before a number is a minus sign, and before a zero there is none."""
    shown = ""
    for k, sign in enumerate(words if "-" in words else []):
        after, before = words[k + 1 : k + 2], words[max(k - 1, 0) : k]
        if sign == "-" and after != "" and after in "0123456789." and not (before != "" and before in LETTERS):
            first = next((one for one in words[k + 1 :] if one not in "0."), " ")
            sign = "−" if first in "123456789" else ""
        shown += sign
    return shown or words


def counted(number, name):
    """How many there are of what has a name."""
    return f"{number:d} {name}" if number == 1 else f"{number:d} {name}s"


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
    rows = [[int(scaled(value, low, high, 0, SHADES - 0.001)) for value in values] for values in rows]
    cells = []
    for row, shades in enumerate(rows):
        begun = 0
        for k in range(1, len(shades) + 1):
            if k == len(shades) or shades[k] != shades[begun]:
                kind = f"shade{shades[begun]:d}"
                cells.append(bar(left + begun * side, top + row * side, (k - begun) * side + 0.3, side + 0.3, kind))
                begun = k
    return [*cells, ["path", {"class": "edges", "d": borders(rows, left, top, side)}, ""]]


def borders(rows, left, top, side):
    """Where square cells lie beside others of another kind, as the way of a pen."""
    way, above = "", []
    for row, kinds in enumerate(rows):
        for k, kind in enumerate(kinds):
            corner = f"M{left + k * side:.1f} {top + row * side:.1f}"
            way += f"{corner}h{side:.1f}" if above and above[k] != kind else ""
            way += f"{corner}v{side:.1f}" if k and kinds[k - 1] != kind else ""
        above = kinds
    return way


def key(x, y, low, high):
    """The shades of a map from the lowest value to the highest, to the left of a place."""
    marks = [text(x - 118, y, low, "small", "end"), text(x, y, high, "small", "end")]
    return [*marks, *[bar(x - 114 + 10 * k, y - 9, 10, 10, f"shade{k:d}") for k in range(SHADES)]]


def axes(box, across, up):
    """Two axes of a box of (left, right, top, bottom) with ticks: for each a low, a high and {label: value}."""
    left, right, top, bottom = box
    marks = [line([(left, top), (left, bottom), (right, bottom)], "axis")]
    for label, value in across[2].items():
        anchor = "end" if value == across[1] else "start" if value == across[0] and up[2] else "middle"
        marks.append(text(scaled(value, across[0], across[1], left, right), bottom + 15, label, "small", anchor))
    for label, value in up[2].items():
        marks.append(text(left - 4, scaled(value, up[0], up[1], bottom, top) + 4, label, "small", "end"))
    return marks


def apart(places, gap, low, high):
    """Where words stand that are wanted at these places: those that would touch move aside together."""
    order, pools, last = sorted(range(len(places)), key=lambda i: places[i]), [], high - gap * (len(places) - 1)
    for k, i in enumerate(order):
        at, count = places[i] - gap * k, 1
        while pools and pools[-1][0] > at:
            other, more = pools.pop()
            at = (at * count + other * more) / (count + more)
            count += more
        pools.append((at, count))
    starts, moved = [min(max(at, low), last) for at, count in pools for _ in range(count)], list(places)
    for k, i in enumerate(order):
        moved[i] = starts[k] + gap * k
    return moved


def stacked(places, gap):
    """On which level each disc lies: 0 is the line itself, and above it lies what would cover another one."""
    levels = []
    for i, place in enumerate(places):
        taken = [levels[k] for k in range(i) if abs(places[k] - place) < gap]
        levels.append(next(k for k in range(i + 1) if k not in taken))
    return levels


def lettered(places, y, low, high, relevant, size=8):
    """Items with their letters above a line at y; neighbours move aside, and a stem leads to where each stands."""
    marks, beside = [line([(low, y), (high, y)], "axis")], apart(places, 2 * size + 1, low, high)
    for i, x in enumerate(places):
        above, kind = y - 2 * size, "onto" if relevant[i] else "negative"
        marks += [line([(x, y), (beside[i], above)]), item(beside[i], above, relevant[i], size)]
        marks.append(text(beside[i], above + 4, NAMES[i], f"{kind} small", "middle"))
    return marks


def _joined(points):
    return " ".join([f"{x:.1f},{y:.1f}" for x, y in points])
