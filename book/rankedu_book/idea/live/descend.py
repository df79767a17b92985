"""The front page: which optimisers sort one list, from where, and at which strength."""

from rankedu.reference import average_precision, sigmoid
from rankedu_book.kit.live.descents import ap_gradient
from rankedu_book.kit.live.hands import RUN, along, ask, handle, listed, run, run_button, scene
from rankedu_book.kit.live.marks import (
    NAMES,
    axes,
    bar,
    counted,
    dot,
    item,
    key,
    line,
    shaded,
    span,
    stacked,
    stairs,
    text,
)

START = {
    **RUN,
    "scores": [0.93, 0.84, 0.72, 0.63, 0.53, 0.44, 0.3, 0.12],
    "relevance": [False, False, True, False, True, False, False, True],
    "held": 7,
    "logs": [0.9, -1.4],
    "frame": [0.35, -2.1, 0.9, -1.0],
    "framed": [],
}
METHODS, SIGNS = ["blackbox", "sigmoid", "blind walk"], ["λ", "τ"]
LOGS, TICKS = [[-1, 2], [-2.4, -0.2]], [["0.1", "100"], ["0.004", "0.6"]]
RATE, STEPS, ACROSS, ROWS, LOW, ENOUGH = 0.02, 150, 40, [7, 7, 1], 0.36, 0.85
FATES = {"sorted": 46, "stuck": 122, "never moved": 192, "still moving": 312}  # and where its key stands
LEFT, RIGHT, TOP, BOTTOM, LINE, LANES, SIDE = 46, 446, 22, 64, 98, [157, 283, 409], 10
across = span(0, 1, LEFT, RIGHT)
#: AP and fate of the last list's descents, column by column, and the maps of them that were drawn last.
KEPT: dict[str, list[object]] = {"of": [], "ends": [], "maps": [], "drawn": []}


def descend(state):
    """Which optimiser sorts these, from where? Frame, press Start, drag the rings."""
    y, relevant, held, logs, frame = [state[name] for name in ("scores", "relevance", "held", "logs", "frame")]
    of = [held, *y[:held], *y[held + 1 :]]
    gone = run(state, STEPS, of)
    steps, over = gone["steps"], gone["steps"] == STEPS
    framed = state["framed"] if steps else list(frame)  # what is seen can't be guessed any more
    lanes = [descended(number, y, relevant, logs, steps) for number in range(len(METHODS))]
    value, reached = average_precision(y, relevant), [average_precision(lane, relevant) for lane in lanes]
    maps, drawn = mapped(y, relevant, held, of, ACROSS * steps // STEPS)
    name = NAMES[held]
    shown = {**state, **gone, "framed": framed, "average_precision": value, "lanes": lanes, "reached": reached}
    shown = {**shown, "maps": maps}
    marks, handles = listed(y, relevant, LINE, LEFT, RIGHT, None, "held")
    marks += staircase(y, relevant, held)
    fates = [fate(number, lane, y, relevant, logs) if over else "" for number, lane in enumerate(lanes)]
    for number, method in enumerate(METHODS):
        end = f": {fates[number]}" if over else ""
        strength = f", {SIGNS[number]} = {written(logs[number])}" if number < 2 else ""
        marks += lane_marks(number, lanes[number], relevant, f"{method}{strength}{end}", drawn[number])
        cell = beneath(maps[number], number, y[held], logs) if over else reached[number]
        other = f", its cell {cell:.2f}" if abs(cell - reached[number]) > 0.005 else ""
        marks += [text(RIGHT, LANES[number] + 19, f"AP {reached[number]:.2f}{other}", "", "end")] if steps else []
        if number < 2:
            x, up = across(y[held]), height(number, logs[number])
            marks.append(dot(x, up, "found", 6))
            says = f"{name} at {y[held]:.2f}{strength}, AP {reached[number]:.2f}"
            moves = [sideways("scores", held), upward(number, "logs", number)]
            handles.append(handle(f"Ring of {method}", x, up, says, moves))
    if state["guess"] != "skip":
        drawn, corners = framing(frame, name)
        marks, handles = [*marks, *drawn], [*handles, *corners]
    for kind, x in FATES.items():
        marks += [bar(x, 450, SIDE, SIDE, "shade7"), hatched([[kind]], x, 450), text(x + 15, 459, kind, "small")]
    found = ends_said(state["guess"], framed, maps) if over else ""
    question = ask("Frame where the sigmoid will sort them, or", [], "", ["so"] if over else [])
    says = words(y, relevant, value, reached, steps)
    return scene(shown, 466, marks, handles, [run_button(shown, STEPS)], says, found, question)


def framing(frame, name):
    """The reader's frame in the sigmoid's map, and its two corners to drag."""
    (x, up), (to_x, to_up) = [[across(frame[k]), height(1, frame[k + 1])] for k in (0, 2)]
    around = [(x, up), (x, to_up), (to_x, to_up), (to_x, up), (x, up)]
    handles = []
    for k, corner, at in ((0, "A corner", (x, up)), (2, "The other corner", (to_x, to_up))):
        says = f"{name} at {frame[k]:.2f}, τ = {10 ** frame[k + 1]:.2g}"
        moves = [sideways("frame", k), upward(1, "frame", k + 1)]
        handles.append(handle(f"{corner} of the frame", *at, says, moves, {"guess": "frame"}))
    return [line(around, "under"), line(around, "thick")], handles


def height(number, log):
    """Where a strength stands in a method's map."""
    top = LANES[number] + 24
    return span(*LOGS[number], top + SIDE * ROWS[number], top)(log)


def written(log):
    return f"{10**log:.0f}" if log > 1 else f"{10**log:.2g}"


def sideways(of, at):
    return along("x", of, at, 0, 1, LEFT, RIGHT)


def upward(number, of, at):
    low, high = LOGS[number]
    return along("y", of, at, low, high, height(number, low), height(number, high))


def gradient(number, y, relevant, log):
    """Of 1 - AP by Algorithm 1 or of that of sigmoid ranks; the blind walk looks at no score."""
    if number == 2:
        n = sum(relevant)
        return [-1 / n if r else 1 / (len(y) - n) for r in relevant]
    return ap_gradient(y, relevant, 10**log) if number == 0 else sigmoid_gradient(y, relevant, 10**log)


def sigmoid_gradient(y, relevant, temperature):
    """Of 1 - Smooth-AP, the mean of within / place over the relevant items: by the rule of quotients, pair by pair."""
    members = [k for k in range(len(y)) if relevant[k]]
    total = [0.0 for _ in y]
    for k in members:
        above = [sigmoid((other - y[k]) / temperature) for other in y]
        within, place = 0.5 + sum([above[j] for j in members]), 0.5 + sum(above)
        for j, share in enumerate(above):
            slope = share * (1 - share) / (temperature * len(members) * place * place)
            push = slope * (place - within if relevant[j] else -within)
            total[j] -= push
            total[k] += push
    return total


def descended(number, y, relevant, logs, steps):
    """The scores after some steps; none leaves the picture."""
    log = logs[number] if number < 2 else 0
    for _ in range(steps):
        slopes = gradient(number, y, relevant, log)
        y = [min(max(score - RATE * slope, 0), 1) for score, slope in zip(y, slopes)]
    return y


def fate(number, lane, y, relevant, logs):
    """What has become of a lane."""
    if lane == y:
        return "never moved"
    far = max([abs(a - b) for a, b in zip(lane, descended(number, lane, relevant, logs, 1))])
    return "sorted" if average_precision(lane, relevant) == 1 else "stuck" if far < 0.0005 else "still moving"


def mapped(y, relevant, held, of, columns):
    """AP after all steps in the first columns of each map, and its marks: rows from the top, the held item across."""
    if KEPT["of"] != of:
        KEPT["of"] = of
        KEPT["ends"] = []
        KEPT["maps"] = []
    for column in range(len(KEPT["ends"]), columns):
        moved = [*y[:held], (column + 0.5) / ACROSS, *y[held + 1 :]]
        ends = [[reach(number, row, moved, relevant) for row in range(n)] for number, n in enumerate(ROWS)]
        KEPT["ends"].append(ends)
    if KEPT["maps"] == [] or len(KEPT["maps"][0][0]) != columns:
        ends = KEPT["ends"][:columns]
        maps, kinds = [
            [[[end[number][row][k] for end in ends] for row in range(n)] for number, n in enumerate(ROWS)]
            for k in (0, 1)
        ]
        KEPT["maps"] = maps
        KEPT["drawn"] = [
            [*shaded(rows, LOW, 1, LEFT, top + 24, SIDE), hatched(signs, LEFT, top + 24)] if columns else []
            for rows, signs, top in zip(maps, kinds, LANES)
        ]
    return KEPT["maps"], KEPT["drawn"]


def reach(number, row, y, relevant):
    logs = [high - (high - low) * (row + 0.5) / n for (low, high), n in zip(LOGS, ROWS)]
    lane = descended(number, y, relevant, logs, STEPS)
    return [average_precision(lane, relevant), fate(number, lane, y, relevant, logs)]


def beneath(rows, number, score, logs):
    """What the map has where the ring stands: the value in the middle of its cell."""
    high, row = LOGS[number][1] if number < 2 else 0, 0
    if number < 2:
        row = min(int((high - logs[number]) / (high - LOGS[number][0]) * ROWS[number]), ROWS[number] - 1)
    return rows[row][min(int(score * ACROSS), ACROSS - 1)]


def hatched(kinds, left, top):
    """A sign on each cell of a map for what has become of it; what is sorted has none."""
    way = ""
    for row, values in enumerate(kinds):
        for column, kind in enumerate(values):
            x, y = left + SIDE * column, top + SIDE * row
            if kind == "stuck":
                way += f"M{x:d} {y + SIDE:d}l{SIDE:d} -{SIDE:d}"
            elif kind == "never moved":
                way += f"M{x + 4:d} {y + 5:d}h2"
            elif kind == "still moving":
                way += f"M{x + 1:d} {y + 5:d}h8"
    return ["path", {"class": "hatch", "d": way}, ""]


def ends_said(guess, frame, maps):
    """How right the frame is, and how much of its map each method sorts."""
    shares = [sum([value == 1 for row in rows for value in row]) / (ACROSS * len(rows)) for rows in maps]
    said = ", ".join([f"{name} {100 * share:.0f} %" for name, share in zip(METHODS, shares)])
    right, (low, high), (left, bottom, to_left, to_bottom) = 0, LOGS[1], frame
    for row, values in enumerate(maps[1]):
        log = high - (high - low) * (row + 0.5) / ROWS[1]
        for column, value in enumerate(values):
            score = (column + 0.5) / ACROSS
            inside = (score - left) * (score - to_left) < 0 and (log - bottom) * (log - to_bottom) < 0
            right += 1 if inside == (value == 1) else 0
    right = right / (ACROSS * ROWS[1])
    verdict = "right" if right >= ENOUGH else "not there"
    told = f"Your frame is right on {100 * right:.0f} % of the map: {verdict}. " if guess == "frame" else ""
    return f"{told}Sorted, of each map: {said}. By its own gradient, AP never moved."


def staircase(y, relevant, held):
    """AP over the score of the item that is held, all others where they are."""

    up, others = span(0, 1, BOTTOM, TOP), [*y[:held], *y[held + 1 :]]
    ends = stairs([0.0, *sorted(others), 1.0], lambda at: average_precision([*y[:held], at, *y[held + 1 :]], relevant))
    x, here = across(y[held]), up(average_precision(y, relevant))
    return [
        *axes((LEFT, RIGHT, TOP, BOTTOM), (0, 1, {"0": 0, "1": 1}), (0, 1, {"0": 0, "1": 1})),
        text(LEFT + 4, TOP - 7, f"AP as {NAMES[held]} moves"),
        *key(RIGHT, TOP - 7, f"at the end {LOW:g}", "1"),
        line([(across(at), up(ap)) for at, ap in ends]),
        line([(x, here), (x, 446)], "guide"),
        dot(x, here, "ink", 5),
    ]


def lane_marks(number, lane, relevant, said, drawn):
    """One optimiser's items, those of one score on one another; beneath them its map, as far as it is known."""
    y, top, bottom = LANES[number], LANES[number] + 24, LANES[number] + 24 + SIDE * ROWS[number]
    levels = stacked([across(score) for score in lane], 9)
    marks = [line([(LEFT - 8, y), (RIGHT + 8, y)], "axis")]
    marks += [item(across(score), y - 9 * k, r, 5) for score, r, k in zip(lane, relevant, levels)]
    marks += [text(LEFT, y + 19, said, ["blackbox", "sigmoid", ""][number])]
    marks += drawn or [text((LEFT + RIGHT) / 2, (top + bottom) / 2 + 4, "?", "", "middle")]
    marks.append(line([(LEFT, top), (RIGHT, top), (RIGHT, bottom), (LEFT, bottom), (LEFT, top)], "axis"))
    for tick, at in zip(TICKS[number] if number < 2 else [], (bottom, top + 10)):
        marks.append(text(LEFT - 3, at, tick, "small", "end"))
    return marks


def words(y, relevant, value, reached, steps):
    """The picture for those who do not see it."""
    inside = ", ".join([f"{NAMES[i]} {y[i]:.2f}" for i in range(len(y)) if relevant[i]])
    lanes = ", ".join([f"{name} {ap:.2f}" for name, ap in zip(METHODS, reached)])
    meant = "Stuck: its steps are too short to be seen; never moved: its gradient is 0."
    end = f" AP after {counted(steps, 'step')} of gradient descent: {lanes}. {meant}" if steps else ""
    return (
        f"Eight items on a line of scores, {sum(relevant)} of them relevant: {inside}. Average precision (AP) is "
        f"{value:.2f}.{end}"
    )
