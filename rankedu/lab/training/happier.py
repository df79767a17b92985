"""What α and λ of HAPPIER do on glyphs: ``python -m rankedu.lab.training.happier --out happier_weight.json``.

HAPPIER is trained along λ at α = 1 and along α at λ = 0.1, five minutes in all. Chapter 14 makes shorter runs of
the same kind while its page is made.
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

from rankedu._files import written

__all__ = ["GRID", "HELD", "MEASURES", "SETTINGS", "batches", "glyph_tree", "main", "one_run", "results"]

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
    """Letters that carry marks: images (n, 32, 32), and paths (n, 3) script → base letter → character, numbered from 0.

    Three scripts, the base letters with at least four characters, the first four of each.
    """
    from rankedu.lab.datasets import UnicodeGlyphs

    data = UnicodeGlyphs(split)
    paths = torch.unique(data.labels, dim=0)
    chosen = []
    for letter in torch.unique(paths[:, 1]).tolist():
        marked = paths[paths[:, 1] == letter]
        if data.names[0][int(marked[0, 0])] in SCRIPTS and len(marked) >= CHARACTERS:
            chosen.append(marked[:CHARACTERS, 2])
    keep = torch.isin(data.labels[:, 2], torch.cat(chosen))
    numbered = [torch.unique(column, return_inverse=True)[1] for column in data.labels[keep].T]
    return data.images[keep], torch.stack(numbered, 1)


def batches(labels: Tensor, count: int, seed: int) -> Iterator[Tensor]:
    """Batches of 64 indices: two scripts, two letters of each, four characters of each, four pictures of each."""
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

    `alpha` is trained with; what is reported has α = 1. Returns the settings, `MEASURES`, seconds, versions and device.
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


def results(path: Path, *, steps: int = SETTINGS["steps"]) -> dict[str, dict[float, list[dict[str, Any]]]]:
    """The runs of a file by "alpha" (at λ = 0.1) or "weight" (at α = 1), then by its value, the seeds in order.

    >>> results(Path("no such file.json"))
    {'alpha': {}, 'weight': {}}
    """
    runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    runs = sorted((run for run in runs if run["steps"] == steps), key=lambda run: run["seed"])
    by_value: dict[str, dict[float, list[dict[str, Any]]]] = {}
    for name, other in (("alpha", "weight"), ("weight", "alpha")):
        along = [run for run in runs if run[other] == HELD[other]]
        values = sorted({run[name] for run in along})
        by_value[name] = {value: [run for run in along if run[name] == value] for value in values}
    return by_value


def main(arguments: Sequence[str] | None = None) -> None:
    """Do the runs of `GRID` and write them to a JSON file."""
    parser = argparse.ArgumentParser(
        prog="python -m rankedu.lab.training.happier", description="Train HAPPIER along α and along λ."
    )
    parser.add_argument("--out", type=Path, required=True, help="JSON file of the runs")
    parser.add_argument(
        "--steps", type=int, default=SETTINGS["steps"], help="batches of each run (default %(default)s)"
    )
    options = parser.parse_args(arguments)
    cells = dict.fromkeys((value, HELD["weight"]) for value in GRID["alpha"])
    cells |= dict.fromkeys((HELD["alpha"], value) for value in GRID["weight"])
    with written(options.out) as part:
        runs = [one_run(*cell, seed, steps=options.steps) for seed in GRID["seed"] for cell in cells]
        part.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
