"""A linear map learns which directions tell classes apart: a small task on which losses of batches are held together.

Items are vectors of 24 numbers. Classes differ mostly in some directions, items of a class in others, and a rotation
hides which; so the raw items are a baseline, and the directions by which they were made the ceiling.
"""

import functools
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankbook.kit.compare import Array

#: Numbers of an item, its embedding, items of a class, classes to train with, to choose by and to report.
DIM, EMBEDDING, EACH, CLASSES, NEW = 24, 6, 8, 400, 100
#: Of a batch: classes, and items of each.
BATCH, OF_EACH = 12, 4
STARTS = 12
_CLASSES_VARY, _ITEMS_VARY = torch.linspace(1.5, 0, DIM), torch.linspace(0.5, 2, DIM)


def items(classes: int, seed: int, starts: int = STARTS) -> Tensor:
    """Eight items of each class: classes differ in some directions, items in others; (starts, classes · 8, 24)."""
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.linalg.qr(torch.randn(starts, DIM, DIM, generator=generator))[0]  # a rotation: hides the directions
    centres = torch.randn(starts, classes, 1, DIM, generator=generator) * _CLASSES_VARY
    spread = torch.randn(starts, classes, EACH, DIM, generator=generator) * _ITEMS_VARY
    made: Tensor = (centres + spread).flatten(1, 2) @ mixing
    return made


@functools.cache
def data(starts: int = STARTS) -> tuple[Tensor, Tensor, Tensor]:
    """Items to train with, to choose by, and to report, of classes that do not meet."""
    every = items(CLASSES + 2 * NEW, 0, starts)
    train_on, choose_by, report = every.split([EACH * CLASSES, EACH * NEW, EACH * NEW], 1)
    return train_on, choose_by, report


def mislabelled(share: float, starts: int = STARTS) -> Tensor:
    """Which items a class is said to have, (starts, classes, 8), if this share of items have exchanged their labels."""
    generator = torch.Generator().manual_seed(1)
    members = torch.arange(EACH * CLASSES).repeat(starts, 1)
    for row in members:
        chosen = (torch.rand(len(row), generator=generator) < share).nonzero().flatten()
        row[chosen] = row[chosen[torch.randperm(len(chosen), generator=generator)]]
    return members.view(starts, CLASSES, EACH)


def recall_at_1(embeddings: Tensor) -> Array:
    """Of each start, by cosines, every item a query; (starts,)."""
    z = normalize(embeddings, dim=-1)
    nearest = torch.stack([(one @ one.T).fill_diagonal_(-2.0).argmax(-1) for one in z])  # a start fits the cache
    right: Array = (nearest // EACH == torch.arange(z.shape[1]) // EACH).double().mean(-1).numpy()
    return right


def start_weights(starts: int = STARTS) -> Tensor:
    uniform = torch.rand(starts, DIM, EMBEDDING, generator=torch.Generator().manual_seed(2))
    return torch.div(2 * uniform - 1, DIM**0.5)


def batches(members: Tensor, steps: int, seed: int = 3) -> Iterator[Tensor]:
    """Items of each batch: twelve of the classes of a start, four items of each; (starts, 48)."""
    generator, starts = torch.Generator().manual_seed(seed), len(members)
    for _ in range(steps):
        classes = torch.rand(starts, CLASSES, generator=generator).topk(BATCH).indices
        pick = torch.rand(starts, BATCH, EACH, generator=generator).topk(OF_EACH).indices
        yield members[torch.arange(starts)[:, None], classes].gather(-1, pick).flatten(1)


def embed(items: Tensor, batch: Tensor, net: Tensor) -> Tensor:
    """Of length 1, (..., starts, 48, 6)."""
    return normalize(items[torch.arange(len(batch))[:, None], batch] @ net, dim=-1)


def baselines(starts: int = STARTS) -> dict[str, Array]:
    """Without training: the map as it starts, the items as they are, and the directions that tell classes apart."""
    report = data(starts)[2]
    generator = torch.Generator().manual_seed(0)
    mixing = torch.linalg.qr(torch.randn(starts, DIM, DIM, generator=generator))[0]
    return {
        "untrained map": recall_at_1(report @ start_weights(starts)),
        "raw items": recall_at_1(report),
        "the true directions": recall_at_1(report @ mixing.mT[..., :EMBEDDING]),
    }
