"""Networks that embed images, and detectors: small ones of our own, large ones from libraries."""

from rankedu.lab.models.build import build
from rankedu.lab.models.convnet import ConvNet
from rankedu.lab.models.detectors import build_detector
from rankedu.lab.models.head import EmbeddingNet, embedding_head, freeze_batch_norm
from rankedu.lab.models.narrow import NarrowBackbone
from rankedu.lab.models.resnet import ResNetEmbedding
from rankedu.lab.models.vision import StandInWarning, load_torchvision, operators
from rankedu.lab.models.wide import WideConvNet

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
