"""The model card of a trained network: its data, its settings and its metrics. The page `your-files` explains them."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import torch

from rankedu_lab.experiments.own.evaluation import chance
from rankedu_lab.experiments.own.reading import OwnPictures, Read


def card(
    data: Read, test: OwnPictures, chosen: Mapping[str, Any], net: Any, rows: Sequence[Sequence[str]], command: str
) -> str:
    """Write the card without its notes; ``chosen`` has all settings, and ``rows`` are the table of the metrics."""
    source = data.source.resolve()
    versions = ", ".join(f"{name} {version(name)}" for name in ("rankedu", "torch", "numpy", "pillow"))
    about = {
        "data": f"{source.name}, {len(data.rows):,} pictures; SHA-256 of pictures, labels, split: `{data.digest}`",
        "labels": " → ".join(data.levels),
        "split": f"no class on both sides: {data.split}",
        "training": data.count("train"),
        "test": data.count("test"),
        **{name: f"{value}" for name, value in chosen.items() if value or name == "seed"},
        "start": net.pretrained if net.pretrained != "random" else "random weights",
        "parameters": f"{sum(map(torch.numel, net.parameters())):,}",
        "command": f"`{command}`",
        "versions": f"{versions}, Python {platform.python_version()}",
    }
    described = "".join("| {} | {} |\n".format(name, text.replace("|", "\\|")) for name, text in about.items())
    measured = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    reached = "".join(f"| {' | '.join(cells)} |\n" for cells in measured)
    return (
        f"# {source.name if source.is_dir() else source.stem}: model card\n\n| | |\n|---|---|\n{described}\n"
        f"## What it reaches\n\n{reached}\n"
        f"Each of the {len(test):,} test pictures is a query and ranks all others. R@1 of a random order is "
        f"{chance(test.labels):.3f}. In brackets are 95 % intervals for other test classes.\n\n"
        "![ten best and ten worst queries](queries.png)\n"
    )
