"""From class logits of proposals to scores and relevance: every class ranks all proposals."""

import torch
from torch import Tensor, nn

from rankedu.checks import (
    check_choice,
    check_floating,
    check_integers,
    check_like,
    check_not_nan,
    check_values,
    warn_caller,
)
from rankedu.losses.base import eager

#: What a proposal can be ranked by.
SCORES = ("log-odds", "probability", "logit")


class OnProposals(nn.Module):
    r"""Rank the proposals of a detector for each class, and leave the background out.

    Parameters
    ----------
    loss : Module
        Of scores and relevance (proposals, classes): ``MAPLoss(BlackboxRanker(lam=1e5), 0.15, ScoreMemory(7))``.
    scores : {"log-odds", "probability", "logit"}
        What the proposals are ranked by. ``"log-odds"``: :math:`z_c - z_0`, class against background.
        ``"probability"``: the softmax over classes and background, which is what a detector ranks by when it is tested.
        ``"logit"``: :math:`z_c` alone; then nothing trains the background's logit.
    background : {"first", "last"}, optional
        Where the background is among the logits, and which label it has: 0, as in torchvision, or C, as in
        detectron2 and mmdetection. By default 0, with a warning if another label is more frequent.

    Notes
    -----
    The paper does not say which scores it ranks, nor what becomes of the background. Here it is no class: it has no AP,
    and its proposals are irrelevant to every class. In float32 at least, also under autocast. Explained in chapter 16.
    Raises TypeError for a loss that is not callable; ValueError for other scores.
    Source: RaMBO Sec. 5.2.

    >>> from rankedu.losses import MAPLoss
    >>> from rankedu.rankers import BlackboxRanker
    >>> loss = OnProposals(MAPLoss(BlackboxRanker(lam=0.5), margin=0.0))
    >>> class_logits = torch.tensor([[0.0, 2.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])  # background first
    >>> labels = torch.tensor([0, 1, 2])
    >>> round(loss(class_logits, labels).item(), 4)  # 2/3 of (1/2 + 0)/2 and 1/3 of 1 - (1/2 + 2/3)/2
    0.3056
    """

    def __init__(self, loss: nn.Module, scores: str = "log-odds", *, background: str | None = None) -> None:
        super().__init__()
        if not callable(loss) or isinstance(loss, type):
            raise TypeError(f"loss must be a loss of scores and relevance, got {loss!r} (e.g. MAPLoss(ranker))")
        check_choice(scores, SCORES, name="scores")
        if background is not None:
            check_choice(background, ("first", "last"), name="background")
        self.loss = loss
        self.scores = scores
        self.background = background

    def extra_repr(self) -> str:
        return f"scores={self.scores!r}, background={self.background!r}"

    @eager
    def forward(self, class_logits: Tensor, labels: Tensor) -> Tensor:
        """Compute the loss of a batch of proposals: what the loss returns.

        The logits have shape (P, C + 1), the background first; of the labels, (P,), 1 … C are classes, 0 is the
        background, and −1 leaves a proposal out. With ``background="last"`` 0 … C − 1 are classes, and C is it. Raises
        ValueError for NaN, other shapes, or other labels; TypeError for logits that are not floating point, or labels
        that are not integers.
        """
        check_values(class_logits, name="class_logits")
        check_floating(class_logits, name="class_logits")
        if class_logits.ndim != 2 or class_logits.shape[1] < 2:
            raise ValueError(
                f"class_logits must have shape (P, C + 1), got {tuple(class_logits.shape)} (with the background)"
            )
        check_not_nan(class_logits, None, name="class_logits", hint="leave these rows out")
        check_like(labels, class_logits[:, 0], name="labels", other="class_logits[:, 0]")
        check_integers(labels, "labels", "number classes and background")
        classes = torch.arange(class_logits.shape[1], device=labels.device)
        known = labels.unsqueeze(1) == classes
        if not (known.any(1) | (labels == -1)).all():
            odd = labels[~known.any(1) & (labels != -1)][0].item()
            raise ValueError(
                f"labels must be in -1 ... {len(classes) - 1}, got {odd} (the background is one of them, -1 leaves out)"
            )
        taking_part = labels >= 0
        if self.background == "last":
            class_logits, known = class_logits.roll(1, 1), known.roll(1, 1)
        elif self.background is None and (counts := known.sum(0)).argmax() > 0:
            most = int(counts.argmax())
            self.background = "first"  # it is asked about once
            warn_caller(
                f"label 0 is taken for the background, but {most} is more frequent, {int(counts[most])} against "
                f"{int(counts[0])} of {len(labels)} proposals. Say background='first', or background='last' if it is "
                f"label {len(classes) - 1}.",
                UserWarning,
            )
        scores, relevance = proposal_scores(class_logits, self.scores), known[:, 1:]
        if taking_part.all():
            loss: Tensor = self.loss(scores, relevance)
        else:
            loss = self.loss(scores, relevance, where=taking_part.unsqueeze(1).expand_as(scores))
        return loss


def proposal_scores(class_logits: Tensor, scores: str) -> Tensor:
    """What the proposals are ranked by: (P, C + 1) to (P, C), in float32 at least."""
    with torch.autocast(class_logits.device.type, enabled=False):
        logits = class_logits.to(torch.promote_types(class_logits.dtype, torch.float32))
        if scores == "probability":
            return logits.softmax(dim=1)[:, 1:]
        return logits[:, 1:] - logits[:, :1] if scores == "log-odds" else logits[:, 1:]
