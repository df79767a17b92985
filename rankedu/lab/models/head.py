"""What all embedding networks share: a head that maps features to the sphere, and batch norm that can be frozen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from torch import nn

__all__ = ["EmbeddingNet", "FrozenBatchNorm1d", "FrozenBatchNorm2d", "embedding_head", "freeze_batch_norm"]

Net = TypeVar("Net", bound=nn.Module)


class EmbeddingNet(nn.Module):
    """A network whose last module, ``embed``, is its head; all that comes before is its backbone.

    Attributes
    ----------
    embed : Module
        The head, see :func:`embedding_head`.
    pretrained : str
        Where the backbone's start comes from: ``"random"``, ``"ImageNet (torchvision …)"`` or ``"file …"``.

    Notes
    -----
    The papers train the head with a larger learning rate than the backbone (RaMBO), or alone at first; so both can be
    asked for. Used in the retrieval lab.

    Examples
    --------
    >>> from rankedu.lab.models import ConvNet
    >>> net = ConvNet(dim=64)
    >>> [tuple(parameter.shape) for parameter in net.head_parameters()]
    [(64, 2048), (64,)]
    >>> len(list(net.backbone_parameters())) + 2 == len(list(net.parameters()))
    True
    """

    embed: nn.Module
    pretrained: str = "random"

    def head_parameters(self) -> Iterator[nn.Parameter]:
        """Parameters of the head."""
        return self.embed.parameters()

    def backbone_parameters(self) -> Iterator[nn.Parameter]:
        """All other parameters, in the order of ``parameters()``."""
        head = {id(parameter) for parameter in self.head_parameters()}
        return (parameter for parameter in self.parameters() if id(parameter) not in head)


def embedding_head(features: int, dim: int, *, layer_norm: bool = False) -> nn.Module:
    """Make the linear map from a backbone's features to the embedding, before it is brought to length 1.

    Parameters
    ----------
    features : int
        What the backbone gives.
    dim : int
        Dimension ≥ 1 of the embedding.
    layer_norm : bool
        Standardise the features first: mean 0, variance 1 in each picture, without parameters.

    Returns
    -------
    Module
        Maps (B, features) to (B, dim).

    Raises
    ------
    ValueError
        For a dim < 1.

    Notes
    -----
    RaMBO replaces the classifier of a ResNet-50 by a linear map to 512 dimensions. HAPPIER's released code puts a layer
    norm without parameters between the pooling and the linear map. Used in the retrieval lab.

    Source
    ------
    RaMBO Sec. 5.1; HAPPIER Sec. 4.1.

    Examples
    --------
    >>> [type(module).__name__ for module in embedding_head(2048, 512, layer_norm=True)]
    ['LayerNorm', 'Linear']
    """
    if dim < 1:
        raise ValueError(f"dim must be >= 1, got {dim} (the book uses 64, the papers 512)")
    linear = nn.Linear(features, dim)
    return nn.Sequential(nn.LayerNorm(features, elementwise_affine=False), linear) if layer_norm else linear


class _Frozen(nn.Module):
    """Batch norm that no ``train()`` wakes."""

    def train(self: Net, mode: bool = True) -> Net:
        """Stay in eval mode, whatever is asked for."""
        self.training = False
        return self


class FrozenBatchNorm1d(_Frozen, nn.BatchNorm1d):
    """Batch norm of vectors that always uses its running statistics, see :func:`freeze_batch_norm`."""


class FrozenBatchNorm2d(_Frozen, nn.BatchNorm2d):
    """Batch norm of pictures that always uses its running statistics, see :func:`freeze_batch_norm`."""


_FROZEN: dict[type[nn.Module], type[nn.Module]] = {
    nn.BatchNorm1d: FrozenBatchNorm1d,
    nn.BatchNorm2d: FrozenBatchNorm2d,
}


def freeze_batch_norm(net: Net) -> Net:
    """Freeze every batch norm of a network for good: statistics, scale and shift stay as they are.

    Parameters
    ----------
    net : Module
        Changed in place. The names in its state dict stay.

    Returns
    -------
    Module
        The same network. Its batch norms are in eval mode, also after ``net.train()``, and get no gradient.

    Notes
    -----
    A batch of a few classes has other statistics than the test set, above all one that is drawn from two super-classes.
    Pretrained statistics are better left alone; those of a random start, mean 0 and variance 1, normalise nothing.
    Used in the retrieval lab.

    Examples
    --------
    >>> net = freeze_batch_norm(nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8))).train()
    >>> net[0].training, net[1].training, net[1].weight.requires_grad
    (True, False, False)
    """
    for module in net.modules():
        if type(module) in _FROZEN:
            module.__class__ = _FROZEN[type(module)]
            module.eval().requires_grad_(False)
    return net
