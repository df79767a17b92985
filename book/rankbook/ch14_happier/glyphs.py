"""Chapter 14, trained on glyphs: short runs that a page can wait for, and what the claims page measured of α and λ."""

import functools
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn

from rankbook.ch14_happier.study import losses
from rankbook.kit.ranks import Array
from rankedu import hierarchy
from rankedu.losses import HAPPIERLoss
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import SupremumRanker
from ranklab import CHECKOUT
from ranklab.datasets import UnicodeGlyphs, augment
from ranklab.models import ConvNet
from ranklab.runs import Record, collect_runs
from ranklab.training.retrieval import embed, train

SCRIPTS, CHARACTERS = ("LATIN", "GREEK", "CYRILLIC"), 4
#: What is reported: of all levels, the paper's H-AP (α = 1); of the characters, AP and R@1; of the scripts, AP.
MEASURES = ("H-AP", "AP of characters", "R@1 of characters", "AP of scripts")
#: The short runs: values of λ and of α, batches, and what is held while the other is varied.
WEIGHTS, ALPHAS, STEPS, HELD = (0.0, 0.1, 0.5, 1.0), (0.5, 1.0, 5.0), 30, {"alpha": 1.0, "weight": 0.1}
#: The records of the claims page.
RECORDS = CHECKOUT / "lab" / "records" / "claims_cpu.jsonl"


@functools.cache
def glyph_tree(split: str) -> tuple[Tensor, Tensor]:
    """Letters that carry marks: images (n, 32, 32), and paths (n, 3) script → base letter → character, numbered from 0.

    Three scripts, the base letters with at least four characters, the first four of each.
    """
    data = UnicodeGlyphs(split)
    paths = torch.unique(data.labels, dim=0)
    chosen = []
    for letter in torch.unique(paths[:, 1]).tolist():
        marked = paths[paths[:, 1] == letter]
        if data.names[0][int(marked[0, 0])] in SCRIPTS and len(marked) >= CHARACTERS:
            chosen.append(marked[:CHARACTERS, 2])
    keep = torch.isin(data.labels[:, 2], torch.cat(chosen))
    numbered = [torch.unique(column, return_inverse=True)[1] for column in data.labels[keep].T]
    return data.images[keep], torch.stack(numbered, 1)


def batches(labels: Tensor, count: int, seed: int) -> Iterator[Tensor]:
    """Batches of 64 indices: two scripts, two letters of each, four characters of each, four pictures of each."""
    generator = torch.Generator().manual_seed(seed)
    paths = torch.unique(labels, dim=0)
    by_character = [(labels[:, 2] == c).nonzero()[:, 0] for c in range(len(paths))]

    def some(items: Tensor, number: int) -> list[int]:
        return items[torch.randperm(len(items), generator=generator)[:number]].tolist()

    for _ in range(count):
        letters = [
            letter
            for script in some(torch.unique(paths[:, 0]), 2)
            for letter in some(torch.unique(paths[paths[:, 0] == script, 1]), 2)
        ]
        characters = paths[torch.isin(paths[:, 1], torch.tensor(letters)), 2].tolist()
        yield torch.tensor([item for c in characters for item in some(by_character[c], 4)])


@functools.cache
def short_run(alpha: float, weight: float, steps: int = STEPS) -> dict[str, float]:
    """Train a small network with HAPPIER, and measure (with α = 1) characters whose base letters it has never seen."""
    (images, labels), (test_images, test_labels) = glyph_tree("train"), glyph_tree("test")
    torch.manual_seed(0)
    net = ConvNet(32, channels=(16, 32, 64))
    loss: nn.Module = HAPPIERLoss(int(labels[:, 2].max()) + 1, 32, weight, alpha)
    chosen: dict[str, Any] = {"sampler": batches(labels, steps, 0), "paths": True, "strength": 0.5, "lr": 2e-3}
    train(net, SimpleNamespace(images=images, labels=labels), loss, steps=steps, seed=0, progress=False, **chosen)
    embeddings = embed(net, test_images, strength=0.5, generator=torch.Generator().manual_seed(1))
    names = ("h_ap", "average_precision", "recall_at_1")
    found = evaluate_retrieval(embeddings, test_labels, metrics=names, progress=False)
    values = (*(found[name] for name in names), found["levels"][1]["average_precision"])
    return {name: round(value, 5) for name, value in zip(MEASURES, values, strict=True)}


def sweep(steps: int = STEPS) -> dict[str, dict[float, dict[str, float]]]:
    """Short runs, one seed each: along α at λ = 0.1, and along λ at α = 1."""
    return {
        "alpha": {alpha: short_run(alpha, HELD["weight"], steps) for alpha in ALPHAS},
        "weight": {weight: short_run(HELD["alpha"], weight, steps) for weight in WEIGHTS},
    }


@functools.cache
def recorded(key: str) -> dict[float, list[Record]]:
    """The records of the arms that vary "alpha", or "weight", by its value, the seeds in order."""
    symbol = {"alpha": "α", "weight": "λ"}[key]
    arms = [one for one in collect_runs(RECORDS)[0] if one.run.startswith(f"happier with {symbol} = ")]
    found: dict[float, list[Record]] = {}
    for record in sorted(arms, key=lambda record: (record.parameters[key], record.parameters["seed"])):
        found.setdefault(record.parameters[key], []).append(record)
    return found


def measured(key: str, measure: str) -> dict[float, Array]:
    """A measure of the records, an array over the seeds for each value of "alpha" or "weight"."""
    return {value: np.array([one.metrics[measure] for one in records]) for value, records in recorded(key).items()}


def gain(values: dict[float, Array], one: float, other: float) -> tuple[float, float]:
    """The mean over the seeds of a difference, in points, and the half-width of its 95 % interval."""
    points = 100 * (values[one] - values[other])
    half = stats.t.isf(0.025, len(points) - 1) * points.std(ddof=1) / math.sqrt(len(points))
    return float(points.mean()), float(half)


def about_records() -> str:
    """One line on the records: how many, how long, how many seeds."""
    records = [record for key in HELD for of_value in recorded(key).values() for record in of_value]
    [steps] = {record.parameters["steps"] for record in records}
    seeds = len({record.parameters["seed"] for record in records})
    return f"recorded: {len(records)} runs of {steps} steps, {seeds} seeds a value"


@functools.cache
def below_while_training(preset: str, looks: tuple[int, ...] = (0, 60, 120)) -> dict[int, tuple[int, int, float]]:
    """How often a setting is below the true loss in batches of glyphs, while HAPPIER is trained.

    By the number of steps: queries whose surrogate is below the true loss, queries, and the mean standard deviation of
    a query's scores. Each item of a batch queries the 63 others.
    """
    images, labels = glyph_tree("train")
    torch.manual_seed(0)
    net, step, found = ConvNet(32, channels=(16, 32, 64)), SupremumRanker.preset(preset).step, {}
    loss: nn.Module = HAPPIERLoss(int(labels[:, 2].max()) + 1, 32)
    optimiser = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=2e-3)
    generator = torch.Generator().manual_seed(0)
    for number, batch in enumerate(batches(labels, looks[-1] + 1, 0)):
        if number in looks:
            seen = [_graded(net, images[other], labels[other]) for other in batches(labels, 6, 99)]
            scores, relevance = (torch.cat(parts) for parts in zip(*seen, strict=True))
            below = losses(scores, relevance, step) < losses(scores, relevance) - 1e-12
            found[number] = int(below.sum()), len(below), scores.std(1).mean().item()
        value = loss(net(augment(images[batch], generator=generator, strength=0.5)), labels[batch])
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    return found


def _graded(net: nn.Module, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and relevance of a batch, (n, n − 1): each item queries the others."""
    with torch.no_grad():
        embeddings = net(augment(images, generator=torch.Generator().manual_seed(0), strength=0.5)).double()
    others = ~torch.eye(len(images), dtype=torch.bool)
    relevance = hierarchy.relevance(hierarchy.levels(labels), where=others)
    shape = len(images), len(images) - 1
    return (embeddings @ embeddings.T)[others].view(shape), relevance[others].view(shape)


def first_losses() -> tuple[float, float, int]:
    """Before the first step: the clustering loss and the ranking loss of a batch, and the number of classes."""
    images, labels = glyph_tree("train")
    classes = int(labels[:, 2].max()) + 1
    torch.manual_seed(0)
    net, loss = ConvNet(32, channels=(16, 32, 64)), HAPPIERLoss(classes, 32)
    batch = next(batches(labels, 1, 0))
    with torch.no_grad():
        embeddings = net(augment(images[batch], generator=torch.Generator().manual_seed(0), strength=0.5))
        clustering = loss.cluster(embeddings, labels[batch]).item()
        mixed = loss(embeddings, labels[batch]).item()
    return clustering, (mixed - HELD["weight"] * clustering) / (1 - HELD["weight"]), classes
