"""The losses of Table 1 that are made for AP, on one walk."""

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import nn

from rankedu.losses import APLoss, FastAPLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit import style
from rankedu_book.kit.ranks import Array
from rankedu_lab.contestants import APSVMLoss, ErrorDrivenAPLoss

#: Four relevant scores and twelve others; the first group is moved as a whole.
RELEVANT = np.array([0.22, 0.08, -0.05, -0.24])
IRRELEVANT = np.array([0.31, 0.24, 0.19, 0.12, 0.06, 0.01, -0.04, -0.11, -0.16, -0.2, -0.27, -0.33])


def ap_losses() -> dict[str, nn.Module]:
    """Return the AP losses of Table 1 and Smooth-AP, at strengths that suit scores a few hundredths apart."""
    return {
        "RaMBO": APLoss(BlackboxRanker(4.0)),
        "Smooth-AP": SmoothAPLoss(0.03),
        "FastAP": FastAPLoss(20),
        "error-driven": ErrorDrivenAPLoss(0.1),
        "AP-SVM": APSVMLoss(),
    }


def ap_walk(loss: nn.Module, shifts: Array) -> tuple[Array, Array]:
    """Move the relevant items together; return the values of a loss, and the sums of its pushes on them."""
    values, pushes = [], []
    relevance = torch.arange(len(RELEVANT) + len(IRRELEVANT)) < len(RELEVANT)
    for shift in shifts:
        scores = torch.tensor(np.append(RELEVANT + shift, IRRELEVANT), requires_grad=True)
        value = loss(scores, relevance)
        (gradient,) = torch.autograd.grad(value, scores)
        values.append(value.item())
        pushes.append(-gradient[relevance].sum().item())
    return np.array(values), np.array(pushes)


def what_each_optimises() -> Figure:
    """Draw the value of each loss, and its push, while four relevant items move past twelve others."""
    shifts = np.linspace(-0.65, 0.65, 131)
    figure, (left, right) = style.figure(1, 2, width=7.4, height=4.0)
    walks = {name: ap_walk(loss, shifts) for name, loss in ap_losses().items()}
    left.plot(shifts, walks["RaMBO"][0], color=style.GREY, linewidth=5, alpha=0.5)
    facts = []
    looks = style.looks(walks, marker="") | {"AP-SVM": {"color": style.RED}}
    for name, (values, pushes) in walks.items():
        left.plot(shifts, values, label=name, **looks[name])
        right.plot(shifts, pushes, **looks[name])
        push = f"push from {pushes[0]:.2f} to {abs(pushes[-1]):.2f}"
        facts.append(f"{name}: from {values[0]:.2f} to {values[-1]:.2f}, {push}")
    left.set(xlabel="shift of the relevant items", title="loss", ylim=(-0.05, 2.4))
    right.set(xlabel="shift of the relevant items", title="push on the relevant items", ylim=(-0.25, 2.6))
    style.legend_below(figure, left, 3, handlelength=2.0)
    return style.describe(
        figure,
        "Two panels over the shift of four relevant items past twelve others. Left, the values: a grey staircase, one "
        "minus AP, which RaMBO's follows exactly and Smooth-AP's, FastAP's and the error-driven one with small ramps; "
        "AP-SVM's is a convex line far above them. Right, the push that the relevant items get together. "
        f"{'; '.join(facts)}.",
    )
