"""Chapter 6: a list that is sorted to the last, and what a margin makes of it."""

from rankbook.kit.live.marks import along, bar, button, dot, handle, item, line, scaled, scene, text
from rankedu.reference import average_precision, rank, rank_among, rank_gradient, shift_by_margin

START = {
    "scores": [0.8, 0.34, 0.62, 0.7, 0.5, 0.44, 0.26, 0.16],
    "relevance": [True, True, True, False, False, False, False, False],
    "margin": 0.1,
    "lam": 20.0,
    "lanes": [],
    "turn": 0,
    "steps": 0,
    "playing": False,
    "tick": False,
}
RATE, STEPS, NOISE = 0.01, 300, 0.05
LEFT, RIGHT = 34, 446
#: Errors of measurement as a normal distribution has them at its 16 equal parts.
ERRORS = [-1.86, -1.32, -1.01, -0.78, -0.58, -0.4, -0.24, -0.08, 0.08, 0.24, 0.4, 0.58, 0.78, 1.01, 1.32, 1.86]


def collapse(state):
    """When AP is 1, how large will the gap be? Set the margin α, guess, press Start, then Shake."""
    y, relevant = state["scores"], state["relevance"]
    margin, lam = state["margin"], state["lam"]
    lanes, steps = state["lanes"], state["steps"]
    if not lanes or state.get("began") != [*y, margin, lam]:
        lanes, steps = [list(y), list(y)], 0
    playing = state["playing"] and steps < STEPS
    if playing and state["tick"]:
        lanes = [stepped(lane, relevant, alpha, lam) for lane, alpha in zip(lanes, [0.0, margin])]
        steps += 1
    turn = 0 if state["tick"] else state["turn"]
    shown = {**state, "turn": turn, "lanes": lanes, "began": [*y, margin, lam], "steps": steps, "playing": playing}
    shown = {**shown, "ranks": rank(y), "average_precision": average_precision(y, relevant)}
    shown = {**shown, "reached": [average_precision(lane, relevant) for lane in lanes]}
    shown = {**shown, "shaken": [shaken(lane, relevant) for lane in lanes]}
    shown = {**shown, "gaps": [gap(lane, relevant) for lane in lanes]}
    marks = [text(LEFT, 20, "all items, at the start"), line([(LEFT, 46), (RIGHT, 46)], "axis")]
    marks += [item(across(score), 46, r) for score, r in zip(y, relevant)]
    marks += [text(LEFT, 92, f"margin α = {margin:.2f}"), bar(LEFT, 104, across(margin) - LEFT, 12, "margin")]
    marks += [text(RIGHT, 92, f"λ = {lam:.1f}", "", "end"), line([(246, 110), (RIGHT, 110)], "axis")]
    marks += [dot(reach(lam), 110, "ink", 7), line([(LEFT, 110), (across(0.3), 110)], "axis")]
    for number, lane in enumerate(lanes):
        marks += lane_marks(shown, number, lane, relevant)
    handles = []
    for i, score in enumerate(y):
        says = f"{'relevant' if relevant[i] else 'irrelevant'}, score {score:.2f}, rank {shown['ranks'][i]}"
        handles.append(handle(f"Item {i + 1}", across(score), 46, says, [along("x", "scores", i, 0, 1, LEFT, RIGHT)]))
    band = [along("x", "margin", None, 0.01, 0.3, across(0.01), across(0.3))]
    handles.append(handle("Margin α", across(margin), 110, f"{margin:.2f}", band))
    far = [along("x", "lam", None, 0.5, 20, 246, RIGHT)]
    handles.append(handle("λ", reach(lam), 110, f"{lam:.1f}", far))
    label = "Stop" if playing else "Start" if steps in (0, STEPS) else "Go on"
    again = {"playing": True, "began": []} if steps == STEPS else {"playing": not playing}
    buttons = [button(label, again), button("Shake", {"turn": turn % 24 + 1, "playing": False})]
    return scene(shown, 346, marks, handles, [*buttons, button("Start anew", START)], words(shown))


def across(score):
    return scaled(score, 0, 1, LEFT, RIGHT)


def reach(lam):
    return scaled(lam, 0.5, 20, 246, RIGHT)


def stepped(y, relevant, margin, lam):
    """One step down the blackbox gradient of 1 - AP, of scores that a margin has shifted."""
    shifted = shift_by_margin(y, relevant, margin)
    n, ranks, among = sum(relevant), rank(shifted), rank_among(shifted, relevant)
    incoming = [b / (n * a * a) if r else 0.0 for a, b, r in zip(ranks, among, relevant)]
    gradient = rank_gradient(shifted, incoming, lam)
    members = [i for i in range(len(y)) if relevant[i]]
    within = rank_gradient([shifted[i] for i in members], [-1 / (n * ranks[i]) for i in members], lam)
    for i, slope in zip(members, within):
        gradient[i] += slope
    return [min(max(score - RATE * slope, 0), 1) for score, slope in zip(y, gradient)]


def gap(y, relevant):
    """From the lowest relevant score down to the highest irrelevant one; below 0 where they are mixed."""
    return min([s for s, r in zip(y, relevant) if r]) - max([s for s, r in zip(y, relevant) if not r])


def shaken(y, relevant):
    """The mean AP when every score is measured with an error: 24 times, each item with another of the errors."""
    total = 0
    for turn in range(1, 25):
        total += average_precision(noisy(y, turn), relevant)
    return total / 24


def noisy(y, turn):
    """The scores as they are measured at one shake; turn 0 is none."""
    errors = [ERRORS[(7 * i * i + 5 * i + turn * (2 * i + 3)) % 16] for i in range(len(y))]
    return [score + NOISE * error for score, error in zip(y, errors)] if turn else y


def lane_marks(shown, number, lane, relevant):
    """One training run: the items, the gap between the two kinds, AP as it is and under errors."""
    y = 196 + 104 * number
    low = max([s for s, r in zip(lane, relevant) if not r])
    size = shown["gaps"][number]
    kind = "margin" if number else ""
    marks = [text(LEFT, y - 24, f"with α = {shown['margin']:.2f}" if number else "without a margin", kind)]
    marks.append(text(RIGHT, y - 24, f"gap {size:+.2f}", kind, "end"))
    marks.append(bar(across(low), y - 12, max(across(low + size) - across(low), 0), 24, "area"))
    marks.append(line([(LEFT, y), (RIGHT, y)], "axis"))
    seen = noisy(lane, shown["turn"])
    marks += [item(across(score), y, r) for score, r in zip(seen, relevant)]
    label = f"AP {average_precision(seen, relevant):.2f}{', shaken' if shown['turn'] else ''}"
    label += f"; the mean of 24 shakes by {NOISE:.2f} is {shown['shaken'][number]:.2f}"
    marks.append(text(LEFT, y + 32, label, "small"))
    return marks


def words(shown):
    """The picture for those who do not see it."""
    (gap_0, gap_1), (ap_0, ap_1), (noisy_0, noisy_1) = shown["gaps"], shown["reached"], shown["shaken"]
    return (
        f"Eight scores, three of them relevant, after {shown['steps']} steps of gradient descent. Without a margin AP "
        f"is {ap_0:.2f}, the gap between relevant and irrelevant scores {gap_0:.2f}, AP under errors {noisy_0:.2f}; "
        f"with a margin of {shown['margin']:.2f} they are {ap_1:.2f}, {gap_1:.2f} and {noisy_1:.2f}."
    )
