"""Synthetic proposals, in place of a detector: the features that its head gets, and heads that are not trained yet."""

import functools
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

#: Classes, and features of a proposal (one more is 1, for the bias); and how many independent sets are drawn.
CLASSES, FEATURES, STARTS = 10, 24, 12
#: How much of an object a proposal shows: of one that counts, and of a piece that overlaps too little to count.
WHOLE, PIECE, SIGNAL = (0.6, 1.2), (0.2, 0.7), 3.5
#: Shares of proposals: with an object, with a piece of one.
OBJECTS, PIECES = 0.25, 0.225


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
    """Draw proposals for each start: objects of frequent to rare classes, pieces of objects, and plain background."""
    directions = torch.randn(STARTS, CLASSES, FEATURES, generator=torch.Generator().manual_seed(7))
    generator, shape = torch.Generator().manual_seed(seed), (STARTS, count)
    chances = normalize(1 / torch.arange(1.0, CLASSES + 1), p=1, dim=0)
    kinds = torch.multinomial(chances.expand(STARTS, -1), count, replacement=True, generator=generator)
    what, share = torch.rand(shape, generator=generator), torch.rand(shape, generator=generator)
    whole, piece = (low + (high - low) * share for low, high in (WHOLE, PIECE))
    visible = torch.where(what < OBJECTS, whole, torch.where(what < OBJECTS + PIECES, piece, 0.0))
    noise = torch.randn(*shape, FEATURES, generator=generator)
    shown = normalize(directions, dim=-1)[torch.arange(STARTS)[:, None], kinds]
    features = torch.cat([SIGNAL * visible[..., None] * shown + noise, torch.ones(*shape, 1)], -1)
    return Proposals(features, torch.where(what < OBJECTS, kinds + 1, 0))


def fresh_heads() -> Tensor:
    """Classifiers as detectors initialise them, (starts, 25, 11): weights of spread 0.01, no bias (the last row)."""
    weights = 0.01 * torch.randn(STARTS, FEATURES + 1, CLASSES + 1, generator=torch.Generator().manual_seed(0))
    weights[:, -1] = 0
    return weights
