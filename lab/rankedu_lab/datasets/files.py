"""Data sets of image files: labels in memory, pictures decoded when they are needed."""

import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count
from rankedu.extras import needed
from rankedu_lab.datasets.lists import ListedImage, missing, number_paths
from rankedu_lab.datasets.published import Published
from rankedu_lab.datasets.transforms import CROPS, draw, view

__all__ = ["ImageFiles", "read_image"]

#: What decoders raise of a damaged file.
UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)


class ImageFiles:
    """Images on disk: ``paths``, ``labels`` (N, L) from root to leaf, and ``names[level][label]``.

    Labels are numbered over the rows of all parts, training first, so that they are the same in all splits. Opening
    reads the lists only; a missing image is an error when it is loaded. For ``crop`` see
    :func:`rankedu_lab.datasets.transforms.view`.
    """

    def __init__(
        self,
        facts: Published,
        folder: Path,
        rows: Sequence[ListedImage],
        split: str,
        *,
        image_size: int = 224,
        crop: str = "area",
    ) -> None:
        check_choice(split, tuple(facts.splits), name="split")
        check_choice(crop, CROPS, name="crop")
        check_count(image_size, "image_size", hint="the papers use 224")
        labels, self.names = number_paths(row.names for row in rows)
        keep = [index for part in facts.splits[split] for index, row in enumerate(rows) if row.part == part]
        if not keep:
            raise ValueError(f"split must have images, got {split!r}, for which {folder} lists none ({facts.where()})")
        self.facts, self.folder, self.split, self.levels = facts, folder, split, facts.levels
        self.paths = [folder / rows[index].file for index in keep]
        self.labels = labels[keep]
        self.image_size, self.crop = image_size, crop

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """The picture at an index, as in a test, and its labels."""
        return self.load(index), self.labels[index]

    def __repr__(self) -> str:
        classes = [f"{name} {len(of.unique())}" for name, of in zip(self.levels, self.labels.T, strict=True)]
        return f"{self.facts.title} ({self.split}: images {len(self)}, {', '.join(classes)})"

    def load(self, index: int, generator: torch.Generator | None = None) -> Tensor:
        """Decode one image, (3, S, S), normalised as ImageNet: the view of the test, or one the generator draws."""
        draws = None if generator is None else draw(generator)
        return read_image(
            self.paths[index], self.facts, lambda image: view(image, draws, size=self.image_size, crop=self.crop)
        )


def read_image(path: Path, facts: Published, use: Callable[[Any], Tensor]) -> Tensor:
    """Open a file and make a tensor of it; a ValueError if it is no picture, a FileNotFoundError if it is missing."""
    needed("PIL", "rankedu decodes images with Pillow")
    from PIL import Image

    try:
        with Image.open(path) as image:
            return use(image)
    except FileNotFoundError:
        raise missing(path, facts) from None
    except (*UNREADABLE, Image.DecompressionBombError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk, not the picture
        raise ValueError(f"{path} cannot be decoded: {error} (repair the file, or remove it from the list)") from None
