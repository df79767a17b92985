"""`UnicodeGlyphs`: fine-grained, open-set, hierarchical retrieval that needs no download.

The pictures are drawn by the fonts that ship with matplotlib; the hierarchy is the Unicode character database's own:
script → base letter → character.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu._validation import check_choice
from rankedu.lab.datasets.augmentation import augment
from rankedu.lab.datasets.rendering import (
    CHECKED_WITH,
    FACES,
    PINNED_SHA256,
    Rendering,
    cached_rendering,
    drawn_with,
    render,
)
from rankedu.lab.datasets.unicode_tree import LEVELS, base_letter, halves, hierarchy, owners, script

__all__ = ["LEVELS", "UnicodeGlyphs", "augment", "base_letter", "card", "card_markdown", "script"]


class UnicodeGlyphs:
    """About 3,300 characters in up to twelve faces: 35,690 pictures of 32 × 32.

    Examples
    --------
    >>> data = UnicodeGlyphs("all", characters="eéEз3Ӟ")
    >>> data.images.shape, data.labels.shape
    (torch.Size([72, 32, 32]), torch.Size([72, 3]))
    >>> data.names[0], data.names[1]
    (('CYRILLIC', 'LATIN', 'OTHER'), ('з', 'e', '3'))
    >>> [data.names[level][label] for level, label in enumerate(data.labels[30].tolist())]
    ['LATIN', 'e', 'e']
    """

    def __init__(
        self,
        split: str = "train",
        *,
        root: str | os.PathLike[str] | None = None,
        characters: Iterable[str] | None = None,
    ) -> None:
        check_choice(split, ("train", "test", "all"), name="split")
        drawn = cached_rendering(root) if characters is None else render(characters)
        if len(drawn.images) == 0:
            raise ValueError("characters must hold one that at least eight of the faces draw, got none (try 'AÀБ')")
        drawn_characters = [chr(code) for code in np.unique(drawn.codepoints)]
        paths, self.names = hierarchy(drawn_characters)
        leaf = np.searchsorted(np.unique(drawn.codepoints), drawn.codepoints)
        pictures = owners(drawn)
        keep = np.ones(len(leaf), dtype=bool)
        if split != "all":
            keep = halves(drawn_characters, pictures)[leaf] == (split == "train")
        self.split = split
        self.images = torch.from_numpy(drawn.images[keep])
        self.labels = torch.from_numpy(paths[leaf[keep]])
        self.faces = torch.from_numpy(drawn.faces[keep])
        shared = {picture for picture, characters_of in pictures.items() if len(characters_of) > 1}
        self.twins = torch.tensor([image.tobytes() in shared for image in drawn.images[keep]])

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: Any) -> tuple[Tensor, Tensor]:
        """Images and labels at an index, a slice, or a tensor of indices."""
        return self.images[index], self.labels[index]

    def __repr__(self) -> str:
        classes = len(torch.unique(self.labels[:, -1]))
        return f"UnicodeGlyphs({self.split!r}: {len(self)} images, {classes} characters)"


def card(root: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Count what the data set holds: images and classes by split, script and number of faces, and twins."""
    drawn = cached_rendering(root)
    splits = {name: UnicodeGlyphs(name, root=root) for name in ("train", "test", "all")}
    every = splits["all"]
    items = Counter(every.labels[:, 2].bincount().tolist())
    return {
        "characters": len(every.names[2]),
        "images": len(every),
        "faces": len(FACES),
        "splits": {name: _count_split(data) for name, data in splits.items()},
        "scripts": {
            name: {side: _count_under(splits[side], number) for side in ("train", "test")}
            for number, name in enumerate(every.names[0])
        },
        "items_per_character": dict(sorted(items.items())),
        "twins": {"images": int(every.twins.sum()), **_count_twins(drawn)},
        "sha256": drawn.sha256(),
        "pinned_sha256": PINNED_SHA256,
        "drawn_with": drawn_with(),
        "checked_with": CHECKED_WITH,
    }


def _count_split(data: UnicodeGlyphs) -> dict[str, int]:
    """Images and classes of a split. A twin is always in the split of its double."""
    pairs = torch.unique(data.labels[:, 1:], dim=0)
    return {
        "images": len(data),
        **{f"{level}s": len(torch.unique(data.labels[:, column])) for column, level in enumerate(LEVELS)},
        "shared base letters": int((pairs[:, 0].bincount() > 1).sum()),
        "twins": int(data.twins.sum()),
    }


def _count_under(data: UnicodeGlyphs, number: int) -> int:
    """How many characters a script has."""
    return len(torch.unique(data.labels[data.labels[:, 0] == number, 2]))


def _count_twins(drawn: Rendering) -> dict[str, int]:
    """How many characters share pictures with others."""
    shared = Counter(pair for sharing in owners(drawn).values() for pair in combinations(sharing, 2))
    sizes = Counter(map(chr, drawn.codepoints.tolist()))
    return {
        "characters": len({character for pair in shared for character in pair}),
        "pairs": len(shared),
        "identical pairs": sum(count >= min(sizes[a], sizes[b]) for (a, b), count in shared.items()),
        "pairs across scripts": sum(script(a) != script(b) for a, b in shared),
    }


def card_markdown(root: str | os.PathLike[str] | None = None) -> str:
    """Write the tables of the data card, which the book's data sets page includes."""
    facts = card(root)
    twins, splits = facts["twins"], facts["splits"]
    share = 100 * splits["test"]["twins"] / splits["test"]["images"]
    lines = ["| | train | test | all |", "|---|---:|---:|---:|"]
    lines += [f"| {key} | " + " | ".join(f"{splits[s][key]:,}" for s in splits) + " |" for key in splits["all"]]
    lines += ["", "Characters by the number of their images:", "", "| images | characters |", "|---:|---:|"]
    lines += [f"| {size} | {count:,} |" for size, count in facts["items_per_character"].items()]
    lines += ["", "Characters of each script:", "", "| script | train | test |", "|---|---:|---:|"]
    lines += [f"| {name} | {sides['train']} | {sides['test']} |" for name, sides in facts["scripts"].items()]
    same = "the same" if facts["sha256"] == facts["pinned_sha256"] else "other"
    lines += [
        "",
        f"Twins: {twins['images']:,} images of {twins['characters']:,} characters are pixel for pixel the picture of "
        f"another character as well. They make {twins['pairs']:,} pairs of characters "
        f"({twins['pairs across scripts']:,} across scripts), of which {twins['identical pairs']:,} "
        f"cannot be told apart in any face that draws both. "
        f"In the test split {share:.1f} % of the images have a twin.",
        "",
        f"Checked with {facts['checked_with']}, SHA-256 `{facts['pinned_sha256']}`; this page was made with "
        f"{facts['drawn_with']}, which draws {same} pixels.",
    ]
    return "\n".join(lines) + "\n"
