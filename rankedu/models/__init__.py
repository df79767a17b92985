"""Networks that embed images: small ones of our own, large ones from libraries."""

from rankedu.models.build import build
from rankedu.models.convnet import ConvNet
from rankedu.models.head import EmbeddingNet, embedding_head, freeze_batch_norm
from rankedu.models.resnet import ResNetEmbedding
from rankedu.models.wide import WideConvNet

__all__ = [
    "ConvNet",
    "EmbeddingNet",
    "ResNetEmbedding",
    "WideConvNet",
    "build",
    "embedding_head",
    "freeze_batch_norm",
]
