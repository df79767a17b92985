"""Networks that embed images, and detectors: small ones of our own, large ones from libraries."""

from ranklab.models.build import build
from ranklab.models.convnet import ConvNet, NarrowBackbone, WideConvNet
from ranklab.models.detectors import build_detector
from ranklab.models.head import EmbeddingNet, embedding_head, freeze_batch_norm
from ranklab.models.resnet import ResNetEmbedding
from ranklab.models.vision import StandInWarning, load_torchvision, operators

__all__ = ["ConvNet", "EmbeddingNet", "NarrowBackbone", "ResNetEmbedding", "StandInWarning", "WideConvNet"]
__all__ += ["build", "build_detector", "embedding_head", "freeze_batch_norm", "load_torchvision", "operators"]
