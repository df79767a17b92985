"""Chapter 9, computed: which pairs a sigmoid reaches, and linear maps that learn by Smooth-AP, by τ and by batch."""

import functools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankbook.kit import linear_maps as linear
from rankbook.kit.compare import Array, Comparison, compare, descend, interval
from rankedu.losses import OnEmbeddings, SmoothAPLoss
from rankedu.rankers import operating_region

THRESHOLD = 0.005
#: Of the maps that learn: items of a class in a batch, temperatures (or margins), step sizes, the batch of the sweep.
OF_EACH, BATCH, LENGTHS = 4, 32, (50, 150)
TEMPERATURES, MARGINS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0), (0.1, 0.3, 1.0, 3.0)
RATES = (0.002, 0.007, 0.03, 0.12)
STARTS = 48  #: Four times as many as elsewhere: the gaps are small.
#: Of the runs with a small and a large batch: sizes, items that each run sees, temperatures.
SMALL, LARGE, IMAGES, TWO = 16, 128, 7680, (0.01, 0.1)


def operating_width(temperature: float, threshold: float = THRESHOLD) -> float:
    """The largest difference at which the slope of the sigmoid still exceeds the threshold; 0 if it nowhere does."""
    steepest = 1 / (4 * temperature)
    return 2 * temperature * math.acosh(math.sqrt(steepest / threshold)) if steepest > threshold else 0.0


def batches(size: int, steps: int, seed: int = 3, classes: int = linear.CLASSES) -> Iterator[Tensor]:
    """Items of each batch, four of each class; (starts, size)."""
    generator, drawn = torch.Generator().manual_seed(seed), size // OF_EACH
    for _ in range(steps):
        chosen = torch.rand(STARTS, classes, generator=generator).topk(drawn).indices
        pick = torch.rand(STARTS, drawn, linear.EACH, generator=generator).topk(OF_EACH).indices
        yield (linear.EACH * chosen[..., None] + pick).flatten(1)


def relations(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Who is relevant for whom in a batch, and who is another one; both of the shape of the scores."""
    label = torch.arange(scores.shape[-1]) // OF_EACH
    others = ~torch.eye(len(label)).bool()
    return ((label[:, None] == label) & others).expand(scores.shape), others.expand(scores.shape)


def smooth_ap(cosines: Tensor, temperature: Tensor) -> Tensor:
    """The loss of chapter 9, one temperature for each of the batches that are stacked."""
    return SmoothAPLoss(1.0)(cosines / temperature, *relations(cosines)[:1], where=relations(cosines)[1])


def sides(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The scores of the relevant items of each query, (..., size, 3), and of the irrelevant ones."""
    relevant, others = (mask.flatten(0, -3)[0] for mask in relations(scores))
    size, irrelevant = len(others), others & ~relevant
    return scores[..., relevant].unflatten(-1, (size, -1)), scores[..., irrelevant].unflatten(-1, (size, -1))


def triplets(cosines: Tensor, margin: Tensor) -> Tensor:
    """For comparison: what a relevant item lacks to a margin above an irrelevant one, the mean over all triples."""
    relevant, irrelevant = sides(cosines)
    return (margin[..., None] + irrelevant[..., None, :] - relevant[..., None]).relu().mean()


Loss = Callable[[Tensor, Tensor], Tensor]


class Learned(NamedTuple):
    """Linear maps of a training; (strengths, rates, starts, numbers of an item, of an embedding)."""

    last: Tensor  #: As the last step leaves them.
    averaged: Tensor  #: Their mean over the second half of the steps: steps of one length go to and fro.


@functools.cache
def learned(loss: Loss, strengths: tuple[float, ...], size: int, looks: tuple[int, ...]) -> dict[int, Learned]:
    """Train by Adam, and look after so many steps."""
    start, strength = linear.start_weights(STARTS), torch.tensor(strengths)[:, None, None, None, None]

    def total(maps: Tensor, batch: Tensor) -> Tensor:
        z = embed(batch, maps.transpose(0, 1), 0)
        return loss(z @ z.mT, strength) * z[..., 0, 0].numel()  # the mean is over all maps

    trained = descend(start.repeat(len(strengths), 1, 1, 1), RATES, batches(size, max(looks)), total)
    found, sums = {}, dict.fromkeys(looks, torch.zeros(()))
    for step, maps in enumerate(trained, start=1):
        for look in looks:
            if look // 2 < step <= look:
                sums[look] = sums[look] + maps
        if step in looks:
            found[step] = Learned(maps.transpose(0, 1), sums[step].transpose(0, 1) / (step - step // 2))
    return found


def embed(batch: Tensor, maps: Tensor, part: int) -> Tensor:
    """Of length 1, (..., starts, size, numbers of an embedding), from the items to train with, choose by or report."""
    return normalize(linear.data(STARTS)[part][torch.arange(STARTS)[:, None], batch] @ maps, dim=-1)


@functools.cache
def temperatures(steps: int) -> Comparison:
    """R@1 by the temperature of Smooth-AP and the margin of triplets, each start at its own rate."""

    def train(arm: tuple[Loss, tuple[float, ...]], strength: float, *_: object) -> tuple[Array, Array]:
        maps = learned(*arm, BATCH, LENGTHS)[steps].last[arm[1].index(strength)]
        by, report = (np.stack([linear.recall_at_1(items @ one) for one in maps]) for items in linear.data(STARTS)[1:])
        return by, report

    arms = {"Smooth-AP": (smooth_ap, TEMPERATURES), "triplets": (triplets, MARGINS)}
    sweep, known = {name: strengths for name, (_, strengths) in arms.items()}, linear.baselines(STARTS)
    return compare(train, arms, known, sweep, rates=RATES, starts=STARTS, ceilings=["the true directions"])


def best(maps: Tensor) -> tuple[Tensor, Array]:
    """Of maps (rates, starts, ...) the one of each start that does best on the items to choose by; its R@1."""
    rate = torch.tensor([linear.recall_at_1(linear.data(STARTS)[1] @ one).tolist() for one in maps]).argmax(0)
    chosen = maps[rate, torch.arange(STARTS)]
    return chosen, linear.recall_at_1(linear.data(STARTS)[2] @ chosen)


@functools.cache
def maps_of(temperature: float) -> Tensor:
    """The maps that the longer training gives each start at this temperature."""
    return best(learned(smooth_ap, TEMPERATURES, BATCH, LENGTHS)[max(LENGTHS)].last[TEMPERATURES.index(temperature)])[0]


@functools.cache
def seen(maps: Tensor, size: int, temperature: float, items: int = 512) -> dict[str, Array]:
    """Of new batches, by start: P; the share P±; queries whose relevant items meet nobody, those of them that have an
    error in the batch; how far the value is off."""
    found: dict[str, list[Tensor]] = {"P": [], "share": [], "nobody": [], "stuck": [], "off": []}
    for batch in batches(size, items // size, seed=77, classes=linear.NEW):
        z = embed(batch, maps, 2)
        scores = z @ z.mT
        relevant, irrelevant = sides(scores)
        inner, outer = (others[..., None, :] - relevant[..., None] for others in (relevant, irrelevant))
        soft, hard = (
            ((within := one + step(inner).sum(-1)) / (within + step(outer).sum(-1))).mean(-1)
            for one, step in ((0.5, lambda x: (x / temperature).sigmoid()), (1.0, lambda x: x > 0))
        )
        meets = (outer.abs() < operating_width(temperature)).double()
        nobody = 1 - meets.amax((-1, -2))
        share = operating_region(scores, temperature, THRESHOLD)
        every = share, meets.mean((-1, -2)), nobody, nobody * (hard < 1), soft - hard
        for name, measured in zip(found, every, strict=True):
            found[name].append(measured.double().mean(-1))
    return {name: torch.stack(rows).mean(0).numpy() for name, rows in found.items()}


def trade_table() -> str:
    """By temperature, before and after the longer training: what is seen in new batches, and R@1."""
    curves = [
        dict(zip(TEMPERATURES, temperatures(n).curve("Smooth-AP"), strict=True)) for n in (max(LENGTHS), min(LENGTHS))
    ]
    lines = ["                                                      R@1 less that at 0.1"]
    lines += [
        f"          value off       P±            stuck         after {max(LENGTHS)} steps    after {min(LENGTHS)}"
    ]
    for t in TEMPERATURES:
        both = [seen(maps, BATCH, t) for maps in (linear.start_weights(STARTS), maps_of(t))]
        cells = "".join(f"{one[key].mean():7.3f}" for key in ("off", "share", "stuck") for one in both)
        less = (str(interval(of[t] - of[0.1], len(TEMPERATURES) - 1)) for of in curves if t != 0.1)
        lines.append(f"{t:<7g}{cells}  {'  '.join(less)}".rstrip())
    return "\n".join(lines)


def run_table() -> str:
    """Runs with small and large batches, shown new batches of their own size at the end, and their gaps."""
    few, many = looks = (IMAGES // LARGE, IMAGES // SMALL)
    lines = ["τ      batch steps    P      P±     none   stuck   R@1   averaged"]
    keys, judged = ("P", "share", "nobody", "stuck", "R@1", "averaged"), ("P", "share", "R@1", "averaged")
    for row, t in enumerate(TWO):
        found = {}
        for size, steps in ((SMALL, few), (SMALL, many), (LARGE, few)):
            made = learned(smooth_ap, TWO, size, looks if size == SMALL else looks[:1])[steps]
            (maps, recall), (_, averaged) = (best(of[row]) for of in made)
            end = found[size, steps] = {**seen(maps, size, t), "R@1": recall, "averaged": averaged}
            lines.append(f"{t:<6g} {size:5} {steps:5}" + "".join(f"{end[key].mean():7.3f}" for key in keys))
        for what, steps in (("items", many), ("steps", few)):
            gaps = (interval(found[LARGE, few][key] - found[SMALL, steps][key], 16) for key in judged)
            lines.append(
                "  {} less {}, as many {}: P {}, P± {},\n    R@1 {}, averaged {}".format(LARGE, SMALL, what, *gaps)
            )
    return "\n".join(lines)


def apart(share: float, size: int) -> float:
    """P without the pairs of an item with itself, which are one in `size` of all, and always in the region."""
    return (size * share - 1) / (size - 1)


def leave_a_point(distance: float = 1e-3, temperature: float = 0.01) -> dict[int, float]:
    """The loss, by steps of Adam, of free embeddings that begin near one point: eight classes of four."""
    around = torch.randn(33, 16, generator=torch.Generator().manual_seed(0))
    label = torch.arange(8).repeat_interleave(OF_EACH)
    loss = OnEmbeddings(SmoothAPLoss(temperature))
    start = around[0] + distance * around[1:]
    trained = descend(start, (0.01,), range(100), lambda free, _: loss(free[0], label))
    places = {0: start} | {step: free[0] for step, free in enumerate(trained, start=1) if step in (20, 100)}
    return {step: float(loss(place, label)) for step, place in places.items()}
