"""Networks that embed images: small ones of our own, large ones from libraries."""

from rankedu.models.convnet import ConvNet

__all__ = ["ConvNet"]
