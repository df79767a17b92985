"""Explorable of chapter 11: a sorter at several stages of its training, and a score that moves through its list."""

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.ranks import rank
from rankedu_book.ch11_learned_sorters.study import trained
from rankedu_book.kit import style
from rankedu_book.kit.explorable import choice, explorable, goal, hold, slider, tell

#: The other four scores, and the scores that the fifth runs through: three times the range of most of the training.
OTHERS, REACH, STAGES = (0.7, 0.3, -0.2, -0.6), 3.0, (0, 20, 80, 400)


def answers(steps: int, moving: Tensor) -> tuple[Tensor, Tensor]:
    """Return the ranks of the sorter and the true ones, for each score of the moving item; shape (m, 5)."""
    ranker, _ = trained(len(OTHERS) + 1, steps)
    scores = torch.cat([torch.tensor(OTHERS).expand(len(moving), -1), moving.unsqueeze(1)], 1)
    return ranker(scores), rank(scores)


@goal(
    "After 400 steps, find a score at which E must fall to get a better rank from the sorter.",
    lambda at: at.steps == 400 and at.slope > 0.05,
    "At {score:g} the curve has turned, so the rank gets better as the score falls. There a loss that wants E to rise "
    "lowers its score.",
)
@goal(
    "After 400 steps, change the answer for A by a quarter of a rank or more while all true ranks stay as they are "
    "with E at 1.",
    lambda at: at.steps == 400 and at.score > 1 and at.strayed >= 0.25,
    "E is above all others already, so no true rank changes, but the answer for A went from {near:.2f} to {here:.2f}.",
)
@goal(
    "Find the stage at which the sorter is furthest off in the shaded range.",
    lambda at: at.steps == 0,
    "Untrained, its answers are {error:.2f} ranks off there. The curve is smooth at every stage, because the "
    "network learns a ramp and not a staircase.",
)
@explorable(
    steps=choice(STAGES, default=80, label="training steps"),
    score=slider(-REACH, REACH, default=0.5, steps=61, stops=13, label="score of E"),
)
def sorter_and_truth(steps: int, score: float) -> Figure:
    """Item E moves through a list of five, and a learned sorter follows."""
    line = torch.linspace(-REACH, REACH, 601)
    found, true = answers(steps, line)
    here, truth = answers(steps, torch.tensor([float(score)]))
    figure, (left, right) = style.figure(1, 2, width=6.4, height=3.4, width_ratios=(1.6, 1))
    left.axvspan(-1, 1, color=style.YELLOW, alpha=0.25, linewidth=0)
    left.plot(line, true[:, -1], color=style.GREY, linewidth=1.5)
    left.plot(line, found[:, -1], color=style.ORANGE)
    left.plot([score], here[:, -1], "o", color=style.BLACK)
    left.set(xlabel="score of E", title="rank of E", xlim=(-REACH, REACH), ylim=(6.6, -0.6), yticks=range(1, 6))
    hold(left, score=lambda score: (score, float(np.interp(score, line, found[:, -1].detach()))))
    right.plot([0, 6], [0, 6], color=style.GREY, linewidth=1)
    for place, (name, t, f) in enumerate(zip("ABCDE", truth[0].tolist(), here[0].tolist(), strict=True)):
        right.plot(t, f, "o", color=style.BLACK if place == 4 else style.BLUE)
        right.text(t + 0.2, f, name, va="center")
    right.set(xlabel="true rank", title="all five", xlim=(0.5, 5.8), ylim=(6.6, -0.6), xticks=range(1, 6))
    right.set_yticks(range(1, 6))
    inside = line.abs() <= 1
    error = (found - true).abs().mean(1)
    near, slightly = (answers(steps, torch.tensor([at]))[0][0] for at in (1.0, float(score) + 0.05))
    tell(figure, near=near[0].item(), here=here[0, 0].item(), strayed=abs(near[0] - here[0, 0]).item())
    tell(figure, slope=(slightly[-1] - here[0, -1]).item() / 0.05, error=error[inside].mean().item())
    return style.describe(
        figure,
        f"A sorter for five items after {steps} steps of training. Item E has the score {score:g}; its true rank is "
        f"{int(truth[0, -1])}, the sorter answers {here[0, -1]:.2f}. While E moves within [−1, 1], where most of the "
        f"training took place, the five ranks are {error[inside].mean():.2f} off on average; beyond, "
        f"{error[~inside].mean():.2f}.",
    )
