"""The tables of the page on data sets: counts of glyphs and scenes, and of the data sets of the papers."""

from collections import Counter
from collections.abc import Mapping

import numpy as np
import torch
from tabulate import tabulate

from rankedu_lab.datasets import DATASETS, Scenes, UnicodeGlyphs, rendering
from rankedu_lab.datasets.published import Published
from rankedu_lab.datasets.registry import counted
from rankedu_lab.datasets.scenes import CLASSES
from rankedu_lab.datasets.unicode_tree import LEVELS, SHARES, deal, halves, owners, with_variants

#: The halves of the glyphs, and the splits of the scenes on the page.
TWO = ("train", "test")


def glyphs() -> str:
    """Return the tables of the glyphs: their splits, the sizes of the classes, the scripts, and their twins."""
    drawn, data = rendering.cached_rendering(), UnicodeGlyphs("all")
    pictures, characters, leaf = owners(drawn), data.names[2], data.labels[:, 2].numpy()
    side = np.where(halves(characters, pictures), "train", "test")[leaf]
    dealt, in_tree = deal(characters, pictures)[leaf], with_variants(characters)[leaf]

    def counts(kept: np.ndarray) -> list[int]:
        labels = data.labels[torch.from_numpy(kept)]
        shared = int((labels[:, 1:].unique(dim=0)[:, 0].bincount() > 1).sum())
        return [len(labels), *(len(of.unique()) for of in labels.T), shared, int(data.twins.numpy()[kept].sum())]

    def splits(masks: Mapping[str, np.ndarray]) -> list[str]:
        names = ("images", *(f"{level}s" for level in LEVELS), "shared base letters", "twins")
        rows = zip(names, *map(counts, masks.values()), strict=True)
        return table(["", *masks], [[name, *(f"{count:,}" for count in of)] for name, *of in rows])

    sizes = sorted(Counter(np.bincount(leaf).tolist()).items())
    scripts = [
        [name, *(str(len(np.unique(leaf[(data.labels[:, 0].numpy() == at) & (side == half)]))) for half in TWO)]
        for at, name in enumerate(data.names[0])
    ]
    twins = len({character for sharing in pictures.values() if len(sharing) > 1 for character in sharing})
    share = 100 * data.twins.numpy()[side == "test"].mean()
    same = "the same" if drawn.sha256() == rendering.PINNED_SHA256 else "other"
    lines = [
        *splits({**{half: side == half for half in TWO}, "all": side != ""}),
        "The splits of the protocol, with the salt 0:\n",
        *splits({name: dealt == name for name in SHARES}),
        "Of these, the letters-only tree:\n",
        *splits({name: (dealt == name) & in_tree for name in SHARES}),
        "Characters by the number of their images:\n",
        *table(["images", "characters"], [[f"{size}", f"{count:,}"] for size, count in sizes]),
        "Characters of each script:\n",
        *table(["script", *TWO], scripts),
        f"Twins: {int(data.twins.sum()):,} images of {twins:,} characters are pixel for pixel the picture of another "
        f"character as well. In the test split {share:.1f} % of the images have a twin. The box that a face shows for "
        "a missing glyph is none of the images.\n",
        f"Checked with {rendering.CHECKED_WITH}, SHA-256 `{rendering.PINNED_SHA256}`; this page was made with "
        f"{rendering.drawn_with()}, which draws {same} pixels.",
    ]
    return "\n".join(lines) + "\n"


def scenes(images: int = 1000) -> str:
    """Return the counts of the scenes of the default seed."""
    columns, per_class = list[list[str]](), ""
    for split in TWO[::-1]:
        data = Scenes(split, images=images)
        targets = [data.target(index) for index in range(images)]
        joined = {key: torch.cat([target[key] for target in targets]) for key in targets[0]}
        sides = (joined["boxes"][:, 2:] - joined["boxes"][:, :2]).amax(1)
        ends = "{:.0f} to {:.0f}".format(*sides.quantile(torch.tensor([0.05, 0.95])).tolist())
        counts = (images, len(joined["labels"]), int(joined["difficult"].sum()))
        columns.insert(0, [*(f"{count:,}" for count in counts), f"{float(sides.median()):.0f} pixels", ends])
        found = joined["labels"].bincount(minlength=len(CLASSES) + 1).tolist()[1:]
        per_class = ", ".join(f"{name} {count:,}" for name, count in zip(CLASSES, found, strict=True))
    names = ("images", "objects", "of them difficult", "longer side of a box, median", "from 5 % to 95 %")
    rows = [list(row) for row in zip(names, *columns, strict=True)]
    return "\n".join([*table(["", *TWO], rows), f"Objects of each class in the training: {per_class}."]) + "\n"


def published(datasets: Mapping[str, Published] = DATASETS) -> str:
    """Return the table of the papers' data sets."""
    rows = []
    for name, facts in datasets.items():
        if facts.url:
            title, counts = f"`{name}` [{facts.title}]({facts.url})", f"{counted(facts)} ({facts.counted_by})"
            rows.append((title, " → ".join(facts.levels), counts, f"`{facts.folder}`"))
    heads = ["data set", "levels", "as published", "folder"]
    return tabulate(rows, heads, tablefmt="github", disable_numparse=True) + "\n"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table whose first column is text, and an empty line."""
    align = ["left", *["right"] * (len(head) - 1)]
    return [tabulate(rows, head, tablefmt="pipe", disable_numparse=True, colalign=align), ""]
