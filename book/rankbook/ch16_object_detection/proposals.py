"""Synthetic proposals: what a detector's head sees, without the detector. Made in milliseconds, for chapter 16."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from rankbook.kit.ranks import Array
from rankedu.losses import MAPLoss, OnProposals
from rankedu.losses.on_proposals import proposal_scores
from rankedu.memory import ScoreMemory
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker

#: Classes, and features of a proposal.
CLASSES, FEATURES = 20, 24
#: Proposals of a batch: 8 pictures with 32 each.
BATCH = 256


@dataclass(frozen=True)
class Proposals:
    """Boxes as a head sees them."""

    features: Tensor
    labels: Tensor

    @property
    def relevance(self) -> Tensor:
        """(n, 20) bool: the background is relevant to no class."""
        return self.labels[:, None] == torch.arange(1, CLASSES + 1)


def proposals(count: int, *, background: float = 0.75, seed: int = 0) -> Proposals:
    """Draw proposals: objects, pieces of objects that overlap one too little to count, and plain background."""
    generator = torch.Generator().manual_seed(seed)
    weights = 1 / torch.arange(1.0, CLASSES + 1)
    kinds = torch.multinomial(weights, count, replacement=True, generator=generator)
    empty = torch.rand(count, generator=generator) < background
    piece = torch.rand(count, generator=generator) < 0.3
    share = torch.rand(count, generator=generator)
    visible = torch.where(empty, torch.where(piece, 0.2 + 0.5 * share, torch.zeros(count)), 0.6 + 0.6 * share)
    noise = torch.randn(count, FEATURES, generator=generator)
    features = 3.5 * visible[:, None] * _directions()[kinds] + noise
    return Proposals(features, torch.where(empty, 0, kinds + 1))


@functools.cache
def _directions() -> Tensor:
    """A direction of feature space for each class."""
    return normalize(torch.randn(CLASSES, FEATURES, generator=torch.Generator().manual_seed(7)), dim=1)


@functools.cache
def held_out() -> Proposals:
    """Proposals that no head was trained on."""
    return proposals(8_000, seed=10**6)


def fresh_head(seed: int = 0) -> nn.Linear:
    """A classifier of 20 classes and background as detectors initialise it: weights of spread 0.01, no bias."""
    head = nn.Linear(FEATURES, CLASSES + 1)
    with torch.no_grad():
        head.weight.normal_(std=0.01, generator=torch.Generator().manual_seed(seed))
        head.bias.zero_()
    return head


def papers_loss(
    scores: str = "probability", *, lam: float = 0.5, normalized: bool = True, margin: float = 0.15, length: int = 7
) -> OnProposals:
    """The loss of the paper's detection experiments, λ on the scale of the released code.

    Source: RaMBO Tab. 8.
    """
    ranker = BlackboxRanker(lam, normalized)
    return OnProposals(MAPLoss(ranker, margin, ScoreMemory(length), class_agnostic_weight=1 / 3), scores)


@dataclass(frozen=True)
class Training:
    """A trained head, and its AP on held-out proposals at some steps; shapes (steps,) and (steps, 20)."""

    head: nn.Linear
    steps: npt.NDArray[np.int64]
    ap: Array

    @property
    def mean_ap(self) -> Array:
        """Shape (steps,)."""
        return np.asarray(self.ap.mean(1))


def train(loss: nn.Module | None, *, steps: int = 120, seed: int = 0, every: int = 20, rate: float = 0.02) -> Training:
    """Train a fresh linear head with Adam on batches of 8 pictures with 32 proposals; None is cross entropy.

    AP is that of the scores the loss ranks by; of probabilities for cross entropy.
    """
    head, test = fresh_head(seed), held_out()
    kind = getattr(loss, "scores", "probability")
    optimizer = torch.optim.Adam(head.parameters(), lr=rate)
    measured = []
    for step in range(steps + 1):
        if step % every == 0:
            with torch.no_grad():
                scores = proposal_scores(head(test.features), kind)
            measured.append(average_precision(scores.T, test.relevance.T).double().numpy())
        if step < steps:
            batch = proposals(BATCH, seed=1 + step + 10_000 * seed)
            logits = head(batch.features)
            value = cross_entropy(logits, batch.labels) if loss is None else loss(logits, batch.labels)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    return Training(head, np.arange(0, steps + 1, every), np.stack(measured))


@functools.cache
def trained(scores: str | None = None, **settings: Any) -> Training:
    """Cross entropy for None, else the paper's loss on these scores, with settings; trained once."""
    return train(None if scores is None else papers_loss(scores, **settings))
