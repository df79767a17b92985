"""Networks that embed images, and detectors: small ones of our own, large ones from libraries."""

from rankedu_lab.models.build import build
from rankedu_lab.models.convnet import ConvNet, NarrowBackbone, WideConvNet
from rankedu_lab.models.detectors import build_detector
from rankedu_lab.models.head import EmbeddingNet, embedding_head, freeze_batch_norm
from rankedu_lab.models.resnet import ResNetEmbedding
from rankedu_lab.models.vision import StandInWarning, load_torchvision, operators

__all__ = ["ConvNet", "EmbeddingNet", "NarrowBackbone", "ResNetEmbedding", "StandInWarning", "WideConvNet"]
__all__ += ["build", "build_detector", "embedding_head", "freeze_batch_norm", "load_torchvision", "operators"]
