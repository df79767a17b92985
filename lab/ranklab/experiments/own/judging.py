"""How well embeddings of classes that training never saw retrieve, how sure that is, how it looks: the model card."""

import math
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import rankedu
from rankedu.files import written
from rankedu.metrics import evaluate_retrieval
from ranklab.experiments.own.reading import OwnPictures, Read
from ranklab.methods import METHODS
from ranklab.runs.judging import Contrast, bootstrap
from ranklab.training import History

#: Bootstrap samples of the test classes; queries that are shown, and results of each; side of a small picture.
DRAWS, SHOWN, RESULTS, SIDE = 2000, 10, 8, 48
#: Colours of a result of the query's class and of another one, red, green, blue: told apart by the colour-blind.
RIGHT, WRONG = (0, 114, 178), (230, 159, 0)


def per_query(embeddings: Tensor, labels: Tensor, levels: Sequence[str]) -> dict[str, Tensor]:
    """Metrics of each query, (n,) each: of its class and, of a hierarchy, of the levels above and of all together."""
    names = {"R@1": "recall_at_1", "mAP@R": "map_at_r", "mAP": "average_precision"}
    deep = len(levels) > 1
    wanted = (*names.values(), *(["h_ap"] if deep else []))
    found = evaluate_retrieval(embeddings, labels, metrics=wanted, monotone=deep, progress=False)["per_query"]
    values = {name: found[metric][:, -1] for name, metric in names.items()}
    values |= {f"R@1 of {level}": found["recall_at_1"][:, at] for at, level in enumerate(levels[:-1])}
    return {**values, "H-AP": found["h_ap"]} if deep else values


def chance(labels: Tensor) -> float:
    """R@1 of a random order: the share of the others that have a query's class, its mean over the queries."""
    counts = labels[:, -1].unique(return_inverse=True, return_counts=True)
    return float((counts[2][counts[1]] - 1).double().mean() / (len(labels) - 1))


def interval(values: Tensor, classes: Tensor) -> tuple[float, float, float]:
    """The mean over queries, (n,), and its 95 % interval: the percentile bootstrap over classes, (n,), drawn anew."""
    known = ~values.isnan().numpy()
    number = classes.unique(return_inverse=True)[1].numpy()
    sums, counts = (np.bincount(number, of).astype(np.float64)[None] for of in (np.where(known, values, 0), known))
    found = Contrast(sums, counts)
    low, high = np.nanquantile(bootstrap(found, samples=DRAWS), (0.025, 0.975))
    return found.mean, float(low), float(high)


def table(rows: Mapping[str, Mapping[str, Tensor]], classes: Tensor) -> list[list[str]]:
    """A head, a row each, and what the last row has more than the first: means and intervals in words."""
    (first, last), names = (list(rows.values())[at] for at in (0, -1)), list(rows)
    every = {**rows, f"{names[-1]} − {names[0]}": {name: last[name] - first[name] for name in last}}
    lines = [["", *last]]
    for at, (title, values) in enumerate(every.items()):
        form = "{:+.3f} ({:+.3f} to {:+.3f})" if at == len(rows) else "{:.3f} ({:.3f} to {:.3f})"
        lines.append([title, *(form.format(*interval(values[name], classes)) for name in last)])
    return lines


def curves(history: History, path: Path) -> None:
    """The loss of every step, with means over a twentieth of the steps, and what was evaluated on the way."""
    from matplotlib.figure import Figure

    steps = torch.arange(1, len(history.losses) + 1)
    parts, many = torch.tensor(history.losses).double(), min(20, len(steps))
    figure = Figure(figsize=(8, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(steps, parts, color="0.75", linewidth=0.8)
    left.plot(*([part.double().mean().item() for part in of.tensor_split(many)] for of in (steps, parts)), "k")
    left.set(xlabel="step", ylabel="loss of a batch")
    for name, style in {"R@1": "o-", "mAP": "s--"}.items():
        right.plot(*zip(*((row["step"], row[name]) for row in history.evaluations), strict=True), style, label=name)
    right.set(xlabel="step", ylabel="on the test classes", ylim=(0, 1))
    right.legend()
    with written(path) as part:
        figure.savefig(part, format="png", dpi=120, metadata={"Software": None})


def queries(embeddings: Tensor, test: OwnPictures, precision: Tensor, path: Path) -> None:
    """Draw the ten best and the ten worst queries, by AP (n,), of every class as few as may be."""
    from matplotlib.figure import Figure
    from PIL import Image

    leaves = test.labels[:, -1]
    ranked = precision.nan_to_num(-1.0).argsort(descending=True, stable=True).tolist()
    most = math.ceil(SHOWN / len(leaves.unique()))
    best, worst = (_spread(order, leaves.tolist(), most) for order in (ranked, ranked[::-1]))
    cell, unit = SIDE + 6, torch.nn.functional.normalize(embeddings.double(), dim=1)
    width = (RESULTS + 1) * cell + 12
    figure = Figure(figsize=(13, 0.62 * SHOWN + 0.9), layout="constrained")
    for axes, chosen, title in zip(figure.subplots(1, 2), (best, worst), ("ten best", "ten worst"), strict=True):
        sheet = Image.new("RGB", (width, len(chosen) * cell), "white")
        for row, query in enumerate(chosen):
            scores = unit @ unit[query]
            scores[query] = -math.inf
            found = scores.topk(min(RESULTS, len(scores) - 1)).indices.tolist()
            for place, item in enumerate([query, *found]):
                colour = (0, 0, 0) if not place else RIGHT if leaves[item] == leaves[query] else WRONG
                at = (place * cell + (12 if place else 0), row * cell)
                sheet.paste(Image.new("RGB", (cell - 2, cell - 2), colour), at)
                with Image.open(test.paths[item]) as picture:
                    sheet.paste(picture.convert("RGB").resize((SIDE, SIDE)), (at[0] + 2, at[1] + 2))
        axes.imshow(np.asarray(sheet))
        names = [f"{test.names[-1][int(leaves[query])]}\nAP {float(precision[query]):.2f}" for query in chosen]
        axes.set_yticks([(row + 0.5) * cell for row in range(len(chosen))], names, fontsize=8, parse_math=False)
        axes.set(title=f"{title} queries, and what each found first", xticks=[])
        axes.spines[:].set_visible(False)
    figure.supxlabel("black: the query; blue: of its class; orange: of another", fontsize=9)
    with written(path) as part:
        figure.savefig(part, format="png", dpi=100, metadata={"Software": None})


def _spread(order: Sequence[int], leaves: Sequence[Any], most: int) -> list[int]:
    """The first of an order, of no class more than so many."""
    chosen: list[int] = []
    for item in order:
        if sum(leaves[item] == leaves[other] for other in chosen) < most and len(chosen) < SHOWN:
            chosen.append(item)
    return chosen


LOAD = """```python
import torch
from PIL import Image
from ranklab.datasets.transforms import view
from ranklab.models import build

net = build({model!r}, dim={dim}, in_channels=3, weights="model.pt").eval()
with torch.no_grad(), Image.open({file!r}) as picture:
    embedding = net(view(picture, size={size}, crop="window")[None])  # (1, {dim}), of length 1
```"""


def card(
    data: Read,
    labels: Tensor,
    chosen: Mapping[str, Any],
    net: Any,
    loss: Any,
    history: History,
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    command: str,
) -> str:
    """Write the card; ``labels`` are those of the test, ``chosen`` all settings, ``rows`` what `table` made."""
    settings = ", ".join(f"{name}={value}" for name, value in chosen["settings"].items()) or "as published"
    start = net.pretrained if net.pretrained != "random" else f"random weights, seed {chosen['seed']}"
    versions = {"rankedu": rankedu.__version__, **{name: version(name) for name in ("torch", "numpy", "pillow")}}
    per_class = chosen["per_class"]
    how = [f"dimensions {chosen['dim']}, pictures of side {chosen['size']}, from {start}"]
    how += ["mirrored"] * chosen["mirror"] + ["only the last layer was trained"] * chosen["frozen"]
    about = {
        "data": f"{data.source.name}, {len(data.rows):,} pictures; SHA-256 of pictures, labels, split: `{data.digest}`",
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
    lines = ["| " + " | ".join(cells) + " |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:])]
    return "\n".join(
        [
            f"# {data.source.stem}: model card\n\n| | |\n|---|---|",
            *(f"| {name} | {value} |" for name, value in about.items()),
            "\n## What it reaches\n",
            *lines,
            f"\nEach of the {len(labels):,} test pictures is a query and ranks all others by cosine; R@1 of a random "
            f"order is {chance(labels):.3f}. R@1 says how often the first is of the query's class; mAP@R and mAP are "
            f"means over the queries. In brackets 95 % intervals, from {DRAWS:,} bootstrap samples of the "
            f"{len(labels[:, -1].unique())} test classes with all their queries, the gallery as it is; the last line "
            "compares query by query. They say how sure the numbers are for other classes like these, and nothing of "
            "another start (`--seed`). Nothing was chosen by the test: the network is that of the last step.",
            "\n![loss and metrics by step](curves.png)\n\n![ten best and ten worst queries](queries.png)",
            *(["\n## Notes\n", *(f"* {note}" for note in notes)] if notes else []),
            "\n## Load it\n",
            LOAD.format(**chosen, file=data.rows[0].file),
            "\n`embeddings.npy` and `labels.csv` are those of the test: `rankedu evaluate embeddings.npy labels.csv`. "
            "`queries.csv` has each query's numbers, `run.json` all settings.\n",
        ]
    )
