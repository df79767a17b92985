"""Chapter 5, computed: what random batches say about the mAP and the gradient of the whole, and what a memory does."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankedu.losses import APLoss
from rankedu.metrics import average_precision
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit.ranks import Array

Ints = npt.NDArray[np.int64]
#: Batch sizes of the figures.
SIZES = (8, 16, 32, 64, 128, 256, 512)
#: Batch size and memory of the measured gradients, and how many batches are drawn of each.
GRADIENTS = {(64, 0): 320, (64, 3): 320, (256, 0): 96}
#: λ of each query in the measured gradients.
LAM = 50.0
#: Two sets of 60 small and 8 large classes: the sizes, and how far the items of each class scatter.
UNEVEN = [8] * 60 + [64] * 8
SCATTER = {"small classes tight, large ones wide": (0.05, 0.6), "small classes wide, large ones tight": (0.6, 0.05)}


@dataclass(frozen=True, eq=False)
class Ranking:
    """A data set in which every item ranks all others by their scores."""

    labels: Ints  # (N,)
    scores: Tensor  # (N, N)

    def __len__(self) -> int:
        return len(self.labels)

    def map_of(self, queries: Ints, members: Ints) -> float:
        """The mAP of queries that rank these members; nan if no query has a relevant one. No query ranks itself."""
        others = torch.from_numpy(queries[:, None] != members)
        relevance = torch.from_numpy(self.labels[queries, None] == self.labels[members])
        counts = (relevance & others).any(1)
        if not counts.any():
            return np.nan
        scores = self.scores[queries[:, None], members]
        return average_precision(scores[counts], relevance[counts], where=others[counts]).mean().item()

    @functools.cached_property
    def mean_ap(self) -> float:
        """The true mAP: every item is a query, all others are its list."""
        everyone = np.arange(len(self))
        return self.map_of(everyone, everyone)


def synthetic_embeddings(
    classes: int = 64, per_class: Any = 16, dim: int = 16, noise: Any = 0.32, seed: int = 0
) -> tuple[npt.NDArray[np.float32], Ints]:
    """Draw clusters on the sphere, one a class, of a size and a noise or of one each: a stand-in for embeddings."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, dim))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = np.repeat(np.arange(classes), per_class)
    scatter = np.broadcast_to(noise, classes)[labels, None]
    points = centres[labels] + scatter * random.standard_normal((len(labels), dim))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32), labels


def rank_all(embeddings: Any, labels: Any) -> Ranking:
    """Let every item rank all others by the cosine of embeddings of length 1; O(N²) memory."""
    points = torch.as_tensor(embeddings, dtype=torch.float64)
    return Ranking(np.asarray(labels), points @ points.T)


@functools.cache
def synthetic_ranking() -> Ranking:
    """The ranking of the synthetic embeddings."""
    return rank_all(*synthetic_embeddings())


@functools.cache
def uneven_ranking(name: str) -> Ranking:
    """The ranking of one of the sets of `SCATTER`, whose classes differ in size and in how far their items scatter."""
    small, large = SCATTER[name]
    noise = [small if size == min(UNEVEN) else large for size in UNEVEN]
    return rank_all(*synthetic_embeddings(len(UNEVEN), UNEVEN, noise=noise))


def chance_to_count(n: int, size: int, batch: int) -> float:
    """Probability that a random batch of n items has another item of the query's class, which has this size.

    >>> round(chance_to_count(n=4, size=2, batch=2), 4)  # one of the three others is the partner
    0.3333
    """
    return 1 - comb(n - size, batch - 1) / comb(n - 1, batch - 1)


def expected_precision(rank: Any, n: int, batch: int, within: Any = 1) -> Array:
    r"""Expected precision, in a random batch that holds it, of a relevant item.

    With q the share of relevant ones among the r − 1 items ahead,

    .. math:: q + (1 - q) \frac{1}{r} \frac{n}{b} \left[1 - \binom{n - r}{b} \Big/ \binom{n}{b}\right].

    >>> round(float(expected_precision(5, n=5, batch=3)), 4)  # the last of five, and two of the four others
    0.3333
    >>> round(float(expected_precision(4, n=5, batch=3)), 4)  # in half of the batches one of those two is behind
    0.4167
    """
    place = np.arange(n)
    left_out = np.cumprod(np.clip(n - batch - place, 0, None) / (n - place))  # none of the first r is in the batch
    r, a = np.asarray(rank), np.asarray(within)
    share = (a - 1) / np.maximum(r - 1, 1)
    alone = n / batch / r * (1 - left_out[r - 1])
    return np.asarray(share + (1 - share) * alone)


@functools.lru_cache(maxsize=64)
def sample_estimates(
    ranking: Ranking, batch_size: int, *, batches: int = 100, length: int = 0, per_class: int = 0
) -> Array:
    """The mAP of random batches, shape (batches,); nan for one in which no query has a relevant item.

    A memory adds ``length`` batches to every list, which share no item with the current one. With ``per_class``, so
    many of each of some random classes are drawn, else items at random.
    """
    drawn = _draws(ranking.labels, batch_size, batches, length, per_class)
    return np.array([ranking.map_of(queries, members) for queries, members in drawn])


def _draws(labels: Ints, batch_size: int, batches: int, length: int, per_class: int = 0) -> Iterator[tuple[Ints, Ints]]:
    """Batches, and the lists they rank: a pass through the data in random order, then the next."""
    random = np.random.default_rng([batch_size, 0])
    total = min((1 + length) * batch_size, len(labels))
    start, items = len(labels), np.arange(len(labels))
    for _ in range(batches):
        if per_class:
            chosen = random.choice(np.unique(labels), batch_size // per_class, replace=False)
            queries = np.concatenate([random.choice(np.flatnonzero(labels == c), per_class, False) for c in chosen])
            yield queries, queries
            continue
        if start + batch_size > len(labels):
            start, items = 0, random.permutation(len(labels))
        yield items[start : start + batch_size], np.take(items, np.arange(start, start + total), mode="wrap")
        start += batch_size


def spread(ranking: Ranking, batch_size: int, **options: int) -> tuple[float, float]:
    """Mean and standard deviation of the mAP of those random batches that have one."""
    estimates = sample_estimates(ranking, batch_size, **options)
    return float(np.nanmean(estimates)), float(np.nanstd(estimates))


@functools.cache
def gradients() -> tuple[Array, dict[tuple[int, int], Array]]:
    """AP-loss gradients with respect to a linear map of the synthetic embeddings: of the set, and of many batches.

    Shapes (dim²,), and by batch size and memory (batches, dim²). The map is applied to every embedding before it is
    normalised again; its gradient is taken at the identity, so it says how the network's last layer should change. Each
    query has the same λ, whatever the size of the batch.
    """
    embeddings, labels = (torch.from_numpy(x) for x in synthetic_embeddings())
    everything = np.arange(len(labels))
    [whole] = _gradients(embeddings, labels, [(everything, everything)])
    found = {}
    for (size, length), batches in GRADIENTS.items():
        drawn = _draws(labels.numpy(), size, 2 * batches, length)
        found[size, length] = np.array(list(islice(_gradients(embeddings, labels, drawn), batches)))
    return whole, found


def _gradients(embeddings: Tensor, labels: Tensor, drawn: Iterable[tuple[Ints, Ints]]) -> Iterator[Array]:
    """The mean gradient of the queries of each batch that have a relevant item in their list, if there are any."""
    for batch, members in drawn:
        weights = torch.eye(embeddings.shape[1], requires_grad=True)
        current = normalize(embeddings[batch] @ weights, dim=1)
        scores = current @ torch.cat([current, embeddings[members[len(batch) :]]]).T
        relevance = labels[batch, None] == labels[members]
        where = torch.ones_like(relevance)
        where.diagonal().fill_(False)
        queries = int((relevance & where).any(1).sum())
        if queries:
            loss = APLoss(BlackboxRanker(LAM * queries))  # the mean over queries leaves each its own λ
            (gradient,) = torch.autograd.grad(loss(scores, relevance, where=where), weights)
            yield gradient.double().flatten().numpy()


def alignment(batches: Array, whole: Array, count: int, trials: int = 200, seed: int = 0) -> float:
    """Mean cosine between the data set's gradient and the average of so many batches' gradients."""
    random = np.random.default_rng([count, seed])
    means = np.array([batches[random.choice(len(batches), count, replace=False)].mean(0) for _ in range(trials)])
    cosines = means @ whole / np.linalg.norm(means, axis=1).clip(1e-30) / np.linalg.norm(whole)
    return float(cosines.mean())


def limit_alignment(batches: Array, whole: Array) -> float:
    """The cosine that infinitely many batches would reach: the norm of their mean is estimated without the noise."""
    total, count = batches.sum(0), len(batches)
    squared = (total @ total - (batches**2).sum()) / (count * (count - 1))
    return float(min(1.0, total / count @ whole / np.sqrt(max(squared, 1e-30)) / np.linalg.norm(whole)))
