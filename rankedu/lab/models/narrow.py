"""The backbone of the narrow detector: small enough for a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["NarrowBackbone"]


class NarrowBackbone(nn.Sequential):
    """A small convolutional net whose features are an eighth of the picture's side."""

    def __init__(self, channels: int = 64) -> None:
        super().__init__(
            _layer(3, channels // 4, stride=2),
            _layer(channels // 4, channels // 2, stride=2),
            _Residual(channels // 2),
            _layer(channels // 2, channels, stride=2),
            _Residual(channels),
            _Residual(channels),
        )
        self.out_channels = channels


class _Residual(nn.Module):
    """Two convolutions beside the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _layer(channels, channels)
        self.second = _layer(channels, channels)[:2]

    def forward(self, features: Tensor) -> Tensor:
        """Add what the convolutions find."""
        return torch.relu(features + self.second(self.first(features)))


def _layer(before: int, after: int, *, stride: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(after), nn.ReLU(inplace=True))
