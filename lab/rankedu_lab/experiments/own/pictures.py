"""Decode pictures of any format once: upright, on white, in eight bits, and at the size that views need."""

import hashlib
import io
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankedu_lab.datasets.files import UNREADABLE
from rankedu_lab.datasets.transforms import KEPT, normalise

__all__ = ["Found", "keep", "load_picture", "opened", "window"]

#: Formats of pictures; Pillow also knows some of videos, tables and pages.
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "PSD", "QOI", "TGA", "TIFF", "WEBP")
#: The EXIF tag of the orientation, and by its value the number of Pillow's transposition that turns a picture upright.
ORIENTATION, TURNS = 0x0112, {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
#: What may be remarked of a picture: the words of a note, after the number of pictures.
REMARKS = {
    "turned": "pictures were turned upright, as their EXIF orientation says (--as-stored leaves them)",
    "as stored": "pictures have an EXIF orientation, which was ignored",
    "transparent": "pictures are transparent in places, and were composed on white",
    "deep": "pictures have more than 8 bits per colour, and were scaled to 8 bits (of integers 65,535 is white)",
    "frames": "pictures have several frames, of which only the first was used",
    "plain": "pictures are of one colour throughout",
}


class Found(NamedTuple):
    """A file that can be read."""

    content: str  #: a hash of the file
    small: str  #: a hash of the small picture
    remarks: frozenset[str]  #: of `REMARKS`


def opened(file: Path | io.BytesIO, side: int | None = None, *, as_stored: bool = False) -> tuple[Any, frozenset[str]]:
    """Decode a picture to red, green and blue of 8 bits, and say in `REMARKS` what was done to it.

    With ``side``, a JPEG may be decoded at a fraction of its size, at least twice the side. ``as_stored`` ignores the
    EXIF orientation. Raises one of `UNREADABLE`, also where all that can be seen is lost.
    """
    from PIL import Image

    remarks = set[str]()
    with Image.open(file) as source:
        image: Any = source
        if side:
            image.draft("RGB", (2 * side, 2 * side))
        bits = _bits(image)
        turned = getattr(image, "tag_v2", {}).get(ORIENTATION) in TURNS  # a TIFF is turned when it is loaded
        image.load()
        turn = TURNS.get(_orientation(image))
        if turned or turn is not None:
            remarks.add("as stored" if as_stored and not turned else "turned")
        if getattr(image, "is_animated", False) and image.format != "MPO":  # phones add previews
            remarks.add("frames")
        image = image if turn is None or as_stored else image.transpose(turn)
        if image.mode[0] in "IF" or bits > 8:
            remarks.add("deep")
            image = _eight_bits(image) if image.mode[0] in "IF" else image
        if image.has_transparency_data and (full := image.convert("RGBA")).getextrema()[3][0] < 255:
            remarks.add("transparent")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), full)
        image = image.convert("RGB")
    if all(low == high for low, high in image.getextrema()):
        if lost := remarks & {"deep", "transparent"}:
            why = "scaled to 8 bits (scale it first)" if "deep" in lost else "composed on white (choose another ground)"
            raise ValueError(f"it is of one colour when {why}")
        remarks.add("plain")
    return image, frozenset(remarks)


def _orientation(image: Any) -> int:
    """Return the EXIF orientation; that of damaged metadata is 1, upright, because the picture may be sound."""
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # Pillow has many
        return 1


def _bits(image: Any) -> int:
    """Return the bits per colour that a PNG or a TIFF declares, and 8 for other formats."""
    tile = str(image.tile[0][3]) if getattr(image, "tile", None) else ""
    known = getattr(image, "tag_v2", {}).get(258, (8,))
    return 16 if ";16" in tile else max(known)


def _eight_bits(image: Any) -> Any:
    """Bring integers from 0 to 65,535, or floats from 0 to 1, to 8 bits; grey that stands for transparency is white."""
    from PIL import Image

    values, full = np.asarray(image, dtype=np.float64), 1.0 if image.mode == "F" else 65535.0
    low, high = values.min(), values.max()
    if not (low >= 0 and high <= full):
        raise ValueError(f"its values, {low:g} to {high:g}, must be from 0 to {full:g} (scale them)")
    if full > high > 0 and high / full < 1 / 16:
        raise ValueError(f"its values, 0 to {high:g}, are below a sixteenth of the white, {full:g} (scale them)")
    if isinstance(clear := image.info.get("transparency"), int):
        values = np.where(values == clear, full, values)
    return Image.fromarray((values * (255 / full)).round().astype(np.uint8))


def is_picture(path: Path) -> bool:
    """Tell a picture by the end of its name, or else by its first bytes."""
    from PIL import Image

    if Image.registered_extensions().get(path.suffix.lower()) in {*FORMATS} & {*Image.OPEN}:
        return True
    try:
        with Image.open(path, formats=[kind for kind in FORMATS if kind not in ("PCX", "TGA")]):
            return True
    except UNREADABLE:
        return False


def _small(image: Any, side: int) -> Tensor:
    """Shrink the whole picture to a square, uint8 (3, side, side)."""
    from PIL.Image import Resampling

    return torch.from_numpy(np.array(image.resize((side, side), Resampling.BILINEAR))).permute(2, 0, 1)


def side_of(size: int) -> int:
    """Return the side of a kept picture, of which a window of the given size is 7/8, as 224 of 256."""
    return round(size / KEPT)


def window(pixels: Tensor, size: int, places: Sequence[float] = (0.5, 0.5)) -> Tensor:
    """Cut a window out of kept pixels, (..., 3, side, side), at fractions of the free space; normalise its colours."""
    free = pixels.shape[-1] - size
    top, left = (min(int(place * (free + 1)), free) for place in places)
    return normalise(pixels[..., top : top + size, left : left + size])


def load_picture(path: str | Path, *, size: int, as_stored: bool = False) -> Tensor:
    """Load a picture as `rankedu train` loads those of its test, (3, size, size)."""
    side = side_of(size)
    return window(_small(opened(Path(path), side, as_stored=as_stored)[0], side), size)


def _memory() -> float:
    """Return the bytes of this machine's memory, or infinity where the system does not say."""
    known = {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= getattr(os, "sysconf_names", {}).keys()
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else math.inf


def keep(
    files: Sequence[Path], size: int, *, as_stored: bool = False, progress: bool = True
) -> tuple[Tensor, list[Found | str]]:
    """Decode files in threads: pixels, uint8 (n, 3, side, side), and what was found, or why one is unreadable."""
    from PIL import Image
    from tqdm import tqdm

    Image.init()  # not in two threads at once
    side, free = side_of(size), _memory()
    if (need := 3 * len(files) * side**2) > 0.8 * free:
        message = f"{need / 2**30:.1f} GiB at size {size}, got {free / 2**30:.1f} GiB (choose a smaller --size)"
        raise ValueError(f"memory must hold {len(files):,} pictures, {message}")
    pixels = torch.zeros(len(files), 3, side, side, dtype=torch.uint8)

    def make(at: int) -> Found | str:
        try:
            content = files[at].read_bytes()
            image, remarks = opened(io.BytesIO(content), side, as_stored=as_stored)
            pixels[at] = _small(image, side)
        except (*UNREADABLE, Image.DecompressionBombError) as error:
            return "it is not there" if isinstance(error, FileNotFoundError) else str(error).partition("<")[0].strip()
        small = hashlib.sha256(pixels[at].numpy().tobytes()).hexdigest()
        return Found(hashlib.sha256(content).hexdigest(), small, remarks)

    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        hidden = None if progress else True
        found = list(
            tqdm(pool.map(make, range(len(files))), "reading", len(files), unit="picture", disable=hidden, delay=2)
        )
    finally:
        pool.shutdown(cancel_futures=True)
    return pixels, found


def remarked(found: Mapping[str, Found]) -> list[str]:
    """Write a note on each kind of remark, with the first files."""
    kinds = {kind: [file for file, one in found.items() if kind in one.remarks] for kind in REMARKS}
    return [
        f"{len(files):,} of {len(found):,} {REMARKS[kind]}: {some(files)}" for kind, files in kinds.items() if files
    ]


def some(items: Sequence[Any]) -> str:
    """Name the first three."""
    return "; ".join(map(str, items[:3])) + "; …" * (len(items) > 3)
