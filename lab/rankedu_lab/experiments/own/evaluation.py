"""Evaluate embeddings of classes that training never saw, with intervals and pictures."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate, normalize

from rankedu.files import written
from rankedu.metrics import evaluate_retrieval
from rankedu.metrics.intervals import mean_interval
from rankedu_lab.experiments.own.pictures import opened, window
from rankedu_lab.experiments.own.reading import OwnPictures, Read

#: Queries shown, and results of each; side of a picture.
SHOWN, RESULTS, SIDE = 10, 8, 48
#: Principal components of a baseline; the distance below which embeddings of length 1 are alike.
COMPONENTS, ALIKE = 32, 1e-3
#: Colours of a result of the query's class and of another one, which the colour-blind distinguish, too.
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

    def reduced(side: OwnPictures) -> Tensor:
        """Shrink what a network sees of the pictures to a side of 16."""
        parts = (window(side.pixels[at], side.size) for at in side.at.split(512))
        return torch.cat([interpolate(part, (16, 16), mode="area") for part in parts])

    def grey(pixels: Tensor) -> Tensor:
        flat = pixels.mean(1).flatten(1).double()
        return flat - flat.mean(1, keepdim=True)

    seen, pixels = grey(reduced(fit)), reduced(test)
    middle = seen.mean(0)
    components = torch.linalg.svd(seen - middle, full_matrices=False)[2][:COMPONENTS]
    return {"pixels": pixels.flatten(1), "grey pixels, PCA": (grey(pixels) - middle) @ components.T}


def collapsed(made: Mapping[str, Tensor]) -> list[str]:
    """Write a note on embeddings that are all alike."""
    unit = {name: normalize(embeddings.double(), dim=1) for name, embeddings in made.items()}
    alike = [name for name, rows in unit.items() if (rows - rows[0]).norm(dim=1).max() < ALIKE]
    return [f"{name}: all embeddings of the test are alike, so that rounding ranks them" for name in alike]


def chance(labels: Tensor) -> float:
    """Compute R@1 of a random order: the mean share of the other pictures that have a query's class."""
    _, place, counts = labels[:, -1].unique(return_inverse=True, return_counts=True)
    return float((counts[place] - 1).double().mean() / (len(labels) - 1))


def interval(values: Tensor, classes: Tensor, least: float = 0.0) -> tuple[float, float, float]:
    """Compute the mean over queries of values from ``least`` to 1, and its 95 % interval for other classes, (n,)."""
    low, high = mean_interval(((values - least) / (1 - least)).numpy(), classes.numpy(), 0.95)
    return float(values.nanmean()), least + (1 - least) * low, least + (1 - least) * high


def table(rows: Mapping[str, Mapping[str, Tensor]], classes: Tensor) -> list[list[str]]:
    """Write means and intervals in words: a head, one row per embedding, and the last row minus the first."""
    (first, *_, last), names = rows.values(), list(rows)
    lines = [["", *last]]
    for title, values in rows.items():
        cells = [interval(value, classes) for value in values.values()]
        lines.append([title, *map("{0[0]:.3f} ({0[1]:.3f} to {0[2]:.3f})".format, cells)])
    cells = [interval(last[name] - first[name], classes, -1) for name in last]
    gained = map("{0[0]:+.3f} ({0[1]:+.3f} to {0[2]:+.3f})".format, cells)
    return [*lines, [f"{names[-1]} − {names[0]}", *gained]]


def queries(embeddings: Tensor, data: Read, test: OwnPictures, precision: Tensor, path: Path) -> None:
    """Draw the ten best and the ten worst queries, by AP (n,), with what each found first."""
    from matplotlib import style
    from matplotlib.figure import Figure

    leaves, unit = test.labels[:, -1], normalize(embeddings.double(), dim=1)
    ranked = precision.nan_to_num(-1.0).argsort(descending=True, stable=True).tolist()
    with style.context("default"), written(path) as part:  # on white, whatever style the user has set
        figure = Figure(figsize=(13, 0.62 * SHOWN + 0.9), layout="constrained")
        for axes, title in zip(figure.subplots(1, 2), ("best", "worst"), strict=True):
            chosen, rows, names = _spread(ranked if title == "best" else ranked[::-1], leaves.tolist()), [], []
            for query in chosen:
                scores = unit @ unit[query]
                scores[query] = math.inf  # the query itself comes first
                found = scores.topk(min(RESULTS + 1, len(scores))).indices.tolist()
                rows.append(np.hstack([_framed(data, test, item, query) for item in found]))
                name = test.names[-1][int(leaves[query])]
                names.append(f"{name if len(name) < 25 else name[:24] + '…'}\nAP {float(precision[query]):.2f}")
            axes.imshow(np.vstack(rows))
            axes.set_yticks([(at + 0.5) * len(rows[0]) for at in range(len(rows))], names, fontsize=9, parse_math=False)
            axes.set(title=f"{len(chosen)} {title} queries, and what each found first", xticks=[])
            axes.spines[:].set_visible(False)
        figure.supxlabel("frames: black, the query; blue, of its class; orange, of another class", fontsize=10)
        figure.savefig(part, format="png", dpi=100, metadata={"Software": None})


def _framed(data: Read, test: OwnPictures, item: int, query: int) -> Any:
    """Load a picture with a frame that shows its relation to the query, and with white on both sides of the frame."""
    from PIL import ImageOps

    leaves = test.labels[:, -1]
    colour: Any = "black" if item == query else RIGHT if leaves[item] == leaves[query] else WRONG
    picture = opened(data.folder / test.rows[item].file, SIDE, as_stored=data.as_stored)[0].resize((SIDE, SIDE))
    for width, ink in ((2, "white"), (3, colour), (1, "white")):
        picture = ImageOps.expand(picture, width, ink)
    return np.asarray(picture)


def _spread(order: Sequence[int], leaves: Sequence[int]) -> list[int]:
    """Take the first ten items of an order, from as many classes as possible."""
    most, chosen = math.ceil(SHOWN / len({*leaves})), list[int]()
    for item in order:
        if len(chosen) < SHOWN and sum(leaves[item] == leaves[other] for other in chosen) < most:
            chosen.append(item)
    return chosen
