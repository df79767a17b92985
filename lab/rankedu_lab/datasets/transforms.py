"""Photographs made into tensors as the papers do, with Pillow and torch alone.

A view is a box of the picture, brought to a square in one step of antialiased resampling. In training the box is
drawn at random; in a test it is the middle.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankedu.checks import check_choice, check_count

__all__ = ["CROPS", "IMAGENET_MEAN", "IMAGENET_SD", "KEPT", "draw", "normalise", "view"]

#: Colours of ImageNet, red, green, blue, from 0 to 1.
IMAGENET_MEAN, IMAGENET_SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
#: A test crop of 224 pixels from 256; the smallest share of the area that a random crop keeps; its flattest shape.
KEPT, LEAST_AREA, FLATTEST = 224 / 256, 0.16, 4 / 3
#: Boxes that are tried until one fits into the picture.
TRIES = 10
#: How a picture is cut, see :func:`view`.
CROPS = ("area", "window")


def draw(generator: torch.Generator) -> Tensor:
    """Draw the random numbers (41,) of one training view: always as many, whatever the picture."""
    return torch.rand(1 + 4 * TRIES, generator=generator, device=generator.device).cpu()


def view(image: Any, draws: Tensor | None = None, *, size: int = 224, crop: str = "area") -> Tensor:
    """Cut a box out of a photograph, (3, size, size), and normalise its colours by those of ImageNet.

    Without ``draws``, the view of the test: the middle 7/8. Else a training view, flipped in half of the draws.
    ``crop`` "area": 16 to 100 % of the picture's area, 3:4 to 4:3, anywhere, as HAPPIER; "window": the picture is made
    square, and a window of 7/8 of its sides is cut, 224 pixels from 256, as RaMBO and HAPPIER on Online Products.

    The papers resize and cut in two steps, rounded to whole pixels; the one step here differs by a fraction of a pixel.
    An orientation in the picture's metadata is ignored, as it was by the papers' code.

    Examples
    --------
    >>> from PIL import Image
    >>> photograph = Image.new("RGB", (320, 240), "white")
    >>> view(photograph, draw(torch.Generator().manual_seed(0)), size=32).shape
    torch.Size([3, 32, 32])
    """
    check_choice(crop, CROPS, name="crop")
    check_count(size, "size", hint="the papers use 224")
    if crop == "area" and draws is not None:
        box = _area(image.size, draws[1:])
    else:  # 7/8 of the picture, or of its shorter side
        sides = image.size if crop == "window" else (min(image.size),) * 2
        left, top = (0.5, 0.5) if draws is None else draws[1:3].tolist()
        box = _place(image.size, KEPT * sides[0], KEPT * sides[1], left, top)
    pixels = torch.from_numpy(np.array(_cut(image, box, size))).permute(2, 0, 1)
    return normalise(pixels.flip(2) if draws is not None and draws[0] < 0.5 else pixels)


Box = tuple[float, float, float, float]


def _area(sides: tuple[int, int], draws: Tensor) -> Box:
    """The first drawn box that fits; if none does, the largest in the middle that is not too flat."""
    width, height = sides
    for share, shape, left, top in draws.view(TRIES, 4).tolist():
        area = (LEAST_AREA + (1 - LEAST_AREA) * share) * width * height
        ratio = FLATTEST ** (2 * shape - 1)
        w, h = math.sqrt(area * ratio), math.sqrt(area / ratio)
        if w <= width and h <= height:
            return _place(sides, w, h, left, top)
    return _place(sides, min(width, height * FLATTEST), min(height, width * FLATTEST), 0.5, 0.5)


def _place(sides: tuple[int, int], width: float, height: float, left: float, top: float) -> Box:
    """Put a box at a fraction of the space that it leaves."""
    x, y = left * (sides[0] - width), top * (sides[1] - height)
    return x, y, min(x + width, sides[0]), min(y + height, sides[1])


def _cut(image: Any, box: Box, size: int) -> Any:
    """Resample a box of the picture to a square of red, green and blue."""
    from PIL.Image import Resampling

    width, height = image.size
    scale = size / min(box[2] - box[0], box[3] - box[1])
    image.draft("RGB", (math.ceil(scale * width), math.ceil(scale * height)))  # a JPEG can be decoded at 1/2, 1/4, 1/8
    x, y = image.width / width, image.height / height
    drafted = (x * box[0], y * box[1], min(x * box[2], image.width), min(y * box[3], image.height))
    return image.convert("RGB").resize((size, size), Resampling.BILINEAR, box=drafted)


def normalise(pixels: Tensor) -> Tensor:
    """Bring pixels from 0 to 255, (3, height, width), to the mean and the standard deviation of ImageNet's colours."""
    mean, sd = torch.tensor(IMAGENET_MEAN), torch.tensor(IMAGENET_SD)
    return ((pixels.float() / 255 - mean[:, None, None]) / sd[:, None, None]).contiguous()
