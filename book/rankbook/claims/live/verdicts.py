"""The page of the claims: what would change its verdicts."""

import math

from rankbook.kit.live.hands import RUN, along, ask, button, handle, run, run_button, scene, slider
from rankbook.kit.live.marks import bar, counted, dot, line, polygon, scaled, text
from rankedu.reference import mean

#: What is shown where no records are: made up. The page has the rows of `tools.results.answers`.
NO_DELTA = {"equal": 0, "delta": 0}
EXAMPLE = [
    {"row": "A - B", "plus": "A", "minus": "B", "metric": "R@1", "values": [2, 3, 1, 2.5], "error": 0.4, **NO_DELTA},
    {"row": "A - C", "plus": "A", "minus": "C", "metric": "R@1", "values": [-1, -3, -2, -1.5], "error": 0.45},
    {"row": "B - C", "plus": "B", "minus": "C", "metric": "R@1", "values": [0.3, -0.5, 0.4, -0.1], "error": 0.2},
]
MADE_UP = {"freedom": 3, "different": 0.05, "equal": 0.05, "delta": 1, "search": 0.3}
SETTINGS = {**RUN, "factor": 1, "log_alpha": -1.30103, "kept": 1, "row": 1, "at": 1, "open": "", "bet": "", "turn": 0}
START = {**SETTINGS, "rows": [{**MADE_UP, **one} for one in EXAMPLE]}
ALPHA, LEAST, STEPS, GRID = 0.05, 0.3, 42, 180
#: On paper stands what all runs say, and what is lost first.
TELLING = {"playing": False, "steps": STEPS, "began": [1, -1.30103, 0]}
MANY = [3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100, 200, 400, 1000]
LITTLE = "within δ"
MATTERS = "Grey: within δ, too small to matter. It never decides what is above or below."
KINDS = {"above": "positive", "below": "negative", LITTLE: "ahead", "cannot be told": "grey"}
LEFT, RIGHT, FAR, TOP, PITCH = 268, 470, 30, 106, 16
KEPT: dict[str, list[object]] = {"of": [], "first": []}  # what fell first, of the settings of the last run


def verdicts(state):
    """Which verdict is lost first? Bet, take runs away, then drag what else decides."""
    of = [state["factor"], state["log_alpha"], state["turn"]]
    gone = run(state, STEPS, of)
    over, just = gone["steps"] == STEPS, state["playing"] and state["tick"]
    kept = 1 - (1 - LEAST) * gone["steps"] / STEPS if state["playing"] else state["kept"]
    alpha = 10 ** state["log_alpha"]
    found = [judged(one, kept, state["factor"], alpha, state["turn"]) for one in state["rows"]]
    found = sorted(found, key=lambda one: [list(KINDS.keys()).index(one["kind"]), -one["mean"]])
    at = state["at"]
    opened = state["open"]
    if round(state["row"]) != at:  # the reader has moved the ring, and not the rows themselves
        place = min(round(-state["row"]), len(found) - 1)
        opened = found[place]["row"] if place >= 0 else ""
    at = next((-place for place, one in enumerate(found) if one["row"] == opened), 1)
    bet = state["bet"] if gone["steps"] else opened
    first = fell_first(state, of, alpha) if over else []
    if over and just and bet not in first[1:] and len(first) > 1:
        opened = first[1]
        at = next(-place for place, one in enumerate(found) if one["row"] == opened)
    counts = {kind: sum([one["kind"] == kind for one in found]) for kind in KINDS}
    shown = {**state, **gone, "kept": kept, "row": at, "at": at, "open": opened, "bet": bet, "counts": counts}
    told = ", ".join([f"{count} {kind}" for kind, count in counts.items()])
    marks, handles = [text(8, 16, told), *axis(len(found))], []
    for name, value, words, move in (
        ("What matters", state["factor"], f"δ × {state['factor']:.1f}", ("factor", None, 0, 5, 16, 146)),
        ("Level", state["log_alpha"], f"level {100 * alpha:.1f} %", ("log_alpha", None, -3, -0.5, 178, 308)),
        ("Runs kept", kept, f"runs {100 * kept:.0f} %", ("kept", None, LEAST, 1, 340, 462)),
    ):
        track, knob = slider(name, words, value, 60, along("x", *move))
        marks, handles = [*marks, *track], [*handles, knob]
    for place, one in enumerate(found):
        marks += row_marks(one, TOP + place * PITCH, one["row"] == opened, one["row"] in first[1:])
    y, says = TOP - at * PITCH, f"on {opened}" if opened else "on no row"
    moves = [along("y", "row", None, -49, 1, TOP + 49 * PITCH, TOP - PITCH)]
    bets, field = {} if state["guess"] == "skip" else {"guess": "row"}, [0, TOP - 9, 480, PITCH * len(found)]
    handles.append(handle("Ring", 14, y, says, moves, bets, field))
    marks.append(dot(14, y, "found", 5))
    question = ask(
        "Which verdict is lost first if runs are taken away? Put the ring on it, or", [], "", ["so"] if over else []
    )
    others = button("Other runs first", {"turn": state["turn"] + 1})
    buttons = [run_button(shown, STEPS, "Take runs away"), others]
    said = [fall_said(first, bet, state["guess"]) if over else "", detail(opened, found, alpha)]
    words = f"{len(found):d} differences with their intervals, in points: {told}. {MATTERS}"
    return scene(shown, TOP + len(found) * PITCH, marks, handles, buttons, words, " ".join(said), question)


def quantile(share, freedom):
    """Student's t has this share above it: along the angle whose tangent is t/√ν its density is cos^(ν - 1)."""
    if share <= 0:
        return 1e9
    width = math.pi / 2 / GRID
    heights = [math.cos(min(k * width, math.pi / 2 - 1e-9)) ** (freedom - 1) for k in range(GRID + 1)]
    wanted, above = share * (2 * sum(heights) - heights[0] - heights[GRID]), 0.0
    for k in range(GRID, 0, -1):
        piece = (heights[k] + heights[k - 1]) / 2
        if above + piece >= wanted:
            return math.sqrt(freedom) * math.tan((k - (wanted - above) / piece) * width)
        above += piece
    return 0.0


def variance(values):
    middle = mean(values)
    return sum([(value - middle) ** 2 for value in values]) / (len(values) - 1)


def widths(one, spread, n, alpha):
    """Half of the intervals of the tests of a difference and of equality: n runs of this spread, letters and search."""
    total, times = len(one["values"]), alpha / ALPHA
    runs = variance(one["values"]) / total
    part = min(runs, one["error"] ** 2)  # of the variance, what the runs add; the rest is the letters'
    error = math.sqrt(one["error"] ** 2 - part + (part * spread / n / runs if runs else 0))
    freedom = one["freedom"] * (n - 1) / (total - 1)
    shares = [one["different"] * times / 2, one["equal"] * times]
    return [math.hypot(quantile(min(share, 0.5), freedom) * error, one["search"]) for share in shares]


def judged(one, kept, factor, alpha, turn):
    """A row, judged by a part of its runs: by the rule of the second round."""
    total = len(one["values"])
    n = max(round(kept * total), 3)
    order = sorted(range(total), key=lambda k: math.sin(k * (1 + 7.3 * turn)) if turn else k)
    values = [one["values"][k] for k in order[:n]]
    middle = mean(values)
    half, near = widths(one, variance(values), n, alpha)
    within = abs(middle) + near < factor * one["delta"]
    kind = ("above" if middle > 0 else "below") if abs(middle) > half else LITTLE if within else "cannot be told"
    told = {"mean": middle, "half": half, "kind": kind, "little": within and kind != LITTLE}
    told = {**told, "band": factor * one["delta"]}
    return {**one, **told, "used": values, "dropped": [one["values"][k] for k in order[n:]]}


def fell_first(state, settings, alpha):
    """The rows whose verdicts are the first to change, and the share of runs at which they do."""
    of = [*settings, *[one["row"] for one in state["rows"]]]
    if KEPT["of"] != of:
        KEPT["of"] = of
        KEPT["first"] = []
        rest = [judged(one, 1, state["factor"], alpha, state["turn"]) for one in state["rows"]]
        rest = [one for one in rest if one["kind"] != "cannot be told"]
        for tenth in range(9, 2, -1):
            now = [judged(one, tenth / 10, state["factor"], alpha, state["turn"]) for one in rest]
            fallen = [one["row"] for one, before in zip(now, rest) if one["kind"] != before["kind"]]
            if fallen:
                KEPT["first"] = [10 * tenth, *fallen]
                break
    return KEPT["first"]


def fall_said(first, bet, guess):
    """What fell first, and whether that was the reader's bet."""
    names = " and ".join([f"“{name}”" for name in first[1:]])
    told = f"Lost first, with {first[0]:d} % of the runs: {names}." if first else "No verdict was lost."
    right = bet in first[1:]
    return told + (f" You bet on “{bet}”: {'right' if right else 'no'}." if guess == "row" and bet else "")


def across(points):
    """Where a difference stands: a logarithm of points, to both sides of 0."""
    far = math.log1p(abs(points)) / math.log1p(FAR)
    return scaled(far if points > 0 else -far, -1, 1, LEFT, RIGHT)


def axis(rows):
    marks = []
    for points in (-10, -3, -1, 0, 1, 3, 10):
        x = across(points)
        marks += [line([(x, TOP - 10), (x, TOP + (rows - 1) * PITCH + 8)], "guide" if points else "axis")]
        marks += [text(x, TOP - 14, f"{points:d}", "small", "middle")] if points in (-10, -1, 1, 10) else []
    return marks


def row_marks(one, y, opened, fell):
    """An interval with its mean, whose shape tells the verdict as its colour does; of the open row, its runs."""
    kind, x = KINDS[one["kind"]], across(one["mean"])
    low, high = across(one["mean"] - one["half"]), across(one["mean"] + one["half"])
    marks = [bar(across(-one["band"]), y - 7, across(one["band"]) - across(-one["band"]), 14, "area")]
    marks += [bar(24, y - 7, LEFT - 28, 14, "margin area")] if fell else []
    marks += [text(30, y + 4, one["row"], "small"), line([(low, y), (high, y)], f"{kind} thick" if opened else kind)]
    if opened:
        marks += [line([(across(value), y - 8), (across(value), y + 8)], "ink") for value in one["used"]]
        marks += [dot(across(value), y, "ghost", 3) for value in one["dropped"]]
    if one["kind"] == "above":
        marks.append(dot(x, y, kind, 5))
    elif one["kind"] == "below":
        marks.append(bar(x - 4.5, y - 4.5, 9, 9, kind))
    elif one["kind"] == LITTLE:
        marks.append(polygon([(x - 6, y), (x, y - 6), (x + 6, y), (x, y + 6)], kind))
    else:
        marks.append(dot(x, y, "hollow", 4))
    return marks


def detail(opened, found, alpha):
    """What is known of the open row, and how many runs would decide it."""
    for one in found:
        if one["row"] == opened:
            little = ", too small to matter" if one["little"] else ""
            told = f"{one['plus']} − {one['minus']}: {one['metric']} {one['mean']:+.2f} ± {one['half']:.2f}"
            return f"{told} by {counted(len(one['used']), 'run')}{little}; {needed(one, alpha)}"
    return ""


def needed(one, alpha):
    """Whether its runs decide it; if not, how many of this mean and spread would, for a side or for neither."""
    if one["kind"] != "cannot be told":
        return f"decided: {one['kind']}."
    middle, spread, enough = abs(mean(one["values"])), variance(one["values"]), []
    for n in MANY:
        half, near = widths(one, spread, n, alpha)
        if n > len(one["used"]) and (middle > half or middle + near < one["band"]):
            enough.append(n)
    return f"cannot be told; {enough[0]:d} runs would tell." if enough else "cannot be told, by any number of runs."
