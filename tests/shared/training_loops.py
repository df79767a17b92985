"""The loops of the page "In your training loop", as the page shows them, and how far their gradients are off.

Each loop trains one step, and leaves its gradient in the parameters.
"""

import os
import re
import socket
import tempfile
import textwrap
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rankedu.losses import FastAPLoss, HAPPIERLoss, MAPLoss, OnEmbeddings, RecallLoss, ROADMAPLoss, SmoothAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu_lab.detections import OnProposals
from rankedu_lab.models.vision import load_torchvision
from rankedu_lab.training.distributed import joined

PAGE = Path(__file__).resolve().parents[2] / "book" / "loops.md"
#: A gradient that differs by less than this share of its length is the same: float32 rounds in another order.
SAME = 1e-4
DIM, CLASSES, ITEMS = 8, 16, 64


class OfRanks(nn.Module):
    """1 − AP of ranks that a user takes from the ranker: Algorithm 1 as printed, which uses the incoming gradient."""

    def forward(self, scores: Tensor, relevance: Tensor, where: Tensor) -> Tensor:
        ranker, relevance = BlackboxRanker(4.0, normalized=True), relevance & where
        within = ranker.among(scores.detach(), relevance, where=where)
        return 1 - (within / ranker(scores, where=where))[relevance].mean()


#: The last column is no loss of the package. It shows the error that the losses of the package avoid.
OWN = "ranks by hand"
LOSSES: dict[str, Callable[[], nn.Module]] = {
    "RecallLoss": lambda: OnEmbeddings(RecallLoss(BlackboxRanker(4.0, normalized=True), margin=0.05)),
    "ROADMAPLoss": lambda: OnEmbeddings(ROADMAPLoss()),
    "SmoothAPLoss": lambda: OnEmbeddings(SmoothAPLoss(0.05)),
    "FastAPLoss": lambda: OnEmbeddings(FastAPLoss(bins=20)),
    "HAPPIERLoss": lambda: HAPPIERLoss(n_classes=CLASSES, dim=DIM),
    "MAPLoss": lambda: OnProposals(MAPLoss(BlackboxRanker(12.5, normalized=True), margin=0.15)),
    OWN: lambda: OnEmbeddings(OfRanks()),
}
_CODE = re.compile(r"^\(loop-(?P<key>[\w-]+)\)=\n### [^\n]*\n\n```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
#: The wrappers for pytorch-metric-learning, which the page shows above the loops.
_WRAPPERS = re.compile(r"^```python\n(?P<code>from pytorch_metric_learning.*?)^```$", re.DOTALL | re.MULTILINE)


@cache
def runs() -> dict[str, Callable[..., None]]:
    """Return the loops of the page by label, each as a function of net, loss, images and labels."""
    page = PAGE.read_text(encoding="utf-8")
    scope, found = {"torch": torch, "nn": nn}, {}
    if find_spec("pytorch_metric_learning"):
        exec(compile(_WRAPPERS.search(page)["code"], "loops.md, InPML", "exec"), scope)
    for match in _CODE.finditer(page):
        text = "def run(net, loss, images, labels):\n" + textwrap.indent(match["code"], "    ")
        exec(compile(text, f"loops.md, {match['key']}", "exec"), scope)
        found[match["key"]] = scope["run"]
    return found


class Loop(NamedTuple):
    """The label of a loop on the page, its name in the table, and what its gradient is compared with."""

    key: str
    name: str
    expected: str = "batch"  # batch, parts, clipped or wide: see `expected`
    needs: str = ""  # a package
    processes: int = 1


LOOPS = (
    Loop("plain", "plain"),
    Loop("accumulated", "4 micro-batches accumulated", "parts"),
    Loop("clipped", "clipped gradients", "clipped"),
    Loop("with-a-scaler", "a gradient scaler, 65,536"),
    Loop("in-16-bits", "autocast to bfloat16", "wide"),
    Loop("compiled-network", "`torch.compile` of the network"),
    Loop("compiled-step", "`torch.compile` of the step"),
    Loop("in-lightning", "Lightning, `accumulate_grad_batches=4`", "parts", "lightning"),
    Loop("in-accelerate", "accelerate, 4 accumulation steps", "parts", "accelerate"),
    Loop("in-processes", "2 processes, DDP with `gather`", processes=2),
    Loop("in-their-wrapper", "2 processes, DDP with `DistributedLossWrapper`", "batch", "pytorch_metric_learning", 2),
    Loop("in-shards", "2 processes, FSDP with `gather`", processes=2),
)
#: The wrapper calls a loss of embeddings, and takes no paths of classes.
ABSENT = {"in-their-wrapper": ("MAPLoss", "HAPPIERLoss")}


def task(name: str) -> tuple[nn.Module, nn.Module, Tensor, Tensor]:
    """Return a network, a loss and a batch of 16 classes with four items each, the same at each call."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, DIM))
    images, classes = torch.randn(ITEMS, 12), torch.arange(ITEMS) // 4
    labels = classes % DIM if name == "MAPLoss" else torch.stack([classes // 4, classes], dim=1)
    return net, LOSSES[name](), images, labels


def gradient(net: nn.Module, loss: nn.Module) -> Tensor:
    """Return the gradient of all parameters, those of the loss included, as one vector."""
    found = [parameter.grad for parameter in (*net.parameters(), *loss.parameters())]
    return torch.cat([(part.full_tensor() if hasattr(part, "full_tensor") else part).flatten() for part in found])


def expected(kind: str, name: str) -> Tensor:
    """Compute the gradient that a loop should have, without the loop and for each loss alone."""
    net, loss, images, labels = task(name)
    if kind == "parts":
        found = []
        for some, theirs in zip(images.chunk(4), labels.chunk(4), strict=True):
            net.zero_grad(), loss.zero_grad()
            loss(net(some), theirs).backward()
            found.append(gradient(net, loss))
        return torch.stack(found).mean(0)
    if kind == "wide":
        with torch.autocast("cpu", dtype=torch.bfloat16):
            embeddings = net(images)
        loss(embeddings.float(), labels).backward()
        return gradient(net, loss)
    loss(net(images), labels).backward()
    whole = gradient(net, loss)
    return whole * (0.01 / whole.norm()) if kind == "clipped" else whole


def deviations(loop: Loop) -> dict[str, float | None]:
    """Return the deviation of the gradient of each loss, relative to its length."""
    rows = _in_processes(loop.processes)[loop.name] if loop.processes > 1 else _gradients(loop)
    found: dict[str, float | None] = {}
    for name, row in rows.items():
        right = expected(loop.expected, name)
        assert right.norm() > 0, f"{name} has no gradient here, so nothing is shown"
        found[name] = None if row is None else float((row - right).norm() / right.norm())
    return found


def _gradients(loop: Loop) -> dict[str, Tensor | None]:
    """Return the gradient of each loss in a loop; None if the loop cannot use the loss."""
    found: dict[str, Tensor | None] = dict.fromkeys(LOSSES)
    if loop.needs == "lightning":
        load_torchvision("lightning")  # lightning imports torchvision, which needs help beside a torch for the CPU
    for name in (name for name in LOSSES if name not in ABSENT.get(loop.key, ())):
        net, loss, images, labels = task(name)
        runs()[loop.key](net, loss, images, labels)
        found[name] = gradient(net, loss)
    return found


@cache
def _in_processes(processes: int) -> dict[str, dict[str, Tensor | None]]:
    """Run the loops that need so many processes with gloo, and return the gradients of the first process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_process, (processes, port, folder), nprocs=processes)
        return torch.load(Path(folder) / "gradients.pt")


def _process(rank: int, processes: int, port: int, folder: str) -> None:
    torch.set_num_threads(1)
    os.environ |= {"RANK": f"{rank}", "WORLD_SIZE": f"{processes}"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}"}
    with joined():
        found = {loop.name: _gradients(loop) for loop in LOOPS if loop.processes == processes}
    if rank == 0:
        torch.save(found, Path(folder) / "gradients.pt")


def cell(deviation: float | None) -> str:
    """Write a deviation as the table of the page has it."""
    return "—" if deviation is None else "✓" if deviation <= SAME else f"off by {100 * deviation:.0f}\u00a0%"
