"""The table of first losses: what a reader has today beside what this package has, from nothing and trained before.

`python book/tools first_loss` trains what `book/data/first_loss.json` lacks, an hour or two on one core.

The rule: each loss has its usual settings. Its learning rate is the one of `RATES` with the highest mean mAP@R of the
validation classes over the deals `CHOOSE`; it is reported on the test classes of the deals `REPORT`, others of which
nothing was chosen. A deal draws classes, pictures, weights and batches, and is the same for all losses, so that
differences are paired. No class is in two parts of a deal.
"""

import copy
import json
import warnings
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from rankedu.files import written
from rankedu.losses import APLoss, FastAPLoss, OnEmbeddings, RecallLoss, ROADMAPLoss, SmoothAPLoss
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker, NoStepWarning
from rankedu_book.kit.compare import interval
from rankedu_lab.contestants import baseline
from rankedu_lab.datasets import UnicodeGlyphs
from rankedu_lab.training.samplers import ClassBalancedSampler

RECORD = Path(__file__).resolve().parents[2] / "data" / "first_loss.json"
PAGE = RECORD.parents[1] / "use-it.md"
BEGIN, BEGIN_16, END = "<!-- made by first_loss -->", "<!-- made by first_loss, 16 bits -->", "<!-- until here -->"
RATES = (0.0003, 0.001, 0.003, 0.01)
CHOOSE, REPORT = range(3), range(10, 20)
STEPS, BEFORE, PER_CLASS, DIM = 150, 300, 4, 64
#: Classes of each part of a deal: training, validation, test, and those that a trained start knows.
PARTS = {"outlines": (32, 24, 48, 60), "characters": (60, 40, 120, 200)}

Part = tuple[Tensor, Tensor]  # images (N, 1, side, side) and their classes (N,)

#: Name in the table → the loss for so many classes; the first is what the others are held against.
LOSSES: dict[str, Callable[[int], nn.Module]] = {
    "triplet, semi-hard": lambda _: baseline("triplet_semihard"),
    "contrastive": lambda _: baseline("contrastive"),
    "multi-similarity": lambda _: baseline("multi_similarity"),
    "normalised softmax": lambda classes: baseline("normalized_softmax", classes, DIM),
    "`SmoothAPLoss(0.01)`": lambda _: OnEmbeddings(SmoothAPLoss(0.01)),
    "`FastAPLoss(20)`": lambda _: OnEmbeddings(FastAPLoss(20)),
    "`ROADMAPLoss()`": lambda _: OnEmbeddings(ROADMAPLoss()),
    "`APLoss(BlackboxRanker(), 0.1)`": lambda _: OnEmbeddings(APLoss(BlackboxRanker(), 0.1)),
    "`RecallLoss(BlackboxRanker(), 0.1)`": lambda _: OnEmbeddings(RecallLoss(BlackboxRanker(), 0.1)),
    "`RecallLoss(BlackboxRanker(4.0, normalized=True), 0.02)`": lambda _: recall_loss(4.0, 0.02),
}
FIRST, ADVISED, PRINTED = next(iter(LOSSES)), list(LOSSES)[-2], list(LOSSES)[-1]
#: What to begin with: the page sets them against each other.
BOTH = "contrastive", "`ROADMAPLoss()`"
#: Column → data, start, items of a batch.
COLUMNS = {
    **{f"{data}, {start}": (data, start, 64) for data in PARTS for start in ("plain", "normalised", "trained")},
    **{f"outlines, plain, batches of {size}": ("outlines", "plain", size) for size in (16, 128)},
}
#: In the last columns: does it learn at all?
FEW = (FIRST, ADVISED, PRINTED)


def outlines(classes: int, seed: int, per_class: int = 24, side: int = 24) -> Part:
    """Blots: a class is an outline, r(θ) a short Fourier series; a picture turns, scales, moves and blurs it."""
    draw = np.random.default_rng(seed)
    order = np.arange(2, 7)
    height = draw.normal(size=(classes, 1, 5)) * 0.5 / order
    phase = draw.uniform(0, 2 * np.pi, (classes, 1, 5))
    turn = 0.25 * draw.normal(size=(classes, per_class, 1, 1))
    scale = 0.55 * np.exp(0.12 * draw.normal(size=(classes, per_class, 1, 1)))
    x, y = (
        axis - 0.1 * draw.normal(size=(classes, per_class, 1, 1))
        for axis in np.meshgrid(*[np.linspace(-1, 1, side)] * 2, indexing="xy")
    )
    angle, radius = np.arctan2(y, x) + turn, np.hypot(x, y) / scale
    waves = (height[..., i, None, None] * np.cos(k * angle + phase[..., i, None, None]) for i, k in enumerate(order))
    inside = 1 / (1 + np.exp(12 * (radius - np.maximum(1 + sum(waves), 0.2))))
    images = torch.tensor(inside + 0.15 * draw.normal(size=inside.shape), dtype=torch.float32)
    return images.flatten(0, 1)[:, None], torch.arange(classes).repeat_interleave(per_class)


@cache
def _characters() -> Part:
    data = UnicodeGlyphs("all", letters=True)
    return data.images[:, None] / 255, data.labels[:, -1]


@cache
def deal(data: str, number: int) -> tuple[Part, ...]:
    """Training, validation, test, and what a trained start knows."""
    if data == "outlines":
        return tuple(outlines(classes, 1000 * number + part) for part, classes in enumerate(PARTS[data]))
    images, labels = _characters()
    classes, sizes = labels.unique(return_counts=True)
    classes = classes[sizes >= 8]
    chosen = classes[torch.randperm(len(classes), generator=torch.Generator().manual_seed(number))]
    found = []
    for some in chosen[: sum(PARTS[data])].split(PARTS[data]):
        kept = torch.isin(labels, some)
        found.append((images[kept], labels[kept].unique(return_inverse=True)[1]))
    return tuple(found)


def network(normalised: bool) -> nn.Module:
    """Three strided convolutions and a linear layer."""
    layers: list[nn.Module] = []
    for before, after in ((1, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 3, 2, 1), nn.BatchNorm2d(after) if normalised else nn.Identity(), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, DIM))


def train(net: nn.Module, loss: nn.Module, part: Part, rate: float, steps: int, batch: int, seed: int) -> None:
    """Plain PyTorch: Adam, and noise on the pictures."""
    images, labels = part
    optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], rate)
    noise = torch.Generator().manual_seed(seed)
    for index in ClassBalancedSampler(labels, batch, PER_CLASS, batches=steps, seed=seed):
        seen = images[index] + 0.05 * torch.randn(images[index].shape, generator=noise)
        optimizer.zero_grad()
        loss(net(seen), labels[index]).backward()
        optimizer.step()


@cache
def begin(data: str, start: str, number: int) -> nn.Module:
    """The network that all losses of a deal begin with."""
    torch.manual_seed(number)
    net = network(normalised=start != "plain")
    if start == "trained":
        known = deal(data, number)[3]
        train(net, baseline("normalized_softmax", PARTS[data][3], DIM), known, 0.003, BEFORE, 64, number)
    return net


@torch.no_grad()
def judge(net: nn.Module, part: Part) -> float:
    """mAP@R, to four digits."""
    embeddings = torch.cat([net.eval()(some) for some in part[0].split(512)])
    return round(float(evaluate_retrieval(embeddings, part[1], metrics=("map_at_r",))["map_at_r"]), 4)


def run(column: str, name: str, rate: float, number: int, part: int) -> tuple[float, int]:
    """Train one network; mAP@R of a part of the deal, and whether it was told that no step reaches anybody."""
    data, start, batch = COLUMNS[column]
    parts, net = deal(data, number), copy.deepcopy(begin(data, start, number))
    torch.manual_seed(number)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        train(net.train(), LOSSES[name](PARTS[data][0]), parts[0], rate, STEPS, batch, number)
    return judge(net, parts[part]), any(issubclass(warning.category, NoStepWarning) for warning in told)


def measure(column: str, name: str) -> dict[str, Any]:
    """By the rule: the chosen rate, and the reported deals at it."""
    chosen = {rate: [run(column, name, rate, number, part=1)[0] for number in CHOOSE] for rate in RATES}
    rate = max(RATES, key=lambda rate: float(np.mean(chosen[rate])))
    found, told = zip(*(run(column, name, rate, number, part=2) for number in REPORT), strict=True)
    return {"rate": rate, "chosen by": list(chosen.values()), "test": found, "warned": sum(told)}


def main() -> None:
    """Train what is missing, and write after each loss."""
    torch.set_num_threads(1)
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    rows = [(column, name) for column in COLUMNS for name in (LOSSES if COLUMNS[column][2] == 64 else FEW)]
    for column, name in tqdm([(column, name) for column, name in rows if name not in record.get(column, {})]):
        own = record.setdefault(column, {})
        if "before" not in own:
            data, start, _ = COLUMNS[column]
            own["before"] = [judge(begin(data, start, number), deal(data, number)[2]) for number in REPORT]
        own[name] = measure(column, name)
        keep(record)
    record["16 bits"] = {
        name: [off_in_16_bits(start, make) for start in ("normalised", "trained")] for name, make in IN_16_BITS.items()
    }
    keep(record)
    write(record)


def tables(record: dict[str, Any]) -> str:
    """What was reached, in percent, a table for each kind of data; then whether a first loss learns at all."""
    found = []
    for data in PARTS:
        starts = {start: at for at, (of, start, batch) in COLUMNS.items() if of == data and batch == 64}
        found += table(record, f"{data}: mAP@R", starts, list(LOSSES), marks)
    sizes = {batch: at for at, (of, start, batch) in COLUMNS.items() if of == "outlines" and start == "plain"}
    batches = {f"batches of {size}": sizes[size] for size in sorted(sizes)}
    found += table(record, "outlines, plain: mAP@R", batches, FEW, marks)
    return "\n".join([*found, *against(record)])


def against(record: dict[str, Any]) -> list[str]:
    """The two that the page advises, one less the other: a line for each kind of data."""
    starts = ("plain", "normalised", "trained")
    lines = [f"| {BOTH[0]} less {BOTH[1]}: mAP@R | {' | '.join(starts)} |", "|---|---:|---:|---:|"]
    for data in PARTS:
        columns = (record[f"{data}, {start}"] for start in starts)
        found = [interval(np.subtract(*(row[name]["test"] for name in BOTH)), comparisons=5) for row in columns]
        lines.append(f"| {data} | " + " | ".join(f"{100 * one.mean:+.1f}±{100 * one.half:.1f}" for one in found) + " |")
    return [line.replace(" -", " −") for line in lines]


def table(
    record: dict[str, Any], head: str, columns: dict[str, str], names: Iterable[str], note: Callable[[Any, str], str]
) -> list[str]:
    """The lines of one; columns are their titles and what they hold, and a note follows each number."""
    rows = [record[at] for at in columns.values()]
    lines = [f"| {head} | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    lines.append(f"| *before* | {' | '.join(cell(row['before']) for row in rows)} |")
    lines += [f"| {n} | {' | '.join(cell(row[n]['test']) + note(row, n) for row in rows)} |" for n in names]
    return [*lines, ""]


def recall_loss(lam: float, margin: float = 0.1) -> nn.Module:
    """On the scale of rk/n."""
    return OnEmbeddings(RecallLoss(BlackboxRanker(lam, normalized=True), margin))


#: What is differentiated in 16 bits, and how the networks were begun.
IN_16_BITS: dict[str, Callable[[], nn.Module]] = {
    **{f"recall, λ = {lam:g}": partial(recall_loss, lam) for lam in (0.2, 1.0, 4.0)},
    **{name: partial(LOSSES[name], 0) for name in (ADVISED, "`SmoothAPLoss(0.01)`", FIRST, "contrastive")},
}


def off_in_16_bits(start: str, make: Callable[[], nn.Module], batches: int = 8) -> float:
    """By which share of its length the parameters' gradient is off under autocast to bfloat16; a mean over batches."""
    images, labels = deal("outlines", 0)[0]
    found = []
    for index in ClassBalancedSampler(labels, 128, PER_CLASS, batches=batches, seed=0):
        gradients = []
        for narrow in (False, True):
            net = copy.deepcopy(begin("outlines", start, 0)).train()
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=narrow):
                embeddings = net(images[index])
            torch.manual_seed(0)
            make()(embeddings.float(), labels[index]).backward()
            gradients.append(torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None]))
        found.append(float((gradients[1] - gradients[0]).norm() / gradients[0].norm()))
    return round(float(np.mean(found)), 4)


def table_of_16_bits(record: dict[str, Any]) -> str:
    """By how much gradients are off, in percent."""
    lines = ["| gradient of the parameters, off by % | untrained | trained |", "|---|---:|---:|"]
    for name, row in record["16 bits"].items():
        lines.append("| " + " | ".join([name, *(f"{100 * share:.0f}" for share in row)]) + " |")
    return "\n".join(lines)


def cell(values: Any) -> str:
    """Mean and its 95 % interval, in percent."""
    found = interval(np.array(values))
    return f"{100 * found.mean:.1f}±{100 * found.half:.1f}"


def marks(column: dict[str, Any], name: str) -> str:
    """▲ or ▼: above or below the first loss, by 99 %; *: the rate is the first or last of the sweep."""
    found = interval(np.subtract(column[name]["test"], column[FIRST]["test"]), comparisons=5)
    edge = "*" if column[name]["rate"] in (RATES[0], RATES[-1]) else ""
    return ("" if not found.clear else "▲" if found.mean > 0 else "▼") + edge


def keep(record: dict[str, Any]) -> None:
    """Write the record whole, a line a column of the table."""
    lines = (": ".join(json.dumps(part, ensure_ascii=False) for part in entry) for entry in record.items())
    with written(RECORD) as part:
        part.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def write(record: dict[str, Any]) -> None:
    """Put the tables into the page, each between its comments."""
    text = PAGE.read_text(encoding="utf-8")
    for begin, made in ((BEGIN, tables(record)), (BEGIN_16, table_of_16_bits(record))):
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{made}\n\n{rest[rest.index(END) :]}"
    PAGE.write_text(text, encoding="utf-8")
