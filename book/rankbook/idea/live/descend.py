"""The front page: three optimisers and one list to sort."""

from rankbook.kit.live.descents import ap_gradient
from rankbook.kit.live.marks import NAMES, along, apart, arrow, dot, handle, item, line, scene, stacked, text
from rankbook.kit.live.runs import RUN, ask, run, run_buttons
from rankedu.reference import average_precision, rank, smooth_ap

START = {
    **RUN,
    "scores": [0.93, 0.84, 0.72, 0.63, 0.52, 0.44, 0.3, 0.12],
    "relevance": [False, False, True, False, True, False, False, True],
    "held": 7,
    "lanes": [],
}
LANES = ["AP itself", "blackbox", "sigmoid"]
LAM, TEMPERATURE, RATE, STEPS = 5.0, 0.04, 0.02, 150
LEFT, RIGHT, TOP, BOTTOM = 34, 446, 22, 128


def descend(state):
    """Which of three optimisers sorts these? Drag the items, choose, then press Start."""
    y, relevant, held = state["scores"], state["relevance"], state["held"]
    steps, playing = run(state, STEPS, y)
    lanes = state["lanes"] if steps else [list(y) for _ in LANES]
    if playing and state["tick"]:
        lanes, steps = [moved(lane, step_of(number, lane, relevant)) for number, lane in enumerate(lanes)], steps + 1
    playing = playing and steps < STEPS
    reached = [average_precision(lane, relevant) for lane in lanes]
    value = average_precision(y, relevant)
    shown = {**state, "lanes": lanes, "began": list(y), "steps": steps, "playing": playing}
    shown = {**shown, "ranks": rank(y), "average_precision": value, "reached": reached}
    marks = staircase(y, relevant, held)
    handles = []
    labels = apart([across(score) for score in y], 14, 12, 468)
    for i, score in enumerate(y):
        marks += [item(across(score), 166, relevant[i]), text(labels[i], 188, NAMES[i], "small", "middle")]
        says = f"{'relevant' if relevant[i] else 'irrelevant'}, score {score:.2f}, rank {shown['ranks'][i]}"
        moves = [along("x", "scores", i, 0, 1, LEFT, RIGHT)]
        handles.append(handle(f"Item {NAMES[i]}", across(score), 166, says, moves, {"held": i}))
    fates = [fate(number, lanes[number], y, relevant, reached[number]) for number in range(len(LANES))]
    for number, lane in enumerate(lanes):
        end = fates[number] if steps == STEPS else ""
        marks += lane_marks(number, lane, relevant, reached[number], 0 < steps < STEPS, end)
    sorts = [name for name, end in zip(LANES, fates) if end == "sorted"] or ["none"]
    question = ask("Which will sort them?", [*LANES, "none"], state["guess"], sorts if steps == STEPS else [])
    found = ", ".join([f"{name}: {end}" for name, end in zip(LANES, fates)]) + "." if steps == STEPS else ""
    buttons = run_buttons(steps, STEPS, playing, START, not state["guess"])
    return scene(shown, 412, marks, handles, buttons, words(y, relevant, value, reached, steps), found, question)


def fate(number, lane, y, relevant, value):
    """What has become of a lane."""
    if lane == y:
        return "never moved"
    far = max([abs(a - b) for a, b in zip(lane, moved(lane, step_of(number, lane, relevant)))])
    return "sorted" if value == 1 else "stuck" if far < 0.0005 else "still moving"


def across(score):
    """Where a score stands on the picture."""
    return LEFT + (RIGHT - LEFT) * score


def moved(lane, steps):
    """A lane after one step; no score leaves the picture."""
    return [min(max(score + step, 0), 1) for score, step in zip(lane, steps)]


def step_of(number, y, relevant):
    """One step of gradient descent on 1 - AP: by its own gradient, by Algorithm 1, or by that of sigmoid ranks."""
    if number == 0:
        return [0.0 for _ in y]  # AP is constant but for jumps, where it has no derivative
    gradient = ap_gradient(y, relevant, LAM) if number == 1 else sigmoid_gradient(y, relevant)
    return [-RATE * slope for slope in gradient]


def sigmoid_gradient(y, relevant):
    """Of 1 - AP of sigmoid ranks: every item is moved a little to both sides."""
    little = 1e-5
    gradient = []
    for i in range(len(y)):
        low, high = ([*y[:i], y[i] + side, *y[i + 1 :]] for side in (-little, little))
        change = smooth_ap(low, relevant, TEMPERATURE) - smooth_ap(high, relevant, TEMPERATURE)
        gradient.append(change / (2 * little))
    return gradient


def staircase(y, relevant, held):
    """AP over the score of the item that is held, all others where they are; and what the sigmoid makes of it."""

    def at(score):
        return [*y[:held], score, *y[held + 1 :]]

    def up(value):
        return BOTTOM + (TOP - BOTTOM) * value

    ends = [0.0, *sorted([*y[:held], *y[held + 1 :]]), 1.0]
    steps = []
    for low, high in zip(ends, ends[1:]):
        level = up(average_precision(at((low + high) / 2), relevant))
        steps += [(across(low), level), (across(high), level)]
    smooth = [(across(k / 40), up(smooth_ap(at(k / 40), relevant, TEMPERATURE))) for k in range(41)]
    name = NAMES[held]
    here = up(average_precision(y, relevant))
    return [
        line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], "axis"),
        text(LEFT - 5, TOP + 5, "1", "small", "end"),
        text(LEFT - 5, BOTTOM, "0", "small", "end"),
        text(LEFT + 4, TOP - 7, f"AP as {name} moves", ""),
        text(RIGHT, TOP - 7, "with sigmoids", "sigmoid", "end"),
        line(smooth, "sigmoid thin"),
        line(steps, "ink"),
        line([(across(y[held]), here), (across(y[held]), 158)], "guide"),
        dot(across(y[held]), here, "ink", 5),
        line([(LEFT, 166), (RIGHT, 166)], "axis"),
    ]


def lane_marks(number, lane, relevant, value, running, end):
    """One optimiser's items, those of one score on one another; while it runs, arrows ten steps long; then its end."""
    y, kind = 232 + 68 * number, ["", "blackbox", "sigmoid"][number]
    marks = [
        text(LEFT, y + 30, f"{LANES[number]}: {end}" if end else LANES[number], kind),
        text(RIGHT, y + 30, f"AP {value:.2f}", "", "end"),
        line([(LEFT - 8, y), (RIGHT + 8, y)], "axis"),
    ]
    levels = stacked([across(score) for score in lane], 9)
    marks += [item(across(score), y - 9 * k, r, 6) for score, r, k in zip(lane, relevant, levels)]
    for score, step in zip(lane, step_of(number, lane, relevant) if running else []):
        tip = min(max(score + 10 * step, 0), 1)
        marks.append(arrow(across(score), y + 13, across(tip), y + 13, ["ink", "blackbox", "sigmoid"][number]))
    return marks


def words(y, relevant, value, reached, steps):
    """The picture for those who do not see it."""
    inside = ", ".join([f"{NAMES[i]} {y[i]:.2f}" for i in range(len(y)) if relevant[i]])
    lanes = ", ".join([f"{name} {ap:.2f}" for name, ap in zip(LANES, reached)])
    return (
        f"Eight items on a line of scores, {sum(relevant)} of them relevant: {inside}. Average precision (AP) is "
        f"{value:.2f}. AP after {steps} steps of gradient descent: {lanes}."
    )
