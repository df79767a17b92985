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
import numpy.typing as npt
import torch
from torch import Tensor

from rankedu.checks import check_choice
from rankedu_lab.datasets import rendering, unicode_tree
from rankedu_lab.datasets.rendering import Rendering, cached_rendering, render
from rankedu_lab.datasets.unicode_tree import LEVELS, SHARES, base_letter, deal, halves, hierarchy, owners, script

__all__ = ["LEVELS", "UnicodeGlyphs", "base_letter", "card_markdown", "script"]

#: Two halves, all, and the splits of the protocol.
SPLITS = ("train", "test", "all", *SHARES)


class UnicodeGlyphs:
    """About 3,300 characters in up to twelve faces: 35,690 pictures of 32 × 32.

    ``images`` are uint8 (N, 32, 32), 0 is paper and 255 is ink: pass them through
    :func:`rankedu_lab.datasets.augment`. ``labels`` (N, 3) run from root to leaf, script → base letter → character,
    a tree, and have the same numbers in all splits;
    ``names[level][label]`` are their names. ``faces`` (N,) index :data:`rankedu_lab.datasets.rendering.FACES`.
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


def card_markdown(root: str | os.PathLike[str] | None = None) -> str:
    """Write the tables of the data card, which the book's data sets page includes."""
    drawn, data = cached_rendering(root), UnicodeGlyphs("all", root=root)
    pictures, characters, leaf = owners(drawn), data.names[2], data.labels[:, 2].numpy()
    side = np.where(halves(characters, pictures), "train", "test")[leaf]
    dealt, in_tree = deal(characters, pictures)[leaf], unicode_tree.with_variants(characters)[leaf]
    masks = {"train": side == "train", "test": side == "test", "all": np.ones(len(data), dtype=bool)}
    splits = {name: _count(data, mask) for name, mask in masks.items()}
    lines = [*_table(splits), "", "The splits of the protocol, with the salt 0:", ""]
    lines += [*_table({name: _count(data, dealt == name) for name in SHARES}), "", "Of these, the letters-only tree:"]
    lines += ["", *_table({name: _count(data, (dealt == name) & in_tree) for name in SHARES}), ""]
    lines += ["Characters by the number of their images:", "", "| images | characters |", "|---:|---:|"]
    sizes = sorted(Counter(np.bincount(leaf).tolist()).items())
    lines += [f"| {size} | {count:,} |" for size, count in sizes]
    lines += ["", "Characters of each script:", "", "| script | train | test |", "|---|---:|---:|"]
    for number, name in enumerate(data.names[0]):
        own = data.labels[:, 0].numpy() == number
        halved = [len(np.unique(leaf[own & masks[half]])) for half in ("train", "test")]
        lines.append(f"| {name} | {halved[0]} | {halved[1]} |")
    same = "the same" if drawn.sha256() == rendering.PINNED_SHA256 else "other"
    share = 100 * splits["test"]["twins"] / splits["test"]["images"]
    lines += [
        "",
        f"Twins: {int(data.twins.sum()):,} images of {_twins(drawn)} "
        f"In the test split {share:.1f} % of the images have a twin. "
        "The box that a face shows for a missing glyph is none of the images.",
        "",
        f"Checked with {rendering.CHECKED_WITH}, SHA-256 `{rendering.PINNED_SHA256}`; this page was made with "
        f"{rendering.drawn_with()}, which draws {same} pixels.",
    ]
    return "\n".join(lines) + "\n"


def _count(data: UnicodeGlyphs, kept: npt.NDArray[np.bool_]) -> dict[str, int]:
    """Images and classes of a part of the data. A twin is always in the split of its double."""
    labels = data.labels[torch.from_numpy(kept)]
    pairs = torch.unique(labels[:, 1:], dim=0)
    return {
        "images": len(labels),
        **{f"{level}s": len(torch.unique(labels[:, column])) for column, level in enumerate(LEVELS)},
        "shared base letters": int((pairs[:, 0].bincount() > 1).sum()),
        "twins": int(data.twins.numpy()[kept].sum()),
    }


def _table(columns: dict[str, dict[str, int]]) -> list[str]:
    """Counts of several splits side by side."""
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    rows = next(iter(columns.values()))
    return [*lines, *(f"| {row} | {' | '.join(f'{counts[row]:,}' for counts in columns.values())} |" for row in rows)]


def _twins(drawn: Rendering) -> str:
    """How many characters share pictures with others."""
    shared = Counter(pair for sharing in owners(drawn).values() for pair in combinations(sharing, 2))
    sizes = Counter(map(chr, drawn.codepoints.tolist()))
    across = sum(script(a) != script(b) for a, b in shared)
    identical = sum(count >= min(sizes[a], sizes[b]) for (a, b), count in shared.items())
    return (
        f"{len({character for pair in shared for character in pair}):,} characters are pixel for pixel the picture of "
        f"another character as well. They make {len(shared):,} pairs of characters ({across:,} across scripts), of "
        f"which {identical:,} cannot be told apart in any face that draws both."
    )
