"""Characters drawn by the fonts that ship with matplotlib, and the file that keeps them.

A glyph is drawn alone, without hinting and without the text layout, which would join letters and put dotted circles
under marks. Nothing here needs pyplot.
"""

import hashlib
import importlib
import math
import os
import re
import unicodedata
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rankedu.extras import needed
from rankedu_lab.datasets.cache import cached_arrays

__all__ = ["CHECKED_WITH", "FACES", "MIN_FACES", "PINNED_SHA256", "SIZE", "Rendering", "cached_rendering", "render"]

#: The twelve faces: all DejaVu fonts of matplotlib but the two that exist for displayed formulas only.
FACES = (
    *("DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique", "DejaVuSans-BoldOblique"),
    *("DejaVuSansMono", "DejaVuSansMono-Bold", "DejaVuSansMono-Oblique", "DejaVuSansMono-BoldOblique"),
    *("DejaVuSerif", "DejaVuSerif-Bold", "DejaVuSerif-Italic", "DejaVuSerif-BoldItalic"),
)
#: A character takes part if at least this many faces draw something for it.
MIN_FACES = 8
#: Images are SIZE × SIZE pixels, an em has 24 of them, and the writing line lies below row 24.
SIZE, POINTS, DPI, BASELINE = 32, 18.0, 96, 24
#: What the pinned checksum was computed with.
CHECKED_WITH = "matplotlib 3.11.2 (FreeType 2.14.3)"
#: Of the drawings, see :meth:`Rendering.sha256`.
PINNED_SHA256 = "bac4a01b8c615c7ae380a715e174f3ea72dacf1afb5af84eed9482c2a2e894e9"


class Rendering(NamedTuple):
    """All drawn glyphs, sorted by character, then by face."""

    images: npt.NDArray[np.uint8]  # (N, 32, 32), 0 is paper and 255 is ink
    codepoints: npt.NDArray[np.int64]  # (N,)
    faces: npt.NDArray[np.int64]  # (N,), index into FACES

    def sha256(self) -> str:
        """Hash the three arrays; equal on every machine where the same pixels were drawn."""
        digest = hashlib.sha256()
        for array, dtype in zip(self, ("u1", "<i8", "<i8"), strict=True):
            digest.update(np.ascontiguousarray(array, dtype=dtype).data)
        return digest.hexdigest()


def render(characters: Iterable[str] | None = None) -> Rendering:
    """Draw every character, or those that are given, that has a Unicode name, in every face that has it.

    Characters that fewer than eight faces draw are left out, and so are empty pictures, such as those of spaces. The
    box that stands for a missing glyph is never drawn. All characters take about 1.5 s.

    Examples
    --------
    >>> drawn = render("AB ")
    >>> drawn.images.shape, sorted(map(chr, set(drawn.codepoints.tolist())))
    ((24, 32, 32), ['A', 'B'])
    """
    fonts = _fonts()
    charmaps = [{code for code, glyph in font.get_charmap().items() if glyph} for font in fonts]
    wanted = set().union(*charmaps) if characters is None else {ord(character) for character in characters}
    glyphs = []
    for code in sorted(code for code in wanted if unicodedata.name(chr(code), "")):
        if sum(code in charmap for charmap in charmaps) < MIN_FACES:
            continue
        drawn = [(code, face, _draw(font, code)) for face, font in enumerate(fonts) if code in charmaps[face]]
        visible = [item for item in drawn if item[2].any()]
        if len(visible) >= MIN_FACES:
            glyphs += visible
    codes, faces, images = zip(*glyphs, strict=True) if glyphs else ((), (), np.zeros((0, SIZE, SIZE), np.uint8))
    return Rendering(np.array(images), np.array(codes, np.int64), np.array(faces, np.int64))


def _fonts() -> list[Any]:
    """Open the faces."""
    matplotlib, ft2font = _matplotlib()
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return [ft2font.FT2Font(str(folder / f"{face}.ttf")) for face in FACES]


def _matplotlib() -> tuple[Any, Any]:
    """The library, and its door to FreeType."""
    return needed("matplotlib", "UnicodeGlyphs draws its fonts"), importlib.import_module("matplotlib.ft2font")


def _draw(font: Any, code: int | None) -> npt.NDArray[np.uint8]:
    """Draw one glyph (or the box for a missing one) centred on the writing line, smaller if it would not fit."""
    matplotlib, ft2font = _matplotlib()  # in 3.10 the flags became an enumeration, in 3.11 the canvas an array
    flags = ft2font.LoadFlags.NO_HINTING if hasattr(ft2font, "LoadFlags") else ft2font.LOAD_NO_HINTING
    points = POINTS
    while True:
        font.set_size(points, DPI)
        glyph = font.load_glyph(0, flags=flags) if code is None else font.load_char(code, flags=flags)
        left, bottom = (math.floor(edge / 64) for edge in glyph.bbox[:2])
        right, top = (math.ceil(edge / 64) for edge in glyph.bbox[2:])
        width, height = right - left, top - bottom
        if max(width, height) <= SIZE:
            break
        points *= (SIZE - 1) / max(width, height)
    if min(width, height) <= 0:
        return np.zeros((SIZE, SIZE), np.uint8)
    row = min(max(BASELINE - top, 0), SIZE - height)
    old = matplotlib.__version_info__ < (3, 11)
    canvas = ft2font.FT2Image(SIZE, SIZE) if old else np.zeros((SIZE, SIZE), np.uint8)
    font.draw_glyph_to_bitmap(canvas, (SIZE - width) // 2 - left, row, glyph, antialiased=True)
    return np.array(canvas, dtype=np.uint8)


def drawn_with() -> str:
    """Name the versions that decide about the pixels."""
    matplotlib, ft2font = _matplotlib()
    return f"matplotlib {matplotlib.__version__} (FreeType {ft2font.__freetype_version__})"


def cached_rendering(root: str | os.PathLike[str] | None = None) -> Rendering:
    """Read the rendering of all characters from its cache file; draw it and write the file if there is none."""
    version = drawn_with()
    file = f"characters-{re.sub(r'[ ()]+', '-', version).strip('-')}.npz"
    drawn = Rendering(**cached_arrays(file, lambda: render()._asdict(), root))
    warn_of_other_pixels("UnicodeGlyphs", drawn, PINNED_SHA256)
    return drawn


def warn_of_other_pixels(data: str, drawn: Rendering, pinned: str) -> None:
    """Warn if the drawings are not those of the pinned checksum."""
    checksum = drawn.sha256()
    if checksum != pinned:
        warnings.warn(
            f"{data}: {drawn_with()} draws other pixels (SHA-256 {checksum[:12]}…) than {CHECKED_WITH}, with which "
            f"the data set was checked ({pinned[:12]}…). Everything works, but results are not comparable "
            "with the book's; for those, install that version.",
            stacklevel=4,
        )
