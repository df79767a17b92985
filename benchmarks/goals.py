"""How fast the book's losses, metrics and tools are to be: one row a goal, and whether a record of benchmarks meets it.

All but the last few are ratios to other work that was timed in turn with it, in one run on one thread.
"""

from typing import NamedTuple

PRODUCT = "the matrix product with its gradient"


class Goal(NamedTuple):
    """At most so much of what a benchmark found."""

    work: str
    row: str  # of the record
    found: str  # "ratio to" this, or the name itself
    at_most: float


GOALS = [
    Goal("AP loss, 10⁶ scores, 1 % relevant", "losses; average precision: 1e6-1%", "two np.argsort", 0.45),
    Goal("AP loss, 10⁶ scores, 1 % relevant", "losses; average precision: 1e6-1%", "the released formula", 1 / 25),
    Goal("AP loss, 10⁶ scores, 50 % relevant", "losses; average precision: 1e6-50%", "two np.argsort", 1.1),
    Goal("AP loss, 10⁷ scores", "losses; average precision: 1e7-1%", "two np.argsort", 0.3),
    Goal("AP loss, 10⁷ scores", "long lists; memory: ap", "bytes a score", 20),
    Goal("rank layer, 10⁶ scores", "losses; rank layer", "two np.argsort", 1.0),
    Goal("Smooth-AP, batch 512", "smooth ap; smooth ap: 512-4", PRODUCT, 1.5),
    Goal("Smooth-AP, batch 1024", "smooth ap; smooth ap: 1024-4", PRODUCT, 1.6),
    Goal("Smooth-AP, batch 4096", "smooth ap; smooth ap: 4096-4", PRODUCT, 1.5),
    Goal("Smooth-AP, batch 512", "smooth ap; smooth ap: 512-4", "further matrices in memory", 3),
    Goal("Smooth-AP, batch 1024", "smooth ap; smooth ap: 1024-4", "further matrices in memory", 3),
    Goal("Smooth-AP, batch 4096", "smooth ap; smooth ap: 4096-4", "further matrices in memory", 3),
    Goal("FastAP, batch 1024", "fast ap; fast ap of a batch: 1024-10", PRODUCT, 2.0),
    Goal("RaMBO recall, batch 1024, 4 a class", "losses; recall of a batch: 4", PRODUCT, 1.8),
    Goal("HAPLoss, batch 256, two levels and the root", "hierarchical; happier: 256", PRODUCT, 45),
    Goal("HAPLoss, batch 256, two levels and the root", "hierarchical; happier: 256", "the cubic definition", 1 / 25),
    Goal("SupAPLoss, batch 256", "supremum ap; supremum ap: continuous-256", PRODUCT, 4),
    Goal("R@K, mAP, mAP@R, 20,000 × 512", "retrieval; retrieval: fine", "the matrix product", 1.25),
    Goal("with H-AP, ASI, NDCG", "retrieval; retrieval: with the graded ones", "the matrix product", 3),
    Goal("AP loss, n = 10", "short lists; ten items: ap", "the readable definition", 1.1),
    Goal("recall loss, n = 10", "short lists; ten items: recall", "the readable definition", 1.1),
    Goal("Smooth-AP, n = 10", "short lists; ten items: smooth ap", "the readable definition", 1.1),
    Goal("SupAP, n = 10", "short lists; ten items: sup ap", "the readable definition", 1.1),
    Goal("rank, n = 10", "short lists; ten items: rank", "the readable definition", 1.1),
    Goal("import rankedu", "start; import: package", "import torch", 1.3),
    Goal("import of the numerical core", "start; import: core", "import torch", 1.3),
    Goal("rankedu --help", "start; help", "seconds", 0.5),
    Goal("first frame of the slowest explorable", "start; first frames", "seconds of the slowest", 0.5),
    Goal("AP loss, 10⁸ scores, on a GPU", "gpu; average precision", "seconds", 0.62 / 3),
    Goal("Smooth-AP, batch 4096, on a GPU", "gpu; smooth ap", PRODUCT, 3),
]


def measured(goal, rows):
    """What the record has of it, or None."""
    found = rows.get(goal.row, {}).get("found", {})
    return found.get(f"ratio to {goal.found}", found.get(goal.found))


def table(rows):
    """The goals, each with what was measured and whether it is met; ``rows`` by their name."""
    lines = []
    for goal in GOALS:
        value = measured(goal, rows)
        verdict = "not measured" if value is None else "pass" if value <= goal.at_most else "MISS"
        shown = "—" if value is None else f"{value:.3g}"
        beside = goal.found if goal.found.split()[0] in ("seconds", "bytes", "further") else f"× {goal.found}"
        lines.append(f"{goal.work:44} {shown:>7} of {goal.at_most:<6.3g} {beside:40} {verdict}")
    return "\n".join(lines)


def slower(rows, before, by=4 / 3):
    """What needs more than a third more than before: name of the row, what of it, earlier, now."""
    for name, row in rows.items():
        earlier = before.get(name, {}).get("found", {})
        for found, value in row["found"].items():
            ratio = found.startswith("ratio") or any((name, found) == (goal.row, goal.found) for goal in GOALS)
            if ratio and found in earlier and value > by * earlier[found]:
                yield name, found, earlier[found], value
