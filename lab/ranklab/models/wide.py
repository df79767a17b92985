"""A wider, deeper relative of the small network, with residual blocks: trained in a few minutes on a laptop."""

from __future__ import annotations

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from ranklab.models.head import EmbeddingNet, embedding_head

__all__ = ["Residual", "WideConvNet", "convolution"]


class WideConvNet(EmbeddingNet):
    """Embed small pictures on the unit sphere: stages of a strided convolution and residual blocks, and a linear map.

    ``channels`` and ``blocks`` are one number a stage, and each stage halves the side; a large ``kernel`` of the first
    convolution looks at whole strokes. About 190,000 parameters at the default.
    """

    def __init__(
        self,
        dim: int = 64,
        *,
        channels: Sequence[int] = (24, 48, 96),
        blocks: Sequence[int] = (0, 1, 0),
        kernel: int = 7,
        pool: int = 4,
        in_channels: int = 1,
        layer_norm: bool = False,
    ) -> None:
        super().__init__()
        if len(blocks) != len(channels):
            raise ValueError(f"blocks must be one number for each of {len(channels)} stages, got {tuple(blocks)}")
        if kernel % 2 == 0:
            raise ValueError(f"kernel must be odd, got {kernel} (the book uses 7)")
        self.picture = (in_channels, None, None)
        layers: list[nn.Module] = []
        before = in_channels
        for stage, (after, count) in enumerate(zip(channels, blocks, strict=True)):
            layers += convolution(before, after, kernel if stage == 0 else 3, stride=2)
            layers += [Residual(after) for _ in range(count)]
            before = after
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(pool), nn.Flatten())
        self.embed = embedding_head(pool * pool * channels[-1], dim, layer_norm=layer_norm)


def convolution(before: int, after: int, kernel: int = 3, *, stride: int = 1) -> list[nn.Module]:
    """A convolution, batch norm and a rectifier. What the norm would subtract, no bias adds."""
    convolution = nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(after), nn.ReLU()]


class Residual(nn.Module):
    """Two convolutions whose result is added to what came in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = nn.Sequential(*convolution(channels, channels), *convolution(channels, channels)[:-1])

    def forward(self, features: Tensor) -> Tensor:
        return F.relu(features + self.change(features))
