"""`Scenes`: pictures of characters on textured grounds, for object detection that needs no download."""

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count
from rankedu_lab.datasets._scene_brushes import cut_glyphs, knots
from rankedu_lab.datasets._scene_painting import paint
from rankedu_lab.datasets.rendering import render, warn_of_other_pixels

#: The classes, the most frequent first. Each of the second ten resembles one of the first ten, in the same order.
CLASSES = tuple("AEKBPSRQM&ДΣЖ8Þ§ЯΩШ@")
#: Characters that are never labelled. Some of them resemble a class.
CLUTTER = tuple("HTXZ347?+%#ΘVNDYЭÆЦΨ")
#: Of the drawings of all these in all faces.
PINNED_SHA256 = "fed2934065d7591e7a399f65e2f3010d5625300b01683709c52e63f8b99a8c1d"
#: An object of which less than this share of its ink can be seen is difficult.
VISIBLE = 0.5
#: The order decides which scenes are drawn. Settings are chosen on `val`, and `held_out` evaluates them once.
SPLITS = ("train", "test", "val", "held_out")


class Scenes:
    """Scenes with characters of 20 classes, and a box around each: made on the fly, in about 2 ms.

    A scene is a function of the seed, the split ("train", "test", "val" or "held_out") and its index alone. Class k is
    drawn with a probability proportional to 1/k, so ``names`` go from frequent to rare; nothing may be mirrored, since
    Я is no R.

    Examples
    --------
    >>> scenes = Scenes("train", images=100)
    >>> image, target = scenes[0]
    >>> image.shape, image.dtype
    (torch.Size([3, 128, 128]), torch.uint8)
    >>> {key: tuple(values.shape) for key, values in target.items()}
    {'boxes': (3, 4), 'labels': (3,), 'difficult': (3,)}
    """

    flips = False

    def __init__(self, split: str = "train", *, images: int = 1000, size: int = 128, seed: int = 0) -> None:
        check_choice(split, SPLITS, name="split")
        for name, value, least in (("images", images, 1), ("size", size, 64), ("seed", seed, 0)):
            check_count(value, name, least=least)
        self.split, self.images, self.size, self.seed = split, images, size, seed
        self.names = CLASSES
        drawn = render(CLASSES + CLUTTER)
        warn_of_other_pixels("Scenes", drawn, PINNED_SHA256)
        glyphs = cut_glyphs(drawn)
        self._objects, self._clutter = [glyphs[name] for name in CLASSES], [glyphs[name] for name in CLUTTER]
        self._matrices = knots(self.size)

    def __len__(self) -> int:
        return self.images

    def __getitem__(self, index: int) -> tuple[Tensor, dict[str, Tensor]]:
        """A picture, uint8 (3, size, size), and the objects on it.

        ``boxes``, float32 (M, 4): x1, y1, x2, y2, tight around the whole ink of a character, also where another covers
        it; ``labels``, int64 (M,), from 1 to 20; ``difficult``, bool (M,): less than half of the ink can be seen.
        """
        if not -len(self) <= index < len(self):
            raise IndexError(f"index must lie within the {len(self)} scenes, got {index}")
        seeds = (self.seed, SPLITS.index(self.split), int(index) % len(self))
        picture, boxes, labels, seen = paint(np.random.default_rng(seeds), self._objects, self._clutter, self._matrices)
        target = {
            "boxes": torch.tensor(boxes, dtype=torch.float32),
            "labels": torch.tensor(labels, dtype=torch.int64),
            "difficult": torch.tensor(seen) < VISIBLE,
        }
        return torch.from_numpy(picture), target

    def __repr__(self) -> str:
        return f"Scenes({self.split!r}: {len(self)} images, {len(self.names)} classes)"

    def target(self, index: int) -> dict[str, Tensor]:
        """What is on a picture, as in ``scenes[index]``."""
        return self[index][1]
