"""The picture of *Use it* that compares losses, drawn from `book/data/first_loss.json`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from rankedu_book.kit import style

DATA = Path(__file__).resolve().parents[2] / "data" / "first_loss.json"
STARTS = ("plain", "normalised", "trained")


def block(folder: Path) -> str:
    """Write the picture to the folder, and return the Markdown that shows it."""
    (folder / "first_losses.png").write_bytes(style.png(drawn := dots()))
    return f"```{{image}} _generated/first_losses.png\n:alt: {style.description(drawn)}\n```\n"


def interval(values: Sequence[float], comparisons: int = 1) -> tuple[float, float]:
    """Return a mean and half of the width of its interval (Student's t); several comparisons share the level of 5 %."""
    low, high = stats.ttest_1samp(values, 0).confidence_interval(1 - 0.05 / comparisons)
    return (low + high) / 2, (high - low) / 2


def dots() -> Any:
    """Draw the mean of each loss with its interval, for both kinds of pictures and the three networks."""
    record = json.loads(DATA.read_text(encoding="utf-8"))
    names = [name for name in record["outlines, plain"] if name != "before"]
    figure, axes = style.figure(1, 2, width=style.WIDEST, height=4.6, sharey=True)
    for axis, pictures in zip(axes, ("outlines", "characters"), strict=True):
        for k, (start, look) in enumerate(style.looks(STARTS, linestyle="none", markersize=7).items()):
            found = [interval(record[f"{pictures}, {start}"][name]["test"]) for name in names]
            means, halves = 100 * np.array(found).T
            places = np.arange(len(names)) + 0.22 * (k - 1)
            axis.errorbar(means, places, xerr=halves, label=start, elinewidth=1.2, **look)
        axis.set(title=pictures, xlabel="mAP@R (percent)", ylim=(len(names) - 0.4, -0.6))
        axis.set_yticks(range(len(names)), [short(name) for name in names])
        axis.grid(axis="y", color="0.92")
    style.legend_below(figure, axes[0])
    text = f"The mAP@R of {len(names)} losses on two kinds of pictures and in three networks, with 95 % intervals."
    return style.describe(figure, f"{text} The tables below have the numbers.")


def short(name: str) -> str:
    """Return a name for the axis, without the default ranker."""
    name = name.strip("`").replace("BlackboxRanker(), 0.1", "0.1").replace("Loss()", "").replace("Loss(", " (")
    return name.replace("BlackboxRanker(4.0, normalized=True), 0.02", "λ = 4")
