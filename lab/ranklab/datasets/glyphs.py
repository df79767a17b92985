"""`UnicodeGlyphs`: fine-grained, open-set, hierarchical retrieval that needs no download.

The pictures are drawn by the fonts that ship with matplotlib; the hierarchy is the Unicode character database's own:
script → base letter → character.
"""

import os
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_choice
from ranklab.datasets import rendering, unicode_tree
from ranklab.datasets.augmentation import augment
from ranklab.datasets.held_out import check_open
from ranklab.datasets.rendering import Rendering, cached_rendering, render
from ranklab.datasets.unicode_tree import LEVELS, SHARES, base_letter, deal, halves, hierarchy, owners, script

__all__ = ["LEVELS", "UnicodeGlyphs", "augment", "base_letter", "card", "card_markdown", "script"]

#: Two halves, all, and the splits of the protocol.
SPLITS = ("train", "test", "all", *SHARES)


class UnicodeGlyphs:
    """About 3,300 characters in up to twelve faces: 35,690 pictures of 32 × 32.

    ``images`` are uint8 (N, 32, 32), 0 is paper and 255 is ink: pass them through :func:`augment`. ``labels`` (N, 3)
    run from root to leaf, script → base letter → character, a tree, and have the same numbers in all splits;
    ``names[level][label]`` are their names. ``faces`` (N,) index :data:`ranklab.datasets.rendering.FACES`.
    ``twins`` (N,) says whether another character has the same picture, as A has in Latin, Greek and Cyrillic.

    ``"train"`` and ``"test"`` are halves. The splits of the protocol, ``"pretrain"``, ``"fit"``, ``"val"`` and
    ``"held_out"``, hold about 40, 25, 10 and 25 % of the characters, and another ``salt`` deals them anew. No base
    letter and no picture is in two of either. ``letters`` keeps a tree whose coarse levels can be learned: Latin, Greek
    and Cyrillic, the base letters with four characters or more. ``characters`` draws only these, for examples and
    tests.

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
        salt: int | str = 0,
        letters: bool = False,
        root: str | os.PathLike[str] | None = None,
        characters: Iterable[str] | None = None,
    ) -> None:
        check_choice(split, SPLITS, name="split")
        check_open(split)
        drawn = cached_rendering(root) if characters is None else render(characters)
        if len(drawn.images) == 0:
            raise ValueError("characters must hold one that at least eight of the faces draw, got none (try 'AÀБ')")
        codes, leaf = np.unique(drawn.codepoints, return_inverse=True)
        drawn_characters = [chr(code) for code in codes]
        pictures = owners(drawn)
        known = unicode_tree.with_variants(drawn_characters) if letters else np.ones(len(codes), dtype=bool)
        paths, self.names = hierarchy([drawn_characters[index] for index in np.flatnonzero(known)])
        within = np.ones(len(codes), dtype=bool)
        if split in SHARES:
            within = deal(drawn_characters, pictures, salt) == split
        elif split != "all":
            within = halves(drawn_characters, pictures) == (split == "train")
        keep = (known & within)[leaf]
        self.split, self.salt = split, salt
        self.images = torch.from_numpy(drawn.images[keep])
        self.labels = torch.from_numpy(paths[(known.cumsum() - 1)[leaf[keep]]])
        self.faces = torch.from_numpy(drawn.faces[keep])
        shared = {picture for picture, sharing in pictures.items() if len(sharing) > 1}
        self.twins = torch.tensor([image.tobytes() in shared for image in drawn.images[keep]], dtype=torch.bool)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: Any) -> tuple[Tensor, Tensor]:
        """Images and labels at an index, a slice, or a tensor of indices."""
        return self.images[index], self.labels[index]

    def __repr__(self) -> str:
        classes = len(torch.unique(self.labels[:, -1]))
        return f"UnicodeGlyphs({self.split!r}: {len(self)} images, {classes} characters)"


def card(root: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Count what the data set holds: images and classes by split, script and number of faces; twins, and boxes."""
    drawn, data = cached_rendering(root), UnicodeGlyphs("all", root=root)
    pictures, characters, leaf = owners(drawn), data.names[2], data.labels[:, 2].numpy()
    side = np.where(halves(characters, pictures), "train", "test")[leaf]
    dealt = deal(characters, pictures)[leaf]
    in_tree = unicode_tree.with_variants(characters)[leaf]
    masks = {name: torch.from_numpy(side == name) for name in ("train", "test")}
    masks["all"] = torch.ones(len(data), dtype=torch.bool)
    boxes = rendering.missing_glyphs()
    return {
        "characters": len(characters),
        "images": len(data),
        "faces": len(rendering.FACES),
        "splits": {name: _count(data, mask) for name, mask in masks.items()},
        "protocol": {name: _count(data, torch.from_numpy(dealt == name)) for name in SHARES},
        "letters": {name: _count(data, torch.from_numpy((dealt == name) & in_tree)) for name in SHARES},
        "scripts": {
            name: {side: _count(data, masks[side] & (data.labels[:, 0] == number))["characters"] for side in masks}
            for number, name in enumerate(data.names[0])
        },
        "items_per_character": dict(sorted(Counter(data.labels[:, 2].bincount().tolist()).items())),
        "twins": {"images": int(data.twins.sum()), **_count_twins(drawn)},
        "boxes": sum(image.tobytes() in boxes for image in drawn.images),
        "sha256": drawn.sha256(),
        "pinned_sha256": rendering.PINNED_SHA256,
        "drawn_with": rendering.drawn_with(),
        "checked_with": rendering.CHECKED_WITH,
    }


def _count(data: UnicodeGlyphs, kept: Tensor) -> dict[str, int]:
    """Images and classes of a part of the data. A twin is always in the split of its double."""
    labels = data.labels[kept]
    pairs = torch.unique(labels[:, 1:], dim=0)
    return {
        "images": len(labels),
        **{f"{level}s": len(torch.unique(labels[:, column])) for column, level in enumerate(LEVELS)},
        "shared base letters": int((pairs[:, 0].bincount() > 1).sum()),
        "twins": int(data.twins[kept].sum()),
    }


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
    lines = [*_table(splits), "", "The splits of the protocol, with the salt 0:", "", *_table(facts["protocol"])]
    lines += ["", "Of these, the letters-only tree:", "", *_table(facts["letters"])]
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
        "cannot be told apart in any face that draws both. "
        f"In the test split {share:.1f} % of the images have a twin. "
        f"The box that a face shows for a missing glyph is {facts['boxes'] or 'none'} of the images.",
        "",
        f"Checked with {facts['checked_with']}, SHA-256 `{facts['pinned_sha256']}`; this page was made with "
        f"{facts['drawn_with']}, which draws {same} pixels.",
    ]
    return "\n".join(lines) + "\n"


def _table(columns: dict[str, dict[str, int]]) -> list[str]:
    """Counts of several splits side by side."""
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    rows = next(iter(columns.values()))
    return [*lines, *(f"| {row} | {' | '.join(f'{counts[row]:,}' for counts in columns.values())} |" for row in rows)]
