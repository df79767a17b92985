"""The small convolutional network of the book: trained in under a minute on a laptop."""

from __future__ import annotations

from torch import nn

from ranklab.models.head import EmbeddingNet, embedding_head

__all__ = ["ConvNet"]


class ConvNet(EmbeddingNet):
    """Embed 32 × 32 pictures on the unit sphere: three strided convolutions and a linear map; 225,000 parameters.

    Examples
    --------
    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> net = ConvNet(dim=64)
    >>> net(torch.zeros(2, 1, 32, 32)).shape
    torch.Size([2, 64])
    """

    def __init__(
        self, dim: int = 64, *, channels: tuple[int, int, int] = (32, 64, 128), layer_norm: bool = False
    ) -> None:
        super().__init__()
        self.picture = (1, 32, 32)
        layers: list[nn.Module] = []
        for before, after in zip((1, *channels), channels, strict=False):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.embed = embedding_head(16 * channels[-1], dim, layer_norm=layer_norm)
