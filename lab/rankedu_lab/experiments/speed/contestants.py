"""The contestants of the lab `speed`: our losses, Algorithm 1 as printed, other libraries, and bounds on the work.

Each function makes a table of contestants, (the work, its contestant) → a function without arguments.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankedu.losses import APLoss, FastAPLoss, HAPLoss, OnEmbeddings, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker
from rankedu_lab.experiments.speed.published import published_ap, published_recall
from rankedu_lab.experiments.speed.timing import Name, Work

OURS, WRITTEN, PML = "ours", "transcription", "pytorch-metric-learning"
LIMIT, PRODUCT = "limit", "matrix product with gradient"
#: Average precision without a gradient, as other libraries have it.
VALUE = "AP, value alone"
#: The margin of all blackbox losses.
MARGIN = 0.02


def step(loss: Callable[..., Tensor], start: Tensor, *others: Tensor, gradient: Tensor | None = None) -> Work:
    """Make a function that computes a loss, forward and backward, and gives up the gradient at once."""
    leaf = start.detach().requires_grad_()

    def forward_and_backward() -> None:
        loss(leaf, *others).backward(gradient)
        leaf.grad = None

    return forward_and_backward


def on_list(size: int, share: float = 0.01, seed: int = 0, device: str = "cpu") -> dict[Name, Work]:
    """Make the contestants on one list of normal scores, of which about a share is relevant."""
    how: Any = {"generator": torch.Generator(device).manual_seed(seed), "device": device}
    scores, relevance = torch.randn(size, **how), torch.rand(size, **how) < share
    relevance[0] = True
    ranker, lam = BlackboxRanker(0.4 * size), 0.4 * size
    works: dict[Name, Work] = {
        ("AP", OURS): step(APLoss(ranker, MARGIN), scores, relevance),
        ("AP", WRITTEN): step(partial(published_ap, lam=lam, margin=MARGIN), scores, relevance),
        ("recall", OURS): step(RecallLoss(ranker, MARGIN), scores, relevance),
        ("recall", WRITTEN): step(partial(published_recall, lam=lam, margin=MARGIN), scores, relevance),
        (LIMIT, "one copy"): partial(torch.empty_like(scores).copy_, scores),
        (LIMIT, "one torch.sort"): scores.sort,
    }
    if device != "cpu":
        return {**works, (LIMIT, "two torch.argsort"): lambda: (scores.argsort(), scores.argsort())}
    array = scores.numpy()
    works[LIMIT, "one np.sort"] = partial(np.sort, array)
    works[LIMIT, "two np.argsort"] = lambda: (np.argsort(array), np.argsort(array))
    return works


def on_batch(
    size: int,
    per_class: int = 4,
    dim: int = 512,
    seed: int = 0,
    device: str = "cpu",
    *,
    lam: float = 0.2,
    bins: int = 10,
) -> dict[Name, Work]:
    """Make the contestants on a batch of embeddings, as of a trained network, with four classes per coarse class.

    `lam` is for each item, on the paper's scale.
    """
    labels = (torch.arange(size) // per_class).to(device)
    paths = torch.stack([labels // 4, labels], dim=1)
    draw = partial(torch.randn, generator=torch.Generator().manual_seed(seed))
    centres = draw(int(labels[-1]) + 1, dim)[labels.cpu()]
    embeddings = normalize(centres + 0.9 * draw(size, dim), dim=1).to(device)
    gradient = torch.randn(size, size, generator=torch.Generator().manual_seed(seed)).to(device)
    others = ~torch.eye(size, dtype=torch.bool, device=device)
    relevance = (labels[:, None] == labels)[others].view(size, -1)
    ranker = BlackboxRanker(lam * size)
    ours: dict[str, Any] = {
        "Smooth-AP": SmoothAPLoss(),
        "FastAP": FastAPLoss(bins),
        "RaMBO AP": APLoss(ranker, MARGIN),
        "RaMBO recall": RecallLoss(ranker, MARGIN),
        "SupAP": SupAPLoss(),
        "H-AP": HAPLoss(),
    }

    def by_hand(formula: Callable[..., Tensor], embeddings: Tensor) -> Tensor:
        unit = normalize(embeddings, dim=1)
        return formula((unit @ unit.T)[others].view(relevance.shape), relevance, lam=lam * size, margin=MARGIN)

    works: dict[Name, Work] = {(LIMIT, PRODUCT): step(lambda leaf: leaf @ leaf.T, embeddings, gradient=gradient)}
    for name, loss in ours.items():
        works[name, OURS] = step(OnEmbeddings(loss), embeddings, paths if name == "H-AP" else labels)
    for name, formula in {"RaMBO AP": published_ap, "RaMBO recall": published_recall}.items():
        works[name, WRITTEN] = step(partial(by_hand, formula), embeddings)
    from pytorch_metric_learning import losses

    works["Smooth-AP", PML] = step(losses.SmoothAPLoss(0.01), embeddings, labels)
    works["FastAP", PML] = step(losses.FastAPLoss(bins), embeddings, labels)
    return works | _values((embeddings @ embeddings.T)[others].view(size, -1), relevance)


def _values(scores: Tensor, relevance: Tensor) -> dict[Name, Work]:
    """Make the contestants for mean average precision without a gradient."""
    from sklearn.metrics import average_precision_score

    from rankedu_lab.models import StandInWarning, load_torchvision

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)  # of operators on images, of which there are none here
        load_torchvision("torchmetrics")  # which imports it; beside a torch for the CPU it needs help
    from torchmetrics.retrieval import RetrievalMAP

    above_zero = (scores + 1).flatten()  # torchmetrics takes a score that is not above zero for not retrieved
    queries = torch.arange(len(scores), device=scores.device).repeat_interleave(scores.shape[1])

    def torchmetrics() -> Tensor:
        metric = RetrievalMAP().to(scores.device)
        metric.update(above_zero, relevance.flatten(), indexes=queries)
        return metric.compute()

    works: dict[Name, Work] = {
        (VALUE, OURS): lambda: average_precision(scores, relevance).mean(),
        (VALUE, "torchmetrics"): torchmetrics,
    }
    if scores.device.type == "cpu":
        pairs = list(zip(relevance.numpy(), scores.numpy(), strict=True))
        works[VALUE, "scikit-learn"] = lambda: np.mean([average_precision_score(*pair) for pair in pairs])
    return works


def needed(name: Name, size: int) -> float:
    """Return about how many bytes a contestant needs for a batch: with all pairs of all queries 27 n³, else 180 n²."""
    return 27.0 * size**3 if name == ("Smooth-AP", PML) else 180.0 * size**2


def network(name: str, dim: int, batch: int, chunk: int, device: str, *, pixels: int = 224, seed: int = 0) -> Work:
    """Make a network on a batch of pictures, forward and backward, a chunk of it at a time."""
    from rankedu_lab.models import build

    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not pretrained, and about operators of detection
        torch.manual_seed(seed)
        net = build(name, dim=dim).to(device)
    channels, side = (3, pixels) if name.startswith("resnet") else (1, 32)
    sizes = [len(part) for part in torch.arange(batch).split(chunk or batch)]
    pictures = torch.rand(sizes[0], channels, side, side, generator=torch.Generator().manual_seed(seed)).to(device)

    def forward_and_backward() -> None:
        net.zero_grad()
        for size in sizes:
            embeddings = net(pictures[:size])
            embeddings.backward(torch.ones_like(embeddings) / batch)

    return forward_and_backward
