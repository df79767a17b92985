"""The clustering loss of HAPPIER: a softmax over one learned proxy per class, the same for all batches."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from rankedu.checks import check_count, check_integers
from rankedu.labels import check_labels, check_rows
from rankedu.losses.base import eager
from rankedu.losses.on_embeddings import similarities
from rankedu.rankers.pairwise import check_temperature

#: What numbers the classes of the training set through, or the leaves of paths: what stands above them stays.
NUMBER = "number those of the training set through: labels = labels.unique(return_inverse=True)[1]"
LEAVES = "number those of the training set through: labels[:, -1] = labels.unique(dim=0, return_inverse=True)[1]"


class ClusterLoss(nn.Module):
    r"""Pull each embedding to the proxy of its class, and away from all others: the normalised softmax.

    .. math:: L = -\log \frac{\exp(v^\top p_y / \sigma)}{\sum_z \exp(v^\top p_z / \sigma)}

    The proxies are references that all batches share, so that the orders of different batches agree. They start uniform
    within ±1/√dim, and are parameters: give ``loss.parameters()`` to an optimiser. Embeddings and proxies are
    normalised here, in float32 at least. Explained in chapter 14.

    Parameters
    ----------
    n_classes : int
        Proxies, one for each fine class of the training set.
    dim : int
        The width of the embeddings.
    temperature : float
        σ > 0.

    Raises
    ------
    ValueError, TypeError
        For ``n_classes`` or ``dim`` that are not ints ≥ 1, or a temperature that is not a finite number > 0.

    References
    ----------
    HAPPIER Eq. 6

    Examples
    --------
    >>> loss = ClusterLoss(n_classes=2, dim=2, temperature=0.5)
    >>> _ = loss.proxies.data.copy_(torch.eye(2))
    >>> loss(torch.tensor([[3.0, 0.0]]), torch.tensor([0])).detach()  # log(1 + exp((0 − 1) / 0.5))
    tensor(0.1269)
    """

    def __init__(self, n_classes: int, dim: int, temperature: float = 0.05) -> None:
        super().__init__()
        self.temperature = check_temperature(temperature, "0.05 is published")
        self.proxies = new_proxies(check_count(n_classes, "n_classes"), dim)

    def extra_repr(self) -> str:
        n_classes, dim = self.proxies.shape
        return f"n_classes={n_classes}, dim={dim}, temperature={self.temperature:g}"

    @eager
    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Compute the mean loss of a batch.

        Parameters
        ----------
        embeddings : Tensor, shape (batch, dim)
            Floating point, of any length.
        labels : Tensor of int, shape (batch,) or (batch, L)
            Fine classes from 0 to n_classes − 1, or paths from root to leaf, of which the last column counts: number
            the leaves through.

        Returns
        -------
        Tensor, shape (), float32 for 16-bit embeddings

        Raises
        ------
        ValueError, TypeError
            For NaN, other shapes or dtypes, a class that is not in [0, n_classes), or a leaf that stands under two
            parents.
        """
        check_rows(embeddings, "embeddings")
        labels = check_labels(labels, embeddings)
        if embeddings.shape[1] != self.proxies.shape[1]:
            raise ValueError(
                f"embeddings must have shape (batch, {self.proxies.shape[1]}), got {tuple(embeddings.shape)} "
                "(embeddings and proxies are compared, so they have one width)"
            )
        classes = leaves(labels, len(self.proxies))
        return cross_entropy(similarities(embeddings, self.proxies) / self.temperature, classes)


def new_proxies(n_classes: int, dim: int) -> nn.Parameter:
    """One row a class, drawn like the weight of a linear layer."""
    bound = 1 / math.sqrt(check_count(dim, "dim"))
    return nn.Parameter(torch.empty(n_classes, dim).uniform_(-bound, bound))


def leaves(labels: Tensor, n_classes: int) -> Tensor:
    """The fine class of each item, checked."""
    check_class_ids(labels, n_classes)
    paths = labels.unsqueeze(1) if labels.ndim == 1 else labels
    found = paths.unique(dim=0)[:, -1]
    if len(found.unique()) < len(found):
        again = int(found[(found.unsqueeze(0) == found.unsqueeze(1)).sum(1) > 1][0])
        raise ValueError(f"labels must have each leaf under one parent, got leaf {again} under several ({LEAVES})")
    return paths[:, -1].long()


def check_class_ids(labels: Tensor, n_classes: int) -> None:
    """Whole numbers from 0 to n_classes − 1, of paths in the last column."""
    check_integers(labels, "labels", "number the classes from 0")
    own, hint = (labels, NUMBER) if labels.ndim == 1 else (labels[:, -1], LEAVES)
    odd = own[(own < 0) | (own >= n_classes)]
    if len(odd):
        raise ValueError(f"labels must be class ids from 0 to n_classes - 1 = {n_classes - 1}, got {odd[0]} ({hint})")
