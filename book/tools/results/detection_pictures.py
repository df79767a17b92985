"""The pictures of detectors on the results page, drawn from what finished runs of the lab `detection` have found.

`python book/tools pictures keep runs` copies it to `data/pictures`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from rankbook.lab_detection import figures as detections
from ranklab.experiments.detection import DEFAULTS, LOSSES
from ranklab.experiments.detection_data import Findings, halves, open_data
from tools.results.papers import DATA, find_run, find_sweep

FOLDER = DATA / "pictures"
LAB = "detection"
#: Name → grid of `data/sweeps.yaml`, and what tells the runs from the others of the grid.
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "cross_entropy": ("cross entropy", {"loss": "cross_entropy", "weight": 4.0}),
    "rambo_map": ("λ and margin", {"loss": "rambo_map", "lam": 12.5, "margin": 0.15}),
}


def keep(runs: Path) -> Iterator[Path]:
    """Copy what the first seed of each has found, and write AP50 by class of all seeds; yields the files written."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    by_class = {}
    for name, (grid, own) in RUNS.items():
        sweep = find_sweep(LAB, grid)
        folders = [find_run(runs / LAB, {**sweep.shared(), **own, "seed": seed})[0] for seed in range(sweep.seeds)]
        by_class[name] = np.stack([Findings.load(folder / "detections.npz").ap.numpy() for folder in folders])
        yield Path(shutil.copyfile(folders[0] / "detections.npz", _path(name)))
    np.savez_compressed(_path("ap"), **by_class)  # type: ignore[arg-type]
    yield _path("ap")


def blocks() -> dict[str, list[Figure]]:
    """Name → figures."""
    findings = {name: Findings.load(_path(name)) for name in RUNS}
    (first, one), (second, other) = findings.items()
    test = open_data({**DEFAULTS, **one.parameters, "data_root": "", "train_images": 1}).test
    groups = halves(one.frequency)
    with np.load(_path("ap")) as file:
        by_class: dict[str, Tensor] = {LOSSES[name]: torch.from_numpy(file[name]) for name in RUNS}
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


def _path(name: str) -> Path:
    return FOLDER / f"detection_{name}.npz"
