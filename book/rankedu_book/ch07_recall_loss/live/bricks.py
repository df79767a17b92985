"""Chapter 7: any weights make a loss of recall, and some of them a logarithm."""

from rankedu.reference import W_log, outranking_negatives, rank, recall_loss
from rankedu_book.kit.live.hands import along, button, handle, listed, scene
from rankedu_book.kit.live.marks import NAMES, arrow, bar, dot, line, scaled, span, text

START = {
    "scores": [0.9, 0.78, 0.66, 0.5, 0.38, 0.24, 0.1],
    "relevance": [False, False, True, False, False, True, False],
    "weights": [0.4, 0.4, 0.4, 0.4, 0.4],
    "tick": False,
}
LEFT, RIGHT = 34, 446
BARS, WALL = (98, 170), (218, 352)
rise = span(0, 3.2, WALL[1], WALL[0])


def bricks(state):
    """Which weights make a logarithm? Drag the tops of the bars, then the items."""
    y, relevant, weights = state["scores"], state["relevance"], state["weights"]

    def pushed(count):
        return sum(weights[:count])

    loss, found, ranks = recall_loss(y, relevant, pushed), outranking_negatives(y, relevant), rank(y)
    wall = [pushed(count) for count in range(len(weights) + 1)]
    far = max([abs(height - W_log(count)) for count, height in enumerate(wall)])
    shown = {**state, "ranks": ranks, "outranking": found, "wall": wall, "loss": loss, "from_log": far}
    marks = [
        text(LEFT, 18, "numbers: irrelevant ones above; push: top brick"),
    ]
    members = [i for i, r in enumerate(relevant) if r]
    labels = [f"{NAMES[i]} {found[i]:d}" if r else NAMES[i] for i, r in enumerate(relevant)]
    drawn, handles = listed(y, relevant, 48, LEFT, RIGHT, labels)
    marks += drawn
    for i in members:
        x, push = scaled(y[i], 0, 1, LEFT, RIGHT), weights[found[i] - 1] if found[i] else 0.0
        marks.append(arrow(x, 80, min(x + 60 * push, RIGHT), 80, "gradient"))
    for k, weight in enumerate(weights):
        x = 80 + 76 * k
        top = scaled(weight, 0, 1, BARS[1], BARS[0])
        marks += [bar(x - 22, top, 44, BARS[1] - top, "brick"), line([(x - 22, top), (x + 22, top)], "thick")]
        marks.append(text(x, BARS[1] + 15, f"w{k + 1} {weight:.2f}", "small", "middle"))
        moves = [along("y", "weights", k, 0, 1, BARS[1], BARS[0])]
        handles.append(handle(f"Weight {k + 1}", x, top, f"{weight:.2f}", moves))
    marks += [*walls(weights, wall), *courses(relevant, found, weights, loss)]
    logs = [W_log(count + 1) - W_log(count) for count in range(len(weights))]
    buttons = [button("Show the logarithm's weights", {"weights": logs})]
    found = f"A logarithm, to within {far:.2f}." if far < 0.05 else ""
    return scene(shown, 384, marks, handles, buttons, words(shown), found)


def walls(weights, wall):
    """W(r) = w_1 + ... + w_r, and log(1 + r) beside it."""
    marks = [text(LEFT, WALL[0] - 6, "W(r)"), text(240, rise(W_log(5)) + 4, "log(1 + r)", "small")]
    for count in range(len(wall)):
        x = LEFT + 4 + 34 * count
        for k in range(count):
            marks.append(bar(x, rise(wall[k + 1]), 26, rise(wall[k]) - rise(wall[k + 1]), "brick"))
        marks.append(text(x + 13, WALL[1] + 16, f"{count:d}", "small", "middle"))
    curve = [(LEFT + 17 + 34 * k / 6, rise(W_log(k / 6))) for k in range(31)]
    marks += [line(curve, "under"), line(curve, "ink")]
    return [*marks, line([(LEFT, WALL[1]), (LEFT + 208, WALL[1])], "axis")]


def courses(relevant, found, weights, loss):
    """The bricks that each relevant item has above it; their mean height is the loss."""
    marks, number = [], 0
    for i, r in enumerate(found):
        if relevant[i]:
            x = 346 + 56 * number
            for k in range(r):
                low, high = rise(sum(weights[:k])), rise(sum(weights[: k + 1]))
                marks.append(bar(x - 13, high, 26, low - high, "brick"))
            marks += [dot(x, WALL[1] + 11, "positive", 6)]
            number += 1
    marks += [line([(318, rise(loss)), (RIGHT, rise(loss))], "guide"), line([(318, WALL[1]), (RIGHT, WALL[1])], "axis")]
    return [*marks, text(RIGHT, WALL[0] - 6, f"loss, their mean {loss:.2f}", "", "end")]


def words(shown):
    """The picture for those who do not see it."""
    weights, heights = [", ".join([f"{value:.2f}" for value in shown[name]]) for name in ("weights", "wall")]
    return (
        f"Seven items, two of them relevant. The weights are {weights}; their sums W(0) to W(5), {heights}, are "
        f"{shown['from_log']:.2f} from log(1 + r) at most. The loss, their mean, is {shown['loss']:.2f}."
    )
