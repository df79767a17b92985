"""What is timed beside the lab's lists and batches: evaluation, detection, training, short lists, and how it starts.

Each function makes one comparison: contenders by their names, ours the first, and what else is told, found when called.
"""

import contextlib
import io
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize
from torch.profiler import ProfilerActivity, profile

from rankbook.kit import landscapes
from rankedu.losses import HAPLoss, MAPLoss, OnEmbeddings, RecallLoss
from rankedu.memory import ScoreMemory
from rankedu.metrics import evaluate_retrieval
from rankedu.rankers import BlackboxRanker, SigmoidRanker, suggest_lam
from ranklab.detections import evaluate_detections
from ranklab.experiments.speed import contestants
from ranklab.experiments.speed.contestants import LIMIT, LISTS, OURS, PRODUCT, Batch, List, alone, step
from ranklab.experiments.speed.stopwatch import Work, peak_of, told

Comparison = tuple[dict[str, Work], Callable[[], dict[str, float]]]
ROOT = Path(__file__).resolve().parents[2]
FINE = (*(f"recall_at_{k}" for k in (1, 10, 100, 1000)), "average_precision", "map_at_r")
GRADED = (*FINE, "h_ap", "asi", "ndcg")
FIXED = "a fixed λ"
MATMUL = "the matrix product"
CORE = "import rankedu.metrics.retrieval, rankedu.losses.hierarchical, rankedu.losses.recall, rankedu.memory"
HELP = "import sys; from rankedu.__main__ import main; sys.argv = ['rankedu', '--help']; main()"


def compare(kind: type[List] | type[Batch], work: str, whos: tuple[str, ...], ours: str, setting: dict) -> Comparison:
    """One of the lab's pieces of work, by us and by others, or beside a limit."""
    limits = {who for what, who in LISTS if what == LIMIT} | {PRODUCT}
    names = [(work, ours), *((LIMIT if who in limits else work, who) for who in whos)]
    return dict(zip(["ours", *whos], kind(**setting).works(names).values(), strict=True)), dict


# --- Lists and batches ------------------------------------------------------------------------------------------------


def list_memory(work: str, n: int) -> Comparison:
    """Bytes a score of the loss, in a process of its own."""
    name = (work, OURS)
    return {}, lambda: {"bytes a score": round(contestants.bytes_a_score([name], n, 0.01, 0)[name], 1)}


def with_matrices(size: int, per_class: int = 4) -> Comparison:
    """Smooth-AP, and how many matrices of the batch's scores it takes beyond the product, by torch's own events."""
    works, _ = compare(Batch, "Smooth-AP", (PRODUCT,), OURS, {"size": size, "per_class": per_class})

    def peak(work):
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
            work()
        sizes = [event.nbytes() for event in found.profiler.kineto_results.events() if event.name() == "[memory]"]
        return max(np.cumsum(sizes))

    def matrices():
        return {"further matrices": round((peak(works["ours"]) - peak(works[PRODUCT])) / (4 * size**2), 2)}

    return works, matrices


def other_ranker(name: str, size: int) -> Comparison:
    """H-AP by another ranker, beside HAPPIER's."""
    batch = Batch(size, halves=True)
    ranker = {"sigmoid": SigmoidRanker(0.01), "blackbox": BlackboxRanker(50.0)}[name]
    loss = HAPLoss(ranker, within_grad=name == "sigmoid")
    return {"ours": alone(batch, "H-AP", loss), "HAPPIER": alone(batch, "H-AP")}, dict


def map_with_memory(batch: int, classes: int = 20) -> Comparison:
    """As in detection, τ = 7; everything is ranked twice, within its class and in one list."""
    scores = torch.randn(batch, classes, generator=torch.Generator().manual_seed(0))
    relevance = torch.arange(batch)[:, None] % classes == torch.arange(classes)
    loss = MAPLoss(BlackboxRanker(1e3), margin=0.15, memory=ScoreMemory(7))
    everything = np.tile(scores.T.numpy(), (1, 8))
    sorts = lambda: [np.argsort(everything, axis=axis) for axis in (-1, -1, None, None)]  # noqa: E731
    ours = step(lambda y: loss(y, relevance), scores)
    return {"ours": ours, "two np.argsort by class and two in one list": sorts}, dict


def lam_from_data(what: str, size: int) -> Comparison:
    """λ from the data, and the check whether a step reaches anybody, beside a fixed λ without a check."""
    labels = torch.arange(max(size, 8)) // 4
    embeddings = torch.randn(len(labels), 64, generator=torch.Generator().manual_seed(0))
    losses = {"auto": RecallLoss(BlackboxRanker(), margin=0.1), "check": RecallLoss(BlackboxRanker(1e4), margin=0.1)}
    fixed = RecallLoss(BlackboxRanker(1e4), margin=0.1)
    fixed.ranker._warned = True

    def train(loss):
        on_embeddings = OnEmbeddings(loss)
        return step(lambda e: on_embeddings(e, labels), embeddings)

    suggest = lambda: suggest_lam(OnEmbeddings(fixed), embeddings, labels)  # noqa: E731
    return {"ours": suggest if what == "suggestion" else train(losses[what]), FIXED: train(fixed)}, dict


def slider(landscape: str) -> Comparison:
    """A slider move on λ: the section is computed once."""
    section, c = landscapes.random_section(20, resolution=200), landscapes.random_coefficients(20)
    draw, lams = getattr(landscapes, landscape), iter(np.geomspace(0.1, 100, 200))
    sort = lambda: np.sort(section.points(), axis=-1)  # noqa: E731
    return {"ours": lambda: draw(section, c, next(lams)), "one np.sort": sort}, dict


# --- Evaluation -------------------------------------------------------------------------------------------------------


def catalogue(n: int, dim: int = 512, seed: int = 0, device: str = "cpu"):
    """Embeddings and labels as of a product catalogue: classes of 2 to 8 items, in 96 groups, in 12 super-classes."""
    generator, random = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    leaf = torch.from_numpy(np.repeat(np.arange(n), random.integers(2, 9, n))[:n])
    classes = int(leaf[-1]) + 1
    group = torch.from_numpy(random.integers(0, 96, classes))
    centre = 0.6 * torch.randn(classes, dim, generator=generator)
    for weight, members in ((0.3, group), (0.4, group // 8)):
        centre += weight * torch.randn(96, dim, generator=generator)[members]
    leaf = leaf[torch.randperm(n, generator=generator)]
    embeddings = 1.5 * torch.randn(n, dim, generator=generator)
    for rows in torch.arange(n).split(4096):
        embeddings[rows] += centre[leaf[rows]]
    return embeddings.to(device), torch.stack([group[leaf] // 8, group[leaf], leaf], dim=1).to(device)


def product(embeddings, chunk: int = 256) -> None:
    """All similarities, a chunk at a time, into the same memory."""
    unit = normalize(embeddings, dim=1)
    space = torch.empty(chunk, len(unit), device=unit.device)
    for queries in unit.split(chunk):
        torch.mm(queries, unit.T, out=space[: len(queries)])


def evaluation(n: int, metrics: tuple[str, ...]) -> Comparison:
    """Retrieval metrics of a whole test set, the graded ones over three levels."""
    embeddings, labels = catalogue(n)
    labels = labels if metrics == GRADED else labels[:, 2:]
    ours = partial(evaluate_retrieval, embeddings, labels, metrics=metrics, progress=False)
    return {"ours": ours, MATMUL: partial(product, embeddings)}, dict


def beside_pml(n: int, dim: int = 256) -> Comparison:
    """Precision at 1, R-precision and mAP@R, beside the calculator of pytorch-metric-learning."""
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    embeddings, labels = catalogue(n, dim)
    names = ("precision_at_1", "r_precision", "mean_average_precision_at_r")
    theirs = AccuracyCalculator(include=names, k="max_bin_count", device=torch.device("cpu"))
    unit = normalize(embeddings, dim=1)
    metrics = ("recall_at_1", "precision_at_1", "map_at_r")
    ours = partial(evaluate_retrieval, embeddings, labels[:, 2], metrics=metrics, progress=False)
    return {"ours": ours, "pytorch-metric-learning": lambda: theirs.get_accuracy(unit, labels[:, 2])}, dict


def evaluation_memory(n: int) -> Comparison:
    """Megabytes at the peak, in a process of its own."""
    return {}, lambda: {"extra megabytes": round(told(__name__, f"evaluation_peak({n})"))}


def evaluation_peak(n: int) -> float:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for size in (300, n):  # the first loads the libraries
        work = partial(evaluate_retrieval, *catalogue(size), metrics=GRADED, progress=False)
        taken = peak_of(work)[1]
    return taken / 1e6


# --- Detection --------------------------------------------------------------------------------------------------------


def detector(images: int, classes: int, detections: int = 100, truths: int = 6):
    """Detections around the truths, half of them of the right class."""
    generator = torch.Generator().manual_seed(0)
    rand = partial(torch.rand, generator=generator)
    found, true = [], []
    for _ in range(images):
        corner = 100 * rand(truths, 2)
        boxes = torch.cat([corner, corner + 10 + 30 * rand(truths, 2)], 1)
        labels = torch.randint(1, classes + 1, (truths,), generator=generator)
        true.append({"boxes": boxes, "labels": labels})
        copies, right = torch.arange(detections) % truths, rand(detections) < 0.5
        others = torch.randint(1, classes + 1, right.shape, generator=generator)
        labels = torch.where(right, labels[copies], others)
        found.append({"boxes": boxes[copies] + 4 * rand(detections, 4), "labels": labels, "scores": rand(detections)})
    return found, true


def annotations(images):
    """The boxes in COCO's form."""
    rows = []
    for number, image in enumerate(images):
        corners = image["boxes"].double()
        sizes = torch.cat([corners[:, :2], corners[:, 2:] - corners[:, :2]], 1).tolist()
        scores = image.get("scores", torch.ones(len(sizes))).tolist()
        for box, label, score in zip(sizes, image["labels"].tolist(), scores, strict=True):
            row = {"id": len(rows) + 1, "image_id": number, "category_id": label, "bbox": box, "area": 1, "iscrowd": 0}
            rows.append(row | {"score": score})
    return rows


def detection(matching: str, images: int, classes: int = 20) -> Comparison:
    """AP of detection beside pycocotools, with one threshold, one range of areas and no limit on detections."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    found, true = detector(images, classes)
    with contextlib.redirect_stdout(io.StringIO()):
        truths = COCO()
        every = {"images": [{"id": i} for i in range(images)], "categories": [{"id": c + 1} for c in range(classes)]}
        truths.dataset = every | {"annotations": annotations(true)}
        truths.createIndex()
        detections = truths.loadRes(annotations(found))

    def pycocotools():
        with contextlib.redirect_stdout(io.StringIO()):
            run = COCOeval(truths, detections, "bbox")
            run.params.iouThrs = np.array([0.5])
            run.params.areaRng, run.params.areaRngLbl, run.params.maxDets = [[0, 1e10]], ["all"], [10_000]
            run.evaluate()
            run.accumulate()

    ours = partial(evaluate_detections, found, true, n_classes=classes, matching=matching)
    return {"ours": ours, "pycocotools": pycocotools}, dict


# --- How it starts ----------------------------------------------------------------------------------------------------


def processor_seconds(statement: str) -> float:
    """Of a fresh Python process and its children."""
    before = os.times()
    subprocess.run([sys.executable, "-c", statement], check=True, timeout=120, stdout=subprocess.DEVNULL, cwd=ROOT)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def starting(statement: str, beside: str = "", rounds: int = 5) -> Comparison:
    """Seconds of a statement in a process of its own, or their ratio to those of another; medians, in turn."""

    def found():
        processor_seconds(statement)  # fills the disk cache
        pairs = [[processor_seconds(what) for what in (statement, beside) if what] for _ in range(rounds)]
        own, *other = map(statistics.median, zip(*pairs, strict=True))
        return {f"ratio to {beside}": round(own / other[0], 3)} if other else {"seconds": round(own, 3)}

    return {}, found
