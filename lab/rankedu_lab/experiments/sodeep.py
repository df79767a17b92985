"""The lab `sodeep`: measure how well networks of several kinds learn to sort, and where they fail."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from tabulate import tabulate

from rankedu.metrics import spearman
from rankedu.ranks import rank
from rankedu_lab.contestants import LSTMRanker, equivariance_error
from rankedu_lab.training import draw_scores, fit_sorter, rank_error, sorter_errors

__all__ = ["SCALES", "measure_sorter", "measure_sorters", "table"]

#: Factors of uniform lists in [-1, 1], which leave the range that the training has seen.
SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)


def measure_sorters(
    n: int, architectures: Sequence[str], *, steps: int = 0, seed: int = 0, lists: int = 1000, progress: bool = True
) -> list[dict[str, Any]]:
    """Train a sorter of each architecture, for lists of n, and measure it on other lists of each kind: a row each."""
    rows = []
    for architecture in architectures:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            ranker = LSTMRanker(n, architecture)
        history = fit_sorter(ranker, steps=steps or None, seed=seed, progress=progress)
        row = {
            "architecture": architecture,
            "parameters": sum(parameter.numel() for parameter in ranker.parameters()),
            "steps": len(history.losses),
            "seconds": round(history.seconds, 1),
        }
        rows.append({**row, **measure_sorter(ranker, lists=lists, seed=seed + 1)})
    return rows


@torch.no_grad()
def measure_sorter(ranker: LSTMRanker, *, lists: int = 1000, seed: int = 1) -> dict[str, float]:
    """Measure a sorter, in ranks: "error, <distribution>", and of uniform lists "error, scale <s>" times s.

    Also "guessing" (always the middle rank), "equivariance" (what reordering changes), and of pairs of correlated lists
    "spearman", and "spearman, bias" and "spearman, error" of one computed with the learned ranks of the first list.
    """
    weight, n = ranker.head.weight, ranker.n
    generator = torch.Generator().manual_seed(seed)
    uniform, noise = (draw_scores(n, lists, "uniform", generator=generator).to(weight) for _ in range(2))
    errors = {f"error, {name}": error for name, error in sorter_errors(ranker, lists=lists, seed=seed).items()}
    errors |= {f"error, scale {scale:g}": rank_error(ranker, uniform * scale) for scale in SCALES}
    errors["guessing"] = sum(abs(2 * place - n - 1) for place in range(1, n + 1)) / (2 * n)
    errors["equivariance"] = equivariance_error(ranker, uniform)
    true, target = spearman(uniform, uniform + noise), rank(uniform + noise)
    learned = 1 - 6 / (n * (n * n - 1)) * (ranker(uniform) - target).square().sum(-1)  # as SpearmanLoss takes it
    errors["spearman"] = float(true.mean())
    errors["spearman, bias"] = float((learned - true).mean())
    errors["spearman, error"] = float((learned - true).abs().mean())
    return errors


def table(rows: Sequence[dict[str, Any]], columns: Iterable[str], *, prefix: str = "") -> str:
    """Write columns of rows, keys less the prefix, as aligned text with three digits, the architecture in front."""
    names = list(columns)
    cells = [[row["architecture"], *(row[prefix + name] for name in names)] for row in rows]
    return tabulate(cells, ["", *names], tablefmt="plain", floatfmt=".3g")
