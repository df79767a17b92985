"""The backbone of the narrow detector: small enough for a CPU."""

from __future__ import annotations

from torch import nn

from ranklab.models.wide import Residual, convolution

__all__ = ["NarrowBackbone"]


class NarrowBackbone(nn.Sequential):
    """A small convolutional net whose features are an eighth of the picture's side."""

    def __init__(self, channels: int = 64) -> None:
        super().__init__(
            *convolution(3, channels // 4, stride=2),
            *convolution(channels // 4, channels // 2, stride=2),
            Residual(channels // 2),
            *convolution(channels // 2, channels, stride=2),
            Residual(channels),
            Residual(channels),
        )
        self.out_channels = channels
