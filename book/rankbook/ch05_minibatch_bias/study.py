"""Chapter 5, computed: what random batches say about the mAP and the gradient of the whole, and what a memory does."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rankbook.kit.compare import Comparison, compare, descend
from rankbook.kit.ranks import Array

if TYPE_CHECKING:
    from torch import Tensor

Ints = npt.NDArray[np.int64]
#: Batch sizes of the figures.
SIZES = (8, 16, 32, 64, 128, 256, 512)
#: Batch size and memory of the measured gradients, and how many batches are drawn of each.
GRADIENTS = {(64, 0): 320, (64, 3): 320, (256, 0): 96}
#: What is trained: classes of a batch (four items each), batches remembered, and as what.
ARMS = {
    "batch 16": (4, 0, ""),
    "batch 16, τ = 3": (4, 3, "as embedded then"),
    "τ = 3, embedded anew": (4, 3, "as embedded now"),
    "τ = 3, random vectors": (4, 3, "as noise"),
    "batch 64, a quarter of the steps": (16, 0, ""),
}
LAMS, RATES, LENGTHS = (8.0, 64.0, 512.0, 4096.0), (0.0025, 0.01, 0.04, 0.16), (40, 320)


@dataclass(frozen=True, eq=False)
class Ranking:
    """A data set in which every item ranks all others."""

    labels: Ints  # (N,)
    order: npt.NDArray[np.int32]  # (N, N - 1); row q: the other items, most similar first
    relevant: npt.NDArray[np.bool_]  # whether the item at this place has the label of the query

    def __len__(self) -> int:
        return len(self.labels)

    @functools.cached_property
    def mean_ap(self) -> float:
        """The true mAP: every item is a query, all others are its list."""
        query, rank, within = self.precisions
        return _mean_by_query(query, within / rank)

    @functools.cached_property
    def precisions(self) -> tuple[Ints, Ints, Ints]:
        """For every pair of a query and a relevant item: the query, the rank, and the rank within the relevant."""
        query, place = np.nonzero(self.relevant)
        return query, place + 1, self.relevant.cumsum(1)[query, place]


def _mean_by_query(query: Ints, precisions: Array) -> float:
    """The mean, over the queries that have a relevant item, of the mean of their precisions."""
    count = np.bincount(query)
    return float(np.mean(np.bincount(query, precisions)[count > 0] / count[count > 0]))


def synthetic_embeddings(
    classes: int = 64, per_class: Any = 16, dim: int = 16, noise: Any = 0.32, seed: int = 0
) -> tuple[npt.NDArray[np.float32], Ints]:
    """Draw clusters on the sphere, one a class, of a size and a noise or of one each: a stand-in for embeddings."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, dim))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = np.repeat(np.arange(classes), per_class)
    points = centres[labels] + np.broadcast_to(noise, classes)[labels, None] * random.standard_normal(
        (len(labels), dim)
    )
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32), labels


def rank_all(embeddings: Any, labels: Any) -> Ranking:
    """Let every item rank all others by the cosine of embeddings of length 1; O(N²) memory."""
    points, classes = np.asarray(embeddings, dtype=np.float64), np.asarray(labels)
    scores = points @ points.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :-1].astype(np.int32)
    return Ranking(classes, order, classes[order] == classes[:, None])


@functools.cache
def synthetic_ranking() -> Ranking:
    """The ranking of the synthetic embeddings."""
    return rank_all(*synthetic_embeddings())


def expected_precision(rank: Any, n: int, batch: int, within: Any = 1) -> Array:
    r"""Expected precision, in a random batch that holds it, of a relevant item.

    With q the share of relevant ones among the r − 1 items ahead,

    .. math:: q + (1 - q) \frac{1}{r} \frac{n}{m} \left[1 - \binom{n - r}{m} \Big/ \binom{n}{m}\right].

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


@functools.cache
def expected_curve(ranking: Ranking, smallest: int) -> tuple[Ints, Array]:
    """Lengths of lists, up to the whole set, and what to expect of each."""
    members = np.unique(np.geomspace(smallest, len(ranking), 40).round().astype(int))
    return members, np.array([expected_map(ranking, int(count)) for count in members])


def expected_map(ranking: Ranking, members: int) -> float:
    """Expected precision in lists of so many members, averaged as mAP is; of the whole set it is mAP."""
    query, rank, within = ranking.precisions
    return _mean_by_query(query, expected_precision(rank, len(ranking) - 1, members - 1, within))


@functools.lru_cache(maxsize=64)
def sample_estimates(
    ranking: Ranking, batch_size: int, *, batches: int = 100, length: int = 0, per_class: int = 0
) -> Array:
    """The mAP of random batches, shape (batches,); nan for one in which no query has a relevant item.

    A memory adds ``length`` batches to every list, which share no item with the current one. With ``per_class``, so
    many of each of some random classes are drawn, else items at random.
    """
    drawn = _draws(ranking.labels, batch_size, batches, length, per_class)
    return np.array([_batch_map(ranking, queries, members) for queries, members in drawn])


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


def _batch_map(ranking: Ranking, queries: Ints, members: Ints) -> float:
    """Rank the members for each query: the data set's order with everything else left out."""
    inside = np.zeros(len(ranking), dtype=bool)
    inside[members] = True
    kept = inside[ranking.order[queries]]
    hits = ranking.relevant[queries] & kept
    query, place = np.nonzero(hits)
    if len(query) == 0:
        return np.nan
    rank, within = (table.cumsum(1, dtype=np.int32)[query, place] for table in (kept, hits))
    return _mean_by_query(query, within / rank)


def spread(ranking: Ranking, batch_size: int, **options: int) -> tuple[float, float]:
    """Mean and standard deviation of the mAP of those random batches that have one."""
    estimates = sample_estimates(ranking, batch_size, **options)
    return float(np.nanmean(estimates)), float(np.nanstd(estimates))


@functools.cache
def gradients(lam: float = 50.0) -> tuple[Array, dict[tuple[int, int], Array]]:
    """AP-loss gradients with respect to a linear map of the synthetic embeddings: of the set, and of many batches.

    Shapes (dim²,), and by batch size and memory (batches, dim²).

    The map is applied to every embedding before it is normalised again; its gradient is taken at the identity, so it
    says how the network's last layer should change. Each query has the same λ, whatever the size of the batch.
    """
    import torch

    embeddings, labels = (torch.from_numpy(x) for x in synthetic_embeddings())
    everything = torch.arange(len(labels))
    found, threads = {}, torch.get_num_threads()
    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other most of the time
    try:
        whole = _gradient(embeddings, labels, everything, everything[:0], lam)
        for (m, tau), batches in GRADIENTS.items():
            drawn = _draws(labels.numpy(), m, 2 * batches, tau)
            made = (
                _gradient(embeddings, labels, torch.from_numpy(queries), torch.from_numpy(members[m:]), lam)
                for queries, members in drawn
            )
            found[m, tau] = np.array(list(islice((g for g in made if g is not None), batches)))
    finally:
        torch.set_num_threads(threads)
    assert whole is not None
    return whole, found


def _gradient(embeddings: Any, labels: Any, batch: Any, remembered: Any, lam: float) -> Array | None:
    """Mean gradient of the queries that have a relevant item in their list; None if there is none."""
    import torch
    from torch.nn.functional import normalize

    from rankedu.losses import APLoss
    from rankedu.rankers import BlackboxRanker

    weights = torch.eye(embeddings.shape[1], requires_grad=True)
    current = normalize(embeddings[batch] @ weights, dim=1)
    scores = current @ torch.cat([current, embeddings[remembered]]).T
    relevance = labels[batch, None] == labels[torch.cat([batch, remembered])]
    where = torch.ones_like(relevance)
    where.diagonal().fill_(False)
    queries = (relevance & where).any(1).sum()
    if queries == 0:
        return None
    ranker = BlackboxRanker(lam * int(queries))  # the mean over queries leaves each its own λ
    (gradient,) = torch.autograd.grad(APLoss(ranker)(scores, relevance, where=where), weights)
    return np.asarray(gradient.double().flatten().numpy())


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


def rank_free() -> Array:
    """The direction that makes relevant pairs more similar and the others less, whatever the ranks; shape (dim²,)."""
    import torch
    from torch.nn.functional import normalize

    embeddings, labels = (torch.from_numpy(x) for x in synthetic_embeddings())
    weights = torch.eye(embeddings.shape[1], requires_grad=True)
    current = normalize(embeddings @ weights, dim=1)
    same, itself = labels[:, None] == labels, torch.eye(len(labels), dtype=torch.bool)
    scores = current @ current.T
    (gradient,) = torch.autograd.grad(scores[~same].mean() - scores[same & ~itself].mean(), weights)
    return np.asarray(gradient.double().flatten().numpy())


def learned(
    arm: tuple[int, int, str], lam: float, rates: Sequence[float], steps: Sequence[int], starts: int = 12
) -> list[Tensor]:
    """The linear maps of chapter 7 after these steps, trained by its loss with short lists; (rates, starts, 24, 6)."""
    import torch
    from torch.nn.functional import normalize

    from rankbook.kit import linear_maps as linear
    from rankedu.losses import RecallLoss
    from rankedu.rankers import BlackboxRanker

    (classes, tau, remembered), items = arm, linear.data(starts)[0]
    recall = RecallLoss(BlackboxRanker(lam * len(rates) * starts), margin=0.05)
    generator, itself = torch.Generator().manual_seed(3), torch.eye(4 * classes, 4 * classes * (1 + tau)).bool()
    noise = torch.Generator().manual_seed(4)
    kept: list[tuple[Tensor, Tensor]] = []

    def embedded(stored: Tensor, past: Tensor, nets: Tensor) -> Tensor:
        if remembered == "as embedded now":
            return linear.embed(items, past, nets).detach()
        drawn = torch.randn(stored.shape[1:], generator=noise) if remembered == "as noise" else None
        return stored if drawn is None else normalize(drawn, dim=-1).expand_as(stored)

    def loss(nets: Tensor, _: int) -> Tensor:
        nonlocal kept
        chosen = torch.rand(starts, linear.CLASSES, generator=generator).topk(classes).indices[..., None]
        pick = torch.rand(starts, classes, linear.EACH, generator=generator).topk(4).indices
        batch = (chosen * linear.EACH + pick).flatten(1)
        old = [(embedded(stored, past, nets), past) for stored, past in kept]
        now = linear.embed(items, batch, nets)
        everyone = torch.cat([now, *(stored for stored, _ in old)], 2)
        label = torch.cat([batch, *(past for _, past in old)], 1) // linear.EACH
        relevance = (batch[:, :, None] // linear.EACH == label[:, None]).expand(len(rates), -1, -1, -1)
        where = ~itself[:, : label.shape[1]].expand_as(relevance)
        kept = [(now.detach(), batch), *kept][:tau]
        return recall((now @ everyone.mT).flatten(0, 1), relevance.flatten(0, 1), where=where.flatten(0, 1))

    trained = descend(linear.start_weights(starts), rates, range(1, max(steps) + 1), loss)
    return [nets for step, nets in enumerate(trained, start=1) if step in steps]


@functools.cache
def memories() -> dict[int, Comparison]:
    """R@1 on new classes with and without a memory, by the number of steps of the small batch."""
    from rankbook.kit import linear_maps as linear

    made: dict[Any, list[Tensor]] = {}
    for arm in ARMS.values():
        steps = [length * 4 // arm[0] for length in LENGTHS]  # as many pictures for all
        made |= {(arm, lam): learned(arm, lam, RATES, steps) for lam in LAMS}

    def measured(at: int, arm: tuple[int, int, str], lam: float, *_: Any) -> tuple[Array, Array]:
        nets = made[arm, lam][at]
        by, report = (np.stack([linear.recall_at_1(x @ net) for net in nets]) for x in linear.data()[1:])
        return by, report

    known = linear.baselines()
    return {
        length: compare(
            functools.partial(measured, at), ARMS, known, LAMS, rates=RATES, ceilings=["the true directions"]
        )
        for at, length in enumerate(LENGTHS)
    }


def drift(rates: Sequence[float], ages: Sequence[int], after: int = 20) -> tuple[Array, Array, Array]:
    """By rate, age and start: r.m.s. error of a score with what is so old, and R@1 among the old over among the new.

    And, in a third array, R@1 of old queries among the old, over the same: what the older map alone is worse by.
    """
    import torch
    from torch.nn.functional import normalize

    from rankbook.kit import linear_maps as linear

    items = linear.data()[2][:, :400]
    nets = learned(ARMS["batch 16"], LAMS[1], rates, range(after, after + 1 + max(ages)))
    label = torch.arange(items.shape[1]) // linear.EACH
    itself = torch.eye(len(label), dtype=torch.bool)

    def right(now: Tensor, old: Tensor) -> Tensor:
        return (label[(now @ old.mT).masked_fill(itself, -2).argmax(-1)] == label).double().mean(-1)

    now, errors, shares, wholly = normalize(items @ nets[-1], dim=-1), [], [], []
    for age in ages:
        old = normalize(items @ nets[-1 - age], dim=-1)
        errors.append((now @ (old - now).mT)[..., ~itself].square().mean(-1).sqrt())
        shares.append(right(now, old) / right(now, now))
        wholly.append(right(old, old) / right(now, now))
    return torch.stack(errors, 1).double().numpy(), torch.stack(shares, 1).numpy(), torch.stack(wholly, 1).numpy()
