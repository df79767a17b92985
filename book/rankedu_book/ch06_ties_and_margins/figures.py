"""Figures of chapter 6: what happens around a tie, a collapse, and what a margin does about it."""

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from rankedu_book.ch06_ties_and_margins import study
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure


def fan_around_a_tie() -> Figure:
    """Draw the values of AP that meet in the tie of three scores; no magnifying glass changes the picture."""
    norm = BoundaryNorm([0.25, 0.4, 0.75, 1.25], 3)
    colours = ListedColormap([style.RED, style.YELLOW, style.SKY])
    figure, axes = style.figure(1, 2, width=6.8, height=3.7)
    for axis, scale, ends in zip(axes, (1.0, 1e-6), (("-1", "0", "1"), ("-1e-06", "0", "1e-06")), strict=True):
        side = scale * np.linspace(-1, 1, 400)
        a, b = np.meshgrid(side, side)
        value = 1.0 / (1 + (b > a).astype(float) + (-a - b > a))  # the third score is −a − b
        axis.imshow(value, origin="lower", extent=(-scale, scale) * 2, cmap=colours, norm=norm, interpolation="nearest")
        axis.grid(visible=False)
        axis.plot(0, 0, "o", color=style.BLACK, markersize=7)
        axis.set_xticks((-scale, 0, scale), ends)
        axis.set_yticks((-scale, 0, scale), ends)
        axis.set(xlabel="score of the relevant item")
        for at, text in (((0.6, 0.0), "AP = 1"), ((0.1, 0.7), "1/2"), ((-0.1, -0.7), "1/2"), ((-0.65, 0.0), "1/3")):
            style.write(axis, at[0] * scale, at[1] * scale, text)
    axes[0].set(ylabel="of an irrelevant one", title="around a tie")
    axes[1].set(title="a million times closer")
    facts = ", ".join(f"{(value == v).mean():.0%} for AP = {v:.2f}" for v in np.unique(value))
    return style.describe(
        figure,
        "Two square maps of AP for three items, one of them relevant, whose scores add up to zero; the tie of all "
        "three is a dot in the middle. Wedges of constant AP meet in the dot and fill the square around it: "
        f"{facts}. The left map reaches 1 from the tie, the right one 0.000001, and they are the same picture.",
    )


def shift_curves() -> Figure:
    """Draw AP of a right scorer, over the length of its weights, after errors of the scores and of the inputs."""
    scales = np.geomspace(1e-3, 1.0, 25)
    figure, axes = style.figure(width=6.4, height=3.5)
    axes.semilogx(scales, np.ones_like(scales), ":", color=style.BLACK, label="no errors")
    facts = []
    for name, size, line, colour in (("scores", 0.1, "-", style.ORANGE), ("inputs", 3.0, "--", style.BLUE)):
        values = np.array([study.ap_after_errors(scale, **{f"of_{name}": size}) for scale in scales])
        axes.semilogx(scales, values, line, color=colour, label=f"errors of {size:g} in the {name}")
        facts.append(f"with errors of {size:g} in the {name} from {values[0]:.3f} to {values[-1]:.3f}")
    axes.set(xlabel="length of the weights", ylabel="AP", ylim=(0, 1.05))
    axes.legend(loc="lower right")
    return style.describe(
        figure,
        f"AP against the length of the weights, from {scales[0]:g} to 1. Without errors it is 1 everywhere, a dotted "
        f"line; {' and '.join(facts)}.",
    )


@paper_figure("RaMBO Fig. 3")
def collapse_and_cure(margin: float = 0.1, positives: int = 8, negatives: int = 16, seed: int = 0) -> Figure:
    """Draw scores of a few items during training, without a margin and with one."""
    figure, axes = style.figure(1, 2, width=7.0, height=3.8, sharey=True)
    runs, facts = study.train((0.0, margin), seed=seed), []
    values = runs.average_precision()[:, :, 0]
    for setting, axis in enumerate(axes):
        scores, mask = runs.scores()[:, setting, 0], study.relevant(runs.features.shape[1])
        for good, count in ((False, negatives), (True, positives)):
            colour, look = (style.POSITIVE, "-") if good else (style.NEGATIVE, "--")
            labels = ["relevant" if good else "irrelevant"] + [""] * (count - 1)
            axis.plot(runs.steps, scores[:, mask == good][:, :count], look, color=colour, linewidth=1.2, label=labels)
        name = f"margin α = {margin:g}" if setting else "no margin"
        axis.set(title=name, xlabel="step of gradient descent")
        spread, value = scores.std(1), values[:, setting]
        facts.append(f"{name}: spread from {spread[0]:.2f} to {spread[-1]:.2f}, AP {value[0]:.2f} to {value[-1]:.2f}")
    axes[0].set_ylabel("score")
    axes[0].legend(loc="lower right")
    return style.describe(
        figure,
        f"Two panels of score trajectories over {study.STEPS} steps, {positives} relevant items in solid blue and "
        f"{negatives} others in dashed red. In both, the relevant items rise above the others within a few dozen "
        f"steps, and then all lines draw together: on the left to one score, on the right they stop apart. "
        f"{'; '.join(facts)}.",
    )
