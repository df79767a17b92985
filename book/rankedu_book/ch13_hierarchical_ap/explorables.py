"""The explorable of chapter 13: one bad mistake moves through a ranking, and four metrics evaluate it."""

import numpy as np
from matplotlib.figure import Figure

from rankedu_book.ch13_hierarchical_ap.figures import draw_tile
from rankedu_book.ch13_hierarchical_ap.study import METRICS, measure
from rankedu_book.kit import style
from rankedu_book.kit.explorable import dial, explorable, goal, hold, log_slider, tell

#: Levels from rank 1 to 12. Three items of each level; the mild ranking has two relatives on top.
MILD = (2, 2, 3, 3, 3, 2, 1, 1, 1, 0, 0, 0)
REST = (3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0)


def with_stranger(rank: int) -> tuple[int, ...]:
    """Return the ideal ranking except for one item of level 0, at a rank from 1 to 10."""
    return (*REST[: rank - 1], 0, *REST[rank - 1 :])


def judge(rank: int, alpha: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the metrics of the ranking with the stranger, and of the mild one."""
    one, other = (measure(listed, alpha) for listed in (with_stranger(rank), MILD))
    return {name: float(one[name]) for name in METRICS}, {name: float(other[name]) for name in METRICS}


@goal(
    "Make two of the metrics prefer M.",
    lambda at: at.better.count("M") == 2,
    "With the stranger at rank {rank}, NDCG and H-AP prefer M. AP and ASI prefer S even so.",
)
@goal(
    "At β = 1, bring the stranger as far up as possible while all four metrics prefer S.",
    lambda at: at.alpha == 1 and at.better == ["S"] * 4 and at.first == at.rank,
    "At rank {rank}. As the stranger sinks no bar of S ever falls, so no two metrics contradict each other about a "
    "single step. Still, they disagree about S and M above this rank.",
)
@goal(
    "Make H-AP prefer S although the stranger is at rank 1 or 2. Only one slider helps.",
    lambda at: at.rank <= 2 and at.better[1] == "S",
    "β = {alpha:g} did it, and no other bar depends on β. A large β leaves little weight to relatives, so H-AP of M is "
    "{h_ap:.2f} and its AP {ap:.2f}. With a small β a stranger is the only real mistake.",
)
@explorable(
    rank=dial(1, 10, default=2, label="rank of the stranger"),
    alpha=log_slider(0.125, 8, default=1.0, steps=31, stops=5, label="exponent β"),
)
def drag_a_ranking(rank: int, alpha: float) -> Figure:
    """One bad mistake, moved through a ranking, against two mild ones: which ranking is better?"""
    severe, mild = judge(rank, alpha)
    figure, (top, bars) = style.figure(2, 1, width=6.2, height=4.25, height_ratios=(1, 1.2))
    style.place(figure, (0.03, 0.57, 0.95, 0.42), (0.12, 0.08, 0.86, 0.42))
    rows = (1.25, "S: one stranger (triangle)", with_stranger(rank)), (0.0, "M: two relatives on top", MILD)
    for base, name, listed in rows:
        top.text(0, base + 0.68, name, va="bottom")
        for index, level in enumerate(listed):
            draw_tile(top, index, base, str(level), level)
    top.plot(rank - 0.5, 1.12, "^", color=style.BLACK, markersize=8, clip_on=False)
    top.set(xlim=(-0.05, 12.05), ylim=(-0.1, 2.3))
    top.axis("off")
    hold(top, rank=lambda rank: (rank - 0.5, 1.55))
    place = np.arange(4)
    for shift, judged, face in ((-0.19, severe, style.BLACK), (0.19, mild, "white")):
        heights = [judged[metric] for metric in METRICS]
        bars.bar(place + shift, heights, 0.36, color=face, edgecolor=style.BLACK, antialiased=False)
        for x, height in zip(place + shift, heights, strict=True):
            bars.text(x, height + 0.02, f"{height:.2f}", ha="center", va="bottom", fontsize=11)
    verdict = {metric: _better(severe[metric], mild[metric]) for metric in METRICS}
    tell(figure, better=list(verdict.values()), first=_first(alpha), h_ap=mild["H-AP"], ap=mild["AP"])
    bars.set(xlim=(-0.55, 3.55), ylim=(0, 1.12), ylabel="filled: S, hollow: M", yticks=(0, 0.5, 1))
    bars.set_xticks(place, [f"{metric}: {verdict[metric]}" for metric in METRICS])
    bars.tick_params(axis="x", length=0)
    values = ", ".join(
        f"{metric} {severe[metric]:.2f} and {mild[metric]:.2f}, better {verdict[metric]}" for metric in METRICS
    )
    return style.describe(
        figure,
        f"Two rankings of twelve items. S is ideal but for a stranger, an item of level 0, at rank {rank}; M has two "
        f"items of level 2 before the three of level 3. S and M at β = {alpha:g}: {values}.",
    )


def _first(alpha: float) -> int:
    """Return the smallest rank of the stranger at which every metric prefers S."""
    judged = {rank: judge(rank, alpha) for rank in range(1, 11)}
    return min(rank for rank, (s, m) in judged.items() if all(_better(s[name], m[name]) == "S" for name in METRICS))


def _better(one: float, other: float) -> str:
    return "equal" if abs(one - other) < 1e-9 else "S" if one > other else "M"
