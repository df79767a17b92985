"""Synthetic proposals: what a detector's head sees, without the detector; and heads that are trained on them."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from rankbook.kit.compare import Array, Comparison, compare, descend
from rankedu.losses import MAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker

#: Classes, features of a proposal (one more is 1, for the bias), and proposals of a batch: 8 pictures with 8 each.
CLASSES, FEATURES, BATCH = 10, 24, 64
STARTS, RATES, LENGTHS = 12, (0.0003, 0.001, 0.004, 0.016, 0.064, 0.256), (40, 240)
#: How much of an object a proposal shows: of one that counts, and of a piece that overlaps too little to count.
WHOLE, PIECE, SIGNAL = (0.6, 1.2), (0.2, 0.7), 3.5
#: Shares of proposals: with an object, with a piece of one.
OBJECTS, PIECES = 0.25, 0.225


class Arm(NamedTuple):
    """What a head is trained with: cross entropy (None), or the paper's loss on these scores, with a margin.

    The fresh head is so many times as large as ``scale`` says.
    """

    scores: str | None = None
    margin: float = 0.15
    scale: float = 1.0


@dataclass(frozen=True)
class Proposals:
    """Boxes as a head sees them, of each start: features (starts, n, 25) and labels (starts, n)."""

    features: Tensor
    labels: Tensor

    @property
    def relevance(self) -> Tensor:
        """(starts, n, 10) bool: the background is relevant to no class."""
        return self.labels[..., None] == torch.arange(1, CLASSES + 1)

    def of(self, start: int) -> "Proposals":
        """Without the dimension of the starts."""
        return Proposals(self.features[start], self.labels[start])


@functools.cache
def proposals(count: int, seed: int) -> Proposals:
    """Draw proposals for each start: objects, pieces of objects, and plain background."""
    generator = torch.Generator().manual_seed(seed)
    shape = STARTS, count
    kinds = torch.multinomial(class_shares().expand(STARTS, -1), count, replacement=True, generator=generator)
    what, share = torch.rand(shape, generator=generator), torch.rand(shape, generator=generator)
    whole, piece = (low + (high - low) * share for low, high in (WHOLE, PIECE))
    visible = torch.where(what < OBJECTS, whole, torch.where(what < OBJECTS + PIECES, piece, 0.0))
    noise = torch.randn(*shape, FEATURES, generator=generator)
    shown = directions()[torch.arange(STARTS)[:, None], kinds]
    features = torch.cat([SIGNAL * visible[..., None] * shown + noise, torch.ones(*shape, 1)], -1)
    return Proposals(features, torch.where(what < OBJECTS, kinds + 1, 0))


def class_shares() -> Tensor:
    """Of the objects, from frequent to rare; (10,)."""
    return normalize(1 / torch.arange(1.0, CLASSES + 1), p=1, dim=0)


@functools.cache
def directions() -> Tensor:
    """A direction of feature space for each start and class, (starts, 10, 24)."""
    return normalize(torch.randn(STARTS, CLASSES, FEATURES, generator=torch.Generator().manual_seed(7)), dim=-1)


def held_out(count: int = 2000) -> Proposals:
    """For what is reported; λ and rate are chosen by 1500 others."""
    return proposals(count, seed=10**6 + count)


def fresh_heads() -> Tensor:
    """Classifiers as detectors initialise them, (starts, 25, 11): weights of spread 0.01, no bias (the last row)."""
    weights = 0.01 * torch.randn(STARTS, FEATURES + 1, CLASSES + 1, generator=torch.Generator().manual_seed(0))
    weights[:, -1] = 0
    return weights


def ranked(logits: Tensor, scores: str) -> Tensor:
    """What proposals are ranked by, (..., n, 11) to (..., n, 10)."""
    return logits.softmax(-1)[..., 1:] if scores == "probability" else logits[..., 1:] - logits[..., :1]


@functools.cache
def trained(arm: Arm, lam: float = 1.0) -> Tensor:
    """Heads after each of the lengths, trained by Adam at every rate: (lengths, rates, starts, 25, 11).

    Source: RaMBO Tab. 8.
    """
    # Of the mean over rates and starts: for the λ of one of them, so many times as much.
    ap = MAPLoss(BlackboxRanker(lam * len(RATES) * STARTS, normalized=True), arm.margin)

    def loss(heads: Tensor, step: int) -> Tensor:
        batch = proposals(BATCH, step)
        logits = batch.features @ heads
        if arm.scores is None:
            return cross_entropy(logits.flatten(0, -2), batch.labels.repeat(len(RATES), 1).flatten())
        return ap(ranked(logits, arm.scores), batch.relevance.expand(len(RATES), -1, -1, -1))

    steps = range(1, LENGTHS[-1] + 1)
    heads = descend(arm.scale * fresh_heads(), RATES, steps, loss)
    return torch.stack([now for step, now in zip(steps, heads, strict=True) if step in LENGTHS])


def mean_ap(scores: Tensor, part: Proposals) -> Array:
    """Mean AP over the classes, (..., starts, n, 10) to (..., starts)."""
    relevance = part.relevance.expand_as(scores).mT
    found: Array = average_precision(scores.mT, relevance).mean(-1).double().numpy()
    return found


def true_probability(part: Proposals) -> Tensor:
    """Of each class, given the features: what no order of the proposals should be able to beat; (starts, n, 10)."""
    along = SIGNAL * part.features[..., :-1] @ directions().mT

    def likelihood(low: float, high: float) -> Tensor:
        """Beside that of plain background, where so much of the class is visible."""
        shown = torch.linspace(low, high, 25)
        return (along[..., None] * shown - (SIGNAL * shown) ** 2 / 2).exp().mean(-1) * class_shares()

    objects, pieces = OBJECTS * likelihood(*WHOLE), PIECES * likelihood(*PIECE)
    return objects / ((objects + pieces).sum(-1, keepdim=True) + 1 - OBJECTS - PIECES)


#: What is held against each other, and the λ (on the released code's scale) from which each may choose.
ARMS: dict[str, tuple[Arm, tuple[float, ...]]] = {
    "cross entropy": (Arm(), (1.0,)),
    "log-odds, α = 0.15": (Arm("log-odds"), (1 / 4, 2.0, 16.0, 256.0)),
    "log-odds, α = 0": (Arm("log-odds", 0.0), (1 / 32, 1 / 4, 2.0, 16.0)),
    "probability, α = 0.15": (Arm("probability"), (1.0, 64.0, 128.0, 512.0)),
    "probability, α = 0": (Arm("probability", 0.0), (1 / 4, 2.0, 16.0, 128.0)),
}


def least_squares(length: int, part: Proposals) -> Tensor:
    """What a linear fit of the labels, of the same batches, says of other proposals; there is nothing to choose."""
    seen = [proposals(BATCH, step) for step in range(1, length + 1)]
    features = torch.cat([batch.features for batch in seen], 1)
    relevance = torch.cat([batch.relevance for batch in seen], 1).float()
    return part.features @ torch.linalg.lstsq(features, relevance).solution


@functools.cache
def compared(length: int) -> Comparison:
    """The losses after so many steps, each at its own λ and rate, by the mAP of probabilities."""
    part = held_out()

    def train(arm: Arm, lam: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        heads = trained(arm, lam)[LENGTHS.index(length)]
        chosen, reported = (mean_ap(ranked(x.features @ heads, "probability"), x) for x in (held_out(1500), part))
        return chosen, reported

    noise = torch.rand(part.relevance.shape, generator=torch.Generator().manual_seed(1))
    scores = {"random order": noise, "fresh head": ranked(part.features @ fresh_heads(), "probability")}
    scores["least squares"] = least_squares(length, part)
    baselines = {name: mean_ap(x, part) for name, x in {**scores, "true probability": true_probability(part)}.items()}
    arms, lams = {name: arm for name, (arm, _) in ARMS.items()}, {name: lams for name, (_, lams) in ARMS.items()}
    return compare(train, arms, baselines, lams, rates=RATES, starts=STARTS, ceilings=["true probability"])
