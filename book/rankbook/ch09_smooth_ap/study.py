"""Chapter 9, computed: the operating region, its share of pairs in training, and Table S2 measured."""

import functools
import importlib.util
import math
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from rankbook.kit.ranks import Array
from rankbook.kit.timing import in_turns
from rankedu.losses import APLoss, FastAPLoss, OnEmbeddings, SmoothAPLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker, operating_region
from ranklab.datasets import UnicodeGlyphs, augment
from ranklab.models import ConvNet
from ranklab.training import ClassBalancedSampler
from ranklab.training.retrieval import train

BATCH_SIZES = (16, 32, 64, 128, 256)
IMAGES = 4096  #: that each run of Fig. S7a sees, whatever its batch size
THRESHOLD = 0.005
#: Smooth-AP supp. Table S2, as printed in the version we read: complexity and milliseconds of each loss, and of the
#: ResNet-50 before all of them, at M = 112 items of which 4 are positive. The small net is ours.
PRINTED = {
    "Blackbox AP": ("O(n log n)", 3.7),
    "FastAP": ("O(M L)", 4.2),
    "Smooth-AP": ("O(M²)", 6.6),
    "small net": ("", None),
    "ResNet-50": ("", 705.0),
}


def operating_width(temperature: float, threshold: float = THRESHOLD) -> float:
    """The largest difference at which the slope of the sigmoid still exceeds the threshold; 0 if it nowhere does."""
    steepest = 1 / (4 * temperature)
    return 2 * temperature * math.acosh(math.sqrt(steepest / threshold)) if steepest > threshold else 0.0


def by_temperature(temperatures: Array, lists: int, n: int, positives: int) -> tuple[Array, Array, Array]:
    """Smooth AP of random lists and the length of its gradient, (temperatures, lists) each; and the AP of the lists."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(lists, n, generator=generator, dtype=torch.float64) * 2 - 1
    relevance = torch.arange(n).lt(positives).expand(lists, n)
    values, norms = [], []
    for temperature in temperatures.tolist():
        leaf = scores.clone().requires_grad_()
        each = torch.stack([1 - SmoothAPLoss(temperature)(y, r) for y, r in zip(leaf, relevance, strict=True)])
        (slope,) = torch.autograd.grad(each.sum(), leaf)
        values.append(each.detach())
        norms.append(slope.norm(dim=1).clamp(min=1e-12))
    return torch.stack(values).numpy(), torch.stack(norms).numpy(), average_precision(scores, relevance).numpy()


def region(embeddings: Tensor, temperature: float) -> float:
    """P of a batch: the mean over its queries, as printed, with the query and the diagonal counted."""
    unit = nn.functional.normalize(embeddings.detach(), dim=1)
    return operating_region(unit @ unit.T, temperature, THRESHOLD).mean().item()


@functools.cache
def shares_while_training(
    batch_sizes: tuple[int, ...] = BATCH_SIZES, images: int = IMAGES, temperature: float = 0.01
) -> dict[str, dict[int, float]]:
    """Mean P for each batch size, on glyphs, by network.

    "run": of all batches of a run that trains with that size, each run seeing so many images; "steps": of its first
    batches, as many as the run with the largest size has; "same": of batches that one network embeds, the one that the
    middle size has trained.
    """
    data = UnicodeGlyphs("train")
    found: dict[str, dict[int, float]] = {"run": {}, "steps": {}, "same": {}}
    nets = {}
    for size in batch_sizes:
        torch.manual_seed(0)
        nets[size], loss = ConvNet(64, channels=(16, 32, 64)), OnEmbeddings(SmoothAPLoss(temperature))
        shares: list[float] = []
        loss.register_forward_pre_hook(lambda _, given, seen=shares: seen.append(region(given[0], temperature)))
        train(nets[size], data, loss, steps=images // size, batch_size=size, progress=False)
        found["run"][size] = statistics.fmean(shares)
        found["steps"][size] = statistics.fmean(shares[: images // max(batch_sizes)])
    net = nets[batch_sizes[len(batch_sizes) // 2]].eval()
    for size in batch_sizes:
        generator = torch.Generator().manual_seed(1)
        sampler = ClassBalancedSampler(data.labels[:, -1], size, 4, batches=max(4, 1024 // size), seed=1)
        with torch.no_grad():
            shares = [region(net(augment(data.images[batch], generator=generator)), temperature) for batch in sampler]
        found["same"][size] = statistics.fmean(shares)
    return found


def table_s2(batch: int = 112, rounds: int = 15, device: str = "cpu") -> list[dict[str, Any]]:
    """Rows of Table S2: name, complexity, printed_ms, and the measured_ms of a forward and a backward pass.

    Source: Smooth-AP supp. Tab. S2.
    """
    embeddings = torch.randn(batch, 512, generator=torch.Generator().manual_seed(0)).to(device)
    labels = torch.arange(batch // 4).repeat_interleave(4).to(device)
    losses = (APLoss(BlackboxRanker(lam=4.0), margin=0.02), FastAPLoss(bins=20), SmoothAPLoss(0.01))
    contenders: dict[str, Callable[[], None]] = {
        name: partial(_loss_step, OnEmbeddings(loss), embeddings, labels)
        for name, loss in zip(PRINTED, losses, strict=False)
    }
    contenders["small net"] = partial(_net_step, ConvNet(64).to(device), torch.rand(batch, 1, 32, 32, device=device))
    if device != "cpu" and importlib.util.find_spec("torchvision"):
        from torchvision.models import resnet50

        images = torch.rand(batch, 3, 224, 224, device=device)
        contenders["ResNet-50"] = partial(_net_step, resnet50(weights=None).to(device), images)
    measured = {name: 1e3 * taken for name, taken in in_turns(contenders, rounds, device=device).items()}
    return [
        {"name": name, "complexity": o, "printed_ms": ms, "measured_ms": measured.get(name)}
        for name, (o, ms) in PRINTED.items()
    ]


def _loss_step(loss: nn.Module, embeddings: Tensor, labels: Tensor) -> None:
    leaf = embeddings.clone().requires_grad_()
    torch.autograd.grad(loss(leaf, labels), leaf)


def _net_step(net: nn.Module, images: Tensor) -> None:
    """One training step of a network, without a loss."""
    net.zero_grad()
    net(images).square().mean().backward()
