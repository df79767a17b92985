"""Which items of a gallery are relevant to a query, by their labels: classes, paths of classes, or tags."""

import numpy as np
import torch
from torch import Tensor

from rankedu import hierarchy
from rankedu.metrics._ranking import Ints, array


class Paths:
    """Classes or paths from root to leaf: items are as relevant as many classes as they share with the query."""

    def __init__(self, labels: Tensor, gallery_labels: Tensor) -> None:
        own, others = hierarchy.check_both(labels, gallery_labels)
        paths = [array(own), array(others)]
        nodes = _nodes(np.concatenate(paths))
        #: A level whose classes are those of the level above, if there is one.
        self.repeated = next((i for i in range(1, len(nodes)) if np.array_equal(nodes[i], nodes[i - 1])), None)
        self.n_levels, self.queries, self.gallery = len(nodes), nodes[:, : len(labels)], nodes[:, len(labels) :]
        #: The finest class of each item; −1 for none.
        self.classes, self.gallery_classes = self.queries[-1], self.gallery[-1]
        self.by_class = np.argsort(self.gallery[0], kind="stable")
        ascending, wanted = self.gallery[0][self.by_class], self.queries[0]
        self.begin = np.searchsorted(ascending, wanted)
        self.size = (np.searchsorted(ascending, wanted, side="right") - self.begin) * (wanted >= 0)

    def pairs(self, queries: Ints, device: torch.device) -> tuple[Ints, Ints, Ints]:
        """List the items that share at least one class with these queries: number of the query, item, and level."""
        size = self.size[queries]
        number = np.repeat(np.arange(len(queries)), size)
        item = self.by_class[np.arange(len(number)) + np.repeat(self.begin[queries] - (np.cumsum(size) - size), size)]
        own, other = self.queries[:, queries[number]], self.gallery[:, item]
        return number, item, ((own == other) & (own >= 0)).sum(0)


class Tags:
    """Tags, bool of shape (n, C): items that share one with the query are relevant."""

    n_levels, repeated = 1, None

    def __init__(self, labels: Tensor, gallery_labels: Tensor) -> None:
        self.queries, self.gallery = labels, gallery_labels
        self.size = np.zeros(len(labels), np.int64)  # not known before they are compared
        both = array(torch.cat([labels, gallery_labels]))
        number = np.unique(np.packbits(both, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        number = np.where(both.any(1), number, -1)
        #: The set of tags of each item, numbered; −1 for none.
        self.classes, self.gallery_classes = number[: len(labels)], number[len(labels) :]

    def pairs(self, queries: Ints, device: torch.device) -> tuple[Ints, Ints, Ints]:
        """List the items that share a tag with these queries: number of the query, item, and level 1."""
        own, others = (x.to(device).float() for x in (self.queries[torch.from_numpy(queries)], self.gallery))
        number, item = (x.cpu().numpy() for x in (own @ others.T > 0).nonzero(as_tuple=True))
        return number, item, np.ones_like(number)


def _nodes(paths: Ints) -> Ints:
    """Number the prefixes of all paths, (L, n); −1 below the end of a path."""
    node = np.zeros(len(paths), np.int64)
    nodes = np.empty(paths.shape[::-1], np.int64)
    for level, classes in enumerate(paths.T):
        _, number = np.unique(classes, return_inverse=True)
        _, node = np.unique(node * (number.max() + 1) + number, return_inverse=True)
        nodes[level] = np.where(classes < 0, -1, node)
    return nodes
