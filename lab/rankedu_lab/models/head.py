"""What all embedding networks share: a head that maps features to the sphere, and batch norm that can be frozen."""

from collections.abc import Iterator
from typing import TypeVar

import torch.nn.functional as F
from torch import Tensor, nn

from rankedu.checks import check_count

Net = TypeVar("Net", bound=nn.Module)


class EmbeddingNet(nn.Module):
    """Embed pictures on the unit sphere: the backbone, ``features``, then the head, ``embed``.

    ``pretrained`` says where the backbone's start comes from.
    """

    features: nn.Module
    embed: nn.Module
    picture: tuple[int, int | None, int | None]  # channels, height and width; None: any
    pretrained: str = "random"

    def forward(self, images: Tensor) -> Tensor:
        """Embed a batch of floating-point pictures (B, C, H, W), from 0 to 1 or normalised: (B, dim) of length 1."""
        wanted = ("B", *(side or name for side, name in zip(self.picture, "CHW", strict=True)))
        given = tuple(images.shape)
        if len(given) != 4 or any(side not in (None, got) for side, got in zip(self.picture, given[1:], strict=True)):
            raise ValueError(
                f"images must have shape ({', '.join(map(str, wanted))}), got {given} "
                "(see datasets.augment, and in_channels of rankedu_lab.models.build)"
            )
        return F.normalize(self.embed(self.features(images)), dim=1)

    def head_parameters(self) -> Iterator[nn.Parameter]:
        """Parameters of the head."""
        return self.embed.parameters()


def embedding_head(features: int, dim: int, *, layer_norm: bool = False) -> nn.Module:
    """Make the linear map from features (B, features) to the embedding (B, dim), before that is brought to length 1.

    RaMBO replaces the classifier of a ResNet-50 by a linear map to 512 dimensions. HAPPIER's released code puts a layer
    norm without parameters between the pooling and the linear map.

    Source: RaMBO Sec. 5.1; HAPPIER Sec. 4.1.
    """
    check_count(dim, "dim", hint="the book uses 64, the papers 512")
    linear = nn.Linear(features, dim)
    return nn.Sequential(nn.LayerNorm(features, elementwise_affine=False), linear) if layer_norm else linear


class _FrozenBatchNorm(nn.BatchNorm2d):
    """Batch norm that no ``train()`` unfreezes."""

    def train(self, mode: bool = True) -> "_FrozenBatchNorm":
        """Stay in eval mode in any case."""
        self.training = False
        return self


def freeze_batch_norm(net: Net) -> Net:
    """Freeze every batch norm of pictures in a network for good, in place: statistics, scale and shift stay.

    A batch of a few classes has other statistics than the test set, so pretrained statistics are better left alone.
    """
    for module in net.modules():
        if type(module) is nn.BatchNorm2d:
            module.__class__ = _FrozenBatchNorm
            module.eval().requires_grad_(False)
    return net
