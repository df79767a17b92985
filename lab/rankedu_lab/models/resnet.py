"""ResNet-34 and ResNet-50 of torchvision, with the head of the papers in the place of the classifier."""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankedu_lab.models.head import EmbeddingNet, embedding_head
from rankedu_lab.models.vision import load_torchvision

#: Name → torchvision's name of the weights that the papers start from.
RESNETS = {"resnet34": "ResNet34_Weights", "resnet50": "ResNet50_Weights"}


class ResNetEmbedding(EmbeddingNet):
    """Embed pictures on the unit sphere: a ResNet up to its pooling, and the head of the papers.

    ``backbone`` is anything with torchvision's names, ``conv1``, ``maxpool`` and ``fc``. For a single channel it gets a
    small stem, for pictures of about 32 × 32: a convolution of 3 × 3 with stride 1, and no pooling; the usual one
    shrinks a picture fourfold before the first block.

    Source: RaMBO Sec. 5.1.
    """

    def __init__(self, backbone: nn.Module, dim: int = 512, *, layer_norm: bool = False, in_channels: int = 3) -> None:
        super().__init__()
        if in_channels not in (1, 3):
            raise ValueError(f"in_channels must be 1 or 3 for a ResNet, got {in_channels}")
        parts: Any = backbone
        features, self.new_stem = parts.fc.in_features, in_channels == 1
        if self.new_stem:
            parts.conv1 = nn.Conv2d(1, parts.conv1.out_channels, 3, padding=1, bias=False)
            parts.maxpool = nn.Identity()
        parts.fc = nn.Identity()
        self.picture = (in_channels, None, None)
        self.features = backbone
        self.embed = embedding_head(features, dim, layer_norm=layer_norm)


def resnet(
    name: str, dim: int = 512, *, pretrained: bool = False, layer_norm: bool = False, in_channels: int = 3
) -> ResNetEmbedding:
    """Make torchvision's ResNet-34 or ResNet-50 with an embedding head; a single channel gets the small stem.

    ``pretrained`` starts from the ImageNet weights of the papers (torchvision's ``IMAGENET1K_V1``), if they lie in the
    folder where torchvision keeps them. Nothing is downloaded: without them the start is random, with a warning.
    """
    torchvision: Any = load_torchvision("the ResNets", instead="take model='convnet_wide'")
    backbone = getattr(torchvision.models, name)(weights=None)
    file = cached_weights(torchvision, RESNETS[name]) if pretrained else None
    start = load_cached(torchvision, backbone, file)
    net = ResNetEmbedding(backbone, dim, layer_norm=layer_norm, in_channels=in_channels)
    net.pretrained = f"{start}, but for a new first convolution" if start != "random" and net.new_stem else start
    return net


def load_cached(torchvision: Any, backbone: nn.Module, file: Path | None) -> str:
    """Load what `cached_weights` has found, if anything; say what the start is."""
    if file is None:
        return "random"
    backbone.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    return f"ImageNet (torchvision {torchvision.__version__}, IMAGENET1K_V1)"


def cached_weights(torchvision: Any, kind: str) -> Path | None:
    """Find ImageNet's weights in torchvision's folder; warn if they are not there."""
    url = str(getattr(torchvision.models, kind).IMAGENET1K_V1.url)
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rsplit("/", 1)[-1]
    if file.is_file():
        return file
    warnings.warn(
        f"pretrained weights are not at {file}, so the net starts at random (get them from {url}, "
        "or give weights=, the path of a file)",
        stacklevel=4,  # where build() or build_detector() was called
    )
    return None
