"""Figures of chapter 5: what a mini-batch says about the metric of the whole data set."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.ticker import NullFormatter, NullLocator

from rankedu.book.figures import paper_figure, style
from rankedu.book.figures._cached import cached

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Batch sizes of the figures.
SIZES = (8, 16, 32, 64, 128, 256, 512)
#: Batch size and memory of the measured gradients, and how many batches are drawn of each.
GRADIENTS = {(32, 0): 512, (64, 0): 320, (64, 3): 320, (256, 0): 96}


@dataclass(frozen=True, eq=False)
class Ranking:
    """A data set in which every item ranks all others.

    Attributes
    ----------
    labels : array of int, shape (N,)
    order : array of int, shape (N, N - 1)
        Row q: the other items, most similar first.
    relevant : array of bool, shape (N, N - 1)
        Whether the item at this place has the label of the query.
    """

    labels: Ints
    order: npt.NDArray[np.int32]
    relevant: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    @functools.cached_property
    def mean_ap(self) -> float:
        """The true mAP: every item is a query, all others are its list."""
        return float(np.mean(_mean_by_query(*self.precisions)))

    @functools.cached_property
    def precisions(self) -> tuple[Ints, Ints, Ints]:
        """For every pair of a query and a relevant item: the query, the rank, and the rank within the relevant."""
        query, place = np.nonzero(self.relevant)
        return query, place + 1, self.relevant.cumsum(1)[query, place]


def _mean_by_query(query: Ints, rank: Ints, within: Ints) -> Floats:
    """AP of each query that has a relevant item."""
    count = np.bincount(query)
    sums = np.bincount(query, within / rank)
    return sums[count > 0] / count[count > 0]


def synthetic_embeddings(
    classes: int = 64, per_class: int = 16, dim: int = 16, noise: float = 0.32, seed: int = 0
) -> tuple[npt.NDArray[np.float32], Ints]:
    """Draw clusters on the sphere, one a class: a stand-in for trained embeddings that takes milliseconds.

    Parameters
    ----------
    classes, per_class, dim : int
    noise : float
        Standard deviation of each coordinate around the class's centre, before everything is put on the sphere.
    seed : int

    Returns
    -------
    embeddings : array of float32, shape (classes · per_class, dim)
        Of length 1.
    labels : array of int, shape (classes · per_class,)
    """
    random = np.random.default_rng(seed)
    centres = random.standard_normal((classes, dim))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = np.repeat(np.arange(classes), per_class)
    points = centres[labels] + noise * random.standard_normal((len(labels), dim))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32), labels


def rank_all(embeddings: Any, labels: Any) -> Ranking:
    """Let every item rank all others by cosine similarity.

    Parameters
    ----------
    embeddings : array or Tensor, shape (N, dim)
        Of length 1.
    labels : array or Tensor of int, shape (N,)

    Returns
    -------
    Ranking
        O(N²) memory: for a few thousand items.
    """
    points, classes = np.asarray(embeddings, dtype=np.float64), np.asarray(labels)
    scores = points @ points.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :-1].astype(np.int32)
    return Ranking(classes, order, classes[order] == classes[:, None])


@functools.cache
def synthetic_ranking() -> Ranking:
    """The ranking of the synthetic embeddings."""
    return rank_all(*synthetic_embeddings())


def expected_precision(rank: Any, n: int, batch: int, within: Any = 1) -> Floats:
    r"""Expected precision, in a random batch that holds it, of a relevant item.

    With q the share of relevant ones among the r − 1 items ahead,

    .. math:: q + (1 - q) \frac{1}{r} \frac{n}{m} \left[1 - \binom{n - r}{m} \Big/ \binom{n}{m}\right].

    Parameters
    ----------
    rank : int or array of int
        r, the item's rank in the whole list.
    n : int
        Length of the list.
    batch : int
        m: the item and m − 1 others, drawn without replacement.
    within : int or array of int
        The item's rank within the relevant ones; 1 if it is the only one.

    Returns
    -------
    array of float64

    Examples
    --------
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
    result: Floats = share + (1 - share) * alone
    return result


def expected_map(ranking: Ranking, members: int) -> float:
    """Expected precision in lists of so many members, averaged as mAP is; of the whole set it is mAP.

    Parameters
    ----------
    ranking : Ranking
    members : int
        Batch and memory together, the query among them; ≥ 2.
    """
    query, rank, within = ranking.precisions
    values = expected_precision(rank, len(ranking) - 1, members - 1, within)
    count = np.bincount(query)
    return float(np.mean(np.bincount(query, values)[count > 0] / count[count > 0]))


@functools.lru_cache(maxsize=64)
def sample_estimates(
    ranking: Ranking, batch_size: int, *, batches: int = 100, length: int = 0, per_class: int = 0, seed: int = 0
) -> Floats:
    """The mAP of random batches.

    Parameters
    ----------
    ranking : Ranking
    batch_size : int
        Items; each is a query.
    batches : int
    length : int
        Batches that a memory adds to every list. They share no item with the current one.
    per_class : int
        0: items are drawn at random. Else so many of each of ``batch_size / per_class`` random classes.
    seed : int

    Returns
    -------
    array of float64, shape (batches,)
        nan for a batch in which no query has a relevant item.
    """
    drawn = _draws(ranking.labels, batch_size, batches, length, per_class, seed)
    return np.array([_batch_map(ranking, queries, members) for queries, members in drawn])


def _draws(
    labels: Ints, batch_size: int, batches: int, length: int, per_class: int, seed: int
) -> Iterator[tuple[Ints, Ints]]:
    """Batches, and the lists they rank: a pass through the data in random order, then the next."""
    random = np.random.default_rng([batch_size, seed])
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
    return float(np.mean(_mean_by_query(query, rank, within)))


def _spread(estimates: Floats) -> tuple[float, float]:
    """Mean and standard deviation of the batches that have an mAP."""
    return float(np.nanmean(estimates)), float(np.nanstd(estimates))


def _sizes_axis(axes: Axes, sizes: Sequence[int], label: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(sizes), [str(size) for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=label, ylim=(0, 1.03))


@style.style()
def thinning(rank: int = 9, n: int = 24, batch: int = 6, draws: int = 4, seed: int = 3) -> Figure:
    """One relevant item in a long list, and what a few random batches leave of those ahead of it."""
    random = np.random.default_rng(seed)
    figure, axes = style.figure(width=6.8, height=2.9)
    places, told = np.arange(1, n + 1), []
    for row in range(draws + 1):
        others = np.delete(places, rank - 1)
        kept = others if row == 0 else np.sort(random.choice(others, batch - 1, replace=False))
        gone = np.setdiff1d(others, kept)
        axes.plot(gone, np.full(len(gone), -row), "s", color="#E4E4E4", markersize=6)
        axes.plot(kept, np.full(len(kept), -row), "s", color=style.NEGATIVE, markersize=8)
        axes.plot(rank, -row, "o", color=style.POSITIVE, markersize=11)
        now = 1 + int((kept < rank).sum())
        told.append(now)
        text = f"rank {now}, precision 1/{now}" if row else f"rank {rank}, precision 1/{rank}"
        axes.text(n + 1, -row, text, va="center")
    axes.set_yticks(-np.arange(draws + 1), ["data set"] + [f"batch {i}" for i in range(1, draws + 1)])
    axes.set(xlim=(0, n + 9.2), ylim=(-draws - 0.6, 0.6), xticks=(1, rank, n), xlabel="rank in the data set")
    axes.xaxis.set_label_coords(0.37, -0.13)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    return style.describe(
        figure,
        f"A row of {n} items, the blue relevant one at rank {rank}, all others red. Below it {draws} random batches of "
        f"{batch}, each with the relevant item and {batch - 1} of the others in their old places, the rest greyed out. "
        f"In the batches the relevant item has the ranks {', '.join(map(str, told[1:]))}.",
    )


@style.style()
def one_positive(n: int = 10_000, batches: tuple[int, ...] = (10, 100, 1000)) -> Figure:
    """Expected precision in a batch against the true rank, and how much of it is thinning, how much Jensen."""
    ranks = np.unique(np.geomspace(1, n, 200).round().astype(int))
    figure, (left, right) = style.figure(1, 2, width=7.0, height=3.5, sharey=True, sharex=True)
    told = []
    for batch, colour, line in zip(batches, (style.ORANGE, style.GREEN, style.PURPLE), ("-", "--", "-."), strict=False):
        left.loglog(ranks, expected_precision(ranks, n, batch), line, color=colour, label=f"m = {batch}")
        at = float(expected_precision(100, n, batch))
        told.append(f"m = {batch}: {at:.3f} at rank 100")
    for axes in (left, right):
        axes.loglog(ranks, 1 / ranks, color=style.BLACK, label="data set: 1/r")
        axes.set_xlabel("rank r in the data set")
    middle = batches[len(batches) // 2]
    thinned = 1 / (1 + (ranks - 1) * (middle - 1) / (n - 1))
    right.loglog(ranks, thinned, ":", color=style.SKY, label="1 / expected rank")
    right.loglog(ranks, expected_precision(ranks, n, middle), "--", color=style.GREEN, label="expected precision")
    gap = expected_precision(ranks, n, middle) / thinned
    left.set(ylabel="precision", title=f"one relevant item among {n:,}", xticks=(1, 100, n))
    right.set_title(f"two causes, m = {middle}")
    for axes in (left, right):
        axes.legend(loc="lower left")
    return style.describe(
        figure,
        f"Precision against the rank in the data set, logarithmic axes. Left: 1/r falls in a straight line to "
        f"{1 / n:g}; the expected precision in batches stays near 1 until about rank n/m and then runs parallel to it, "
        f"a factor n/m higher; {'; '.join(told)}. Right, m = {middle}: one over the expected rank makes up most of "
        f"the gap; the expected precision is at most {gap.max():.2f} times higher still.",
    )


@paper_figure("RaMBO Fig. 2")
@style.style()
def minibatch_map(
    ranking: Ranking | None = None, sizes: tuple[int, ...] = SIZES, name: str = "clusters on a sphere"
) -> Figure:
    """Mean and standard deviation of the mAP of random batches, beside the true mAP of the data set."""
    ranking = synthetic_ranking() if ranking is None else ranking
    figure, axes = style.figure(width=6.4, height=3.9)
    told = _error_bars(axes, ranking, sizes)
    members = np.unique(np.geomspace(sizes[0], len(ranking), 40).round().astype(int))
    axes.plot(members, [expected_map(ranking, m) for m in members], color=style.GREEN, label="closed form", zorder=1)
    axes.axhline(ranking.mean_ap, color=style.BLACK, linestyle="--", label="the data set")
    _sizes_axis(axes, (*sizes, len(ranking)), "batch size")
    axes.set(ylabel="mAP", title=f"{name}: {len(ranking)} items, {len(np.unique(ranking.labels))} classes")
    axes.legend(loc="upper right")
    return style.describe(
        figure,
        f"mAP against batch size for {name}. The data set's mAP is a dashed line at {ranking.mean_ap:.2f}. The mean "
        f"over random batches lies above it everywhere and falls towards it; mean and standard deviation are {told}. "
        f"The closed form follows the means.",
    )


def _error_bars(axes: Axes, ranking: Ranking, sizes: Sequence[int], **look: Any) -> str:
    """Draw mean ± standard deviation for each batch size; return them in words."""
    per_class = look.pop("per_class", 0)
    spreads = [
        _spread(sample_estimates(ranking, m, batches=min(300, max(20, 16_000 // m)), per_class=per_class))
        for m in sizes
    ]
    means, deviations = np.array(spreads).T
    options: dict[str, Any] = {"fmt": "o", "color": style.ORANGE, "capsize": 4, "label": "random batches"} | look
    low = np.minimum(deviations, means)
    high = np.minimum(deviations, 1 - means)
    axes.errorbar(sizes, means, yerr=[low, high], **options)
    return ", ".join(f"{mean:.2f} ± {spread:.2f} at {m}" for m, (mean, spread) in zip(sizes, spreads, strict=True))


@style.style()
def composition(
    ranking: Ranking | None = None, sizes: tuple[int, ...] = SIZES, per_class: int = 4, name: str = ""
) -> Figure:
    """The same, for batches drawn at random and for batches with a few items of each class."""
    ranking = synthetic_ranking() if ranking is None else ranking
    largest = len(np.unique(ranking.labels)) * per_class
    figure, axes = style.figure(width=6.4, height=3.7)
    random = _error_bars(axes, ranking, sizes, fmt="o-", label="drawn at random")
    balanced = _error_bars(
        axes,
        ranking,
        [m for m in sizes if m <= largest],
        per_class=per_class,
        fmt="s--",
        color=style.PURPLE,
        label=f"{per_class} of each class",
    )
    axes.axhline(ranking.mean_ap, color=style.BLACK, linestyle="--", label="the data set")
    _sizes_axis(axes, sizes, "batch size")
    axes.set(ylabel="mAP", title=name)
    axes.legend(loc="upper right")
    return style.describe(
        figure,
        f"Batch mAP against batch size. Items drawn at random: {random}. {per_class} items of each class: {balanced}. "
        f"The data set has {ranking.mean_ap:.2f}.",
    )


@style.style()
def memory_and_bias(
    ranking: Ranking | None = None,
    sizes: tuple[int, ...] = (16, 64, 256),
    lengths: tuple[int, ...] = (0, 1, 3, 7),
    name: str = "",
) -> Figure:
    """Batch mAP with memory, against the length of the lists that are ranked."""
    ranking = synthetic_ranking() if ranking is None else ranking
    figure, axes = style.figure(width=6.4, height=3.8)
    looks = zip(sizes, (style.ORANGE, style.PURPLE, style.SKY), "osD", (0.96, 1.0, 1.04), strict=False)
    told = []
    for m, colour, marker, nudge in looks:
        used = [tau for tau in lengths if (1 + tau) * m <= len(ranking)]
        batches = min(300, max(16, 12_000 // m))
        spreads = [_spread(sample_estimates(ranking, m, length=tau, batches=batches)) for tau in used]
        x = [(1 + tau) * m * nudge for tau in used]
        means, deviations = np.array(spreads).T
        options: dict[str, Any] = {
            "fmt": marker,
            "color": colour,
            "capsize": 4,
            "label": f"batch {m}, τ = {', '.join(map(str, used))}",
        }
        axes.errorbar(x, means, yerr=[np.minimum(deviations, means), np.minimum(deviations, 1 - means)], **options)
        told.append(
            f"batch {m}: "
            + ", ".join(f"{s[0]:.2f} ± {s[1]:.2f} for τ = {t}" for t, s in zip(used, spreads, strict=True))
        )
    members = np.unique(np.geomspace(sizes[0], len(ranking), 40).round().astype(int))
    axes.plot(members, [expected_map(ranking, m) for m in members], color=style.GREEN, label="closed form", zorder=1)
    axes.axhline(ranking.mean_ap, color=style.BLACK, linestyle="--", label="the data set")
    ticks = [2**k for k in range(4, 12) if 2**k <= len(ranking)]
    _sizes_axis(axes, ticks, "list length (1 + τ) · batch size")
    axes.set(ylabel="mAP", title=name)
    axes.legend(loc="upper right")
    return style.describe(
        figure,
        f"Mean and standard deviation of the batch mAP against the length of the lists. {'; '.join(told)}. All means "
        f"lie on one curve that falls to the data set's {ranking.mean_ap:.2f}; at the same length, larger batches have "
        f"shorter error bars.",
    )


@cached
def gradients(lam: float = 50.0) -> tuple[Floats, dict[tuple[int, int], Floats]]:
    """AP-loss gradients with respect to a linear map of the synthetic embeddings: of the set, and of many batches.

    The map is applied to every embedding before it is normalised again; its gradient is taken at the identity, so it
    says how the network's last layer should change. Each query has the same λ, whatever the size of the batch.

    Returns
    -------
    whole : array, shape (dim²,)
    batches : dict
        (batch size, memory) → array, shape (batches, dim²)
    """
    import torch

    embeddings, labels = (torch.from_numpy(x) for x in synthetic_embeddings())
    everything = torch.arange(len(labels))
    found, threads = {}, torch.get_num_threads()
    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other most of the time
    try:
        whole = _gradient(embeddings, labels, everything, everything[:0], lam)
        for (m, tau), batches in GRADIENTS.items():
            drawn = _draws(labels.numpy(), m, 2 * batches, tau, 0, 0)
            made = (
                _gradient(embeddings, labels, torch.from_numpy(queries), torch.from_numpy(members[m:]), lam)
                for queries, members in drawn
            )
            found[m, tau] = np.array(list(islice((g for g in made if g is not None), batches)))
    finally:
        torch.set_num_threads(threads)
    assert whole is not None
    return whole, found


def _gradient(embeddings: Any, labels: Any, batch: Any, remembered: Any, lam: float) -> Floats | None:
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
    result: Floats = gradient.double().flatten().numpy()
    return result


def alignment(batches: Floats, whole: Floats, count: int, trials: int = 200, seed: int = 0) -> float:
    """Mean cosine between the data set's gradient and the average of so many batches' gradients.

    Parameters
    ----------
    batches : array, shape (many, d)
    whole : array, shape (d,)
    count : int
        Batches averaged, drawn without replacement.
    trials : int
    seed : int
    """
    random = np.random.default_rng([count, seed])
    means = np.array([batches[random.choice(len(batches), count, replace=False)].mean(0) for _ in range(trials)])
    cosines = means @ whole / np.linalg.norm(means, axis=1).clip(1e-30) / np.linalg.norm(whole)
    return float(cosines.mean())


def limit_alignment(batches: Floats, whole: Floats) -> float:
    """The cosine that infinitely many batches would reach: the norm of their mean is estimated without the noise.

    For independent g and h with the same mean, E[g · h] is the squared norm of that mean.
    """
    total, count = batches.sum(0), len(batches)
    squared = (total @ total - (batches**2).sum()) / (count * (count - 1))
    return float(min(1.0, total / count @ whole / np.sqrt(max(squared, 1e-30)) / np.linalg.norm(whole)))


@style.style()
def gradient_bias() -> Figure:
    """Averaging gradients of mini-batches: the noise goes, the bias stays."""
    whole, found = gradients()
    figure, axes = style.figure(width=6.6, height=3.9)
    colours = (style.ORANGE, style.PURPLE, style.PURPLE, style.SKY)
    told = []
    for (m, tau), colour, line, marker in zip(found, colours, ("-", "-", "--", "-"), "oss^", strict=True):
        made = found[m, tau]
        counts = [2**k for k in range(9) if 2**k <= len(made) // 2] + [len(made)]
        cosines = [alignment(made, whole, count) for count in counts]
        limit = limit_alignment(made, whole)
        name = f"batch {m}" + (f", τ = {tau}" if tau else "")
        axes.semilogx(counts, cosines, line, base=2, color=colour, label=name)
        face = colour if line == "-" else "white"
        axes.plot(1024, limit, marker, color=colour, markerfacecolor=face, markersize=8, clip_on=False)
        told.append(f"{name}: {cosines[0]:.2f} for one, {cosines[-1]:.2f} for {len(made)}, {limit:.2f} in the limit")
    axes.axhline(1, color=style.BLACK, linewidth=1)
    axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1", "4", "16", "64", "256", "∞"])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="number of batches averaged", ylabel="cosine with the gradient\nof the whole set", ylim=(0, 1.03))
    axes.legend(loc="lower right", bbox_to_anchor=(0.97, 0.0))
    return style.describe(
        figure,
        f"Cosine between the gradient of the whole set and the average gradient of batches, against how many are "
        f"averaged. All curves rise and level off below 1. {'; '.join(told)}.",
    )


@style.style()
def staleness(errors: dict[float, dict[int, float]], margin: float) -> Figure:
    """How wrong remembered scores are, against the age of the memory.

    Parameters
    ----------
    errors : dict of dict
        Learning rate → age in batches → root mean square error of a score.
    margin : float
        Drawn for comparison.
    """
    figure, axes = style.figure(width=6.4, height=3.5)
    told = []
    for (rate, ages), marker in zip(errors.items(), "os^D", strict=False):
        axes.loglog(list(ages), list(ages.values()), marker + "-", base=2, label=f"learning rate {rate:g}")
        told.append(f"learning rate {rate:g}: " + ", ".join(f"{error:.4f} after {age}" for age, error in ages.items()))
    axes.axhline(margin, color=style.BLACK, linestyle="--", label=f"margin α = {margin:g}")
    shown = list(next(iter(errors.values())))
    axes.set_xticks(shown, [str(age) for age in shown])
    axes.set_yscale("log", base=10)
    axes.set(xlabel="age of the remembered embedding, in batches", ylabel="error of a score (r.m.s.)")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return style.describe(
        figure,
        f"Root mean square error of the scores of remembered items against their age in batches. {'; '.join(told)}. "
        f"The margin of {margin:g} is drawn for comparison.",
    )
