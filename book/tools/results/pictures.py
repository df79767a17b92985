"""The pictures of the results page: what trained networks retrieve, drawn from embeddings that are kept.

`python book/tools pictures runs` embeds part of the test glyphs by the networks of some finished runs, and writes
the vectors to `data/pictures`; what runs of the lab `detection` have found it copies there. The book's build draws from
these, so that nothing is trained for a page.
"""

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from rankedu.metrics import average_precision
from rankedu_book.kit import style
from rankedu_book.lab_detection import figures as detections
from rankedu_book.lab_hierarchical_retrieval import figures as hierarchical_retrieval
from rankedu_book.lab_retrieval import figures as retrieval
from rankedu_book.lab_retrieval import study
from rankedu_lab.experiments.detection import DEFAULTS, LOSSES
from rankedu_lab.experiments.detection_data import Findings, halves
from rankedu_lab.experiments.detection_data import open_data as open_scenes
from rankedu_lab.experiments.retrieval_data import Data, embed_all, open_data
from rankedu_lab.models import build
from tools.results.papers import DATA, find_run, find_sweep

FOLDER = DATA / "pictures"
#: Test images that are embedded: all of some characters, about so many.
IMAGES = 2048
#: Name of the file → lab, grid of `data/sweeps.yaml`, and what tells the run from the others of the grid.
RUNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "rambo_log": ("retrieval", "margin and memory", {"loss": "rambo_log", "margin": 0.02, "memory": 0, "seed": 0}),
    "smooth_ap": ("retrieval", "losses", {"loss": "smooth_ap", "seed": 0}),
    "fine": ("hierarchical_retrieval", "losses", {"loss": "smooth_ap", "seed": 0}),
    "happier": ("hierarchical_retrieval", "losses", {"loss": "happier", "seed": 0}),
}
#: Of detectors: name → grid, and what tells the runs from the others of the grid.
DETECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "cross_entropy": ("cross entropy", {"loss": "cross_entropy", "weight": 4.0}),
    "rambo_map": ("λ and margin", {"loss": "rambo_map", "lam": 12.5, "margin": 0.15}),
}
START = "start"  # of all of them: one network that has learnt nothing


def glyphs() -> Data:
    """The test glyphs that are shown."""
    return open_data({"dataset": "glyphs", "data_root": ""}).part(IMAGES)


def keep(runs: Path) -> Iterator[Path]:
    """Embed the glyphs by the network of each run, and by the one that they began with; yields the files written."""
    data = glyphs()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (lab, grid, own) in RUNS.items():
        wanted = {**find_sweep(lab, grid).shared(), **own}
        folder, parameters = find_run(runs / lab, wanted)
        torch.manual_seed(parameters["seed"])
        net = build(parameters["model"], dim=parameters["dim"])
        if name == next(iter(RUNS)):
            yield _write(START, embed_all(net, data, parameters))
        net.load_state_dict(torch.load(folder / "net.pt", weights_only=True))
        yield _write(name, embed_all(net, data, parameters))


def _write(name: str, embeddings: Tensor) -> Path:
    path = FOLDER / f"{name}.npy"
    np.save(path, embeddings.numpy().astype(np.float16))
    return path


def keep_detections(runs: Path) -> Iterator[Path]:
    """Copy what the first seed of each has found, and write AP50 by class of all seeds; yields the files written."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    by_class = {}
    for name, (grid, own) in DETECTORS.items():
        sweep = find_sweep("detection", grid)
        folders = [find_run(runs / "detection", {**sweep.shared(), **own, "seed": s})[0] for s in range(sweep.seeds)]
        by_class[name] = np.stack([Findings.load(folder / "detections.npz").ap.numpy() for folder in folders])
        yield Path(shutil.copyfile(folders[0] / "detections.npz", _found(name)))
    np.savez_compressed(_found("ap"), **by_class)  # type: ignore[arg-type]
    yield _found("ap")


def _found(name: str) -> Path:
    return FOLDER / f"detection_{name}.npz"


def read(name: str) -> Tensor:
    """Kept embeddings, shape (images, dim)."""
    return torch.from_numpy(np.load(FOLDER / f"{name}.npy").astype(np.float32))


def blocks(folder: Path) -> dict[str, str]:
    """Draw the pictures into a folder; name → the Markdown that shows them."""
    made = {**_retrievals(), **_detections()}
    return {
        name: "\n".join(show(folder, f"{name}_{number}", figure) for number, figure in enumerate(figures))
        for name, figures in made.items()
    }


def _retrievals() -> dict[str, list[Figure]]:
    """Name → figures."""
    data = glyphs()
    images, labels, names = data.pictures, data.labels, data.names
    start, rambo, smooth, fine, happier = (read(name) for name in (START, "rambo_log", "smooth_ap", "fine", "happier"))
    chosen = study.choose_queries(*(_ap(embeddings, labels) for embeddings in (start, smooth)))
    both = {"Smooth-AP": fine, "HAPPIER": happier}
    return {
        "retrievals": [retrieval.before_and_after(images, start, rambo, labels, classes=names[-1])],
        "pages": [
            retrieval.retrieved_page(images, start, smooth, labels, query, classes=names[-1])
            for query in chosen.values()
        ],
        "class_map": [hierarchical_retrieval.class_map(both, labels, names)],
        "severity": [
            hierarchical_retrieval.draw_severity({"start": start, **both}, labels, data.levels),
            hierarchical_retrieval.hierarchical_retrievals(images, both, labels, levels=data.levels, classes=names[-1]),
        ],
    }


def _detections() -> dict[str, list[Figure]]:
    """Name → figures."""
    findings = {name: Findings.load(_found(name)) for name in DETECTORS}
    (first, one), (second, other) = findings.items()
    test = open_scenes({**DEFAULTS, **one.parameters, "data_root": "", "train_images": 1}).test
    groups = halves(one.frequency)
    with np.load(_found("ap")) as file:
        by_class: dict[str, Tensor] = {LOSSES[name]: torch.from_numpy(file[name]) for name in DETECTORS}
    return {
        "detections": [
            detections.scenes_before_and_after(test, other.before, other.after),
            detections.scenes_before_and_after(test, one.after, other.after, names=(LOSSES[first], LOSSES[second])),
        ],
        "proposals": [
            detections.score_histograms({LOSSES[name]: run.proposals_after for name, run in findings.items()}, groups)
        ],
        "ap_by_class": [detections.ap_by_class(by_class, one.frequency, one.names)],
    }


def _ap(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Average precision of each query by the finest level."""
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    relevance, others = labels[:, -1:] == labels[:, -1], ~torch.eye(len(labels), dtype=torch.bool)
    return average_precision(unit @ unit.T, relevance & others, where=others, ties="pessimistic")


def show(folder: Path, name: str, figure: Figure) -> str:
    """Write a figure and the directive that shows it."""
    (folder / f"{name}.png").write_bytes(style.png(figure))
    text = " ".join(style.description(figure).split())
    return f"```{{image}} _generated/{name}.png\n:alt: {text}\n```\n"


def main() -> None:
    """Keep what finished runs leave behind."""
    parser = argparse.ArgumentParser(description="Keep for the results page what trained networks have found.")
    parser.add_argument("runs", type=Path, help="folder of the runs, mostly `runs`")
    runs = parser.parse_args().runs
    for path in (*keep(runs), *keep_detections(runs)):
        print(path)
