"""What α and λ of HAPPIER do on glyphs: ``python -m rankedu.lab.training.happier --out happier_weight.json``.

HAPPIER is trained along λ at α = 1 and along α at λ = 0.1. Every finished run is written at once; a run that is in the
file is not repeated.
"""

from __future__ import annotations

import argparse
import functools
import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.lab.training.effects import _is_of, _write

__all__ = ["GRID", "MEASURES", "SETTINGS", "batches", "glyph_tree", "main", "one_run", "results", "run_grid"]

SCRIPTS, CHARACTERS = ("LATIN", "GREEK", "CYRILLIC"), 4
#: What is reported: of all levels, the paper's H-AP (α = 1); of the characters, AP and R@1; of the scripts, AP.
MEASURES = ("H-AP", "AP", "R@1", "AP of scripts")
#: What every run shares.
SETTINGS: dict[str, Any] = {"loss": "HAPPIERLoss", "steps": 300, "batch_size": 64, "lr": 2e-3}
#: What is varied: α (at λ = 0.1), λ (at α = 1), and the seed of the network's start, the batches and the augmentation.
GRID: dict[str, Sequence[Any]] = {
    "alpha": (0.5, 1.0, 2.0, 3.0, 5.0),
    "weight": (0.0, 0.1, 0.3, 0.5, 0.7, 1.0),
    "seed": (0, 1, 2),
}
#: Where one is held while the other is varied.
HELD = {"alpha": 1.0, "weight": 0.1}


@functools.cache
def glyph_tree(split: str) -> tuple[Tensor, Tensor]:
    """Letters that carry marks: images and paths script → base letter → character, numbered through from 0.

    Three scripts, the base letters with at least four characters, the first four of each.

    Parameters
    ----------
    split : {"train", "test"}
        As for :class:`rankedu.lab.datasets.UnicodeGlyphs`.

    Returns
    -------
    images : Tensor, shape (n, 32, 32)
    paths : Tensor of int64, shape (n, 3)
    """
    from rankedu.lab.datasets import UnicodeGlyphs

    data = UnicodeGlyphs(split)
    paths = torch.unique(data.labels, dim=0)
    chosen = []
    for letter in torch.unique(paths[:, 1]).tolist():
        mine = paths[paths[:, 1] == letter]
        if data.names[0][int(mine[0, 0])] in SCRIPTS and len(mine) >= CHARACTERS:
            chosen.append(mine[:CHARACTERS, 2])
    keep = torch.isin(data.labels[:, 2], torch.cat(chosen))
    numbered = [torch.unique(column, return_inverse=True)[1] for column in data.labels[keep].T]
    return data.images[keep], torch.stack(numbered, 1)


def batches(labels: Tensor, count: int, seed: int) -> Iterator[Tensor]:
    """Batches of 64 indices: two scripts, two letters of each, four characters of each, four pictures of each.

    Parameters
    ----------
    labels : Tensor of int64, shape (n, 3)
        The paths of :func:`glyph_tree`.
    count, seed : int

    Yields
    ------
    Tensor of int64, shape (64,)
    """
    generator = torch.Generator().manual_seed(seed)
    paths = torch.unique(labels, dim=0)
    by_character = [(labels[:, 2] == c).nonzero()[:, 0] for c in range(len(paths))]

    def some(items: Tensor, number: int) -> list[int]:
        chosen: list[int] = items[torch.randperm(len(items), generator=generator)[:number]].tolist()
        return chosen

    for _ in range(count):
        letters = [
            letter
            for script in some(torch.unique(paths[:, 0]), 2)
            for letter in some(torch.unique(paths[paths[:, 0] == script, 1]), 2)
        ]
        characters = paths[torch.isin(paths[:, 1], torch.tensor(letters)), 2].tolist()
        yield torch.tensor([item for c in characters for item in some(by_character[c], 4)])


def one_run(alpha: float, weight: float, seed: int, *, steps: int = SETTINGS["steps"]) -> dict[str, Any]:
    """Train a small network with HAPPIER, and measure it on characters whose base letters it has never seen.

    Parameters
    ----------
    alpha : float
        Exponent of the relevance that is trained with. What is reported has α = 1.
    weight : float
        λ, the share of the clustering.
    seed : int
        Of the network's start, the batches and the augmentation.
    steps : int
        Batches.

    Returns
    -------
    dict
        The settings, `MEASURES`, the seconds that the steps took, versions and device.
    """
    from rankedu.lab.models import ConvNet
    from rankedu.lab.training.retrieval import embed, train
    from rankedu.losses import HAPPIERLoss
    from rankedu.metrics import evaluate_retrieval

    (images, labels), (test_images, test_labels) = glyph_tree("train"), glyph_tree("test")
    torch.manual_seed(seed)
    net = ConvNet(32, channels=(16, 32, 64))
    loss: nn.Module = HAPPIERLoss(int(labels[:, 2].max()) + 1, 32, weight, alpha)
    chosen = {"sampler": batches(labels, steps, seed), "paths": True, "strength": 0.5, "lr": SETTINGS["lr"]}
    data = SimpleNamespace(images=images, labels=labels)
    history = train(net, data, loss, steps=steps, seed=seed, progress=False, **chosen)
    embeddings = embed(net, test_images, strength=0.5, generator=torch.Generator().manual_seed(1))
    names = ("h_ap", "average_precision", "recall_at_1")
    found = evaluate_retrieval(embeddings, test_labels, metrics=names, progress=False)
    values = (*(found[name] for name in names), found["levels"][1]["average_precision"])
    return {
        "alpha": alpha,
        "weight": weight,
        "seed": seed,
        **SETTINGS,
        "steps": steps,
        **{name: round(value, 5) for name, value in zip(MEASURES, values, strict=True)},
        "seconds": round(history.seconds, 1),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "device": f"CPU, {torch.get_num_threads()} threads",
    }


def run_grid(
    out: Path, *, steps: int = SETTINGS["steps"], limit: int | None = None, progress: bool = True
) -> list[dict[str, Any]]:
    """Do the runs of the grid that the file lacks, and write it after each.

    Parameters
    ----------
    out : Path
        A JSON file, a list of runs; made if absent.
    steps : int
        Batches of each run. Runs in the file with other settings are another experiment's, and kept.
    limit : int, optional
        Do at most so many runs now.
    progress : bool
        Show a progress bar.

    Returns
    -------
    list of dict
        All runs of the file.
    """
    from tqdm import tqdm

    runs: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    cells = [{**HELD, name: value} for name in HELD for value in GRID[name]]
    cells = [cell for number, cell in enumerate(cells) if cell not in cells[:number]]
    # One seed of all cells first, so that an interrupted grid can be read.
    wanted = [
        varied
        for seed in GRID["seed"]
        for varied in ({**cell, "seed": seed} for cell in cells)
        if not any(_is_of(run, {**SETTINGS, "steps": steps, **varied}) for run in runs)
    ]
    for varied in tqdm(wanted[:limit], desc="runs", unit="run", disable=None if progress else True):
        runs.append(one_run(**varied, steps=steps))
        _write(out, runs)
    return runs


def results(out: Path, *, steps: int = SETTINGS["steps"]) -> dict[str, dict[float, list[dict[str, Any]]]]:
    """Sort the runs of a file: along α at λ = 0.1 and along λ at α = 1, the seeds in order.

    Parameters
    ----------
    out : Path
        The file that :func:`run_grid` wrote.
    steps : int
        Which experiment of the file.

    Returns
    -------
    dict of dict of list of dict
        By "alpha" or "weight", then by its value: the runs. Both empty if there is no such file.

    Examples
    --------
    >>> results(Path("no such file.json"))
    {'alpha': {}, 'weight': {}}
    """
    runs: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    runs = sorted((run for run in runs if _is_of(run, {**SETTINGS, "steps": steps})), key=lambda run: run["seed"])
    found: dict[str, dict[float, list[dict[str, Any]]]] = {}
    for name, other in (("alpha", "weight"), ("weight", "alpha")):
        mine = [run for run in runs if run[other] == HELD[other]]
        values = sorted({run[name] for run in mine})
        found[name] = {value: [run for run in mine if run[name] == value] for value in values}
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and do the runs."""
    parser = argparse.ArgumentParser(
        prog="python -m rankedu.lab.training.happier", description="Train HAPPIER along α and along λ."
    )
    parser.add_argument("--out", type=Path, required=True, help="JSON file of the runs; those it holds are skipped")
    parser.add_argument(
        "--steps", type=int, default=SETTINGS["steps"], help="batches of each run (default %(default)s)"
    )
    parser.add_argument("--limit", type=int, help="do at most so many runs now")
    chosen = parser.parse_args(arguments)
    run_grid(**vars(chosen))


if __name__ == "__main__":
    main()
