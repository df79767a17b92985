"""Evaluate embeddings of classes that training never saw, with intervals and pictures, and write the model card."""

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import rankedu
from rankedu.files import written
from rankedu.metrics import evaluate_retrieval
from rankedu_lab.experiments.own.pictures import opened, window
from rankedu_lab.experiments.own.reading import OwnPictures, Read
from rankedu_lab.methods import METHODS
from rankedu_lab.training import History

#: Queries shown, and results of each; side of a picture, and of its frame.
SHOWN, RESULTS, SIDE, CELL = 10, 8, 48, 60
#: Principal components of a baseline; distances below which embeddings of length 1, and means of classes, are alike.
COMPONENTS, ALIKE, ROUNDING = 32, 1e-3, 1e-9
#: Colours of a result of the query's class and of another one, red, green, blue: message apart by the colour-blind.
RIGHT, WRONG = (0, 114, 178), (230, 159, 0)


def per_query(embeddings: Tensor, labels: Tensor, levels: Sequence[str]) -> dict[str, Tensor]:
    """Compute metrics of each query, (n,) each: of its class and, in a hierarchy, of the levels above and of all."""
    names = {"R@1": "recall_at_1", "mAP@R": "map_at_r", "mAP": "average_precision"}
    deep = len(levels) > 1
    wanted = (*names.values(), *(["h_ap"] if deep else []))
    found = evaluate_retrieval(embeddings, labels, metrics=wanted, monotone=deep, progress=False)["per_query"]
    values = {name: found[metric][:, -1] for name, metric in names.items()}
    values |= {f"R@1 of {level}": found["recall_at_1"][:, at] for at, level in enumerate(levels[:-1])}
    return {**values, "H-AP": found["h_ap"]} if deep else values


def baselines(fit: OwnPictures, test: OwnPictures) -> dict[str, Tensor]:
    """Embed the test without a network: by its pixels, and by principal components of grey pixels less their mean."""
    pixels = [torch.cat([_reduced(side.pixels[at], side.size) for at in side.at.split(512)]) for side in (fit, test)]
    grey = [of.mean(1).flatten(1).double() for of in pixels]
    grey = [of - of.mean(1, keepdim=True) for of in grey]
    middle = grey[0].mean(0)
    components = torch.linalg.svd(grey[0] - middle, full_matrices=False)[2][:COMPONENTS]
    return {"pixels": pixels[1].flatten(1), "grey pixels, PCA": (grey[1] - middle) @ components.T}


def _reduced(pixels: Tensor, size: int) -> Tensor:
    """Shrink what a network sees of kept pixels to a side of 16, (n, 3, 16, 16)."""
    return torch.nn.functional.interpolate(window(pixels, size), (16, 16), mode="area")


def collapsed(made: Mapping[str, Tensor]) -> list[str]:
    """Write a note on embeddings that are all alike."""
    found = []
    for name, embeddings in made.items():
        unit = torch.nn.functional.normalize(embeddings.double(), dim=1)
        if (unit - unit[0]).norm(dim=1).max() < ALIKE:
            found.append(f"{name}: all embeddings of the test are alike, so that chance, or rounding, ranks them")
    return found


def chance(labels: Tensor) -> float:
    """Compute R@1 of a random order: the mean share of the other pictures that have a query's class."""
    counts = labels[:, -1].unique(return_inverse=True, return_counts=True)
    return float((counts[2][counts[1]] - 1).double().mean() / (len(labels) - 1))


def interval(values: Tensor, classes: Tensor, least: float = 0.0) -> tuple[float, float, float]:
    """Compute the mean over queries, (n,), of values from ``least`` to 1, and its 95 % interval.

    The variance of the mean is that of a bootstrap over classes, (n,), corrected for their number. The interval is
    Wilson's for the number of queries at which a share has this variance, with Student's quantile. Where all n classes
    have one mean, which is no certainty, it is as wide as Wilson's for 0 or n of n.
    """
    from scipy import stats

    known = ~values.isnan()
    number = classes[known].unique(return_inverse=True)[1].numpy()
    size, total = np.bincount(number), np.bincount(number, values[known].numpy())
    mean = float(total.sum() / size.sum())
    variance = float((((total - mean * size) / size.sum()) ** 2).sum())
    if variance < ROUNDING**2:
        half = (square := stats.norm.isf(0.025) ** 2) / (len(size) + square)
        return mean, max(mean - half, least), min(mean + half, 1.0)
    factor, freedom = resolution(size / size.sum())
    share, square = (mean - least) / (1 - least), stats.t.isf(0.025, max(freedom, 1)) ** 2
    part = square * factor * variance / (1 - least) ** 2 / (share * (1 - share))  # quantile² / number of queries
    half = math.sqrt(part * share * (1 - share) + part**2 / 4)
    low, high = (least + (1 - least) * (share + part / 2 + sign * half) / (1 + part) for sign in (-1, 1))
    return mean, low, high


def resolution(weights: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Compute the factor by which the bootstrap's variance of a weighted mean is too small, and its degrees of freedom.

    For classes with the weights w, which add up to 1, and independent effects b of one variance σ², the mean Σwb has
    the variance σ²Σw². The bootstrap estimates it by Σw²(b − Σwb)², on average σ²(Σw² − 2Σw³ + (Σw²)²). Student's t
    takes 1/Σw² − 1 degrees of freedom. For n equal weights these are n/(n − 1) and n − 1.
    """
    square, cube = (float((weights**power).sum()) for power in (2, 3))
    return square / (square - 2 * cube + square**2), 1 / square - 1


def table(rows: Mapping[str, Mapping[str, Tensor]], classes: Tensor) -> list[list[str]]:
    """Write means and intervals in words: a head, one row per embedding, and the last row minus the first."""
    (first, last), names = (list(rows.values())[at] for at in (0, -1)), list(rows)
    every = {**rows, f"{names[-1]} − {names[0]}": {name: last[name] - first[name] for name in last}}
    lines = [["", *last]]
    for at, (title, values) in enumerate(every.items()):
        form, least = ("{:+.3f} ({:+.3f} to {:+.3f})", -1) if at == len(rows) else ("{:.3f} ({:.3f} to {:.3f})", 0)
        lines.append([title, *(form.format(*interval(values[name], classes, least)) for name in last)])
    return lines


@contextmanager
def _drawn(path: Path, width: float, height: float, dpi: int) -> Iterator[Any]:
    """Give a figure with two axes, on white whatever style the user has set; it is written at the end of the block."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context("default"), written(path) as part:
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, *figure.subplots(1, 2)
        figure.savefig(part, format="png", dpi=dpi, metadata={"Software": None})


def curves(history: History, path: Path) -> None:
    """Draw the loss of every step, with means over a twentieth of the steps, and what was evaluated on the way."""
    steps = torch.arange(1, len(history.losses) + 1)
    losses, many = torch.tensor(history.losses).double(), min(20, len(steps))
    means = [[part.double().mean().item() for part in of.tensor_split(many)] for of in (steps, losses)]
    with _drawn(path, 8, 3.4, 120) as (_, left, right):
        left.plot(steps, losses, color="0.6", linewidth=0.8, label="of a batch")
        left.plot(*means, "k", label="mean of a twentieth of the steps")
        left.set(xlabel="step", title="loss")
        for name, line in {"R@1": "o-", "mAP": "s--"}.items():
            right.plot(*zip(*((row["step"], row[name]) for row in history.evaluations), strict=True), line, label=name)
        right.set(xlabel="step", title="on the test classes", ylim=(-0.03, 1.03))
        for axes in (left, right):
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)


def queries(embeddings: Tensor, data: Read, test: OwnPictures, precision: Tensor, path: Path) -> None:
    """Draw the ten best and the ten worst queries, by AP (n,), of every class as few as may be."""
    leaves = test.labels[:, -1]
    ranked = precision.nan_to_num(-1.0).argsort(descending=True, stable=True).tolist()
    most = math.ceil(SHOWN / len(leaves.unique()))
    best, worst = (_spread(order, leaves.tolist(), most) for order in (ranked, ranked[::-1]))
    with _drawn(path, 13, 0.62 * SHOWN + 0.9, 100) as (figure, *both):
        for axes, chosen, title in zip(both, (best, worst), ("best", "worst"), strict=True):
            axes.imshow(_sheet(embeddings, data, test, chosen))
            names = [test.names[-1][int(leaves[query])] for query in chosen]
            said = [
                f"{name if len(name) < 25 else name[:24] + '…'}\nAP {float(precision[query]):.2f}"
                for name, query in zip(names, chosen, strict=True)
            ]
            axes.set_yticks([(row + 0.5) * CELL for row in range(len(chosen))], said, fontsize=9, parse_math=False)
            axes.set(title=f"{len(chosen)} {title} queries, and what each found first", xticks=[])
            axes.spines[:].set_visible(False)
        figure.supxlabel("frames: black, the query; blue, of its class; orange, of another class", fontsize=10)


def _sheet(embeddings: Tensor, data: Read, test: OwnPictures, chosen: Sequence[int]) -> Any:
    """Draw some queries, one row each: the query and what it found first, with frames."""
    from PIL import Image

    unit, leaves = torch.nn.functional.normalize(embeddings.double(), dim=1), test.labels[:, -1]
    sheet = Image.new("RGB", ((RESULTS + 1) * CELL + 12, len(chosen) * CELL), "white")
    for row, query in enumerate(chosen):
        scores = unit @ unit[query]
        scores[query] = -math.inf
        found = scores.topk(min(RESULTS, len(scores) - 1)).indices.tolist()
        for place, item in enumerate([query, *found]):
            colour = (0, 0, 0) if not place else RIGHT if leaves[item] == leaves[query] else WRONG
            left, top = place * CELL + (12 if place else 0), row * CELL
            for inset, ink in ((0, colour), (3, (255, 255, 255))):  # white parts the frame from a picture like it
                side = CELL - 2 - 2 * inset
                sheet.paste(ink, (left + inset, top + inset, left + inset + side, top + inset + side))
            picture = opened(data.folder / test.rows[item].file, SIDE, as_stored=data.as_stored)[0]
            sheet.paste(picture.resize((SIDE, SIDE)), (left + 5, top + 5))
    return np.asarray(sheet)


def _spread(order: Sequence[int], leaves: Sequence[Any], most: int) -> list[int]:
    """Take the first items of an order, at most `most` of each class."""
    chosen: list[int] = []
    for item in order:
        if sum(leaves[item] == leaves[other] for other in chosen) < most and len(chosen) < SHOWN:
            chosen.append(item)
    return chosen


LOAD = """```python
from pathlib import Path

import torch
from rankedu_lab.experiments.own import load_picture
from rankedu_lab.models import build

folder = Path({folder!r})  # of this card
net = build({model!r}, dim={dim}, in_channels=3, weights=folder / "model.pt").eval()
picture = load_picture({file!r}, size={size}{more})
with torch.no_grad():
    embedding = net(picture[None])  # (1, {dim}), of length 1
```"""
REACHES = """
Each of the {n:,} test pictures is a query and ranks all others by cosine; R@1 of a random order is {chance:.3f}. R@1 \
says how often the first result is of the query's class; mAP@R and mAP are means over the queries. "pixels" and "grey \
pixels, PCA" ({components} principal components of the training pictures, each picture less its mean) need no network.

In brackets are 95 % intervals, by Wilson's formula with the variance of a bootstrap over the {classes} test classes \
with all their queries, the gallery as it is. The last line compares query by query. Intervals say how sure the \
numbers are for other classes like these, and nothing of another start (`--seed`). Nothing was chosen by the test: the \
network is that of the last step.

![loss and metrics by step](curves.png)

![ten best and ten worst queries](queries.png)"""


def _about(
    data: Read, chosen: Mapping[str, Any], net: Any, loss: Any, history: History, command: str
) -> dict[str, str]:
    """Describe what was done, by subject, for the head of the card."""
    settings = ", ".join(f"{name}={value}" for name, value in chosen["settings"].items()) or "as published"
    start = net.pretrained if net.pretrained != "random" else f"random weights, seed {chosen['seed']}"
    versions = {"rankedu": rankedu.__version__, **{name: version(name) for name in ("torch", "numpy", "pillow")}}
    per_class = chosen["per_class"]
    how = [f"dimensions {chosen['dim']}, pictures of side {chosen['size']}, from {start}"]
    how += ["mirrored"] * chosen["mirror"] + ["only the last layer was trained"] * chosen["frozen"]
    return {
        "data": f"{data.source.resolve().name}, {len(data.rows):,} pictures; SHA-256 of pictures, labels, split: "
        f"`{data.digest}`",
        "labels": " → ".join(data.levels),
        "split": f"no class on both sides: {data.split}",
        "training": data.count("train"),
        "test": data.count("test"),
        "network": f"{chosen['model']}, {sum(map(torch.numel, net.parameters())):,} parameters, {', '.join(how)}",
        "loss": f"{chosen['loss']} ({METHODS[chosen['loss']].title}), {settings}",
        "at the end": f"`{' '.join(repr(loss).split())}`",
        "steps": f"{chosen['steps']} of {chosen['batch_size'] // per_class} classes × {per_class}, Adam, learning rate "
        f"{chosen['lr']:g}; {history.seconds + history.evaluating:.0f} s",
        "command": f"`{command}`" if command else "none: called from Python",
        "versions": ", ".join(map(" ".join, versions.items())) + f", Python {platform.python_version()}",
    }


def card(
    data: Read,
    test: OwnPictures,
    chosen: Mapping[str, Any],
    net: Any,
    loss: Any,
    history: History,
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    folder: Path,
    command: str,
) -> str:
    """Write the card; ``chosen`` has all settings, ``rows`` is what `table` made, ``folder`` is where the card goes."""
    source, labels = data.source.resolve(), test.labels
    lines = ["| " + " | ".join(cells) + " |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:])]
    about = {
        name: value.replace("|", "\\|") for name, value in _about(data, chosen, net, loss, history, command).items()
    }
    reached = {"n": len(labels), "chance": chance(labels), "classes": len(labels[:, -1].unique())}
    file, more = str(data.folder.resolve() / test.rows[0].file), ", as_stored=True" * data.as_stored
    return "\n".join(
        [
            f"# {source.name if source.is_dir() else source.stem}: model card\n\n| | |\n|---|---|",
            *(f"| {name} | {value} |" for name, value in about.items()),
            "\n## What it reaches\n",
            *lines,
            REACHES.format(**reached, components=COMPONENTS),
            *(["\n## Notes\n", *(f"* {note}" for note in notes)] if notes else []),
            "\n## Load it\n",
            LOAD.format(**chosen, folder=str(folder.resolve()), file=file, more=more),
            "\n`embeddings.npy` and `labels.csv` are those of the test: `rankedu evaluate embeddings.npy labels.csv`. "
            "`queries.csv` has each query's numbers, `run.json` all settings.\n",
        ]
    )
