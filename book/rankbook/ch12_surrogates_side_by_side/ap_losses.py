"""Chapter 12, computed: the losses of Table 1 that are made for AP, on one walk."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from rankbook.ch12_surrogates_side_by_side.surrogates import Array
from rankedu.losses import APLoss, FastAPLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from ranklab.contestants import APSVMLoss, ErrorDrivenAPLoss

#: Four relevant scores and twelve others; the first group is moved as a whole.
RELEVANT = np.array([0.22, 0.08, -0.05, -0.24])
IRRELEVANT = np.array([0.31, 0.24, 0.19, 0.12, 0.06, 0.01, -0.04, -0.11, -0.16, -0.2, -0.27, -0.33])


def ap_losses() -> dict[str, nn.Module]:
    """Give the AP losses of Table 1 and Smooth-AP, at strengths that suit scores a few hundredths apart."""
    return {
        "RaMBO": APLoss(BlackboxRanker(4.0)),
        "Smooth-AP": SmoothAPLoss(0.03),
        "FastAP": FastAPLoss(20),
        "error-driven": ErrorDrivenAPLoss(0.1),
        "AP-SVM": APSVMLoss(),
    }


def ap_walk(loss: nn.Module, shifts: Array) -> tuple[Array, Array]:
    """Move the relevant items together: the value of a loss, and the push that it gives them all together."""
    y = np.concatenate([RELEVANT + 0 * shifts[:, None] + shifts[:, None], IRRELEVANT + 0 * shifts[:, None]], axis=1)
    values, pushes = [], []
    relevance = torch.arange(len(RELEVANT) + len(IRRELEVANT)) < len(RELEVANT)
    for row in y:
        scores = torch.tensor(row, requires_grad=True)
        value = loss(scores, relevance)
        (gradient,) = torch.autograd.grad(value, scores)
        values.append(value.item())
        pushes.append(-gradient[relevance].sum().item())
    return np.array(values), np.array(pushes)


def margin_of_ap_svm(relevant: int, irrelevant: int) -> float:
    """How far every relevant score must be above every other one, all pairs alike, before the AP-SVM is content."""
    return irrelevant / (2 * relevant) * sum(1 / k for k in range(2, relevant + 2))
