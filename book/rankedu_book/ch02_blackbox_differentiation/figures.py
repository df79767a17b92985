"""Chapter 2: solvers, their optimal value, and what the strength λ buys."""

from itertools import permutations
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from rankedu_book.ch02_blackbox_differentiation import study
from rankedu_book.kit import style
from rankedu_book.kit.ranks import ranks_of
from rankedu_book.kit.solvers import assignment, shortest_path


def three_solvers() -> Figure:
    """Draw three solvers, the costs that they read and the solutions that they return."""
    figure, (left, middle, right) = style.figure(1, 3, width=7.6, height=3.1)
    scores = np.array([0.5, 0.9, 0.1, 0.7, 0.3])
    bars = left.barh(range(5), scores, color=style.SKY, height=0.7)
    ranks = ranks_of(scores)
    left.bar_label(bars, ranks, padding=3, fontweight="bold", color=style.RED)
    left.set(title="ranking", xlim=(0, 1.15), xticks=[], yticks=[], xlabel="y: scores, s: ranks")
    left.invert_yaxis()

    random = np.random.default_rng(5)
    grid, matrix = random.uniform(0.1, 1, (5, 5)), random.uniform(0.1, 1, (4, 4))
    path = shortest_path(torch.from_numpy(grid)).numpy()
    chosen = assignment(torch.from_numpy(matrix)).numpy()
    for axes, costs, solution, title in ((middle, grid, path, "shortest path"), (right, matrix, chosen, "assignment")):
        axes.imshow(costs, cmap="Greys", vmin=0, vmax=1.6)
        for row, column in np.argwhere(solution > 0):
            axes.plot(column, row, "o", ms=15, mfc="none", mec=style.RED, mew=2.5)
        axes.grid(visible=False)
        axes.set(title=title, xticks=[], yticks=[], xlabel="y: costs, s: chosen cells")
    return style.describe(
        figure,
        f"""Three solvers. Ranking: five bars with scores {", ".join(f"{value:g}" for value in scores)}, which get the
        ranks {", ".join(f"{value:.0f}" for value in ranks)}. Shortest path: a 5 × 5 grid of costs and the
        {int(path.sum())} cells of its cheapest path from the top left to the bottom right. Assignment: a 4 × 4 matrix
        of costs and one chosen cell in each row and column.""",
    )


def lower_envelope() -> Figure:
    """Draw six lines, one for each ranking of three items; their lower envelope; and its slope."""
    origin, direction = np.array([-0.8, 0.6, 0.2]), np.array([1.0, 0.0, -1.0])
    rankings = np.array([*permutations((1.0, 2.0, 3.0))])
    t = np.linspace(-1.0, 2.0, 601)
    lines = (origin + t[:, None] * direction) @ rankings.T
    least = lines.min(axis=1)
    slopes = (rankings @ direction)[lines.argmin(axis=1)]
    jumps = np.flatnonzero(np.diff(slopes))
    figure, (top, bottom) = style.figure(2, 1, width=6.4, height=5.0, sharex=True, height_ratios=[3, 2])
    top.plot(t, lines, color=style.GREY, lw=1.2, label=["z·s, one line per ranking s", *[""] * 5])
    top.plot(t, least, color=style.BLUE, lw=3.5, label="optimal value m(z)")
    top.plot(t[jumps], least[jumps], "o", color=style.BLUE, ms=7)
    top.set(ylabel="cost of the ranking", ylim=(-4.5, 7.0))
    top.legend(loc="upper center", ncols=2, frameon=False)
    edges = np.concatenate([[t[0]], t[jumps], [t[-1]]])
    steps = slopes[np.append(jumps, len(t) - 1)]
    bottom.stairs(steps, edges, baseline=None, color=style.BLACK, lw=2.0)
    for axes in (top, bottom):
        axes.vlines(t[jumps], -5, 5, color=style.GREY, lw=0.8, ls=":")
    bottom.set(xlabel="position t on the line z = y + t·d", ylabel="slope of m\n= d·s(z)", xlim=(t[0], t[-1]))
    bottom.set(ylim=(-2.6, 2.6), yticks=(-2, -1, 0, 1, 2))
    return style.describe(
        figure,
        f"""Above: six straight lines, the costs of the six rankings of three items along a line of score vectors, and
        their lower envelope, the optimal value: continuous and concave, with {len(jumps)} kinks. Below: the slope of
        the envelope, a staircase that falls from {steps[0]:g} to {steps[-1]:g} and jumps at each kink.""",
    )


def strength_tradeoff() -> Figure:
    """Draw how often there is a gradient, and how long it is, for a small and a large λ."""
    lams = np.geomspace(1e-2, 1e2, 41)
    share, length = study.strength_sweep(lams)
    figure, (left, right) = style.figure(1, 2, width=7.0, height=4.0)
    left.semilogx(lams, 100 * share, color=style.GREEN)
    left.set(xlabel="λ", ylabel="vectors with a gradient (%)", ylim=(-3, 103))
    right.loglog(lams, length / share, color=style.ORANGE, label="mean where it is not 0")
    right.loglog(lams, length, color=style.RED, label="mean over all vectors")
    right.axhline(study.LIMIT, color=style.GREY, ls=":", label="limit for λ → 0")
    right.set(xlabel="λ", ylabel="length of the gradient", ylim=(1e-2, 1e3))
    style.legend_below(figure, right, 2)
    for axes in (left, right):
        axes.set_xticks([1e-2, 1e-1, 1, 1e1, 1e2])
    return style.describe(
        figure,
        f"""Two panels over λ from {lams[0]:g} to {lams[-1]:g}, for 2000 random score vectors of six items. Left: the
        share of vectors with a gradient that is not zero rises from {share[0]:.0%} to {share[-1]:.0%}. Right: where the
        gradient is not zero, its mean length falls all the way, from {length[0] / share[0]:.0f} to
        {length[-1] / share[-1]:.2f}; its mean length over all vectors stays near its limit of {study.LIMIT:.2f} up to
        λ = 1 and then falls to {length[-1]:.3f}.""",
    )


def nonlinear_loss() -> Figure:
    """Draw the interpolations of a loss that is not linear: each stair has its own, and they do not join."""
    lam, t = 2.0, np.linspace(-0.5, 2.0, 2501)
    line = study.NONLINEAR["scores"] + t[:, None] * study.NONLINEAR["direction"]
    truth, patched = study.log_rank(ranks_of(line)), study.linearised(line, lam)
    here = 0.62
    frozen = study.linearised(line, lam, study.NONLINEAR["scores"] + here * study.NONLINEAR["direction"])
    gaps = np.flatnonzero(np.diff(truth))  # another stair, another c
    jump = np.abs(np.diff(patched))[gaps]
    broken: Any = patched.copy()
    broken[gaps] = np.nan
    figure, axes = style.figure(height=3.9)
    axes.plot(t, truth, color=style.BLACK, label="the loss L(s(y))")
    axes.plot(t, frozen, color=style.AHEAD, ls="--", label="interpolation with c frozen at the dot")
    axes.plot(t, broken, color=style.RED, label="interpolation with c computed at each y")
    place = int(np.abs(t - here).argmin())
    axes.plot(here, patched[place], "o", color=style.AHEAD, ms=8)
    axes.set(xlabel="position t on the line y + t·d", ylabel="mean log rank", xlim=(t[0], t[-1]), ylim=(0.3, 2.9))
    axes.legend(loc="upper right", frameon=False)
    return style.describe(
        figure,
        f"""Along a line of scores: the mean logarithm of two ranks, a staircase; its interpolation with the gradient c
        frozen at one point, continuous; and the interpolation with c computed at each point, which has
        {len(gaps)} jumps, the largest of {jump.max():.2f}. The last two touch at the dot, with the same slope.""",
    )
