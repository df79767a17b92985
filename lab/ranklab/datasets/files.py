"""Data sets of image files: labels in memory, pictures decoded when they are asked for."""

import struct
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count
from rankedu.extras import needed
from ranklab.datasets.lists import ListedImage, missing, number_paths
from ranklab.datasets.published import Published
from ranklab.datasets.transforms import CROPS, draw, view

__all__ = ["CorruptImage", "ImageFiles", "read_image"]


#: What decoders raise of a damaged file.
UNREADABLE = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)


class ImageFiles:
    """Images on disk: ``paths``, ``labels`` (N, L) from root to leaf, and ``names[level][label]``.

    Labels are numbered over the rows of all parts, training first, so that they are the same in all splits. Opening
    reads the lists only; a missing image is an error when it is asked for. For ``crop`` see
    :func:`ranklab.datasets.transforms.view`. With ``on_corrupt="skip"`` a file that cannot be decoded is named in a
    warning, and the next image of its class takes its place. In a test such a stand-in finds its double, so mend or
    unlist the file before you report a number.
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
        on_corrupt: str = "raise",
    ) -> None:
        check_choice(split, tuple(facts.splits), name="split")
        check_choice(crop, CROPS, name="crop")
        check_choice(on_corrupt, ("raise", "skip"), name="on_corrupt")
        check_count(image_size, "image_size", hint="the papers use 224")
        labels, self.names = number_paths(row.names for row in rows)
        keep = [index for part in facts.splits[split] for index, row in enumerate(rows) if row.part == part]
        if not keep:
            raise ValueError(f"split must have images, got {split!r}, for which {folder} lists none ({facts.where()})")
        self.facts, self.folder, self.split, self.levels = facts, folder, split, facts.levels
        self.paths = [folder / rows[index].file for index in keep]
        self.labels = labels[keep]
        self.image_size, self.crop, self.on_corrupt = image_size, crop, on_corrupt
        self._named: set[Path] = set()

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
        for candidate in self._candidates(index):
            path = self.paths[candidate]
            try:
                return read_image(
                    path, self.facts, lambda image: view(image, draws, size=self.image_size, crop=self.crop)
                )
            except CorruptImage as error:
                if self.on_corrupt == "raise":
                    raise ValueError(f"{error} (on_corrupt='skip' takes another image of its class)") from None
                if path not in self._named:
                    self._named.add(path)
                    warnings.warn(f"{error}; another image of its class takes its place", stacklevel=2)
        name = self.names[-1][int(self.labels[index, -1])]
        raise ValueError(f"{self.paths[index]} cannot be decoded, nor can any other image of its class, {name!r}")

    def _candidates(self, index: int) -> Iterator[int]:
        """The index itself, then those that come after it in its class, round and round."""
        yield index
        same = (self.labels[:, -1] == self.labels[index, -1]).nonzero().flatten().tolist()
        at = same.index(range(len(self))[index])
        yield from same[at + 1 :] + same[:at]


class CorruptImage(ValueError):
    """A file that is there and cannot be decoded."""


def read_image(path: Path, facts: Published, use: Callable[[Any], Tensor]) -> Tensor:
    """Open a file and make a tensor of it; a CorruptImage if it is no picture, a FileNotFoundError if it is missing."""
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
        raise CorruptImage(f"{path} cannot be decoded: {error}") from None
