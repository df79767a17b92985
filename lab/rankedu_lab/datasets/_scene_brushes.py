"""What scenes are painted with: glyphs, turned and scaled, plates under them, textured grounds, and colours."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankedu_lab.datasets.rendering import SIZE, Rendering

Floats = npt.NDArray[np.float32]

#: Coverage above which a pixel belongs to the box of the ink.
EDGE = 0.3
#: The noise of the grounds: knots per side of each octave, and its weight, which is small for fine noise.
OCTAVES, FINENESS = (4, 7, 13, 25), (2.0, 2.0, 1.0, 0.5)
#: Waves across a ground, and how far the clouds bend them, in radians.
WAVES, BEND = (0.0, 0.0, 2.0, 5.0, 9.0), (1.0, 4.0)
#: What red, green and blue count in a contrast.
BRIGHTNESS = np.array([0.9, 1.8, 0.3], np.float32)


class Glyph(NamedTuple):
    """A drawn glyph, in pixels of the drawing."""

    image: Floats  # (SIZE + 2, SIZE + 2), from 0 to 1, with a border of paper
    middle: tuple[float, float]  # of the ink, x and y
    half: tuple[float, float]  # width and height of the ink, halved


class Piece(NamedTuple):
    """A glyph as it goes into a scene: coverage from 0 to 1, and the box of its ink."""

    ink: Floats  # (P, P)
    plate: Floats | None  # (P, P)
    box: tuple[int, int, int, int]  # x1, y1, x2, y2


def cut_glyphs(drawn: Rendering) -> dict[str, list[Glyph]]:
    """The glyphs of each character, one for each face that draws it."""
    glyphs: dict[str, list[Glyph]] = {}
    for image, code in zip(drawn.images, drawn.codepoints.tolist(), strict=True):
        rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
        middle = float(columns[0] + columns[-1]) / 2 + 1, float(rows[0] + rows[-1]) / 2 + 1
        half = float(columns[-1] - columns[0] + 1) / 2, float(rows[-1] - rows[0] + 1) / 2
        glyph = Glyph(np.pad(image, 1).astype(np.float32) / np.float32(255), middle, half)
        glyphs.setdefault(chr(code), []).append(glyph)
    return glyphs


def paint_glyph(glyph: Glyph, side: float, angle: float, plated: bool) -> Piece:
    """Turn and scale a glyph, so that the longer side of its ink has ``side`` pixels before it is turned.

    Every pixel looks up the point of the drawing that it shows. Edges that were magnified are made steep again.
    """
    scale = side / (2 * max(glyph.half))
    reach = math.hypot(max(glyph.half), max(glyph.half)) + 2 if plated else math.hypot(*glyph.half)
    pixels = math.ceil(scale * reach) + 1
    offsets = np.arange(-pixels, pixels + 1, dtype=np.float32) / np.float32(scale)
    across, down = np.float32(math.cos(angle)) * offsets, np.float32(math.sin(angle)) * offsets
    u, v = across[None, :] + down[:, None], across[:, None] - down[None, :]
    ink = _sample(glyph.image, u + np.float32(glyph.middle[0]), v + np.float32(glyph.middle[1]))
    ink = np.clip((ink - np.float32(0.5)) * np.float32(max(1.0, 0.8 * scale)) + np.float32(0.5), 0, 1)
    dark = ink > EDGE
    rows, columns = np.flatnonzero(dark.any(1)), np.flatnonzero(dark.any(0))
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    return Piece(ink, _plate(u, v, max(glyph.half) + 2.5, scale) if plated else None, box)


def _sample(image: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate between the four nearest points of a drawing; beyond it there is paper."""
    x, y = np.clip(x, 0, SIZE + 0.999), np.clip(y, 0, SIZE + 0.999)
    column, row = x.astype(np.int32), y.astype(np.int32)
    x -= column
    y -= row
    flat, width = image.ravel(), image.shape[1]
    first = row * width + column
    left = flat[first]
    upper = left + x * (flat[first + 1] - left)
    first += width
    left = flat[first]
    lower = left + x * (flat[first + 1] - left)
    return upper + y * (lower - upper)


def _plate(u: Floats, v: Floats, half: float, scale: float) -> Floats:
    """A square with round corners, |u|⁴ + |v|⁴ ≤ half⁴."""
    u, v = u * u, v * v
    radius = np.sqrt(np.sqrt(u * u + v * v))
    return np.clip((np.float32(half) - radius) * np.float32(scale) + np.float32(0.5), 0, 1)


def knots(size: int) -> list[Floats]:
    """For each octave a matrix (size, knots) that joins values at equally spaced knots by smooth steps."""
    matrices = []
    for count in OCTAVES:
        place = np.linspace(0, count - 1, size)
        first = np.minimum(place.astype(np.int64), count - 2)
        step = (place - first) ** 2 * (3 - 2 * (place - first))
        matrix = np.zeros((size, count), np.float32)
        matrix[np.arange(size), first] = 1 - step
        matrix[np.arange(size), first + 1] = step
        matrices.append(matrix)
    return matrices


def paint_ground(generator: np.random.Generator, matrices: Sequence[Floats]) -> Floats:
    """A texture of two colours, (3, size, size): clouds, or waves that the clouds bend, as in wood and marble."""
    size = len(matrices[0])
    phase = np.full((size, size), generator.uniform(0, 2 * math.pi), np.float32)
    bend = generator.uniform(*BEND)
    for matrix, weight in zip(matrices, generator.dirichlet(FINENESS), strict=True):
        noise = generator.standard_normal((matrix.shape[1],) * 2, dtype=np.float32)
        phase += matrix @ (np.float32(bend * weight) * noise) @ matrix.T
    direction = generator.uniform(0, 2 * math.pi)
    step = 2 * math.pi / size * WAVES[generator.integers(len(WAVES))]
    axis = np.arange(size, dtype=np.float32)
    phase += np.float32(step * math.cos(direction)) * axis[None, :]
    phase += np.float32(step * math.sin(direction)) * axis[:, None]
    candidates = colours(generator, 9, chroma=0.2)
    first = candidates[0]
    second = contrasting(candidates[1:], first, generator.uniform(0.1, 0.35), most=0.45)
    share = np.float32(0.5) + np.float32(0.5) * np.sin(phase)
    return first[:, None, None] + share * (second - first)[:, None, None]


def colours(generator: np.random.Generator, *shape: int, chroma: float) -> Floats:
    """Colours of all hues and brightnesses, (*shape, 3), from 0 to 1."""
    draws = generator.random((*shape, 3), dtype=np.float32)
    hue = np.float32(2 * math.pi) * (draws[..., :1] + np.array([0, 1 / 3, 2 / 3], np.float32))
    grey, colour = np.float32(0.1) + np.float32(0.8) * draws[..., 1:2], chroma * np.sqrt(draws[..., 2:])
    return np.clip(grey + colour * np.cos(hue), 0, 1)


def contrasting(candidates: Floats, other: Floats, least: float, most: float = math.inf) -> Floats:
    """The first of several colours (n, 3) whose contrast with another is right; else that of the greatest contrast."""
    contrasts = np.sqrt((candidates - other) ** 2 @ BRIGHTNESS).tolist()
    fits = [index for index, contrast in enumerate(contrasts) if least <= contrast <= most]
    return candidates[fits[0] if fits else contrasts.index(max(contrasts))]
