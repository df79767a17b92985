"""The model card of a trained network: its data and settings, its metrics, and code that loads it."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from rankedu_lab.experiments.own.evaluation import COMPONENTS, chance
from rankedu_lab.experiments.own.reading import OwnPictures, Read

CARD = """# {name}: model card

| | |
|---|---|
{about}

## What it reaches

{table}

Each of the {n:,} test pictures is a query and ranks all others by cosine; R@1 of a random order is {chance:.3f}. R@1 \
says how often the first result is of the query's class; mAP@R and mAP are means over the queries. "pixels" and "grey \
pixels, PCA" ({components} principal components of the training pictures, each picture less its mean) need no network.

In brackets are 95 % intervals, by Wilson's formula with the variance of a bootstrap over the {classes} test classes \
with all their queries, the gallery as it is. The last line compares query by query. Intervals show how much the \
numbers vary with the classes, and not how much they vary with the first weights (`--seed`). Nothing was chosen by the \
test: the network is that of the last step.

![ten best and ten worst queries](queries.png)
{notes}
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

`embeddings.npy` and `labels.csv` are those of the test: `rankedu evaluate embeddings.npy labels.csv`. \
`queries.csv` has each query's numbers, `log.csv` the loss and the metrics by step, `run.json` all settings.
"""


def card(
    data: Read,
    test: OwnPictures,
    chosen: Mapping[str, Any],
    net: Any,
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    folder: Path,
    command: str,
) -> str:
    """Write the card; ``chosen`` has all settings, ``rows`` are the table, ``folder`` is where the card goes."""
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
    return CARD.format(
        **chosen,
        name=source.name if source.is_dir() else source.stem,
        about="\n".join("| {} | {} |".format(name, text.replace("|", "\\|")) for name, text in about.items()),
        table="\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:])),
        n=len(test),
        chance=chance(test.labels),
        components=COMPONENTS,
        classes=len(test.labels[:, -1].unique()),
        notes="".join(["\n## Notes\n\n", *(f"* {note}\n" for note in notes)] if notes else []),
        folder=str(folder.resolve()),
        file=str(data.folder.resolve() / test.rows[0].file),
        more=", as_stored=True" * data.as_stored,
    )
