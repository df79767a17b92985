"""The trained effect of margin and memory, over seeds: ``python -m rankedu.lab.training.effects --out effects.json``.

The log recall loss is trained on :class:`rankedu.lab.datasets.UnicodeGlyphs` without and with a margin, without and
with a memory. Every finished run is written at once; a run that is in the file is not repeated.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch

from rankedu._files import written

__all__ = ["GRID", "SETTINGS", "main", "one_run", "results", "results_markdown", "run_grid"]

#: What every run shares. λ is in the released code's scale, that is of ranks divided by their number.
SETTINGS: dict[str, Any] = {
    "loss": "RecallLoss log",
    "lam": 0.2,
    "steps": 1000,
    "batch_size": 128,
    "per_class": 4,
    "lr": 1e-3,
}
#: What is varied: α, τ in batches, and the seed of the network's start, of the batches and of the augmentation.
GRID: dict[str, Sequence[Any]] = {"margin": (0.0, 0.05), "memory": (0, 3), "seed": (0, 1, 2)}


def one_run(
    margin: float,
    memory: int,
    seed: int,
    *,
    steps: int = SETTINGS["steps"],
    lr: float = SETTINGS["lr"],
    pretrain: int = 0,
    root: str | None = None,
    data: Sequence[Any] | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Train one network and measure it on the test split.

    Parameters
    ----------
    margin : float
        α of the recall loss.
    memory : int
        τ of the :class:`rankedu.memory.EmbeddingMemory`, in batches; 0 for none.
    seed : int
        Of the network's start, the batches and the augmentation.
    steps : int
        Batches.
    lr : float
        Learning rate of these batches.
    pretrain : int
        Batches before them, with the margin, without a memory, at the learning rate of `SETTINGS`; 0 starts from a
        random network.
    root : str, optional
        As for :class:`rankedu.lab.datasets.UnicodeGlyphs`.
    data : pair of data sets, optional
        Train and test. Default: the two splits of the glyphs.
    progress : bool
        Show a progress bar.

    Returns
    -------
    dict
        The settings, ``R@1``, ``mAP``, the mean loss of the last 50 steps, the seconds that the steps took, versions
        and device.
    """
    from rankedu.lab.datasets import UnicodeGlyphs
    from rankedu.lab.models import ConvNet
    from rankedu.lab.training.retrieval import evaluate, train

    trained_on, tested_on = data or (UnicodeGlyphs("train", root=root), UnicodeGlyphs("test", root=root))
    torch.manual_seed(seed)
    net = ConvNet()
    batches = {name: SETTINGS[name] for name in ("batch_size", "per_class")}
    if pretrain:
        train(net, trained_on, _loss(max(GRID["margin"]), 0), steps=pretrain, seed=seed, progress=progress, **batches)
    again = seed + len(GRID["seed"]) if pretrain else seed  # a second training sees other batches
    loss = _loss(margin, memory)
    history = train(net, trained_on, loss, steps=steps, lr=lr, seed=again, progress=progress, **batches)
    return {
        "margin": margin,
        "memory": memory,
        "seed": seed,
        **SETTINGS,
        "steps": steps,
        "lr": lr,
        "pretrain": pretrain,
        **{name: round(value, 5) for name, value in evaluate(net, tested_on).items()},
        "last loss": round(statistics.fmean(history.losses[-50:]), 5),
        "seconds": round(history.seconds, 1),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "device": f"CPU, {torch.get_num_threads()} threads",
    }


def _loss(margin: float, memory: int) -> torch.nn.Module:
    """The log recall loss on embeddings, with what is varied."""
    from rankedu.losses import OnEmbeddings, RecallLoss
    from rankedu.memory import EmbeddingMemory
    from rankedu.rankers import BlackboxRanker

    recall = RecallLoss(BlackboxRanker(lam=SETTINGS["lam"], normalized=True), margin=margin, weights="log")
    return OnEmbeddings(recall, memory=EmbeddingMemory(memory) if memory else None)


def run_grid(
    out: Path,
    *,
    steps: int = SETTINGS["steps"],
    lr: float = SETTINGS["lr"],
    pretrain: int = 0,
    limit: int | None = None,
    root: str | None = None,
    data: Sequence[Any] | None = None,
    progress: bool = True,
) -> list[dict[str, Any]]:
    """Do the runs of the grid that the file lacks, and write it after each.

    Parameters
    ----------
    out : Path
        A JSON file, a list of runs; made if absent.
    steps : int
        Batches of each run. Runs in the file with other settings are another experiment's, and kept.
    lr, pretrain
        As for :func:`one_run`.
    limit : int, optional
        Do at most so many runs now.
    root, data, progress
        As for :func:`one_run`.

    Returns
    -------
    list of dict
        All runs of the file.
    """
    from tqdm import tqdm

    runs: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    varied = ("seed", "margin", "memory")  # one seed of all cells first, so that an interrupted grid can be read
    cells = [dict(zip(varied, values, strict=True)) for values in product(*(GRID[name] for name in varied))]
    shared = {**SETTINGS, "steps": steps, "lr": lr, "pretrain": pretrain}
    wanted = [cell for cell in cells if not any(_is_of(run, {**shared, **cell}) for run in runs)]
    for cell in tqdm(wanted[:limit], desc="runs", unit="run", disable=None if progress else True):
        runs.append(one_run(**cell, steps=steps, lr=lr, pretrain=pretrain, root=root, data=data, progress=progress))
        _write(out, runs)
    return runs


def _is_of(run: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether a run was made with these settings."""
    return all(run.get(name) == value for name, value in settings.items())


def _write(out: Path, runs: list[dict[str, Any]]) -> None:
    """Write the file whole or not at all."""
    with written(out) as part:
        part.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


def results(out: Path, *, steps: int = SETTINGS["steps"]) -> list[dict[str, Any]]:
    """Mean and standard deviation over the seeds, one row for each margin and memory.

    Parameters
    ----------
    out : Path
        The file that :func:`run_grid` wrote.
    steps : int
        Which experiment of the file.

    Returns
    -------
    list of dict
        ``margin``, ``memory``, ``runs``, ``seconds`` (mean), and for ``R@1``, ``mAP`` and ``last loss`` a pair of mean
        and standard deviation (n − 1; nan for a single run).

    Examples
    --------
    >>> results(Path("no such file.json"))
    []
    """
    runs: list[dict[str, Any]] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    groups: dict[tuple[float, int], list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        if _is_of(run, {**SETTINGS, "steps": steps, "lr": run.get("lr")}):
            groups[run["margin"], run["memory"]].append(run)
    return [
        {
            "margin": margin,
            "memory": memory,
            "runs": len(group),
            "seconds": statistics.fmean(run["seconds"] for run in group),
            **{name: _mean_and_sd([run[name] for run in group]) for name in ("R@1", "mAP", "last loss")},
        }
        for (margin, memory), group in sorted(groups.items())
    ]


def _mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and sample standard deviation."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else float("nan")


def results_markdown(out: Path, *, steps: int = SETTINGS["steps"]) -> str:
    """Write the rows of :func:`results` as a Markdown table.

    Parameters
    ----------
    out, steps
        As for :func:`results`.

    Returns
    -------
    str
    """
    lines = ["| margin α | memory τ | runs | R@1 | mAP | seconds |", "|---:|---:|---:|---:|---:|---:|"]
    for row in results(out, steps=steps):
        cells = [f"{mean:.3f} ± {sd:.3f}" for mean, sd in (row["R@1"], row["mAP"])]
        lines.append(
            f"| {row['margin']:g} | {row['memory']} | {row['runs']} | {cells[0]} | {cells[1]} | {row['seconds']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and do the runs."""
    parser = argparse.ArgumentParser(
        prog="python -m rankedu.lab.training.effects", description="Train the grid of margins and memories."
    )
    parser.add_argument("--out", type=Path, required=True, help="JSON file of the runs; those it holds are skipped")
    parser.add_argument(
        "--steps", type=int, default=SETTINGS["steps"], help="batches of each run (default %(default)s)"
    )
    parser.add_argument("--lr", type=float, default=SETTINGS["lr"], help="learning rate (default %(default)s)")
    parser.add_argument(
        "--pretrain", type=int, default=0, help="batches before, with the margin and without a memory (default none)"
    )
    parser.add_argument("--limit", type=int, help="do at most so many runs now")
    parser.add_argument("--root", help="folder of the glyphs' cache file")
    chosen = parser.parse_args(arguments)
    run_grid(**vars(chosen))


if __name__ == "__main__":
    main()
