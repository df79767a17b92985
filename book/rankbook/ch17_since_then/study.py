"""Chapter 17, computed: whom identity pushes, linear maps that learn by what came later, and averages of ranks."""

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from rankbook.kit import linear_maps as linear
from rankbook.kit.compare import Array, Comparison, compare, descend
from rankbook.kit.landscapes import section_gradient
from rankbook.kit.relief import SEED, View, view
from rankedu.losses import RecallAtKSurrogateLoss, RecallLoss
from rankedu.rankers import BlackboxRanker, IdentityRanker, Ranker, SigmoidRanker

STARTS = 25  #: An odd number, so that a median is a setting that was run.
RATES, SLOWER = (0.01, 0.05, 0.1, 0.2), (0.002, 0.008, 0.03)  #: The second for more steps.
LAMS, ALPHAS, TAUS = (128.0, 1024.0, 1e5), (0.0, 0.2, 0.5, 2.0), (0.03, 0.1, 0.3, 1.0, 30.0)


def surface(seen: View) -> Array:
    """What identity with the mean taken out descends over a section: a plane, as high as the staircase."""
    height = -(seen.section.points() @ (seen.coefficients - seen.coefficients.mean()))
    scale = np.ptp(seen.staircase[seen.inside]) / np.ptp(height[seen.inside])
    return np.asarray(scale * height)


def guide(seed: int = SEED, size: int = 120) -> tuple[float, float]:
    """Of a section: how plane and loss correlate, and how far from the loss's mean to its least the plane's foot is."""
    seen = view(size, seed=seed)
    plane, loss = (height[seen.inside] for height in (surface(seen), seen.staircase))
    down = (loss.mean() - loss[plane.argmin()]) / (loss.mean() - loss.min())
    return float(np.corrcoef(plane, loss)[0, 1]), float(down)


def field(seen: View, kind: str, lam: float = 0.3) -> Array:
    """The step of descent in the section, (points, points, 2): of Algorithm 1, or of identity with the mean out."""
    if kind == "interpolation":
        return -section_gradient(seen.section, seen.coefficients, lam)
    points = torch.from_numpy(seen.section.points().copy())
    incoming = torch.from_numpy(seen.coefficients).expand_as(points)
    step = -IdentityRanker("mean").backward_of(points, incoming).numpy()
    return np.stack([step @ seen.section.u, step @ seen.section.v], -1)


class OneHalf(IdentityRanker):
    """Identity with one half of `"std"`: as `"mean"`, and divided by the length; or as `"std"`, and not divided."""

    def backward_of(self, scores: Tensor, gradient: Tensor, members: Tensor | None = None) -> Tensor:
        """See `IdentityRanker`."""
        kept = torch.ones_like(scores) if members is None else members.to(scores)
        mean = (scores * kept).sum(-1, keepdim=True) / kept.sum(-1, keepdim=True)
        length = ((scores - mean) * kept).norm(dim=-1, keepdim=True)
        return super().backward_of(scores, gradient, members) * (length if self.project == "std" else 1 / length)


Make = Callable[[float], torch.nn.Module]  # a loss by its strength


def _by_margin(ranker: Ranker, **options: Any) -> Make:
    return lambda alpha: RecallLoss(ranker, margin=alpha, **options)


_STRAIGHT: Any = {"weights": torch.Tensor.double}  # W(r) = r
#: Losses by their strength, α or τ. Of several a start takes the best: λ is searched, too; a loss is a mean of starts.
ARMS: Mapping[str, tuple[Sequence[Make], Sequence[float]]] = {
    "interpolation": ([_by_margin(BlackboxRanker(lam * STARTS)) for lam in LAMS], ALPHAS),
    "identity, none": ([_by_margin(IdentityRanker("none"))], ALPHAS[::3]),
    "identity, mean": ([_by_margin(IdentityRanker("mean"))], ALPHAS),
    "identity, std": ([_by_margin(IdentityRanker("std"))], ALPHAS),
    "mean, divided": ([_by_margin(OneHalf("mean"))], ALPHAS[::3]),
    "std, not divided": ([_by_margin(OneHalf("std"))], ALPHAS[:3]),
    "mean, W(r) = r": ([_by_margin(IdentityRanker("mean"), **_STRAIGHT)], (0.0,)),
    "std, W(r) = r": ([_by_margin(IdentityRanker("std"), **_STRAIGHT)], (0.0,)),
    "recall of sigmoids": ([lambda tau: RecallLoss(SigmoidRanker(tau))], TAUS),
    "recall at k": ([lambda tau: RecallAtKSurrogateLoss(SigmoidRanker(tau), k=(1, 2, 4, 8))], TAUS[:3]),
}
FIRST = ("identity, none", "identity, mean", "identity, std", "interpolation")
#: With five times the steps: those whose difference is told, at the strengths that most starts chose.
LATER = {"interpolation": (0.2, 0.5), "identity, std": (0.2, 0.5), "recall of sigmoids": (0.1, 0.3)}


def _lists() -> tuple[Tensor, Tensor]:
    """Of a batch: which items are of the class of a query, and which are not the query itself; (48, 48) each."""
    label = torch.arange(linear.BATCH).repeat_interleave(linear.OF_EACH)
    return label[:, None] == label, ~torch.eye(len(label)).bool()


def _train(loss: torch.nn.Module, rates: Sequence[float], starts: int, steps: int) -> Tensor:
    """The maps of all rates and starts after so many batches."""
    same, others = _lists()

    def total(nets: Tensor, batch: Tensor) -> Tensor:
        z = linear.embed(linear.data(starts)[0], batch, nets)
        by_rate = [loss(one, same.expand_as(one), where=others.expand_as(one)) for one in z @ z.mT]
        return torch.stack(by_rate).sum()

    picks = linear.batches(linear.mislabelled(0.0, starts), steps)
    *_, trained = descend(linear.start_weights(starts), rates, picks, total)
    return trained


def of_a_margin(alpha: float, steps: int = 60) -> tuple[Array, Array]:
    """What `identity, std` does to a batch, before and after training, as means over the queries.

    The deviation of the cosines, and the correlation of the scores that have the margin α with the relevance.
    """
    same, others = _lists()
    batch = next(linear.batches(linear.mislabelled(0.0), 1))

    def told(nets: Tensor) -> Array:
        z = linear.embed(linear.data()[0], batch, nets)
        cosines = (z @ z.mT)[:, others].unflatten(-1, (len(same), -1))
        relevance = same[others].view(len(same), -1).to(z).expand_as(cosines)
        a, b = (x - x.mean(-1, keepdim=True) for x in (cosines - alpha * relevance, relevance))
        return np.array([cosines.std(-1).mean(), cosine_similarity(a, b, dim=-1).mean()])

    [trained] = _train(RecallLoss(IdentityRanker("std"), margin=alpha), RATES[1:2], linear.STARTS, steps)
    return told(linear.start_weights()), told(trained)


@functools.cache
def compared(later: bool = False) -> Comparison:
    """R@1 on new classes of the linear maps of chapter 7, each start at its own strength and rate.

    Source: Identity Tab. 3.
    """
    every = {arm: strengths for arm, (_, strengths) in ARMS.items()}
    steps, sweep, rates = (300, LATER, SLOWER) if later else (60, every, RATES)

    def train(arm: str, strength: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        makes = ARMS[arm][0][: None if strength == ALPHAS[-1] else 2]  # the third λ is for the wide margin
        found = (recalls(_train(make(strength), rates, starts, steps)) for make in makes)
        by, report = map(np.array, zip(*found, strict=True))
        best = by.argmax(0)[None]
        return np.take_along_axis(by, best, 0)[0], np.take_along_axis(report, best, 0)[0]

    arms, known, best = {arm: arm for arm in sweep}, linear.baselines(STARTS), ["the true directions"]
    return compare(train, arms, known, sweep, rates=rates, starts=STARTS, ceilings=best)


def recalls(nets: Tensor) -> tuple[Array, Array]:
    """R@1 on the classes to choose by and on those to report; (rates, starts) each."""
    _, *both = linear.data(nets.shape[1])
    by, report = (np.stack([linear.recall_at_1(items @ net) for net in nets]) for items in both)
    return by, report


# ------------------------------------------------------------------------------------------------ averages of ranks

#: Classes, of four items each, to train with; of a small and of a large batch; and as many as every arm sees in all.
FEW, SMALL, LARGE, SEEN = 60, 2, 20, 6000
GAMMAS, TEMPERATURE = (0.1, 0.6, 1.0), 0.1
Counts = tuple[Tensor, Tensor]


def soft_counts(scores: Tensor, temperature: float = TEMPERATURE) -> Counts:
    """Of queries in classes of four: ranks among the relevant items, and irrelevant ones above; (..., size, 3) each."""
    size = scores.shape[-1]
    label = torch.arange(size) // 4
    same, others = label[:, None] == label, ~torch.eye(size).bool()
    own = scores[..., same & others].unflatten(-1, (size, 3))
    rest = scores[..., ~same].unflatten(-1, (size, size - 4))
    within = 0.5 + ((own[..., None, :] - own[..., None]) / temperature).sigmoid().sum(-1)
    return within, ((rest[..., None, :] - own[..., None]) / temperature).sigmoid().sum(-1)


def average_precision_loss(within: Tensor, above: Tensor) -> Tensor:
    """1 - AP of soft ranks, the mean of the last two axes."""
    return 1 - (within / (within + above)).mean((-1, -2))


class Averages:
    """SOAP for the maps of several rates and starts: a moving average of both ranks of every relevant item.

    A batch holds a share of the irrelevant items, so its count of them is scaled. With γ = 1 nothing is remembered.
    """

    def __init__(self, gamma: float | Tensor, shape: tuple[int, ...], classes: int = FEW) -> None:
        self.gamma, self.classes = gamma, classes
        self.kept = torch.full((*shape, classes, 4, 3, 2), torch.nan)  # among the relevant, among all

    def __call__(self, counts: Counts, chosen: Tensor) -> Tensor:
        """A number whose gradient is SOAP's; chosen are the classes of each start's batch, (starts, classes)."""
        within, above = counts
        drawn, start = chosen.shape[-1], torch.arange(len(chosen))[:, None]
        rank = within + above * (self.classes - 1) / (drawn - 1)
        here = torch.stack([within, rank], -1).detach().unflatten(-3, (drawn, 4))
        old = self.kept[:, start, chosen]
        new = torch.where(old.isnan(), here, (1 - self.gamma) * old + self.gamma * here)
        self.kept[:, start, chosen] = new.to(self.kept)
        own, among = new.flatten(-4, -3).unbind(-1)
        return ((own * rank - among * within) / among.square()).mean()


@functools.cache
def averaged() -> Comparison:
    """R@1 of linear maps that learn AP of as many items: in small batches, as they are, scaled, averaged; and large."""

    def train(arm: tuple[int, tuple[float, ...]], gamma: float, *_: object) -> tuple[Array, Array]:
        by, report = _learned(*arm)
        return by[arm[1].index(gamma)], report[arm[1].index(gamma)]

    plain, averages = (0.0,), (SMALL, GAMMAS)
    arms = {"small batches": (SMALL, plain), "counts scaled": averages, "averages": averages}
    arms["large batches"] = (LARGE, plain)
    sweep = {"small batches": plain, "counts scaled": GAMMAS[-1:], "averages": GAMMAS[:-1], "large batches": plain}
    known, best = linear.baselines(STARTS), ["the true directions"]
    return compare(train, arms, known, sweep, rates=SLOWER, starts=STARTS, ceilings=best)


@functools.cache
def _learned(classes: int, gammas: tuple[float, ...]) -> tuple[Array, Array]:
    """What `recalls` says of each γ, all trained at once; (gammas, rates, starts) each. Without averages γ is 0."""
    starts, rates = STARTS, SLOWER * len(gammas)
    items = linear.data(starts)[0].unflatten(1, (-1, linear.EACH))[:, :FEW, :4]
    generator = torch.Generator().manual_seed(4)
    each = torch.tensor(gammas).repeat_interleave(len(SLOWER))
    averages = Averages(each.view(-1, 1, 1, 1, 1, 1), (len(rates), starts)) if any(gammas) else None
    picks = (torch.rand(starts, FEW, generator=generator).topk(classes).indices for _ in range(SEEN // classes))

    def total(nets: Tensor, chosen: Tensor) -> Tensor:
        z = normalize(items[torch.arange(starts)[:, None], chosen].flatten(1, 2) @ nets, dim=-1)
        counts = soft_counts(z @ z.mT)
        return averages(counts, chosen) if averages else average_precision_loss(*counts).mean()

    *_, trained = descend(linear.start_weights(starts), rates, picks, total)
    by, report = (found.reshape(len(gammas), len(SLOWER), starts) for found in recalls(trained))
    return by, report


def directions(starts: int = linear.STARTS) -> Tensor:
    """The maps to the directions that tell classes apart, the ceiling of the linear maps."""
    turned = torch.randn(starts, linear.DIM, linear.DIM, generator=torch.Generator().manual_seed(0))
    mixing: Tensor = torch.linalg.qr(turned)[0]
    return mixing.mT[..., : linear.EMBEDDING]


def estimates(nets: Tensor, temperature: float, gamma: float = 0.1, steps: int = 400) -> list[float]:
    """1 - AP of maps that stand still: of the whole set, of small batches, and these scaled, averaged, and both."""
    items = linear.data()[0].unflatten(1, (-1, linear.EACH))[:, :FEW, :4]
    starts, generator = linear.STARTS, torch.Generator().manual_seed(4)
    z, share = normalize(items.flatten(1, 2) @ nets, dim=-1), (FEW - 1) / (SMALL - 1)
    averages, batches = Averages(gamma, (1, starts)), []
    for _ in range(steps):
        chosen = torch.rand(starts, FEW, generator=generator).topk(SMALL).indices
        part = z.unflatten(1, (FEW, 4))[torch.arange(starts)[:, None], chosen].flatten(1, 2)
        within, above = soft_counts(part @ part.mT, temperature)
        batches.append([average_precision_loss(within, above), average_precision_loss(within, share * above)])
        averages((within[None], above[None]), chosen)
    own, among = averages.kept[0].flatten(1, 2).unbind(-1)
    small, scaled = (torch.stack(each).mean(0) for each in zip(*batches, strict=True))
    whole = average_precision_loss(*soft_counts(z @ z.mT, temperature))
    averaged, both = (average_precision_loss(own, (among - own) / by) for by in (share, 1))
    return [found.mean().item() for found in (whole, small, scaled, averaged, both)]


# --------------------------------------------------------------------------------------------------- soft ranks


def lap_sum(y: Tensor, temperature: float) -> Tensor:
    """The ranks of `reference.lap_sum_rank` by one sort: exponentials add up along the list; O(n log n)."""
    values, place = (y / temperature).sort(-1)
    below = (values.logcumsumexp(-1) - values).exp()
    above = ((-values).flip(-1).logcumsumexp(-1).flip(-1) + values).exp()
    ranks = torch.arange(y.shape[-1], 0, -1).to(y) + (below - above) / 2
    return torch.empty_like(ranks).scatter(-1, place, ranks)


def soft_sort_ranks(y: Tensor, temperature: float) -> Tensor:
    """`place_of` the matrix of SoftSort; O(n²)."""
    ordered = y.sort(-1, descending=True).values
    rows = (-(ordered[..., None] - y[..., None, :]).abs() / temperature).softmax(-1)
    return torch.arange(1.0, y.shape[-1] + 1).to(y) @ rows


def neural_sort_ranks(y: Tensor, temperature: float) -> Tensor:
    """`place_of` the matrix of NeuralSort; O(n²)."""
    n = y.shape[-1]
    away = (y[..., None] - y[..., None, :]).abs().sum(-1)
    slopes = torch.arange(n - 1, -n, -2).to(y)
    rows = ((slopes[:, None] * y[..., None, :] - away[..., None, :]) / temperature).softmax(-1)
    return torch.arange(1.0, n + 1).to(y) @ rows


def diff_sort_ranks(y: Tensor, temperature: float) -> Tensor:
    """`place_of` the matrix of DiffSort, without the matrix: the places go back through its n layers; O(n²)."""
    n, scores, stays = y.shape[-1], y, []

    def through(values: Tensor, layer: int, stay: Tensor | None = None) -> tuple[Tensor, Tensor]:
        before, pairs, after = values.split([layer % 2, (n - layer % 2) // 2 * 2, (n - layer % 2) % 2], -1)
        pairs = pairs.unflatten(-1, (-1, 2))
        stay = (-pairs.diff(dim=-1) / temperature).sigmoid() if stay is None else stay
        return torch.cat([before, (stay * pairs + (1 - stay) * pairs.flip(-1)).flatten(-2), after], -1), stay

    for layer in range(n):
        scores, stay = through(scores, layer)
        stays.append(stay)
    ranks = torch.arange(1.0, n + 1).to(y).expand_as(y)
    for layer in reversed(range(n)):  # what a layer does is symmetric
        ranks, _ = through(ranks, layer, stays[layer])
    return ranks


SOFT: Mapping[str, Callable[[Tensor, float], Tensor]] = {
    "sigmoid": lambda y, temperature: SigmoidRanker(temperature)(y),
    "NeuralSort": neural_sort_ranks,
    "SoftSort": soft_sort_ranks,
    "DiffSort": diff_sort_ranks,
    "LapSum": lap_sum,
}
#: What the item passes that moves in the figure.
STANDING = (0.8, 0.6, 0.1, 0.0, -0.5)


def passing(points: int, standing: Sequence[float]) -> tuple[torch.Tensor, torch.Tensor]:
    """Where an item stands that moves past others, and the lists of scores, of which it is the first."""
    x = torch.linspace(-1, 1.2, points, dtype=torch.float64, requires_grad=True)
    return x, torch.cat([x[:, None], torch.tensor(standing, dtype=torch.float64).expand(points, -1)], 1)


def moving(
    name: str, temperature: float = 0.1, points: int = 401, standing: Sequence[float] = STANDING
) -> tuple[Array, Array, Array]:
    """Where an item stands that moves past others, its soft rank there, and the slope of it."""
    x, y = passing(points, standing)
    ranks = SOFT[name](y, temperature)[:, 0]
    (slope,) = torch.autograd.grad(ranks.sum(), x)
    return x.detach().numpy(), ranks.detach().numpy(), slope.numpy()


def largest_rise(name: str, temperature: float, standing: Sequence[float] = STANDING) -> float:
    """By how much the soft rank of that item rises while its score does; 0 if it only falls."""
    ranks = moving(name, temperature, 2001, standing)[1]
    return float((ranks - np.minimum.accumulate(ranks)).max())


def rises(name: str, temperature: float, lists: int = 50) -> float:
    """In which share of lists of ten items, uniform in [-1, 1], the soft rank of an eleventh rises by 0.01 or more."""
    standing = np.random.default_rng(0).uniform(-1, 1, (lists, 10)).tolist()
    return float(np.mean([largest_rise(name, temperature, one) >= 0.01 for one in standing]))


def by_order(name: str, temperature: float, standing: Sequence[float] = STANDING, points: int = 45) -> float:
    """By how much a soft rank in the list of the figure hangs on the order in which the list is written."""
    y = passing(points, standing)[1].detach()
    orders = torch.tensor(list(itertools.permutations(range(y.shape[1]))))
    ranks = SOFT[name](y[:, orders], temperature).gather(-1, orders.argsort(-1).expand(points, -1, -1))
    return float((ranks.amax(1) - ranks.amin(1)).max())
