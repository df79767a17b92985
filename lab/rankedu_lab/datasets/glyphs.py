"""`UnicodeGlyphs`: fine-grained, open-set, hierarchical retrieval that needs no download.

The pictures are drawn by the fonts that ship with matplotlib; the hierarchy is the Unicode character database's own:
script → base letter → character.
"""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_choice
from rankedu_lab.datasets import unicode_tree
from rankedu_lab.datasets.rendering import cached_rendering, render
from rankedu_lab.datasets.unicode_tree import LEVELS, SHARES, base_letter, deal, halves, hierarchy, owners, script

__all__ = ["LEVELS", "UnicodeGlyphs", "base_letter", "script"]

#: Two halves, all, and the splits of the protocol.
SPLITS = ("train", "test", "all", *SHARES)


class UnicodeGlyphs:
    """About 3,300 characters in up to twelve faces: 35,690 pictures of 32 × 32.

    ``images`` are uint8 (N, 32, 32), 0 is paper and 255 is ink: pass them through
    :func:`rankedu_lab.datasets.augment`. ``labels`` (N, 3) run from root to leaf, script → base letter → character, and
    have the same numbers in all splits; ``names[level][label]`` are their names. ``faces`` (N,) index
    :data:`rankedu_lab.datasets.rendering.FACES`. ``twins`` (N,) says whether another character has the same picture.

    ``"train"`` and ``"test"`` are halves. The splits of the protocol, ``"pretrain"``, ``"fit"``, ``"val"`` and
    ``"held_out"``, hold about 40, 25, 10 and 25 % of the characters, and another ``salt`` deals them anew. No base
    letter and no picture is in two of either. ``letters`` keeps the base letters of Latin, Greek and Cyrillic with four
    characters or more, whose coarse levels can be learned. ``characters`` draws only these.

    Examples
    --------
    >>> data = UnicodeGlyphs("all", characters="eéEз3Ӟ")
    >>> data.images.shape, data.labels.shape
    (torch.Size([72, 32, 32]), torch.Size([72, 3]))
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
