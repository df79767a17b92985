"""Chapter 2: two calls of a solver teach a grid of costs which path is wanted, in steps of one length."""

from rankedu_book.kit.live.hands import RUN, along, ask, button, handle, run_button, scene, slider
from rankedu_book.kit.live.marks import axes, bar, counted, dot, key, line, scaled, text

SIDE, RATE, STEPS, ENDLESS = 6, 0.1, 60, 1000.0
START = {
    **RUN,
    "costs": [
        *[0.25, 0.33, 0.28, 0.41, 0.3, 0.22],
        *[0.62, 0.85, 0.74, 0.6, 0.82, 0.3],
        *[0.7, 0.9, 0.66, 0.78, 0.71, 0.35],
        *[0.58, 0.8, 0.88, 0.69, 0.9, 0.27],
        *[0.75, 0.64, 0.83, 0.92, 0.6, 0.38],
        *[0.6, 0.72, 0.68, 0.77, 0.65, 0.24],
    ],
    "learnt": [],
    "wanted": [5.0, 5.0, 2.0, 0.0, 0.0, 0.0],
    "log_lam": 0.0,
    "marked": [0.0, 2.0],
    "history": [],
}
LEFT, TOP, CELL = 20, 34, 42
CURVE = (312, 462, 64, 152)
CHANGES = ["the wanted path", "the found path", "where the two differ", "none"]


def paths(state):
    """Which cells will change? Drag where the wanted path leaves a row, and a cell's cost; guess, then press Step."""
    wanted, lam = mask(state["wanted"]), 10 ** state["log_lam"]
    began = [*wanted, *state["costs"], lam]
    steps = state["steps"] if state["began"] == began else 0
    costs, history = (state["learnt"], state["history"]) if steps else (list(state["costs"]), [])
    way, slopes = taught(costs, wanted, lam)
    first = state["first"] if steps else changed(slopes)
    if state["tick"] and steps < STEPS:
        history = [*history, wrong(way, wanted)]
        costs, steps = [cost - RATE * lam * slope for cost, slope in zip(costs, slopes)], steps + 1
        way, slopes = taught(costs, wanted, lam)
    here, rests = wrong(way, wanted), not any(slopes)
    playing = state["playing"] and steps < STEPS and not (steps and rests)
    shown = {**state, "first": first, "learnt": costs, "steps": steps, "history": history, "began": began}
    shown = {**shown, "playing": playing, "lam": lam, "path": way, "gradient": slopes, "wrong": here}
    price = sum([cost for cost, cell in zip(costs, way) if cell])
    marks = [*grid(costs, way, wanted, slopes if steps else [0 for _ in slopes]), *curve([*history, here], price)]
    row, column = [round(at) for at in state["marked"]]
    cell, here_it_is = row * SIDE + column, middle(row, column)
    marks += [dot(*here_it_is, kind, 15) for kind in ("marked under", "marked")]
    moves = [along("x", "marked", 1, 0, SIDE - 1, middle(0, 0)[0], middle(0, SIDE - 1)[0])]
    moves.append(along("y", "marked", 0, 0, SIDE - 1, middle(0, 0)[1], middle(SIDE - 1, 0)[1]))
    cost, says = state["costs"][cell], f"row {row + 1}, column {column + 1}"
    handles = [handle("Marked cell", *here_it_is, says, moves, None, [LEFT, TOP, SIDE * CELL, SIDE * CELL])]
    for row, k in enumerate(state["wanted"][: SIDE - 1]):
        x, y = middle(row, round(k))
        moves = [along("x", "wanted", row, 0, SIDE - 1, middle(0, 0)[0], middle(0, SIDE - 1)[0])]
        says = f"the wanted path leaves it in column {round(k) + 1}"
        handles.append(handle(f"Row {row + 1}", x, y + CELL / 2, says, moves))
        marks.append(dot(x, y + CELL / 2, "hollow", 5))
    for name, told, value, y, move in (
        ("λ", f"λ = {lam:.2f}", state["log_lam"], 222, ("log_lam", None, -2, 2)),
        ("Cost of the marked cell", f"ringed cell: {cost:.2f}", cost, 278, ("costs", cell, 0, 3)),
    ):
        track, knob = slider(name, told, value, y, along("x", *move, CURVE[0], CURVE[1]))
        marks, handles = [*marks, *track], [*handles, knob]
    buttons = [button("Step", {"tick": True, "playing": False}, None, not state["guess"])]
    buttons.append(run_button(shown, steps if steps and rests else STEPS))
    question = ask("Which cells will change first?", CHANGES, state["guess"], [first] if steps else [])
    found = f"After {counted(steps, 'step')} the found path is the wanted one." if not here else ""
    if here and rests:
        short = any(taught(costs, wanted, ENDLESS)[1])
        why = "λ is too short" if short else "the wanted path touches itself, and a short cut wins at every λ"
        found = f"Stuck: {why}. Still {counted(here, 'cell')} wrong."
    end = found if steps and not playing and (rests or steps == STEPS) else ""
    others = wrong(way, shortest_path(START["costs"])) // 2 if not steps else 0
    if others:
        end = f"The found path is another one now: it has {counted(others, 'new cell')}."
    return scene(shown, 330, marks, handles, buttons, words(shown), end, question)


def changed(slopes):
    """Which cells change, by the options of the question."""
    cheaper, dearer = max(slopes) > 0, min(slopes) < 0
    return CHANGES[2 if cheaper and dearer else 0 if cheaper else 1 if dearer else 3]


def mask(leaves):
    """1 in the cells of a path from the upper left to the lower right that leaves each row downwards in its column."""
    cells, column = [0 for _ in range(SIDE * SIDE)], 0
    for row in range(SIDE):
        end = SIDE - 1 if row == SIDE - 1 else round(leaves[row])
        for k in range(min(column, end), max(column, end) + 1):
            cells[row * SIDE + k] = 1
        column = end
    return cells


def shortest_path(costs):
    """1 in the cells of the cheapest path from the upper left to the lower right, by steps to the four sides.

    A cost below 0 counts as 0: nothing is gained by walking in circles.
    """
    far, came, waiting = [0.0, *[1e9 for _ in costs[1:]]], [0 for _ in costs], [0]
    while waiting:
        here = min(waiting, key=lambda cell: far[cell])
        waiting.remove(here)
        for there in beside(here):
            cost = far[here] + max(costs[there], 0) + 1e-6
            if cost < far[there] - 1e-12:
                far[there] = cost
                came[there] = here
                if there not in waiting:
                    waiting.append(there)
    cells, here = [0 for _ in costs], SIDE * SIDE - 1
    while here:
        cells[here] = 1
        here = came[here]
    cells[0] = 1
    return cells


def beside(cell):
    row, column = cell // SIDE, cell % SIDE
    steps = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
    return [r * SIDE + c for r, c in steps if 0 <= r < SIDE and 0 <= c < SIDE]


def taught(costs, wanted, lam):
    """The path of the costs, and Algorithm 1: a second call after a step of λ along the gradient of the loss."""
    found = shortest_path(costs)
    moved = [cost + lam * (1 - 2 * want) for cost, want in zip(costs, wanted)]
    return found, [(after - before) / lam for after, before in zip(shortest_path(moved), found)]


def wrong(found, wanted):
    """The cells in which two paths differ: a loss that is linear in the path, with slopes of 1 and -1."""
    return sum(a != b for a, b in zip(found, wanted))


def middle(row, column):
    return [LEFT + CELL * (column + 0.5), TOP + CELL * (row + 0.5)]


def grid(costs, found, wanted, slopes):
    """The costs in shades, the wanted path and the shortest one, and which cells become dearer or cheaper."""
    marks = [text(LEFT, 304, "frame: wanted, disc: found", "small"), *key(LEFT + 250, 20, "cost 0", "1.4+")]
    for cell, cost in enumerate(costs):
        x, y = LEFT + CELL * (cell % SIDE), TOP + CELL * (cell // SIDE)
        marks.append(bar(x, y, CELL - 1, CELL - 1, f"shade{int(scaled(cost, 0, 1.4, 0, 7.9)):d}"))
        if wanted[cell]:
            marks.append(bar(x + 3, y + 3, CELL - 7, CELL - 7, "wanted"))
        if found[cell]:
            marks.append(dot(x + CELL / 2, y + CELL / 2, "found", 9))
        sign = "−" if slopes[cell] > 0 else "+" if slopes[cell] < 0 else ""
        marks.append(text(x + CELL / 2, y + CELL / 2 + 7, sign, "sign", "middle"))
    return marks


def curve(losses, cost):
    """The loss by steps."""
    left, right, top, bottom = CURVE
    most = max([2 * SIDE, *losses])
    points = [(scaled(k, 0, STEPS, left, right), scaled(v, 0, most, bottom, top)) for k, v in enumerate(losses)]
    return [
        *axes(CURVE, (0, STEPS, {"0": 0, f"{STEPS:d} steps": STEPS}), (0, most, {"0": 0, f"{most:d}": most})),
        text(left, top - 12, f"wrong cells: {losses[-1]:d}"),
        text(left, top - 34, f"found path: {cost:.2f}"),
        line(points),
        dot(*points[-1], "ink", 5),
        text(LEFT, 322, "+ becomes dearer, − becomes cheaper", "small"),
    ]


def words(shown):
    """The picture for those who do not see it; which cells change is told after the first step."""
    dearer, cheaper = [sum(sign * slope > 0 for slope in shown["gradient"]) for sign in (-1, 1)]
    return (
        f"A grid of 6 by 6 costs after {counted(shown['steps'], 'step')} with λ = {shown['lam']:.2f}. The shortest "
        f"path differs from the wanted one in {counted(shown['wrong'], 'cell')}."
        + (
            f" Two calls of the solver make {counted(dearer, 'cell')} dearer and {cheaper} cheaper."
            if shown["steps"]
            else ""
        )
    )
