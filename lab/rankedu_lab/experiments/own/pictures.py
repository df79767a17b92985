"""Decode pictures of any format once: upright, on white, in eight bits, and at the size that views need."""

import hashlib
import io
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
#: The words of a note on a kind of picture, which come after the number of pictures.
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
    """Decode a picture to red, green and blue of 8 bits, and return it with the `REMARKS` on what was done to it.

    With ``side``, a JPEG may be decoded at a fraction of its size, at least twice the side. ``as_stored`` ignores the
    EXIF orientation. Raises one of `UNREADABLE`, also for a picture that loses everything in 8 bits or on white.
    """
    from PIL import Image

    remarks = set[str]()
    with Image.open(file) as source:
        image: Any = source
        if side:
            image.draft("RGB", (2 * side, 2 * side))
        deep = _bits(image) > 8
        turned = getattr(image, "tag_v2", {}).get(ORIENTATION) in TURNS  # Pillow turns a TIFF when it loads it
        image.load()
        turn = TURNS.get(_orientation(image))
        if turned or turn is not None:
            remarks.add("as stored" if as_stored and not turned else "turned")
        if getattr(image, "is_animated", False) and image.format != "MPO":  # phones add previews
            remarks.add("frames")
        image = image if turn is None or as_stored else image.transpose(turn)
        if image.mode[0] in "IF":
            deep, image = True, _eight_bits(image)
        if image.has_transparency_data and (full := image.convert("RGBA")).getextrema()[3][0] < 255:
            remarks.add("transparent")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), full)
        image = image.convert("RGB")
    if all(low == high for low, high in image.getextrema()):
        if deep:
            raise ValueError("it is of one colour when scaled to 8 bits (scale it first)")
        if "transparent" in remarks:
            raise ValueError("it is of one colour when composed on white (choose another ground)")
        remarks.add("plain")
    return image, frozenset(remarks | {"deep"} if deep else remarks)


def _orientation(image: Any) -> int:
    """Return the EXIF orientation, and 1 for damaged metadata, because the picture may be sound."""
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # Pillow raises many kinds
        return 1


def _bits(image: Any) -> int:
    """Return the bits per colour that a PNG or a TIFF declares, and 8 for other formats."""
    tile = str(image.tile[0][3]) if getattr(image, "tile", None) else ""
    return 16 if ";16" in tile else max(getattr(image, "tag_v2", {}).get(258, (8,)))


def _eight_bits(image: Any) -> Any:
    """Scale integers from 0 to 65,535, or floats from 0 to 1, to 8 bits; grey that stands for transparency is white."""
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
    """Recognise a picture by the end of its name, or else by its first bytes."""
    from PIL import Image

    if Image.registered_extensions().get(path.suffix.lower()) in {*FORMATS} & {*Image.OPEN}:
        return True
    try:
        with Image.open(path, formats=[kind for kind in FORMATS if kind not in ("PCX", "TGA")]):
            return True
    except UNREADABLE:
        return False


def _small(image: Any, size: int) -> Tensor:
    """Shrink a picture to the square of which a window of ``size`` is 7/8, as 224 of 256: uint8 (3, side, side)."""
    from PIL.Image import Resampling

    side = round(size / KEPT)
    return torch.from_numpy(np.array(image.resize((side, side), Resampling.BILINEAR))).permute(2, 0, 1)


def window(pixels: Tensor, size: int, places: Sequence[float] = (0.5, 0.5)) -> Tensor:
    """Cut a window out of small pictures, (..., 3, side, side), at fractions of the free space; normalise colours."""
    free = pixels.shape[-1] - size
    top, left = (min(int(place * (free + 1)), free) for place in places)
    return normalise(pixels[..., top : top + size, left : left + size])


def load_picture(path: str | Path, *, size: int, as_stored: bool = False) -> Tensor:
    """Load a picture as `rankedu train` loads those of its test, (3, size, size)."""
    return window(_small(opened(Path(path), round(size / KEPT), as_stored=as_stored)[0], size), size)


def keep(
    files: Sequence[Path], size: int, *, as_stored: bool = False, progress: bool = True
) -> tuple[Tensor, list[Found | str]]:
    """Decode files in threads: pixels, uint8 (n, 3, side, side), and for each file what was found, or why not."""
    import psutil
    from PIL import Image
    from tqdm import tqdm

    Image.init()  # not in two threads at once
    side = round(size / KEPT)
    need, there = 3 * len(files) * side**2, psutil.virtual_memory().total
    if need > 0.8 * there:
        sizes = f"{need / 2**30:.1f} GiB at size {size}, got {there / 2**30:.1f} GiB"
        raise ValueError(f"memory must hold {len(files):,} pictures, {sizes} (choose a smaller --size)")
    pixels = torch.zeros(len(files), 3, side, side, dtype=torch.uint8)

    def make(at: int) -> Found | str:
        try:
            content = files[at].read_bytes()
            image, remarks = opened(io.BytesIO(content), side, as_stored=as_stored)
            pixels[at] = _small(image, size)
        except (*UNREADABLE, Image.DecompressionBombError) as error:
            return "it is not there" if isinstance(error, FileNotFoundError) else str(error).partition("<")[0].strip()
        small = hashlib.sha256(pixels[at].numpy().tobytes()).hexdigest()
        return Found(hashlib.sha256(content).hexdigest(), small, remarks)

    pool, hidden = ThreadPoolExecutor(os.cpu_count()), None if progress else True
    try:
        made = pool.map(make, range(len(files)))
        return pixels, list(tqdm(made, "reading", len(files), unit="picture", disable=hidden, delay=2))
    finally:
        pool.shutdown(cancel_futures=True)


def remarked(found: Mapping[str, Found]) -> list[str]:
    """Write a note on each kind of remark, with the first files."""
    kinds = {kind: [file for file, one in found.items() if kind in one.remarks] for kind in REMARKS}
    return [f"{len(kinds[k]):,} of {len(found):,} {REMARKS[k]}: {some(kinds[k])}" for k in REMARKS if kinds[k]]


def some(items: Sequence[Any]) -> str:
    """Name the first three."""
    return "; ".join(map(str, items[:3])) + "; …" * (len(items) > 3)
