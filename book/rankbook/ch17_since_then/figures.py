"""Figures of chapter 17: what identity descends, and soft ranks side by side."""

import numpy as np
from matplotlib.figure import Figure

from rankbook.ch17_since_then import study
from rankbook.kit import style
from rankbook.kit.landscapes import interpolated_landscape
from rankbook.kit.relief import draw_blocks, view

TITLES = {"interpolation": "interpolation, λ = 0.3", "mean": "identity, mean out"}


def landscapes(lam: float = 0.3, arrows: int = 12) -> Figure:
    """What is descended on the section of chapter 4, above as a block, below the step of descent."""
    made, axes = style.figure(2, 2, width=5.4, height=5.2)
    seen = view(360)
    heights = [interpolated_landscape(seen.section, seen.coefficients, lam), study.surface(seen)]
    draw_blocks(list(axes[0]), seen, heights, list(TITLES.values()))
    side = seen.section.extent
    for axis, kind in zip(axes[1], TITLES, strict=True):
        step = study.field(seen, kind, lam)
        shown = np.where(seen.inside, seen.staircase, np.nan)
        axis.imshow(shown, origin="lower", extent=(-side, side, -side, side), cmap=style.bands(8))
        every = slice(len(step) // arrows // 2, None, len(step) // arrows)
        x, y = np.meshgrid(*(part[every] for part in seen.section.axes()))
        here, there = seen.inside[every, every], step[every, every]
        far = np.linalg.norm(there[here], axis=-1).max()
        axis.quiver(x[here], y[here], *(there[here] / far).T, scale=12, width=0.008, color=style.BLACK)
        axis.set_axis_off()
    return style.describe(
        made,
        "Two blocks over the same square of score vectors, and two maps of the loss with the steps of descent. Left an "
        "uneven surface of facets with several basins, right an inclined plane with the same step everywhere.",
    )


def soft_ranks(temperature: float = 0.1) -> Figure:
    """Value and slope of an item's rank as it moves past five others."""
    made, (left, right) = style.figure(1, 2, width=6.2, height=3.6)
    looks, facts = style.looks(study.SOFT), []
    for name, look in looks.items():
        x, ranks, slope = study.moving(name, temperature)
        line = {key: look[key] for key in ("color", "linestyle")}
        left.plot(x, ranks, label=name, **line)
        right.plot(x, slope, **line)
        facts.append(
            f"{name}: from {ranks[0]:.2f} to {ranks[-1]:.2f}, slopes from {slope.min():.1f} to {slope.max():.1f}"
        )
    exact = 1 + (np.array(study.STANDING) > x[:, None]).sum(1)
    left.plot(x, exact, color=style.GREY, linewidth=1, zorder=0)
    left.set(xlabel="its score", title="soft rank of one item")
    right.set(xlabel="its score", title="slope")
    style.legend_below(made, left, columns=3)
    return style.describe(
        made,
        f"Left, the soft rank of an item that moves past five others, beside the staircase of its rank; right its "
        f"slope. {'. '.join(facts)}.",
    )
