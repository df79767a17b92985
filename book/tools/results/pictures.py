"""The pictures of the results page, which show the items that trained networks retrieve and detect.

`data/pictures` holds the embeddings of some test glyphs by the networks of finished runs, and the detections of two
runs of the lab `detection`. The script that wrote them is this file at commit `a60d039f`.
"""

from pathlib import Path

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
from rankedu_lab.experiments.retrieval_data import Data, open_data
from tools.results.papers import DATA

FOLDER = DATA / "pictures"
#: About the number of test images that are embedded: all images of some characters.
IMAGES = 2048
#: The losses of the detectors, as the lab calls them.
DETECTORS = ("cross_entropy", "rambo_map")
START = "start"  # the untrained network with which all runs start


def glyphs() -> Data:
    """Return the test glyphs that the pictures show."""
    return open_data({"dataset": "glyphs", "data_root": ""}).part(IMAGES)


def _found(name: str) -> Path:
    return FOLDER / f"detection_{name}.npz"


def read(name: str) -> Tensor:
    """Return recorded embeddings, shape (images, dim)."""
    return torch.from_numpy(np.load(FOLDER / f"{name}.npy").astype(np.float32))


def blocks(folder: Path) -> dict[str, str]:
    """Draw the pictures into a folder, and return the Markdown that shows them by the name of the block."""
    made = {**_retrievals(), **_detections()}
    return {
        name: "\n".join(show(folder, f"{name}_{number}", figure) for number, figure in enumerate(figures))
        for name, figures in made.items()
    }


def _retrievals() -> dict[str, list[Figure]]:
    """Draw the figures about retrieval by the name of the block."""
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
    """Draw the figures about detection by the name of the block."""
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
    """Return the average precision of each query at the finest level."""
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    relevance, others = labels[:, -1:] == labels[:, -1], ~torch.eye(len(labels), dtype=torch.bool)
    return average_precision(unit @ unit.T, relevance & others, where=others, ties="pessimistic")


def show(folder: Path, name: str, figure: Figure) -> str:
    """Write a figure and the directive that shows it."""
    (folder / f"{name}.png").write_bytes(style.png(figure))
    text = " ".join(style.description(figure).split())
    return f"```{{image}} _generated/{name}.png\n:alt: {text}\n```\n"
