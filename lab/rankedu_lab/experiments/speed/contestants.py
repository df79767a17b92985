"""Who is timed: our losses, transcriptions of the printed ones, other libraries, and the work that nobody can avoid.

A piece of work has a name and somebody who does it. What is asked for is made, on one list of scores or one batch of
embeddings; nothing else is.
"""

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankedu import hierarchy
from rankedu.losses import APLoss, FastAPLoss, HAPLoss, OnEmbeddings, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker, SupremumRanker
from rankedu_lab.experiments.speed import published
from rankedu_lab.experiments.speed.timing import Name, Work

OURS, WRITTEN, PML = "ours", "transcription", "pytorch-metric-learning"
LIMIT, PRODUCT = "limit", "matrix product with gradient"
#: Value alone: what the other libraries have of average precision.
VALUE = "AP, value alone"
#: The contestants that compare all pairs of items for every query: memory grows with the cube of the batch.
ALL_PAIRS = {("Smooth-AP", WRITTEN), ("SupAP", WRITTEN), ("H-AP", WRITTEN), ("Smooth-AP", PML)}
#: The margin of all blackbox losses.
MARGIN = 0.02
Loss = Callable[..., Tensor]


def step(loss: Callable[[Tensor], Tensor], start: Tensor, gradient: Tensor | None = None) -> Work:
    """A loss of a tensor, or what has a given gradient, forward and backward; the gradient is given up at once."""
    leaf = start.detach().requires_grad_()

    def forward_and_backward() -> None:
        loss(leaf).backward(gradient)
        leaf.grad = None

    return forward_and_backward


@dataclass
class List:
    """Normal scores, and about so large a share of relevant ones, one at least."""

    size: int
    share: float = 0.01
    seed: int = 0
    device: str = "cpu"
    lam: ClassVar[float] = 0.4  # for each item
    bins: ClassVar[int] = 20
    step: ClassVar[dict[str, Any]] = {}

    def __post_init__(self) -> None:
        how: Any = {"generator": torch.Generator(self.device).manual_seed(self.seed), "device": self.device}
        self.scores = torch.randn(self.size, **how)
        self.relevance = torch.rand(self.size, **how) < self.share
        self.relevance[0] = True

    def works(self, names: Iterable[Name]) -> dict[Name, Work]:
        """What was asked for, on this list."""
        return {name: LISTS[name](self) for name in names}

    def of(self, loss: Loss) -> Work:
        return step(lambda scores: loss(scores, self.relevance), self.scores)


@dataclass
class Batch:
    """Embeddings as of a trained network, and their label paths: classes, four of them in a coarse class.

    ``noise`` is how far members are from their centre, as a part of its length.
    """

    size: int
    per_class: int = 4
    dim: int = 512
    seed: int = 0
    device: str = "cpu"
    noise: float = 0.9
    lam: float = 0.2  # for each item, on the paper's scale
    bins: int = 10
    step: dict[str, Any] = field(default_factory=dict)  # the setting of SupAP's

    def __post_init__(self) -> None:
        classes = torch.arange(self.size) // self.per_class
        paths = [classes // 4, classes]
        draw = partial(torch.randn, generator=torch.Generator().manual_seed(self.seed))
        centres = draw(int(classes[-1]) + 1, self.dim)[classes]
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

    def relevance_of(self, work: str) -> Tensor:
        return self.graded if work == "H-AP" else self.relevance

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
                return _product(self)
            return VALUES[who](self) if work == VALUE else WHO[who](self, work)
        except ImportError as error:
            return partial(_refuse, error)


def _refuse(error: ImportError) -> None:
    raise error


# --- The losses, and who makes what of them ---------------------------------------------------------------------------


def _ranker(of: List | Batch) -> BlackboxRanker:
    return BlackboxRanker(of.lam * of.size)


def _blackbox(formula: Loss, of: List | Batch) -> Loss:
    return partial(formula, lam=of.lam * of.size, margin=MARGIN)


def _by_a_step(formula: Loss, of: List | Batch) -> Loss:
    return partial(formula, step=SupremumRanker(**of.step).step)


#: Each loss: ours, and the published formula, both of (scores, relevance) with the setting of a list or a batch.
LOSSES: dict[str, tuple[Callable[[List | Batch], nn.Module], Callable[[List | Batch], Loss]]] = {
    "Smooth-AP": (lambda of: SmoothAPLoss(), lambda of: published.published_smooth_ap),
    "FastAP": (lambda of: FastAPLoss(of.bins), lambda of: partial(published.published_fast_ap, bins=of.bins)),
    "RaMBO AP": (lambda of: APLoss(_ranker(of), MARGIN), partial(_blackbox, published.published_ap)),
    "RaMBO recall": (lambda of: RecallLoss(_ranker(of), MARGIN), partial(_blackbox, published.published_recall)),
    "SupAP": (lambda of: SupAPLoss(**of.step), partial(_by_a_step, published.published_sup_ap)),
    "H-AP": (lambda of: HAPLoss(), partial(_by_a_step, published.published_h_ap)),
}
_AP, _RECALL = LOSSES["RaMBO AP"], LOSSES["RaMBO recall"]

#: (what is done, who does it) → its making on a list.
LISTS: dict[Name, Callable[[List], Work]] = {
    ("AP", OURS): lambda one: one.of(_AP[0](one)),
    ("AP", WRITTEN): lambda one: one.of(_AP[1](one)),
    ("recall", OURS): lambda one: one.of(_RECALL[0](one)),
    ("recall", WRITTEN): lambda one: one.of(_RECALL[1](one)),
    (LIMIT, "one copy"): lambda one: partial(torch.empty_like(one.scores).copy_, one.scores),
    (LIMIT, "one torch.sort"): lambda one: one.scores.sort,
    (LIMIT, "one np.sort"): lambda one: partial(np.sort, one.scores.numpy()),
    (LIMIT, "two np.argsort"): lambda one: lambda: [np.argsort(one.scores.numpy()) for _ in range(2)],
    (LIMIT, "two torch.argsort"): lambda one: lambda: (one.scores.argsort(), one.scores.argsort()),
}


def _ours(batch: Batch, work: str) -> Work:
    loss, labels = OnEmbeddings(LOSSES[work][0](batch)), batch.paths if work == "H-AP" else batch.labels
    return step(lambda embeddings: loss(embeddings, labels), batch.embeddings)


def _written(batch: Batch, work: str) -> Work:
    """The formula of the cosines; no query ranks itself."""
    formula = LOSSES[work][1](batch)

    def loss(embeddings: Tensor) -> Tensor:
        matrices = batch.cosines(embeddings), batch.relevance_of(work)
        if work.startswith("RaMBO"):
            return formula(*map(batch.of_others, matrices))
        return formula(*matrices, batch.where)

    return step(loss, batch.embeddings)


def _of_pml(batch: Batch, work: str) -> Work:
    from pytorch_metric_learning import losses

    loss = losses.SmoothAPLoss(0.01) if work == "Smooth-AP" else losses.FastAPLoss(batch.bins)
    return step(lambda embeddings: loss(embeddings, batch.labels), batch.embeddings)


def _product(batch: Batch) -> Work:
    """The similarities of all with all, and their gradient."""
    gradient = torch.randn(batch.size, batch.size, generator=torch.Generator().manual_seed(batch.seed))
    return step(lambda leaf: leaf @ leaf.T, batch.embeddings, gradient.to(batch.device))


def _scores(batch: Batch) -> tuple[Tensor, Tensor]:
    return batch.of_others(batch.embeddings @ batch.embeddings.T), batch.of_others(batch.relevance)


def _value(batch: Batch) -> Work:
    scores, relevance = _scores(batch)
    return lambda: average_precision(scores, relevance).mean()


def _of_torchmetrics(batch: Batch) -> Work:
    from rankedu_lab.models import load_torchvision

    with suppress(ImportError):
        load_torchvision("torchmetrics")  # which imports it; beside a torch for the CPU it must be helped
    from torchmetrics.retrieval import RetrievalMAP

    scores, relevance = _scores(batch)
    above_zero = (scores + 1).flatten()  # torchmetrics takes what is not above zero for not retrieved
    queries = torch.arange(batch.size, device=batch.device).repeat_interleave(batch.size - 1)

    def torchmetrics() -> Tensor:
        metric = RetrievalMAP().to(batch.device)
        metric.update(above_zero, relevance.flatten(), indexes=queries)
        return metric.compute()

    return torchmetrics


def _of_scikit_learn(batch: Batch) -> Work:
    from sklearn.metrics import average_precision_score

    arrays = [part.cpu().numpy() for part in _scores(batch)]
    return lambda: np.mean([average_precision_score(true, found) for found, true in zip(*arrays, strict=True)])


#: Who makes what of a loss's name.
WHO = {OURS: _ours, WRITTEN: _written, PML: _of_pml}
#: Who finds the mean average precision of the batch, from scores that are there, without a gradient.
VALUES = {OURS: _value, "torchmetrics": _of_torchmetrics, "scikit-learn": _of_scikit_learn}


def needed(name: Name, size: int) -> float:
    """Return about how many bytes a contestant needs for a batch: in records of the lab, up to 27 n³ or 180 n²."""
    return 27.0 * size**3 if name in ALL_PAIRS else 180.0 * size**2


def network(name: str, dim: int, batch: int, chunk: int, device: str, *, pixels: int = 224, seed: int = 0) -> Work:
    """A network on a batch of pictures, forward and backward, a chunk of it at a time."""
    from rankedu_lab.models import build

    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not pretrained, and about operators of detection
        torch.manual_seed(seed)
        try:
            net = build(name, dim=dim).to(device)
        except ImportError as error:  # a ResNet, and no torchvision
            return partial(_refuse, error)
    channels, side = (3, pixels) if name.startswith("resnet") else (1, 32)
    sizes = [len(part) for part in torch.arange(batch).split(chunk or batch)]
    pictures = torch.rand(sizes[0], channels, side, side, generator=torch.Generator().manual_seed(seed)).to(device)

    def forward_and_backward() -> None:
        net.zero_grad()
        for size in sizes:
            embeddings = net(pictures[:size])
            embeddings.backward(torch.ones_like(embeddings) / batch)

    return forward_and_backward
