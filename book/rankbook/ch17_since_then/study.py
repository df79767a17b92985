"""Chapter 17, computed: whom identity pushes, linear maps that learn by what came later, and averages of ranks."""

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from rankbook.kit import linear_maps as linear
from rankbook.kit.compare import Array, Comparison, compare, descend
from rankbook.kit.relief import View
from rankedu.landscapes import section_gradient
from rankedu.losses import RecallAtKSurrogateLoss, RecallLoss
from rankedu.rankers import BlackboxRanker, IdentityRanker, SigmoidRanker

STEPS, RATES = 60, (0.002, 0.008, 0.03, 0.12)
LAMS, ALPHAS, TAUS = (16.0, 128.0, 1024.0), (0.0, 0.05, 0.2), (0.03, 0.1, 0.3)
MANY = len(RATES) * linear.STARTS  #: A loss is the mean over the batches of so many maps; λ is that of one batch.
Loss = Callable[[Tensor, Tensor, Tensor], Tensor]  # of scores, relevance, and who takes part


def pairs(y: Array, g: Array, lam: float) -> tuple[Array, Array]:
    """Who pushes whom: entry (i, j) is how far i rises past j, by Algorithm 1 and by identity with the mean taken out.

    Both are antisymmetric, and a row's sum is minus the gradient of its item.
    """
    ahead, slower = y[None] - y[:, None], g[:, None] - g[None]
    crosses = (ahead * slower > 0) & (abs(ahead) < lam * abs(slower))
    return crosses * np.sign(slower) / lam, slower / len(y)


def surface(seen: View, kind: str) -> Array:
    """What identity descends over a section: a plane, or minus the correlation; as high as the staircase."""
    weights, points = seen.coefficients - seen.coefficients.mean(), seen.section.points()
    height = -(points @ weights)
    if kind == "std":
        height = height / np.linalg.norm(points - points.mean(-1, keepdims=True), axis=-1)
    scale = np.ptp(seen.staircase[seen.inside]) / np.ptp(height[seen.inside])
    return np.asarray(scale * height)


def field(seen: View, kind: str, lam: float = 0.3) -> Array:
    """The step of descent in the section, (points, points, 2): of Algorithm 1, or of identity."""
    if kind == "interpolation":
        return -section_gradient(seen.section, seen.coefficients, lam)
    points = torch.from_numpy(seen.section.points().copy())
    incoming = torch.from_numpy(seen.coefficients).expand_as(points)
    step = -IdentityRanker(kind).backward_of(points, incoming).numpy()
    return np.stack([step @ seen.section.u, step @ seen.section.v], -1)


def noisy(loss: Loss, alpha: float) -> Loss:
    """The margin of the paper: every score is moved by half of α, up or down by chance.

    Source: Identity Sec. 3.6.
    """
    generator = torch.Generator().manual_seed(5)

    def moved(scores: Tensor, relevance: Tensor, where: Tensor) -> Tensor:
        signs = 2 * torch.randint(2, scores.shape, generator=generator) - 1
        return loss(scores + alpha / 2 * signs, relevance, where)

    return moved


def _made(loss: torch.nn.Module) -> Loss:
    return lambda scores, relevance, where: loss(scores, relevance, where=where)


def _identity(project: str) -> Callable[[float], Loss]:
    return lambda alpha: _made(RecallLoss(IdentityRanker(project), margin=alpha))


#: Losses by their strength: λ with a margin of 0.05, the margin α, or the temperature of the ranks.
ARMS: Mapping[str, tuple[Callable[[float], Loss], Sequence[float]]] = {
    "interpolation": (lambda lam: _made(RecallLoss(BlackboxRanker(lam * MANY), margin=0.05)), LAMS),
    "identity, none": (_identity("none"), ALPHAS[1:2]),
    "identity, mean": (_identity("mean"), ALPHAS[1:2]),
    "identity, std": (_identity("std"), ALPHAS),
    "identity, noise": (lambda a: noisy(_made(RecallLoss(IdentityRanker())), a), ALPHAS),
    "recall of sigmoids": (lambda t: _made(RecallLoss(SigmoidRanker(t), within_grad=True)), TAUS),
    "recall at k": (lambda t: _made(RecallAtKSurrogateLoss(SigmoidRanker(t), k=(1, 2, 4, 8))), TAUS),
}


@functools.cache
def compared() -> Comparison:
    """R@1 on new classes of the linear maps of chapter 7, each start at its own strength and rate.

    Source: Identity Tab. 3.
    """
    label = torch.arange(linear.BATCH).repeat_interleave(linear.OF_EACH)
    others = ~torch.eye(len(label)).bool()

    def train(arm: str, strength: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        loss = ARMS[arm][0](strength)

        def total(nets: Tensor, batch: Tensor) -> Tensor:
            z = linear.embed(linear.data(starts)[0], batch, nets).flatten(0, 1)
            scores = z @ z.mT
            return loss(scores, (label[:, None] == label).expand_as(scores), others.expand_as(scores))

        picks = linear.batches(linear.mislabelled(0.0, starts), STEPS)
        *_, trained = descend(linear.start_weights(starts), rates, picks, total)
        return recalls(trained)

    sweep = {name: strengths for name, (_, strengths) in ARMS.items()}
    names = {name: name for name in ARMS}
    return compare(train, names, linear.baselines(), sweep, rates=RATES, ceilings=["the true directions"])


def recalls(nets: Tensor) -> tuple[Array, Array]:
    """R@1 on the classes to choose by and on those to report; (rates, starts) each."""
    by, report = (np.stack([linear.recall_at_1(items @ net) for net in nets]) for items in linear.data()[1:])
    return by, report


# ------------------------------------------------------------------------------------------------ averages of ranks

#: Classes and items of each to train with, and steps; classes of a small and of a large batch.
FEW, STEPS_OF_AVERAGES, SMALL, LARGE = 60, 300, 2, 20
GAMMAS, TEMPERATURE = (0.1, 0.3, 1.0), 0.1


def soft_counts(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Of queries in classes of four: ranks among the relevant items, and irrelevant ones above; (..., size, 3) each."""
    size = scores.shape[-1]
    label = torch.arange(size) // 4
    same, others = label[:, None] == label, ~torch.eye(size).bool()
    own = scores[..., same & others].unflatten(-1, (size, 3))
    rest = scores[..., ~same].unflatten(-1, (size, size - 4))
    within = 0.5 + ((own[..., None, :] - own[..., None]) / TEMPERATURE).sigmoid().sum(-1)
    return within, ((rest[..., None, :] - own[..., None]) / TEMPERATURE).sigmoid().sum(-1)


def average_precision_loss(counts: tuple[Tensor, Tensor]) -> Tensor:
    """1 - AP of soft ranks, the mean."""
    within, above = counts
    return 1 - (within / (within + above)).mean()


class Averages:
    """SOAP for the maps of several rates and starts: a moving average of the irrelevant items above each relevant one.

    A batch holds a share of them, so its count is scaled. With γ = 1 nothing is remembered.
    """

    def __init__(self, gamma: float, shape: tuple[int, ...], classes: int = FEW) -> None:
        self.gamma, self.above = gamma, torch.full((*shape, classes, 4, 3), torch.nan)
        self.classes = classes

    def __call__(self, counts: tuple[Tensor, Tensor], chosen: Tensor) -> Tensor:
        """A number whose gradient is SOAP's; chosen are the classes of each start's batch, (starts, classes)."""
        within, above = counts
        drawn = chosen.shape[-1]
        scaled = above * (self.classes - 1) / (drawn - 1)
        own = torch.arange(len(chosen))[:, None]
        here = scaled.detach().unflatten(-2, (drawn, 4))
        old = self.above[:, own, chosen]
        new = torch.where(old.isnan(), here, (1 - self.gamma) * old + self.gamma * here)
        self.above[:, own, chosen] = new.to(self.above)
        kept, held = new.flatten(-3, -2), within.detach()
        rank = held + kept
        return ((held * scaled - kept * within) / rank.square()).mean()


@functools.cache
def averaged() -> Comparison:
    """R@1 of linear maps that learn AP from small batches, with averages and without, and from large ones."""

    def train(classes: int, strength: float, rates: Sequence[float], starts: int) -> tuple[Array, Array]:
        items = linear.data(starts)[0].unflatten(1, (-1, linear.EACH))[:, :FEW, :4]
        generator = torch.Generator().manual_seed(4)
        averages = Averages(strength, (len(rates), starts)) if strength else None
        picks = (torch.rand(starts, FEW, generator=generator).topk(classes).indices for _ in range(STEPS_OF_AVERAGES))

        def total(nets: Tensor, chosen: Tensor) -> Tensor:
            batch = items[torch.arange(starts)[:, None], chosen].flatten(1, 2)
            z = normalize(batch @ nets, dim=-1)
            counts = soft_counts(z @ z.mT)
            value = averages(counts, chosen) if averages else average_precision_loss(counts)
            return value * len(rates) * starts

        *_, trained = descend(linear.start_weights(starts), rates, picks, total)
        return recalls(trained)

    arms = {"small batches": SMALL, "averages": SMALL, "large batches": LARGE}
    sweep = {"small batches": (0.0,), "averages": GAMMAS, "large batches": (0.0,)}
    return compare(train, arms, linear.baselines(), sweep, rates=RATES, ceilings=["the true directions"])


def estimates(gamma: float = 0.1, steps: int = 400) -> dict[str, Array]:
    """1 - AP of maps that stand still, by start: of the whole set, the mean over small batches, and from averages."""
    items = linear.data()[0].unflatten(1, (-1, linear.EACH))[:, :FEW, :4]
    nets, starts, generator = linear.start_weights(), linear.STARTS, torch.Generator().manual_seed(4)
    z = normalize(items.flatten(1, 2) @ nets, dim=-1)
    within, above = soft_counts(z @ z.mT)
    whole = 1 - (within / (within + above)).mean((-1, -2))
    averages, batches = Averages(gamma, (1, starts)), []
    for _ in range(steps):
        chosen = torch.rand(starts, FEW, generator=generator).topk(SMALL).indices
        part = z.unflatten(1, (FEW, 4))[torch.arange(starts)[:, None], chosen].flatten(1, 2)
        counts = soft_counts(part @ part.mT)
        batches.append(1 - (counts[0] / (counts[0] + counts[1])).mean((-1, -2)))
        averages(tuple(count[None] for count in counts), chosen)  # type: ignore[arg-type]
    kept = averages.above[0].flatten(1, 2)
    found = {"whole set": whole, "small batches": torch.stack(batches).mean(0)}
    found["averages"] = 1 - (within / (within + kept)).mean((-1, -2))
    return {name: values.numpy() for name, values in found.items()}


# --------------------------------------------------------------------------------------------------- soft ranks


def lap_sum(y: Tensor, temperature: float) -> Tensor:
    """The ranks of `reference.lap_sum_rank` by one sort: exponentials add up along the list; O(n log n)."""
    values, place = (y / temperature).sort(-1)
    below = (values.logcumsumexp(-1) - values).exp()
    above = ((-values).flip(-1).logcumsumexp(-1).flip(-1) + values).exp()
    n = y.shape[-1]
    ahead = torch.arange(n - 1, -1, -1).to(y)
    ranks = 1 + ahead + (below - 1) / 2 - (above - 1) / 2
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


def sigmoid_ranks(y: Tensor, temperature: float) -> Tensor:
    """Chapter 9's; O(n²)."""
    ranks: Tensor = SigmoidRanker(temperature)(y)
    return ranks


SOFT = {"sigmoid": sigmoid_ranks, "NeuralSort": neural_sort_ranks, "SoftSort": soft_sort_ranks, "LapSum": lap_sum}
#: What the item passes that moves in the figure.
STANDING = (0.8, 0.6, 0.1, 0.0, -0.5)


def moving(name: str, temperature: float = 0.1, points: int = 401) -> tuple[Array, Array, Array]:
    """Where an item stands that moves past `STANDING`, its soft rank there, and the slope of it."""
    x = torch.linspace(-1, 1.2, points, dtype=torch.float64, requires_grad=True)
    y = torch.cat([x[:, None], torch.tensor(STANDING, dtype=torch.float64).expand(points, -1)], 1)
    ranks = SOFT[name](y, temperature)[:, 0]
    (slope,) = torch.autograd.grad(ranks.sum(), x)
    return x.detach().numpy(), ranks.detach().numpy(), slope.numpy()
