"""Small convolutional networks: the book's, trained in under a minute on a laptop, and wider relatives."""

import torch.nn.functional as F
from torch import Tensor, nn

from rankedu_lab.models.head import EmbeddingNet, embedding_head


class ConvNet(EmbeddingNet):
    """Embed 32 × 32 pictures on the unit sphere: three strided convolutions and a linear map; 225,000 parameters.

    Examples
    --------
    >>> import torch
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


class WideConvNet(EmbeddingNet):
    """Embed small pictures on the unit sphere: strided convolutions, a residual block, and a linear map.

    A large kernel of the first convolution looks at whole strokes. About 190,000 parameters.
    """

    def __init__(self, dim: int = 64, *, in_channels: int = 1, layer_norm: bool = False) -> None:
        super().__init__()
        self.picture = (in_channels, None, None)
        self.features = nn.Sequential(
            *convolution(in_channels, 24, 7, stride=2),
            *convolution(24, 48, stride=2),
            Residual(48),
            *convolution(48, 96, stride=2),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )
        self.embed = embedding_head(16 * 96, dim, layer_norm=layer_norm)


class NarrowBackbone(nn.Sequential):
    """The backbone of the narrow detector, small enough for a CPU: its features are an eighth of the picture's side."""

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
