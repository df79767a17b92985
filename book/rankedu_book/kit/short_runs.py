"""Networks trained for a few seconds, so that ``make figures`` can draw what training does. The labs train longer."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.losses import ClusterLoss, HAPPIERLoss, OnEmbeddings, RecallLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_lab.contestants import baseline
from rankedu_lab.datasets import UnicodeGlyphs, augment
from rankedu_lab.models import ConvNet
from rankedu_lab.training.retrieval import embed, train

#: What all short runs share.
DIM, CHANNELS, STRENGTH = 32, (16, 32, 64), 0.5
SETTINGS: dict[str, Any] = {"batch_size": 64, "per_class": 4, "lr": 3e-3, "strength": STRENGTH, "progress": False}
STEPS = 100


@dataclass
class Pictures:
    """Some of the glyphs, with the levels that are told apart, their classes numbered from 0."""

    images: Tensor  # (N, H, W) uint8
    labels: Tensor  # (N, L) int64, from root to leaf
    names: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ShortRuns:
    """What was looked at, and how each network embeds it."""

    test: Pictures
    embeddings: dict[str, Tensor]


def take(data: UnicodeGlyphs, keep: Tensor, columns: Sequence[int]) -> Pictures:
    """Some pictures and some levels of a data set."""
    numbered, names = [], []
    for column in columns:
        old, new = torch.unique(data.labels[keep, column], return_inverse=True)
        numbered.append(new)
        names.append(tuple(data.names[column][label] for label in old.tolist()))
    return Pictures(data.images[keep], torch.stack(numbered, 1), tuple(names))


def marked_letters(split: str) -> Pictures:
    """Characters of three alphabets whose base letters bear many marks: at least four of a letter, at most eight."""
    data = UnicodeGlyphs(split)
    paths = torch.unique(data.labels, dim=0)
    alphabets = torch.tensor([data.names[0].index(name) for name in ("LATIN", "GREEK", "CYRILLIC")])
    paths = paths[torch.isin(paths[:, 0], alphabets)]
    kin = [paths[paths[:, 1] == letter, 2] for letter in torch.unique(paths[:, 1])]
    chosen = torch.cat([characters[:8] for characters in kin if len(characters) >= 4])
    return take(data, torch.isin(data.labels[:, 2], chosen), (0, 1, 2))


def some_letters(split: str) -> Pictures:
    """The Latin and Cyrillic base letters of at least forty pictures, as classes: all marks, both cases."""
    data = UnicodeGlyphs(split)
    alphabets = [data.names[0].index(name) for name in ("LATIN", "CYRILLIC")]
    sizes = data.labels[:, 1].bincount()
    keep = torch.isin(data.labels[:, 0], torch.tensor(alphabets)) & (sizes[data.labels[:, 1]] >= 40)
    return take(data, keep, (1,))


def soiled(pictures: Pictures) -> Pictures:
    """The pictures turned, shifted and covered with noise once, as the networks of a comparison all see them."""
    generator = torch.Generator().manual_seed(1)
    images = augment(pictures.images, generator=generator, strength=STRENGTH)[:, 0]
    return replace(pictures, images=(255 * images).round().byte())


def fresh() -> ConvNet:
    """The network at its random start."""
    torch.manual_seed(0)
    return ConvNet(DIM, channels=CHANNELS)


def _trained(net: ConvNet, data: Pictures, test: Pictures, loss: nn.Module, steps: int, **settings: Any) -> Tensor:
    """Train a network further, and embed the test pictures."""
    train(net, data, loss, steps=steps, **SETTINGS | settings)
    return embed(net, test.images, strength=0)


@functools.cache
def characters(steps: int = STEPS) -> ShortRuns:
    """Trained to tell characters apart: from a random start, by RaMBO, by Smooth-AP and by HAPPIER without proxies."""
    data, test = marked_letters("train"), soiled(marked_letters("test"))
    rambo = OnEmbeddings(RecallLoss(BlackboxRanker(lam=4.0), margin=0.05))
    happier = HAPPIERLoss(len(data.names[-1]), DIM, weight=0.0, monotone=True)
    found = {
        "start": embed(fresh(), test.images, strength=0),
        "RaMBO": _trained(fresh(), data, test, rambo, steps),
        "Smooth-AP": _trained(fresh(), data, test, OnEmbeddings(SmoothAPLoss(0.01)), steps),
        "HAPPIER, λ = 0": _trained(fresh(), data, test, happier, steps, paths=True),
    }
    return ShortRuns(test, found)


@functools.cache
def letters(steps: int = STEPS // 2) -> ShortRuns:
    """Trained to tell letters apart: two baselines, and Smooth-AP appended to each of them."""
    data, test = some_letters("train"), soiled(some_letters("test"))
    n_classes = len(data.names[0])
    found = {"start": embed(fresh(), test.images, strength=0)}
    baselines = {"softmax": ClusterLoss(n_classes, DIM), "proxies": baseline("proxy_nca_pp", n_classes, DIM)}
    for name, loss in baselines.items():
        net, appended = fresh(), OnEmbeddings(SmoothAPLoss(0.01))
        found[name] = _trained(net, data, test, loss, steps)
        found[f"{name} + Smooth-AP"] = _trained(net, data, test, appended, steps, seed=1)
    return ShortRuns(test, found)
