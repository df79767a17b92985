"""Chapter 13: items of a ranking under a tree, four metrics, and what each mistake costs."""

from rankedu.reference import average_precision, hierarchical_average_precision, ndcg, order, rank, relevance
from rankedu_book.kit.live.hands import along, button, handle, scene
from rankedu_book.kit.live.marks import NAMES, bar, dot, item, line, scaled, span, text

START = {
    "scores": [0.92, 0.76, 0.6, 0.42, 0.26, 0.1],
    "depth": [2.0, 0.0, 1.0, 2.0, 1.0, 0.0],
    "before": [],
    "tick": False,
}
METRICS = ["AP, owls", "AP, birds", "H-AP", "NDCG"]
BRANCH, LEVELS = ["other", "a bird", "the owl"], 2
LEFT, RIGHT, TOP, BOTTOM = 108, 456, 36, 148
height = span(0, LEVELS, BOTTOM, TOP)


def tiles(state):
    """Can AP and H-AP disagree? Drag an item to the right: ranked higher; upwards: nearer to the query in the tree."""
    y, levels = state["scores"], [round(depth) for depth in state["depth"]]
    values = metrics(y, levels)
    before = state["before"] or values
    ranks = rank(y)
    shown = {**state, "levels": levels, "ranks": ranks, "metrics": values, "before": before}
    marks = tree()
    handles = []
    for i, score in enumerate(y):
        x, at = scaled(score, 0, 1, LEFT, RIGHT), height(levels[i])
        marks.append(dot(x, at, "between", 11) if levels[i] == 1 else item(x, at, levels[i] == LEVELS, 11))
        marks.append(text(x, at + 5, NAMES[i], ["negative", "", "onto"][levels[i]], "middle"))
        marks.append(text(x, at + 27, f"{ranks[i]:d}", "small", "middle"))
        moves = [along("x", "scores", i, 0, 1, LEFT, RIGHT), along("y", "depth", i, 0, 2, BOTTOM, TOP)]
        says = f"{BRANCH[levels[i]]}, score {score:.2f}, rank {ranks[i]}"
        handles.append(handle(f"Item {NAMES[i]}", x, at, says, moves))
    marks += [*bars(values, before), *prices(y, levels)]
    buttons = [button("Compare from here", {"before": values})]
    fine, hierarchical = [values[k] - before[k] for k in (0, 2)]
    found = f"They disagree: AP of owls {fine:+.2f}, H-AP {hierarchical:+.2f}." if fine * hierarchical < -1e-6 else ""
    return scene(shown, 446, marks, handles, buttons, words(values, before), found)


def metrics(y, levels):
    """AP if only the owl counts, AP if every bird does, H-AP, and NDCG of the same relevances."""
    if not any(level > 0 for level in levels):
        return [0.0, 0.0, 0.0, 0.0]
    rel = relevance(levels, 1, LEVELS)
    owl = [level == LEVELS for level in levels]
    fine = average_precision(y, owl) if any(owl) else 0.0
    coarse = average_precision(y, [level > 0 for level in levels])
    return [fine, coarse, hierarchical_average_precision(y, rel), ndcg(y, rel)]


def tree():
    """The query's branch from the leaf down to the root."""
    marks = [line([(14, height(2)), (14, height(0))], "axis")]
    for level in range(LEVELS + 1):
        marks += [line([(LEFT - 8, height(level)), (RIGHT, height(level))], "guide"), dot(14, height(level), "ink", 4)]
        marks.append(text(23, height(level) + 4, BRANCH[level], "small"))
    return [*marks, text(RIGHT, 16, "higher scores →", "small", "end")]


def bars(values, before):
    """The four metrics, and where each stood before."""
    marks = []
    for k, name in enumerate(METRICS):
        at = 196 + 26 * k
        marks += [
            text(LEFT - 10, at + 12, name, "", "end"),
            bar(LEFT, at, 214 * values[k], 14, "ink" if k == 2 else "grey"),
        ]
        marks.append(line([(LEFT + 214 * before[k], at - 3), (LEFT + 214 * before[k], at + 17)], "ink"))
        change = values[k] - before[k]
        label = f"{values[k]:.2f}" if abs(change) < 0.0005 else f"{values[k]:.2f} ({change:+.2f})"
        marks.append(text(RIGHT, at + 12, label, "", "end"))
    return marks


def prices(y, levels):
    """By how much H-AP and AP would rise or fall if two neighbours in the ranking changed places."""
    here, placed = metrics(y, levels), order(y)
    marks = [text(14, 318, "change if neighbours change places", "")]
    for k in range(len(placed) - 1):
        first, second = placed[k], placed[k + 1]
        swapped = list(levels)
        swapped[first] = levels[second]
        swapped[second] = levels[first]
        there = metrics(y, swapped)
        x = RIGHT - 30 - 66 * k
        marks.append(text(x - 2, 404, f"{k + 1} ↔ {k + 2}", "small", "middle"))
        for number, kind, at, row in ((2, "ink", -20, 422), (0, "grey", 0, 440)):
            change = there[number] - here[number]
            size = scaled(abs(change), 0, 0.3, 0, 24)
            marks.append(bar(x + at, 362 - (size if change > 0 else 0), 16, size, kind))
            marks.append(text(x - 2, row, f"{change:+.2f}" if abs(change) > 0.005 else "0", "small", "middle"))
            marks += [] if k else [text(14, row, METRICS[number], "small")]
    return [*marks, line([(LEFT, 362), (RIGHT, 362)], "axis")]


def words(values, before):
    """The picture for those who do not see it."""
    told = ", ".join([f"{name} {now:.2f} ({now - then:+.2f})" for name, now, then in zip(METRICS, values, before)])
    return f"Six items in three rows: owls like the query, other birds, the rest. {told}."
