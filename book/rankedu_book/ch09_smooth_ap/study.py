"""Chapter 9, computed: which pairs of a batch are near enough for a sigmoid to have a slope."""

import functools
import math

import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankedu.rankers import operating_region

THRESHOLD = 0.005
#: Of the drawn items: classes, items of a class, numbers of an embedding, how far an item is from its class.
CLASSES, EACH, DIM, SPREAD = 64, 8, 16, 0.9
#: Items of a class in a batch, and items that are drawn for each mean.
OF_EACH, DRAWN = 4, 8192
#: Batches of one query and the first of the other items.
SIZES = (16, 32, 64, 128, 256, 512)


def operating_width(temperature: float, threshold: float = THRESHOLD) -> float:
    """The largest difference at which the slope of the sigmoid still exceeds the threshold; 0 if it nowhere does."""
    steepest = 1 / (4 * temperature)
    return 2 * temperature * math.acosh(math.sqrt(steepest / threshold)) if steepest > threshold else 0.0


@functools.cache
def items() -> Tensor:
    """Embeddings of 64 classes of eight items around random directions; (512, 16)."""
    generator = torch.Generator().manual_seed(4)
    centres = normalize(torch.randn(CLASSES, DIM, generator=generator), dim=1)
    noise = torch.randn(CLASSES * EACH, DIM, generator=generator) / DIM**0.5
    return normalize(centres.repeat_interleave(EACH, 0) + SPREAD * noise, dim=1).double()


@functools.cache
def similarities() -> tuple[Tensor, Tensor]:
    """Cosines of all items with the first one, and which are of its class."""
    return items()[1:] @ items()[0], torch.arange(1, len(items())) < EACH


def near_pairs(scores: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """P± of a batch whose classes have equally many items: the share of near pairs, averaged over its queries."""
    same, itself = labels[:, None] == labels, torch.eye(len(labels)).bool()
    relevant = scores[same & ~itself].view(len(labels), -1, 1)
    irrelevant = scores[~same].view(len(labels), 1, -1)
    return ((relevant - irrelevant).abs() < operating_width(temperature)).double().mean()


@functools.cache
def shares(size: int, temperature: float) -> tuple[float, float]:
    """P and P±, averaged over random batches with four items of each class."""
    generator, labels, found = torch.Generator().manual_seed(77), torch.arange(size) // OF_EACH, []
    for _ in range(DRAWN // size):
        classes = torch.randperm(CLASSES, generator=generator)[: size // OF_EACH]
        pick = torch.rand(len(classes), EACH, generator=generator).topk(OF_EACH).indices
        z = items()[(EACH * classes[:, None] + pick).flatten()]
        scores = z @ z.T
        every = operating_region(scores, temperature, THRESHOLD).mean()
        found.append(torch.stack([every, near_pairs(scores, labels, temperature)]))
    every, near = torch.stack(found).mean(0).tolist()
    return every, near
