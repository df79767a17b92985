"""Chapter 6: a list that is sorted to the last, and what a margin makes of it."""

from rankedu.reference import average_precision, mean, shift_by_margin
from rankedu_book.kit.live.descents import ap_gradient
from rankedu_book.kit.live.hands import RUN, along, ask, button, listed, run, run_button, scene, slider
from rankedu_book.kit.live.marks import NAMES, bar, counted, lettered, line, span, text

START = {
    **RUN,
    "scores": [0.8, 0.34, 0.62, 0.71, 0.52, 0.43, 0.25, 0.16],
    "relevance": [True, True, True, False, False, False, False, False],
    "margin": 0.1,
    "lam": 20.0,
    "lanes": [],
    "turn": 0,
}
RATE, STEPS, NOISE = 0.01, 300, 0.05
LEFT, RIGHT = 34, 446
across = span(0, 1, LEFT, RIGHT)
#: Errors of measurement as a normal distribution has them at its 16 equal parts.
ERRORS = [-1.86, -1.32, -1.01, -0.78, -0.58, -0.4, -0.24, -0.08, 0.08, 0.24, 0.4, 0.58, 0.78, 1.01, 1.32, 1.86]


def collapse(state):
    """When AP is 1, how large will the gap be? Set the margin α, guess, press Start, then Shake."""
    y, relevant = state["scores"], state["relevance"]
    margin, lam = state["margin"], state["lam"]
    of = [*y, margin, lam]
    gone = run(state, STEPS, of)
    lanes = state["lanes"] if state["began"] == of and state["steps"] else [list(y), list(y)]
    if state["playing"] and state["tick"]:
        lanes = [stepped(lane, relevant, alpha, lam) for lane, alpha in zip(lanes, [0.0, margin])]
    reached, gaps = [[of_lane(lane, relevant) for lane in lanes] for of_lane in (average_precision, gap)]
    shown = {**state, **gone, "turn": 0 if state["tick"] else state["turn"], "lanes": lanes, "reached": reached}
    shown = {**shown, "gaps": gaps, "shaken": [shaken(lane, relevant) for lane in lanes]}
    marks, handles = listed(y, relevant, 40, LEFT, RIGHT)
    move = along("x", "margin", None, 0.01, 0.3, across(0.01), across(0.3))
    track, knob = slider("Margin α", f"margin α = {margin:.2f}", margin, 106, move)
    other, second = slider("λ", f"λ = {lam:.1f}", lam, 106, along("x", "lam", None, 0.5, 20, 246, RIGHT))
    marks += [text(LEFT, 16, "scores at the start"), bar(LEFT, 100, across(margin) - LEFT, 12, "margin")]
    marks += [*track, *other]
    for number, lane in enumerate(lanes):
        marks += lane_marks(shown, number, lane, relevant)
    ended = gone["steps"] == STEPS
    parts = {"0": 0.0, "half of α": margin / 2, "α": margin, "twice α": 2 * margin}
    nearest = min(parts.keys(), key=lambda name: abs(parts[name] - gaps[1]))
    question = ask("With the margin, the gap will be", list(parts.keys()), state["guess"], [nearest] if ended else [])
    found = [f"AP {ap:.2f} with a gap of {size:.2f}" for ap, size in zip(reached, gaps)]
    end = f"Without a margin {found[0]}, with it {found[1]}." if ended else ""
    if shown["turn"]:
        told = [passing(lane, noisy(lane, shown["turn"]), relevant)[0] for lane in lanes]
        end = f"Without a margin {told[0]}; with it {told[1]}."
    shake = {"turn": shown["turn"] % 24 + 1, "playing": False}
    buttons = [run_button(shown, STEPS), button("Shake", shake, None, not state["guess"] or shown["playing"])]
    return scene(shown, 378, marks, [*handles, knob, second], buttons, words(shown), end, question)


def stepped(y, relevant, margin, lam):
    """One step down the blackbox gradient of 1 - AP, of scores that a margin has shifted."""
    shifted = shift_by_margin(y, relevant, margin)
    gradient = ap_gradient(shifted, relevant, lam)
    return [min(max(score - RATE * slope, 0), 1) for score, slope in zip(y, gradient)]


def gap(y, relevant):
    """From the lowest relevant score down to the highest irrelevant one; below 0 where they are mixed."""
    return min([s for s, r in zip(y, relevant) if r]) - max([s for s, r in zip(y, relevant) if not r])


def shaken(y, relevant):
    """The mean AP when every score is measured with an error: 24 times, each item with another of the errors."""
    return mean([average_precision(noisy(y, turn), relevant) for turn in range(1, 25)])


def noisy(y, turn):
    """The scores as they are measured at one shake; turn 0 is none."""
    errors = [ERRORS[(7 * i * i + 5 * i + turn * (2 * i + 3)) % 16] for i in range(len(y))]
    return [score + NOISE * error for score, error in zip(y, errors)] if turn else y


def passing(y, seen, relevant):
    """Which items of the two kinds change places between the scores as learnt and as measured; in words, and who."""
    told, pairs = [], []
    for i in range(len(y)):
        passed = [j for j in range(len(y)) if relevant[j] != relevant[i] and y[i] < y[j] and seen[i] > seen[j]]
        told += [f"{NAMES[i]} passes {' and '.join([NAMES[j] for j in passed])}"] if passed else []
        pairs += [(i, j) for j in passed]
    few = ", ".join(told) if told else "no change that AP sees"
    return few if len(told) < 3 else f"{len(pairs):d} pairs change places", [i for pair in pairs for i in pair]


def lane_marks(shown, number, lane, relevant):
    """One training run, or what is measured of it and whence each item came: the items, the gap between kinds, AP."""
    y, kind = 184 + 124 * number, "margin" if number else ""
    seen = noisy(lane, shown["turn"])
    low, size = max([s for s, r in zip(seen, relevant) if not r]), gap(seen, relevant)
    marks = [text(LEFT, y - 32, f"with α = {shown['margin']:.2f}" if number else "without a margin", kind)]
    marks.append(text(RIGHT, y - 32, f"AP {average_precision(seen, relevant):.2f}, gap {size:+.2f}", kind, "end"))
    marks.append(bar(across(low), y - 12, max(across(low + size) - across(low), 0), 24, "area"))
    marks += lettered([across(score) for score in seen], y, LEFT, RIGHT, relevant)
    mean_ap = f"mean AP of 24 shakes {shown['shaken'][number]:.2f}"
    if not shown["turn"]:
        return [*marks, text(LEFT, y + 18, mean_ap, "small")]
    told, moved = passing(lane, seen, relevant)
    for i, score in enumerate(lane):
        way = [(across(score), y + 28), (across(seen[i]), y)]
        marks.append(line(way, ("positive" if relevant[i] else "negative") if i in moved else "grey thin"))
    marks += [text(LEFT, y + 27, "as learnt", "small"), text(LEFT, y + 45, told)]
    return [*marks, text(LEFT, y + 62, mean_ap, "small")]


def words(shown):
    """The picture for those who do not see it: scores as they are learnt or, after a shake, as they are measured."""
    told = []
    for name, lane, shaken_ap in zip(["without a margin", "with it"], shown["lanes"], shown["shaken"]):
        seen, kinds = noisy(lane, shown["turn"]), shown["relevance"]
        ap = f"AP is {average_precision(seen, kinds):.2f} and the gap {gap(seen, kinds):.2f}"
        told.append(f"{name} {ap}, and AP in the mean of 24 shakes {shaken_ap:.2f}")
    shake = f", at shake {shown['turn']:d}" if shown["turn"] else ""
    return (
        f"Eight scores, three of them relevant, after {counted(shown['steps'], 'step')}{shake}: "
        f"{'; '.join(told)}, where α = {shown['margin']:.2f}."
    )
