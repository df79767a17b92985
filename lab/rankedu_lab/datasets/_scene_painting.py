"""Compose a scene: which characters are on it, where they are, and how much of each can be seen.

Painting goes from front to back: each glyph takes what is still free, and the ground fills the rest. So what can be
seen of an object is known at the moment when it is painted.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rankedu_lab.datasets._scene_brushes import Floats, Glyph, Piece, colours, contrasting, paint_glyph, paint_ground

#: Objects and clutter of a scene, at least and at most.
OBJECTS, LITTER = (3, 8), (1, 4)
#: Longer side of the ink in pixels, log-uniform; and the largest rotation either way, in radians.
SIDES, TURN = (14.0, 42.0), 0.4
#: The share of the scenes whose objects are close together, and how far they spread, in sides of the picture.
CLUSTERED, SPREAD = 0.25, 0.16
#: Share of the glyphs that lie on a plate of their own.
PLATED = 0.35
#: Places that are tried for a glyph, and how much of it others may cover there: mostly little.
TRIES, OVERLAPS = 10, (0.0, 0.1, 0.1, 0.4, 0.8)
#: Contrast of a plate with what lies behind it, and of a glyph; and the grain of the picture, up to so much.
PLATE_CONTRAST, GLYPH_CONTRAST, GRAIN = (0.2, 0.5), (0.3, 0.8), 0.03

Box = tuple[int, int, int, int]


Faces = Sequence[Glyph]  # a character as each of its faces draws it


def paint(
    generator: np.random.Generator, objects: Sequence[Faces], clutter: Sequence[Faces], matrices: Sequence[Floats]
) -> tuple[npt.NDArray[np.uint8], list[Box], list[int], list[float]]:
    """A scene (3, size, size), and each object's box, label from 1 on, and share of its ink that can be seen.

    Objects of class k come with a probability ∝ 1/k. The matrices are those of
    :func:`rankedu_lab.datasets._scene_brushes.knots`.
    """
    ground = paint_ground(generator, matrices)
    canvas = _Canvas(ground)
    centre = generator.uniform(0.25, 0.75, 2) * len(matrices[0]) if generator.random() < CLUSTERED else None
    taken: list[Box] = []
    boxes, labels, visible = [], [], []
    for label in _choose(generator, len(objects)):
        faces = objects[label - 1] if label else clutter[int(generator.integers(len(clutter)))]
        glyph = faces[int(generator.integers(len(faces)))]
        side = SIDES[0] * (SIDES[1] / SIDES[0]) ** generator.random()
        piece = paint_glyph(glyph, side, generator.uniform(-TURN, TURN), generator.random() < PLATED)
        box = _place(generator, piece, taken, centre, len(matrices[0]))
        seen = canvas.add(generator, piece, box[0] - piece.box[0], box[1] - piece.box[1])
        taken.append(box)
        if label:
            boxes.append(box)
            labels.append(label)
            visible.append(seen)
    return canvas.finish(generator), boxes, labels, visible


def _choose(generator: np.random.Generator, classes: int) -> list[int]:
    """The labels of a scene, the front one first; 0 is clutter."""
    shares = np.cumsum(1 / np.arange(1, classes + 1))
    draws = generator.random(generator.integers(*OBJECTS, endpoint=True)) * shares[-1]
    labels = 1 + np.searchsorted(shares[:-1], draws, side="right")
    clutter = np.zeros(generator.integers(*LITTER, endpoint=True), np.int64)
    return generator.permutation(np.concatenate([labels, clutter])).tolist()


def _place(
    generator: np.random.Generator,
    piece: Piece,
    taken: Sequence[Box],
    centre: npt.NDArray[np.float64] | None,
    size: int,
) -> Box:
    """The first place that is drawn where the ink lies in the picture and others cover little of it; else the best."""
    width, height = piece.box[2] - piece.box[0], piece.box[3] - piece.box[1]
    space = np.array([size - width, size - height])
    if centre is None:
        corners = generator.random((TRIES, 2)) * (space + 1)
    else:
        corners = centre + generator.normal(0, SPREAD * size, (TRIES, 2)) - (width / 2, height / 2)
    limit = OVERLAPS[generator.integers(len(OVERLAPS))]
    near = np.minimum(np.maximum(corners, 0), space).astype(np.int64)[:, None]
    others = np.array(taken, np.int64).reshape(-1, 4)
    shared = np.minimum(near + np.array([width, height]), others[:, 2:]) - np.maximum(near, others[:, :2])
    covered = shared.clip(0).prod(2).sum(1) / (width * height)
    fits = np.flatnonzero(covered <= limit)
    x, y = near[fits[0] if len(fits) else covered.argmin(), 0].tolist()
    return x, y, x + width, y + height


class _Canvas:
    """A picture that is painted from front to back."""

    def __init__(self, ground: Floats) -> None:
        self.ground, self.picture = ground, np.zeros_like(ground)
        self.free = np.ones(ground.shape[1:], np.float32)

    def add(self, generator: np.random.Generator, piece: Piece, x: int, y: int) -> float:
        """Paint a piece behind all that is there, its upper left corner at (x, y); the share of its ink that shows."""
        side, size = len(piece.ink), len(self.free)
        place = slice(max(y, 0), min(y + side, size)), slice(max(x, 0), min(x + side, size))
        part = slice(place[0].start - y, place[0].stop - y), slice(place[1].start - x, place[1].stop - x)
        candidates = colours(generator, 2, 6, chroma=0.4)
        behind = self.ground[:, place[0], place[1]][:, ::3, ::3].mean((1, 2))
        free, ink = self.free[place], piece.ink[part]
        shown = free * ink
        if piece.plate is not None:
            plate = piece.plate[part]
            behind = contrasting(candidates[0], behind, generator.uniform(*PLATE_CONTRAST))
            self.picture[:, place[0], place[1]] += (free * plate * (1 - ink)) * behind[:, None, None]
        colour = contrasting(candidates[1], behind, generator.uniform(*GLYPH_CONTRAST))
        self.picture[:, place[0], place[1]] += shown * colour[:, None, None]
        free *= 1 - ink
        if piece.plate is not None:
            free *= 1 - plate
        return float(shown.sum() / piece.ink.sum())

    def finish(self, generator: np.random.Generator) -> npt.NDArray[np.uint8]:
        """Paint the ground where nothing else is, and add a little grain."""
        grain = generator.standard_normal(self.free.shape, dtype=np.float32)
        picture = self.picture + self.free * self.ground
        picture += np.float32(generator.uniform(0, GRAIN)) * grain
        return (np.minimum(np.maximum(picture, 0), 1) * np.float32(255) + np.float32(0.5)).astype(np.uint8)
