"""The model card of a trained network: its data and settings, its metrics, and code that loads it."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from rankedu_lab.experiments.own.evaluation import chance
from rankedu_lab.experiments.own.reading import OwnPictures, Read

#: What follows the settings; the page `your-files` explains the numbers.
CARD = """# {name}: model card

| | |
|---|---|
{about}
## What it reaches

{reached}
Each of the {n:,} test pictures is a query and ranks all others. R@1 of a random order is {chance:.3f}. In brackets are
95 % intervals for other test classes.

![ten best and ten worst queries](queries.png)

## Load it

```python
from pathlib import Path

import torch
from rankedu_lab.experiments.own import load_picture
from rankedu_lab.models import build

folder = Path({folder!r})  # of this card
net = build({model!r}, dim={dim}, in_channels=3, weights=folder / "model.pt").eval()
picture = load_picture({file!r}, size={size}{more})
with torch.no_grad():
    embedding = net(picture[None])  # (1, {dim}), of length 1
```
"""


def card(
    data: Read,
    test: OwnPictures,
    chosen: Mapping[str, Any],
    net: Any,
    rows: Sequence[Sequence[str]],
    folder: Path,
    command: str,
) -> str:
    """Write the card of a folder without notes; ``chosen`` has all settings, and ``rows`` are the table of metrics."""
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
    return CARD.format(
        **chosen,
        name=source.name if source.is_dir() else source.stem,
        about=described,
        reached=reached,
        n=len(test),
        chance=chance(test.labels),
        folder=str(folder.resolve()),
        file=str(data.folder.resolve() / test.rows[0].file),
        more=", as_stored=True" * data.as_stored,
    )
