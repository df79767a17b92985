"""The live figure of chapter 14: a hunt for a list on which the loss is below 1 − H-AP."""

from rankedu.reference import happier_loss, happier_step, hierarchical_average_precision, rank
from rankedu_book.kit.live.hands import along, button, handle, listed, scene
from rankedu_book.kit.live.marks import NAMES, axes, bar, dot, line, polygon, scaled, span, text

START = {
    "scores": [0.56, 0.7, 0.84, 0.12, 0.36],
    "relevance": [0.0, 0.5, 1.0, 0.0, 0.5],
    "start": 0.5,
    "offset": 1.44,
    "best": None,
    "held": 0,
    "tick": False,
}
TEMPERATURE, SLOPE, DELTA = 0.01, 100.0, 0.05
TICKS = {"−0.2": -0.2, "0": 0.0, "0.2": 0.2}
LEFT, RIGHT, MIDDLE, PLACES = 40, 440, 250, 120
TOP, BOTTOM = 108, 218
onto, height = span(-0.2, 0.4, LEFT, MIDDLE), span(0, 3, BOTTOM, TOP)


def hunt(state):
    """Is the loss above the metric, always? Drag the items, and the step, until it is not."""
    y, rel, start, offset = state["scores"], state["relevance"], state["start"], state["offset"]

    def step(x):
        return happier_step(x, TEMPERATURE, SLOPE, DELTA, offset, start)  # by place, so that a page can run it

    loss, miss = happier_loss(y, rel, step), 1 - hierarchical_average_precision(y, rel)
    gap, best = loss - miss, state["best"]
    if gap < -1e-9 and (best is None or gap < best["gap"]):
        best = {"gap": gap, "scores": list(y), "start": start, "offset": offset}
    ranks = rank(y)
    shown = {**state, "ranks": ranks, "loss": loss, "metric": miss, "gap": gap, "best": best}
    labels = [f"{NAMES[i]} {one:g}" for i, one in enumerate(rel)]
    marks, handles = listed(y, [one > 0 for one in rel], 48, LEFT, RIGHT, labels, "held")
    broken, name = places(y, rel, state["held"], step), NAMES[state["held"]]
    told = f"red: where {name} breaks the bound" if broken else "scores, and how relevant each item is"
    marks += [
        text(LEFT, 18, told, "negative" if broken else ""),
        *[bar(scaled(one, 0, 1, LEFT, RIGHT), 31, (RIGHT - LEFT) / PLACES, 34, "negative area") for one in broken],
        *curve(step, start, offset),
        *bars(loss, miss, gap, best),
    ]
    first = [along("y", "start", None, 0, 2, height(0.5), height(2.5))]
    handles.append(handle("Start of the step", onto(0), height(0.5 + start), f"{start:.2f}", first))
    second = [along("y", "offset", None, 0, 3, BOTTOM, TOP)]
    handles.append(handle("Offset of the slope", onto(DELTA) + 34, height(offset), f"{offset:.2f}", second))
    buttons = []
    if best is not None:
        again = {"scores": best["scores"], "start": best["start"], "offset": best["offset"]}
        buttons.append(button("Show the best find", again))
    found = f"Found: the loss is {-gap:.3f} below the metric." if gap < -1e-9 else ""
    return scene(shown, 386, marks, handles, buttons, words(shown), found)


def places(y, rel, held, step):
    """Return the scores of the held item at which the loss is below the metric, with all other items fixed."""
    found = []
    for k in range(PLACES):
        moved = [*y[:held], (k + 0.5) / PLACES, *y[held + 1 :]]
        if happier_loss(moved, rel, step) < 1 - hierarchical_average_precision(moved, rel) - 1e-9:
            found.append(k / PLACES)
    return found


def curve(step, start, offset):
    """Draw the step: a sigmoid to the left of 0, a lifted sigmoid to its right, and a line beyond δ."""
    left = [(onto(k / 200), height(step(k / 200))) for k in range(-40, 1, 2)]
    middle = [(onto(k / 200), height(step(k / 200 + 1e-9))) for k in range(11)]
    end = min(0.4, DELTA + (3 - offset) / SLOPE)
    low = [(onto(k / 200), height(min(step(k / 200 + 1e-9), 1))) for k in range(11)]
    low += [(onto(DELTA), height(min(offset, 1))), (onto(DELTA + max(1 - offset, 0) / SLOPE), height(1))]
    short = min(start + 0.5, offset) < 1
    right = [(onto(DELTA), height(offset)), (onto(end), height(offset + SLOPE * (end - DELTA)))]
    return [
        *axes((LEFT, MIDDLE, TOP, BOTTOM), (-0.2, 0.4, TICKS), (0, 3, {f"{k:d}": k for k in range(4)})),
        line([(onto(0), TOP - 6), (onto(0), BOTTOM)], "guide"),
        line([(LEFT, BOTTOM), (onto(0), BOTTOM), (onto(0), height(1)), (MIDDLE, height(1))], "grey"),
        polygon([(onto(0), height(1)), *low], "negative area"),
        *[line(part, "supremum") for part in (left, middle, right)],
        dot(onto(0), height(0.5 + start), "supremum", 6),
        line([(onto(DELTA), height(offset)), (onto(DELTA) + 34, height(offset))], "guide"),
        dot(onto(DELTA) + 34, height(offset), "hollow", 6),
        text(onto(end) + 8, TOP + 8, "the step", "supremum small"),
        text(MIDDLE + 8, height(1) + 4, "the true one", "small"),
        text(MIDDLE + 8, BOTTOM + 15, "difference of two scores", "small"),
        text(MIDDLE + 96, TOP + 8, f"start {start:.2f}"),
        text(MIDDLE + 96, TOP + 28, f"offset {offset:.2f}"),
        text(
            472,
            TOP + 50,
            *(["red: below the true one", "negative small"] if short else ["nowhere below the true one", "small"]),
            "end",
        ),
    ]


def bars(loss, miss, gap, best):
    """Draw loss and metric on one scale, their difference, and whether the bound holds."""
    zero = 200
    lowest = "no list found yet on which it is below" if best is None else f"lowest so far: {best['gap']:+.3f}"
    sign = "above: the bound holds" if gap > 1e-9 else "below: the bound is broken" if gap < -1e-9 else "equal"
    return [
        text(LEFT, 276, "loss", "supremum"),
        bar(130, 264, scaled(loss, 0, 1, 0, 240), 15, "supremum"),
        text(136 + scaled(loss, 0, 1, 0, 240), 277, f"{loss:.3f}", "small"),
        text(LEFT, 302, "1 − H-AP"),
        bar(130, 290, scaled(miss, 0, 1, 0, 240), 15, "ink"),
        text(136 + scaled(miss, 0, 1, 0, 240), 303, f"{miss:.3f}", "small"),
        text(LEFT, 328, f"loss − metric: {gap:+.3f}, {sign}", "negative" if gap < -1e-9 else ""),
        bar(min(zero, zero + 240 * gap), 336, abs(240 * gap), 15, "negative" if gap < 0 else "supremum"),
        line([(zero, 332), (zero, 355)], "ink"),
        line([] if best is None else [(zero + 240 * best["gap"], 332), (zero + 240 * best["gap"], 355)], "negative"),
        text(LEFT, 374, lowest, "small"),
    ]


def words(shown):
    """Describe the picture in words."""
    return (
        f"Five items with relevances between 0 and 1. With a start of {shown['start']:.2f} and an offset of "
        f"{shown['offset']:.2f} the loss is {shown['loss']:.3f} and 1 − H-AP is {shown['metric']:.3f}."
    )
