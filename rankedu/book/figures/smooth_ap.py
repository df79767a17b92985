"""Figures of chapter 9: the sigmoid, its operating region, what the temperature trades, and Table S2 measured."""

from __future__ import annotations

import importlib.util
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from rankedu.book.figures import paper_figure, style
from rankedu.book.figures._cached import cached
from rankedu.losses import APLoss, FastAPLoss, OnEmbeddings, SmoothAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker, SigmoidRanker, operating_region

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BATCH_SIZES = (16, 32, 64, 128, 256)
IMAGES = 4096  #: that each run of Fig. S7a sees, whatever its batch size
THRESHOLD = 0.005

#: Smooth-AP supp. Table S2, as printed in the version we read: complexity, and the loss's milliseconds. Every method
#: stands behind the same ResNet-50, which takes 705.0 ms, at M = 112 items of which 4 are positive.
PRINTED = {
    "Blackbox AP": ("O(n log n)", 3.7),
    "FastAP": ("O(M L)", 4.2),
    "Smooth-AP": ("O(M²)", 6.6),
}
PRINTED_BACKBONE = 705.0


def operating_width(temperature: float, threshold: float = THRESHOLD) -> float:
    """The largest difference at which the slope of the sigmoid still exceeds the threshold; 0 if it nowhere does."""
    steepest = 1 / (4 * temperature)
    return 2 * temperature * math.acosh(math.sqrt(steepest / threshold)) if steepest > threshold else 0.0


@style.style()
def sigmoid_and_slope(temperatures: Sequence[float] = (0.2, 0.05, 0.01)) -> Figure:
    """The staircase of one comparison, smoothed at three temperatures, and the slopes that this makes."""
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.3)
    x = torch.linspace(-0.5, 0.5, 2001, dtype=torch.float64)
    told = []
    for temperature, line in zip(temperatures, ("-", "--", "-."), strict=False):
        ranker = SigmoidRanker(temperature)
        left.plot(x, ranker.step(x), line, label=f"τ = {temperature:g}")
        right.semilogy(x, ranker.slope(x), line)
        told.append(f"τ = {temperature:g}: largest slope {1 / (4 * temperature):g}")
    left.step([-0.5, 0, 0.5], [0, 0, 1], where="pre", color=style.GREY, linewidth=1, zorder=0)
    left.set(xlabel="difference $y_j - y_k$", title="what $j$ adds to the rank of $k$")
    left.legend(loc="upper left")
    right.axhline(THRESHOLD, color=style.GREY, linewidth=1)
    right.text(0.25, THRESHOLD * 1.2, f"{THRESHOLD:g}", ha="center", color=style.GREY)
    right.set(xlabel="difference $y_j - y_k$", title="its slope", ylim=(1e-4, 60))
    return style.describe(
        figure,
        "Left, sigmoids of a difference of scores, steeper as the temperature falls, beside a step from 0 to 1. Right, "
        f"their slopes on a logarithmic axis. {'; '.join(told)}. They fall below {THRESHOLD:g} at differences of "
        f"{', '.join(f'{operating_width(t, THRESHOLD):.2f}' for t in temperatures)}.",
    )


@style.style()
def temperature_trade(lists: int = 6, n: int = 20, positives: int = 4, seed: int = 0) -> Figure:
    """What a temperature costs: the value is biased where it is large, the gradient dies where it is small."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.rand(lists, n, generator=generator, dtype=torch.float64) * 2 - 1
    relevance = torch.arange(n).lt(positives).expand(lists, n)
    temperatures = np.geomspace(1e-4, 10, 81)
    values, norms = [], []
    for temperature in temperatures:
        leaf = scores.clone().requires_grad_()
        each = torch.stack([1 - SmoothAPLoss(float(temperature))(y, r) for y, r in zip(leaf, relevance, strict=True)])
        (slope,) = torch.autograd.grad(each.sum(), leaf)
        values.append(each.detach().numpy())
        norms.append(slope.norm(dim=1).clamp(min=1e-12).numpy())
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.5)
    exact = average_precision(scores, relevance).numpy()
    limit = (1 + (positives - 1) / 2) / (1 + (n - 1) / 2)
    left.semilogx(temperatures, np.array(values), color=style.BLUE, linewidth=1.5)
    left.plot([temperatures[0]] * lists, exact, "o", color=style.BLACK, markersize=5, clip_on=False)
    left.axhline(limit, color=style.GREY, linewidth=1, linestyle=":")
    left.set(xlabel="temperature τ", title="smooth AP; dots: AP", ylim=(0, 1))
    right.loglog(temperatures, np.array(norms), color=style.ORANGE, linewidth=1.5)
    right.set(xlabel="temperature τ", title="length of its gradient", ylim=(1e-6, 1e2))
    worst = np.abs(np.array(values) - exact).max(1)
    at = {t: int(np.argmin(np.abs(temperatures - t))) for t in (1e-3, 1e-2, 1e-1, 1.0)}
    told = "; ".join(
        f"at τ = {t:g} the value is off by up to {worst[i]:.2f}, the median gradient is {np.median(norms[i]):.2g} long"
        for t, i in at.items()
    )
    return style.describe(
        figure,
        f"Two panels over the temperature, for {lists} random lists of {n} items, {positives} of them relevant. Left, "
        f"smooth AP leaves AP as the temperature grows, and all lists meet at {limit:.2f}. Right, the length of the "
        f"gradient, which has a hump between. {told}.",
    )


class Watched(nn.Module):
    """A loss on embeddings that notes P of each batch that it sees."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.loss = OnEmbeddings(SmoothAPLoss(temperature))
        self.temperature = temperature
        self.shares: list[float] = []

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        self.shares.append(share(embeddings, self.temperature))
        value: Tensor = self.loss(embeddings, labels)
        return value


def share(embeddings: Tensor, temperature: float) -> float:
    """P of a batch: the mean over its queries, as printed, with the query and the diagonal counted."""
    unit = nn.functional.normalize(embeddings.detach(), dim=1)
    return operating_region(unit @ unit.T, temperature, THRESHOLD).mean().item()


@cached
def shares_while_training(
    batch_sizes: tuple[int, ...] = BATCH_SIZES, images: int = IMAGES, temperature: float = 0.01
) -> dict[str, dict[int, float]]:
    """P against batch size, on glyphs: a run for each size, and one network shown batches of each size.

    Parameters
    ----------
    batch_sizes : tuple of int
    images : int
        Each run sees as many, so that a run with larger batches has fewer steps.
    temperature : float

    Returns
    -------
    dict of str to dict of int to float
        Mean P for each size: "run" of all batches of a run that trains with that size; "steps" of its first batches,
        as many as the run with the largest size has; "same" of batches of that size, embedded by one network, the one
        that the middle size has trained.
    """
    from rankedu.lab.datasets import UnicodeGlyphs, augment
    from rankedu.lab.models import ConvNet
    from rankedu.lab.training import ClassBalancedSampler
    from rankedu.lab.training.retrieval import train

    data = UnicodeGlyphs("train")
    found: dict[str, dict[int, float]] = {"run": {}, "steps": {}, "same": {}}
    nets = {}
    for size in batch_sizes:
        torch.manual_seed(0)
        nets[size], loss = ConvNet(64), Watched(temperature)
        train(nets[size], data, loss, steps=images // size, batch_size=size, progress=False)
        found["run"][size] = statistics.fmean(loss.shares)
        found["steps"][size] = statistics.fmean(loss.shares[: images // max(batch_sizes)])
    net = nets[batch_sizes[len(batch_sizes) // 2]].eval()
    for size in batch_sizes:
        generator = torch.Generator().manual_seed(1)
        sampler = ClassBalancedSampler(data.labels[:, -1], size, 4, batches=max(4, 1024 // size), seed=1)
        with torch.no_grad():
            shares = [share(net(augment(data.images[batch], generator=generator)), temperature) for batch in sampler]
        found["same"][size] = statistics.fmean(shares)
    return found


@paper_figure("Smooth-AP supp. Fig. S7")
@style.style()
def proportion_by_batch_size(
    batch_sizes: Sequence[int] = BATCH_SIZES, images: int = IMAGES, temperature: float = 0.01
) -> Figure:
    """P against the batch size, on glyphs, and the operating region of the sigmoid."""
    found = shares_while_training(tuple(batch_sizes), images, temperature)
    labels = {
        "run": f"a run for each size, {images} images",
        "steps": f"their first {images // max(batch_sizes)} steps",
        "same": "one network, all sizes",
    }
    figure, (left, right) = style.figure(1, 2, width=6.8, height=4.1, width_ratios=(1.3, 1))
    looks = (("o-", style.BLUE), ("^-.", style.GREEN), ("s--", style.ORANGE))
    for (name, shares), (line, colour) in zip(found.items(), looks, strict=True):
        left.semilogx(list(shares), list(shares.values()), line, color=colour, label=labels[name])
    left.semilogx(batch_sizes, [1 / size for size in batch_sizes], ":", color=style.GREY, label="the diagonal alone")
    left.set(xlabel="batch size m", ylabel="P", ylim=(0, None), title="pairs that have a gradient")
    left.set_xticks(batch_sizes, [str(size) for size in batch_sizes])
    left.minorticks_off()
    figure.legend(loc="outside lower center", ncols=2, fontsize=10)
    _region(right, temperature)
    width = operating_width(temperature, THRESHOLD)
    return style.describe(
        figure,
        f"Left, P against the batch size at τ = {temperature:g}. "
        + "".join(
            f"{labels[name]}: {', '.join(f'{p:.3f} at {size}' for size, p in shares.items())}. "
            for name, shares in found.items()
        )
        + f"Right, the sigmoid, with the differences up to "
        f"±{width:.3f} shaded, where its slope exceeds {THRESHOLD:g}.",
    )


def _region(axis: Axes, temperature: float) -> None:
    """Fig. S7b: the sigmoid, and where it has a gradient worth the name."""
    width = operating_width(temperature, THRESHOLD)
    x = torch.linspace(-3 * width, 3 * width, 601, dtype=torch.float64)
    axis.plot(x, SigmoidRanker(temperature).step(x), color=style.BLUE)
    axis.axvspan(-width, width, color=style.YELLOW, alpha=0.45, linewidth=0)
    axis.set(xlabel="difference", ylabel="sigmoid", title=f"operating region, τ = {temperature:g}")
    axis.set_xticks([-width, 0, width], [f"−{width:.2f}", "0", f"{width:.2f}"])


def table_s2(
    batch: int = 112, per_class: int = 4, dim: int = 512, rounds: int = 15, device: str = "cpu"
) -> list[dict[str, Any]]:
    """Time each loss of Table S2, forward and backward, beside a backbone: medians, the contenders taken in turn.

    Parameters
    ----------
    batch, per_class, dim : int
        M items, |P| of each class, embeddings of so many dimensions.
    rounds : int
        Times that each contender runs.
    device : str
        "cuda" adds the ResNet-50, if torchvision is there.

    Returns
    -------
    list of dict
        A row each: "name", "complexity", "printed_ms" (or None), "measured_ms" (or None: not measured).

    Source
    ------
    Smooth-AP supp. Tab. S2.

    Notes
    -----
    A loss is timed from embeddings to the gradient of the embeddings. Explained in chapter 9.
    """
    embeddings = torch.randn(batch, dim, generator=torch.Generator().manual_seed(0)).to(device)
    labels = torch.arange(batch // per_class).repeat_interleave(per_class).to(device)
    losses = (APLoss(BlackboxRanker(lam=4.0), margin=0.02), FastAPLoss(bins=20), SmoothAPLoss(0.01))
    contenders = {
        name: _loss_step(OnEmbeddings(loss), embeddings, labels) for name, loss in zip(PRINTED, losses, strict=True)
    }
    contenders |= _backbones(batch, device)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 2):
        for name, step in contenders.items():
            taken = _timed(step, device)
            if number >= 2:  # the first rounds warm up
                seconds[name].append(taken)
    measured = {name: 1e3 * statistics.median(found) for name, found in seconds.items()}
    rows = [
        {"name": name, "complexity": o, "printed_ms": ms, "measured_ms": measured[name]}
        for name, (o, ms) in PRINTED.items()
    ]
    rows.append({"name": "small net", "complexity": "", "printed_ms": None, "measured_ms": measured["small net"]})
    resnet = measured.get("ResNet-50")
    rows.append({"name": "ResNet-50", "complexity": "", "printed_ms": PRINTED_BACKBONE, "measured_ms": resnet})
    return rows


def _loss_step(loss: nn.Module, embeddings: Tensor, labels: Tensor) -> Callable[[], object]:
    def step() -> object:
        leaf = embeddings.clone().requires_grad_()
        return torch.autograd.grad(loss(leaf, labels), leaf)

    return step


def _backbones(batch: int, device: str) -> dict[str, Callable[[], object]]:
    """One training step of each backbone that can be run here, without a loss."""
    from rankedu.lab.models import ConvNet

    def step_of(net: nn.Module, images: Tensor) -> Callable[[], None]:
        def step() -> None:
            net.zero_grad()
            net(images).square().mean().backward()

        return step

    found: dict[str, Callable[[], object]] = {
        "small net": step_of(ConvNet(64).to(device), torch.rand(batch, 1, 32, 32, device=device))
    }
    if device != "cpu" and importlib.util.find_spec("torchvision"):
        from torchvision.models import resnet50

        images = torch.rand(batch, 3, 224, 224, device=device)
        found["ResNet-50"] = step_of(resnet50(weights=None).to(device), images)
    return found


def _timed(step: Callable[[], object], device: str) -> float:
    if device != "cpu":
        torch.cuda.synchronize()
    started = time.perf_counter()
    step()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - started
