"""Who is timed: our losses, transcriptions of the printed ones, other libraries, and the work that nobody can avoid.

A piece of work has a name and somebody who does it. What is asked for is made, on one list of scores or one batch of
embeddings; nothing else is. The lab `speed` and `make bench` take their contenders from here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankedu import hierarchy
from rankedu.losses import APLoss, FastAPLoss, HAPLoss, OnEmbeddings, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker, SupremumRanker
from ranklab.experiments.speed import published
from ranklab.experiments.speed.stopwatch import Name, Work, one_thread, peak_of

__all__ = ["ALL_PAIRS", "BESIDE", "LIMIT", "LISTS", "LOSSES", "PRODUCT", "VALUE", "Batch", "List", "Network"]
__all__ += ["bytes_a_score", "step"]

OURS, WRITTEN, PML = "ours", "transcription", "pytorch-metric-learning"
RELEASED, ALONE = "the released formula", "the loss alone"
#: Who beside us is measured, and with whose numbers we are compared.
BESIDE = (WRITTEN, PML, "scikit-learn", "torchmetrics")
LIMIT, PRODUCT = "limit", "matrix product with gradient"
#: Value alone: what the other libraries have of average precision.
VALUE = "AP, value alone"
#: Who lays out all pairs of all queries: time and memory grow with the batch's cube.
ALL_PAIRS = dict.fromkeys(
    [("Smooth-AP", WRITTEN), ("SupAP", WRITTEN), ("H-AP", WRITTEN), ("Smooth-AP", PML)], (3.0, 3.0)
)
#: The margin of all blackbox losses.
MARGIN = 0.02


def step(loss: Callable[[Tensor], Tensor], start: Tensor) -> Work:
    """A loss of a tensor, forward and backward; the gradient is given up at once."""
    leaf = start.detach().requires_grad_()

    def forward_and_backward() -> None:
        loss(leaf).backward()
        leaf.grad = None

    return forward_and_backward


# --- One long list ----------------------------------------------------------------------------------------------------


@dataclass
class List:
    """Normal scores, and about so large a share of relevant ones, one at least; λ is for each item."""

    n: int
    share: float = 0.01
    seed: int = 0
    device: str = "cpu"
    lam: float = 0.4

    def __post_init__(self) -> None:
        generator = torch.Generator(self.device).manual_seed(self.seed)
        self.scores = torch.randn(self.n, generator=generator, device=self.device)
        self.relevance = torch.rand(self.n, generator=generator, device=self.device) < self.share
        self.relevance[0] = True

    @property
    def ranker(self) -> BlackboxRanker:
        return BlackboxRanker(self.lam * self.n)

    def works(self, names: Iterable[Name]) -> dict[Name, Work]:
        """What was asked for, on this list."""
        return {name: LISTS[name](self) for name in names}

    def of(self, loss: Callable[[Tensor, Tensor], Tensor]) -> Work:
        return step(lambda scores: loss(scores, self.relevance), self.scores)

    def layer(self, ranks: Callable[[Tensor], Tensor]) -> Work:
        """Ranks, and the gradient of some function of them."""
        weight = torch.rand(self.n, generator=torch.Generator().manual_seed(self.seed)).to(self.device)
        return step(lambda scores: ranks(scores) @ weight.to(scores), self.scores)

    def argsort(self) -> Work:
        array = self.scores.numpy()
        return lambda: (np.argsort(array), np.argsort(array))

    def graded(self) -> Work:
        """H-AP of two grades."""
        relevance = self.relevance.float()
        relevance[::3] *= 0.5
        return step(lambda scores: HAPLoss(self.ranker, margin=MARGIN)(scores, relevance), self.scores)


def _written(formula: Callable[..., Tensor], **more: Any) -> Callable[[List], Work]:
    return lambda one: one.of(partial(formula, lam=one.lam * one.n, margin=MARGIN, **more))


def _copy(one: List) -> Work:
    room = torch.empty_like(one.scores)
    return lambda: room.copy_(one.scores)


#: (what is done, who does it) → its making on a list.
LISTS: dict[Name, Callable[[List], Work]] = {
    ("AP", OURS): lambda one: one.of(APLoss(one.ranker, MARGIN)),
    ("AP", WRITTEN): _written(published.published_ap),
    ("AP", RELEASED): _written(published.published_ap, below=-1e3),
    ("recall", OURS): lambda one: one.of(RecallLoss(one.ranker, MARGIN)),
    ("recall", WRITTEN): _written(published.published_recall),
    ("H-AP", OURS): List.graded,
    ("rank layer", OURS): lambda one: one.layer(BlackboxRanker(0.5)),
    ("rank layer", RELEASED): lambda one: one.layer(lambda scores: published.BlackboxRanks.apply(scores, 0.5)),
    (LIMIT, "one copy"): _copy,
    (LIMIT, "one torch.sort"): lambda one: one.scores.sort,
    (LIMIT, "one np.sort"): lambda one: partial(np.sort, one.scores.numpy()),
    (LIMIT, "two np.argsort"): List.argsort,
    (LIMIT, "two torch.argsort"): lambda one: lambda: (one.scores.argsort(), one.scores.argsort()),
}


def bytes_a_score(
    names: Iterable[Name], n: int, share: float, seed: int, device: str = "cpu"
) -> dict[Name, float | None]:
    """How many bytes each takes for a score at its peak, beyond scores and labels, the gradient included.

    On a CPU a process of its own is measured, which keeps no memory from one to the next; None where it cannot be told.
    """
    names = list(names)
    if device == "cuda":
        return dict(zip(names, _peaks(names, n, share, seed, device), strict=True))
    command = [sys.executable, "-c", f"from {__name__} import _told; _told()", json.dumps([names, n, share, seed])]
    own = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # glibc then gives larger blocks back at once
    said = subprocess.run(command, env=own, check=True, capture_output=True, text=True, timeout=600).stdout
    return dict(zip(names, json.loads(said), strict=True))


def _peaks(names: Iterable[Name], n: int, share: float, seed: int, device: str = "cpu") -> list[float | None]:
    """Of one call each, after small ones that load the libraries and take what a sort needs."""
    found = {}
    with one_thread():
        for length in (min(n, 10_000), min(n, 400_000), n):
            for name, work in List(length, share, seed, device).works(map(tuple, names)).items():  # type: ignore[arg-type]
                peak = peak_of(work, device)[1]
                found[name] = None if peak is None else peak / n
    return list(found.values())


def _told() -> None:
    print(json.dumps(_peaks(*json.loads(sys.argv[1]))))


# --- A batch of embeddings --------------------------------------------------------------------------------------------


@dataclass
class Batch:
    """Embeddings as of a trained network, and their label paths: classes, four of them in a coarse class.

    ``noise`` is how far members are from their centre, as a part of its length. With ``halves`` there are two
    super-classes above, and centres on every level: a batch as HAPPIER trains.
    """

    size: int
    per_class: int = 4
    dim: int = 512
    seed: int = 0
    device: str = "cpu"
    noise: float = 0.9
    halves: bool = False
    lam: float = 0.2  # for each item, on the paper's scale
    bins: int = 10
    step: dict[str, Any] = field(default_factory=dict)  # the setting of SupAP's

    def __post_init__(self) -> None:
        classes = torch.arange(self.size) // self.per_class
        halves = [2 * classes // (int(classes[-1]) + 1)] if self.halves else []
        paths = [*halves, classes // 4, classes]
        draw = partial(torch.randn, generator=torch.Generator().manual_seed(self.seed))
        centred = paths if self.halves else paths[-1:]
        centres = torch.stack([draw(int(level[-1]) + 1, self.dim)[level] for level in centred]).sum(0)
        self.embeddings = normalize(centres + self.noise * draw(self.size, self.dim), dim=1).to(self.device)
        self.paths = torch.stack(paths, dim=1).to(self.device)
        self.labels = self.paths[:, -1]

    @cached_property
    def where(self) -> Tensor:
        return ~torch.eye(self.size, dtype=torch.bool, device=self.device)

    @cached_property
    def relevance(self) -> Tensor:
        return (self.labels[:, None] == self.labels) & self.where

    @cached_property
    def graded(self) -> Tensor:
        return hierarchy.relevance(hierarchy.levels(self.paths), where=self.where).float()

    @property
    def ranker(self) -> BlackboxRanker:
        return BlackboxRanker(self.lam * self.size)

    def cosines(self, embeddings: Tensor) -> Tensor:
        unit = normalize(embeddings, dim=1)
        return unit @ unit.T

    def of_others(self, matrix: Tensor) -> Tensor:
        """Without the diagonal, for who knows no ``where``."""
        return matrix[self.where].view(self.size, -1)

    def works(self, names: Iterable[Name]) -> dict[Name, Work]:
        """What was asked for, on this batch; who is not installed says so when it is called."""
        return {name: self._work(*name) for name in names}

    def _work(self, work: str, who: str) -> Work:
        try:
            if work == LIMIT:
                return self.product()
            return VALUES[who](self) if work == VALUE else WHO[who](self, work)
        except ImportError as error:
            return partial(_refuse, error)

    def product(self) -> Work:
        """The similarities of all with all, and their gradient."""
        gradient = torch.randn(self.size, self.size, generator=torch.Generator().manual_seed(self.seed)).to(self.device)
        leaf = self.embeddings.detach().requires_grad_()

        def forward_and_backward() -> None:
            (leaf @ leaf.T).backward(gradient)
            leaf.grad = None

        return forward_and_backward


def _refuse(error: ImportError) -> None:
    raise error


def _of_others(formula: Callable[..., Tensor], batch: Batch, scores: Tensor) -> Tensor:
    others = batch.of_others(scores), batch.of_others(batch.relevance)
    return formula(*others, batch.lam * batch.size, MARGIN)


def _by_a_step(formula: Callable[..., Tensor], relevance: str, batch: Batch, scores: Tensor) -> Tensor:
    ranker = SupremumRanker(**batch.step)
    return formula(scores, getattr(batch, relevance), batch.where, step=ranker.step)


#: Each loss of a batch: ours, and the published formula of the cosines; no query ranks itself.
LOSSES: dict[str, tuple[Callable[[Batch], nn.Module], Callable[[Batch, Tensor], Tensor]]] = {
    "Smooth-AP": (
        lambda batch: SmoothAPLoss(),
        lambda batch, scores: published.published_smooth_ap(scores, batch.relevance, batch.where),
    ),
    "FastAP": (
        lambda batch: FastAPLoss(batch.bins),
        lambda batch, scores: published.published_fast_ap(scores, batch.relevance, batch.where, batch.bins),
    ),
    "RaMBO AP": (lambda batch: APLoss(batch.ranker, MARGIN), partial(_of_others, published.published_ap)),
    "RaMBO recall": (lambda batch: RecallLoss(batch.ranker, MARGIN), partial(_of_others, published.published_recall)),
    "SupAP": (lambda batch: SupAPLoss(**batch.step), partial(_by_a_step, published.published_sup_ap, "relevance")),
    "H-AP": (lambda batch: HAPLoss(), partial(_by_a_step, published.published_h_ap, "graded")),
}


def _ours(batch: Batch, work: str) -> Work:
    loss, labels = OnEmbeddings(LOSSES[work][0](batch)), batch.paths if work == "H-AP" else batch.labels
    return step(lambda embeddings: loss(embeddings, labels), batch.embeddings)


def _alone(batch: Batch, work: str) -> Work:
    """Ours, of similarities that are there."""
    loss, relevance = LOSSES[work][0](batch), batch.graded if work == "H-AP" else batch.relevance
    return step(lambda scores: loss(scores, relevance, where=batch.where), batch.cosines(batch.embeddings))


def _query_by_query(batch: Batch, work: str) -> Work:
    """H-AP as it is printed, with all pairs of one query laid out at once; its graph lives as long as the others'."""
    h_ap = partial(published.published_h_ap, step=SupremumRanker().step)
    rows = batch.graded, batch.where
    return step(
        lambda scores: torch.stack([h_ap(*row) for row in zip(scores, *rows, strict=True)]).mean(),
        batch.cosines(batch.embeddings),
    )


def _of_pml(batch: Batch, work: str) -> Work:
    from pytorch_metric_learning import losses

    kinds = {"Smooth-AP": (losses.SmoothAPLoss, 0.01), "FastAP": (losses.FastAPLoss, batch.bins)}
    loss = kinds[work][0](kinds[work][1])
    return step(lambda embeddings: loss(embeddings, batch.labels), batch.embeddings)


#: Who makes what of a loss's name.
WHO: dict[str, Callable[[Batch, str], Work]] = {
    OURS: _ours,
    WRITTEN: lambda batch, work: step(lambda e: LOSSES[work][1](batch, batch.cosines(e)), batch.embeddings),
    ALONE: _alone,
    "query by query": _query_by_query,
    PML: _of_pml,
}


def _scores(batch: Batch) -> tuple[Tensor, Tensor]:
    return batch.of_others(batch.embeddings @ batch.embeddings.T), batch.of_others(batch.relevance)


def _value(batch: Batch) -> Work:
    scores, relevance = _scores(batch)
    return lambda: average_precision(scores, relevance).mean()


def _of_torchmetrics(batch: Batch) -> Work:
    from ranklab.models import load_torchvision

    with suppress(ImportError):
        load_torchvision("torchmetrics")  # which imports it; beside a torch for the CPU it must be helped
    from torchmetrics.retrieval import RetrievalMAP

    scores, relevance = _scores(batch)
    above_zero = (scores + 1).flatten()  # torchmetrics takes what is not above zero for not retrieved
    queries = torch.arange(batch.size, device=batch.device).repeat_interleave(batch.size - 1)

    def torchmetrics() -> Tensor:
        metric = RetrievalMAP().to(batch.device)
        metric.update(above_zero, relevance.flatten(), indexes=queries)
        found: Tensor = metric.compute()
        return found

    return torchmetrics


def _of_scikit_learn(batch: Batch) -> Work:
    from sklearn.metrics import average_precision_score

    arrays = [part.cpu().numpy() for part in _scores(batch)]
    return lambda: np.mean([average_precision_score(true, found) for found, true in zip(*arrays, strict=True)])


#: The mean average precision of the batch from scores that are there, without a gradient.
VALUES: dict[str, Callable[[Batch], Work]] = {
    OURS: _value,
    "torchmetrics": _of_torchmetrics,
    "scikit-learn": _of_scikit_learn,
}


# --- A network --------------------------------------------------------------------------------------------------------


class Network:
    """A network and its pictures: where a ResNet cannot be had, the wide net for glyphs stands in, by its name."""

    def __init__(self, name: str, dim: int, seed: int = 0, device: str = "cpu") -> None:
        from ranklab.models import build

        self.name, self.note, self.device = name, "", device
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is not pretrained, and about operators of detection
            torch.manual_seed(seed)
            try:
                net = build(name, dim=dim)
            except ImportError as error:
                self.name, self.note = "convnet_wide", f"instead of {name}: {str(error).split(' (')[0]}"
                net = build(self.name, dim=dim)
        self.net, self.seed = net.to(device), seed

    def work(self, batch: int, chunk: int = 0, image_size: int = 224, *, mixed: bool = False) -> Work:
        """Forward and backward, a chunk of the batch at a time.

        With ``mixed`` it is a step of SGD in mixed precision with its scaler, as a training on a GPU has it.
        """
        channels, side = (3, image_size) if self.name.startswith("resnet") else (1, 32)
        generator = torch.Generator().manual_seed(self.seed)
        sizes = [len(part) for part in torch.arange(batch).split(chunk or batch)]
        pictures = torch.rand(sizes[0], channels, side, side, generator=generator).to(self.device)
        scaler = torch.amp.GradScaler(self.device, enabled=mixed and self.device != "cpu")
        optimizer = torch.optim.SGD(self.net.parameters(), 1e-3)
        dtype = torch.bfloat16 if self.device == "cpu" else torch.float16

        def forward_and_backward() -> None:
            self.net.zero_grad()
            for size in sizes:
                with torch.autocast(self.device, dtype=dtype, enabled=mixed):
                    embeddings = self.net(pictures[:size])
                scaler.scale(embeddings).backward(torch.ones_like(embeddings) / batch)
            if mixed:
                scaler.step(optimizer)
                scaler.update()

        return forward_and_backward
