"""Networks that embed images, and detectors: small ones of our own, large ones from libraries."""

from rankedu.models.build import build
from rankedu.models.convnet import ConvNet
from rankedu.models.detectors import build_detector
from rankedu.models.head import EmbeddingNet, embedding_head, freeze_batch_norm
from rankedu.models.narrow import NarrowBackbone
from rankedu.models.resnet import ResNetEmbedding
from rankedu.models.vision import StandInWarning, load_torchvision, operators
from rankedu.models.wide import WideConvNet

__all__ = [
    "ConvNet",
    "EmbeddingNet",
    "NarrowBackbone",
    "ResNetEmbedding",
    "StandInWarning",
    "WideConvNet",
    "build",
    "build_detector",
    "embedding_head",
    "freeze_batch_norm",
    "load_torchvision",
    "operators",
]
