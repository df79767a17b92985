"""Figures of chapter 12: every way of giving ranks a gradient, on one section of score space and on one walk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import PercentFormatter
from torch import Tensor, nn

from rankedu.blackbox import interpolate
from rankedu.figures import paper_figure, style
from rankedu.figures.interpolated_ranking import fitted_exponent
from rankedu.figures.ranking_is_a_solver import HEXAGON, HEXAGON_RANKS, plane
from rankedu.figures.relief import draw_blocks, view
from rankedu.landscapes import Section, interpolated_landscape, random_coefficients, random_section
from rankedu.losses import APLoss, APSVMLoss, ErrorDrivenAPLoss, FastAPLoss, SmoothAPLoss, most_violated_ranking
from rankedu.rankers import BlackboxRanker, HistogramRanker, LSTMRanker, ProjectionRanker, SigmoidRanker
from rankedu.ranks import rank
from rankedu.solvers import ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: The plane of chapter 4 in a larger square, and a range that holds the scores on it and in the cloud.
SEED, EXTENT, SCORE_RANGE = 3, 2.4, (-3.5, 5.0)
#: Length of the finite steps by which gradients are judged, and the noise on every score, both in units of a score.
STEP, NOISE = 0.3, 0.05
#: A gradient shorter than this share of the root mean square over the section counts as none.
NOTHING = 1e-3
#: Steps for which the book's small sorter is trained: some ten seconds on one core.
SORTER_STEPS = 800
BANDS = 10


@dataclass(frozen=True)
class Method:
    """A ranker with one strength to turn."""

    make: Callable[[float], nn.Module]
    symbol: str
    weakest: float
    strongest: float
    colour: str
    marker: str
    line: str

    def told(self, strength: float) -> str:
        """The strength as a reader knows it."""
        if self.symbol == "bins":
            return f"{bins_of(strength)} bin{'s' if bins_of(strength) > 1 else ''}"
        return f"{self.symbol} = {strength:.2g}"


def bins_of(width: float) -> int:
    """How many bins of about this width cover the scores of the section."""
    return max(1, round((SCORE_RANGE[1] - SCORE_RANGE[0]) / width))


#: The strength of a histogram is the width of its bins; like λ, τ and ε, more of it smooths more.
METHODS = {
    "blackbox": Method(BlackboxRanker, "λ", 1e-4, 1e3, style.BLUE, "o", "-"),
    "sigmoid": Method(SigmoidRanker, "τ", 1e-4, 30.0, style.ORANGE, "s", "--"),
    "histogram": Method(
        lambda width: HistogramRanker(bins_of(width), SCORE_RANGE), "bins", 1e-3, 8.5, style.GREEN, "^", "-."
    ),
    "projection": Method(ProjectionRanker, "ε", 1e-4, 30.0, style.PURPLE, "D", ":"),
}


@functools.cache
def sorter() -> LSTMRanker:
    """The book's small LSTM for lists of 20: trained once for a few seconds, then read from the cache."""
    from rankedu.training import trained_sorter

    return trained_sorter(20, steps=SORTER_STEPS, progress=False)


def surrogate(ranker: nn.Module, points: npt.ArrayLike, coefficients: npt.ArrayLike) -> tuple[Array, Array]:
    """Evaluate what a ranker makes of the loss c·rk(y): the function that its gradient belongs to, and the gradient.

    Parameters
    ----------
    ranker : Module
        Any ranker. For :class:`BlackboxRanker`, whose forward pass is exact, the function is the interpolation.
    points : array of float, shape (..., n)
        Score vectors.
    coefficients : array of float, shape (n,)

    Returns
    -------
    values : array of float, shape (...)
    gradients : array of float, shape (..., n)

    Examples
    --------
    >>> values, gradients = surrogate(BlackboxRanker(lam=1.0), [[0.5, 0.0]], [0.0, 1.0])
    >>> values, gradients
    (array([1.5]), array([[ 1., -1.]]))
    """
    y = torch.tensor(np.asarray(points, dtype=np.float64), requires_grad=True)
    c = torch.tensor(np.asarray(coefficients, dtype=np.float64))
    values = ranker(y) @ c
    (gradients,) = torch.autograd.grad(values.sum(), y)
    if isinstance(ranker, BlackboxRanker):
        values = interpolate(ranking, c, ranker.lam)(y.detach())
    return values.detach().numpy(), gradients.numpy()


def loss_of(points: npt.ArrayLike, coefficients: Array) -> Array:
    """Evaluate the loss itself, c·rk(y)."""
    ranks: Array = rank(torch.tensor(np.asarray(points, dtype=np.float64))).numpy()
    product: Array = ranks @ coefficients
    return product


@dataclass(frozen=True)
class Quality:
    """How good a surrogate of the loss, and its gradient, are on a cloud of random score vectors.

    Attributes
    ----------
    bias : float
        Mean of surrogate − loss, in units of the loss's standard deviation over the cloud.
    distortion : float
        Standard deviation of surrogate − loss, in the same units: what is left of the bias when a constant, which moves
        no gradient, is taken off.
    nothing : float
        Share of the score vectors whose gradient is shorter than a thousandth of the root mean square length.
    gained : float
        What a step of length 0.3 against the gradient improves the loss by, as a share of the best step found. Sums
        over the cloud.
    cosine : float
        Mean cosine between the two steps, 0 where there is no gradient.
    steadiness : float
        |E g|² / E|g|² under noise of 0.05 on every score; 1 if the gradient does not change.
    length, spread : float
        Root mean square length of the gradient; standard deviation of the length over its mean.
    """

    bias: float
    distortion: float
    nothing: float
    gained: float
    cosine: float
    steadiness: float
    length: float
    spread: float


@functools.cache
def cloud(size: int = 128) -> tuple[Array, Array, Array]:
    """Draw standard normal score vectors; they, the book's coefficients c, and the loss c·rk(y) of each."""
    points = np.random.default_rng(SEED).standard_normal((size, 20))
    c = random_coefficients(seed=SEED)
    return points, c, loss_of(points, c)


@functools.cache
def best_steps(tries: int = 400) -> tuple[Array, Array]:
    """Search for the step of length 0.3 that lowers the loss most, at every vector of the cloud.

    It starts from the best of all methods and strengths, and climbs on by random changes. In 20 dimensions nobody can
    try all directions: this is the best that was found.

    Returns
    -------
    steps : array of float, shape (128, 20)
    gains : array of float, shape (128,)
    """
    points, c, loss = cloud()
    random = np.random.default_rng(0)
    steps, gains = np.zeros_like(points), np.zeros(len(points))

    def offer(directions: Array) -> None:
        norm = np.linalg.norm(directions, axis=1, keepdims=True)
        tried = STEP * directions / np.maximum(norm, 1e-12)
        better = loss - loss_of(points + tried, c) > gains
        steps[better], gains[better] = tried[better], (loss - loss_of(points + tried, c))[better]

    for how in METHODS.values():
        for strength in np.geomspace(0.003, 3.0, 10):
            offer(-surrogate(how.make(float(strength)), points, c)[1])
    for _ in range(tries):
        offer(steps / STEP + 0.25 * random.standard_normal(points.shape) / np.sqrt(20))
    return steps, gains


def quality(ranker: nn.Module, *, draws: int = 4) -> Quality:
    """Judge a ranker: see :class:`Quality`.

    Parameters
    ----------
    ranker : Module
        Any ranker for lists of 20.
    draws : int
        Of noise.

    Returns
    -------
    Quality
    """
    points, c, loss = cloud()
    best, gains = best_steps()
    values, gradients = surrogate(ranker, points, c)
    length = np.linalg.norm(gradients, axis=1)
    scale = np.sqrt((length**2).mean())
    alive = length > NOTHING * scale
    down = np.where(alive[:, None], -gradients / np.where(alive, length, 1.0)[:, None], 0.0)
    off = (values - loss) / loss.std()
    return Quality(
        bias=float(off.mean()),
        distortion=float(off.std()),
        nothing=float(1 - alive.mean()),
        gained=float((loss - loss_of(points + STEP * down, c)).sum() / gains.sum()),
        cosine=float((down * best).sum(1).mean() / STEP),
        steadiness=_steadiness(ranker, draws),
        length=float(scale),
        spread=float(length.std() / max(length.mean(), 1e-12)),
    )


def _steadiness(ranker: nn.Module, draws: int) -> float:
    """An unbiased estimate, from a few draws of the noise."""
    points, c, _ = cloud()
    noise = NOISE * np.random.default_rng(0).standard_normal((draws, *points.shape))
    gradients = surrogate(ranker, points + noise, c)[1]
    power = (gradients**2).sum()
    return float((draws**2 * (gradients.mean(0) ** 2).sum() - power) / ((draws - 1) * max(power, 1e-30)))


@functools.cache
def strength_at(method: str, distortion: float) -> float:
    """Find the strength at which a method distorts the loss so much; bisection."""
    points, c, loss = cloud()
    how = METHODS[method]
    low, high = np.log(how.weakest), np.log(how.strongest)
    for _ in range(14):
        middle = (low + high) / 2
        off = surrogate(how.make(float(np.exp(middle))), points, c)[0] - loss
        low, high = (middle, high) if off.std() < distortion * loss.std() else (low, middle)
    return float(np.exp((low + high) / 2))


def at(method: str, distortion: float) -> nn.Module:
    """Make the ranker of a method that distorts the loss so much."""
    return METHODS[method].make(strength_at(method, distortion))


@functools.cache
def sweep() -> dict[str, tuple[Array, list[Quality]]]:
    """Judge every method over the whole range of its strength, more closely where a step gains most."""
    found = {}
    for name, how in METHODS.items():
        close = [strength_at(name, share) for share in (0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3)]
        wide = np.geomspace(how.weakest, how.strongest, 13)
        strengths = np.sort(np.append(wide[(wide < close[0]) | (wide > close[-1])], close))
        if name == "histogram":
            strengths = (SCORE_RANGE[1] - SCORE_RANGE[0]) / np.array(
                [700, 200, 80, 50, 40, 33, 29, 25, 21, 18, 15, 13, 11, 10, 8, 6, 5, 4, 3, 2, 1]
            )
        found[name] = (strengths, [quality(how.make(float(strength))) for strength in strengths])
    return found


def best_in_plane(section: Section, coefficients: Array, angles: int = 72) -> Array:
    """Try every direction in the plane at every point: which steps of length 0.3 lower the loss most."""
    turns = np.linspace(0, 2 * np.pi, angles, endpoint=False)
    compass = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    steps = STEP * compass @ np.stack([section.u, section.v])
    tried = loss_of(section.points()[:, :, None] + steps, coefficients)
    ties = tried <= tried.min(-1, keepdims=True) + 1e-9
    direction: Array = (ties[..., None] * compass).sum(-2)  # the middle of the directions that are equally good
    return direction


@style.style()
def two_items(width: float = 0.4) -> Figure:
    """Two items: the rank of the second against its lead, as each ranker sees it, and the slope that it gives."""
    figure, (left, right) = style.figure(1, 2, width=6.8, height=3.3)
    lead = np.linspace(-0.75, 0.75, 1201)
    points, c = np.stack([0 * lead, lead], axis=1), np.array([0.0, 1.0])
    makers = {
        "blackbox": BlackboxRanker(width),
        "sigmoid": SigmoidRanker(width / 5),
        "histogram": HistogramRanker(round(2 / (width / 2)), (-1.0, 1.0)),
        "projection": ProjectionRanker(width / 2),
    }
    left.plot(lead, loss_of(points, c), color=style.GREY, linewidth=5, alpha=0.5, label="the rank")
    told = []
    for name, ranker in makers.items():
        values, gradients = surrogate(ranker, points, c)
        options: Any = {"color": METHODS[name].colour, "linestyle": METHODS[name].line}
        left.plot(lead, values, label=name, **options)
        right.plot(lead, -gradients[:, 1], **options)
        moving = lead[-gradients[:, 1] > 0.1]
        told.append(f"{name}: from {moving.min():.2f} to {moving.max():.2f}".replace("-", "−"))
    left.set(xlabel="lead of the second item", title="its rank", yticks=(1, 1.5, 2))
    right.set(xlabel="lead of the second item", title="the push that it gets", ylim=(-0.1, 5))
    left.legend(loc="lower left", fontsize=10, handlelength=1.8, borderaxespad=0)
    return style.describe(
        figure,
        "Left, the rank of an item against its lead over its only rival: a step from 2 to 1 at 0, and four ramps in "
        f"its place. Right, their slopes. Where the push exceeds 0.1: {'; '.join(told)}. The blackbox ramp lies wholly "
        "before the step, the others on both sides of it.",
    )


@paper_figure("RaMBO supp. Fig. 2")
@style.style()
def four_landscapes(lam: float = 0.06, bins: int = 10, size: int = 420) -> Figure:
    """One section of the loss four times: as it is, by interpolation, by a learnt sorter, and by soft binning."""
    seen = view(size, seed=SEED, extent=EXTENT)
    rankers = {
        f"(b) interpolated, λ = {lam:g}": BlackboxRanker(lam),
        "(c) a trained LSTM": sorter(),
        f"(d) soft binning, {bins} bins": HistogramRanker(bins, SCORE_RANGE),
    }
    titles = ["(a) the loss itself", *rankers]
    heights = [seen.staircase, *(_heights(seen.section, seen.coefficients, ranker) for ranker in rankers.values())]
    figure, axes = style.figure(2, 2, width=6.8, height=5.2)
    draw_blocks(list(axes.flat), seen, heights, titles)
    told = []
    for title, height in zip(titles, heights, strict=True):
        shown, off = height[seen.inside], np.abs(height - seen.staircase)[seen.inside]
        told.append(f"{title}: heights from {shown.min():.0f} to {shown.max():.0f}, on average {off.mean():.1f} off")
    return style.describe(
        figure,
        "Four solid blocks over the same square of score vectors, on one vertical scale, each around its own middle. "
        f"{'; '.join(told)}. The first is flat plateaus with walls between, the second tilted facets, the third a "
        "smooth surface with hills and basins of its own, the fourth facets with long straight creases.",
    )


def _heights(section: Section, coefficients: Array, ranker: nn.Module) -> Array:
    """A surrogate's value on a section; a network's on a coarser grid, which is enough for it."""
    if isinstance(ranker, BlackboxRanker):
        return interpolated_landscape(section, coefficients, ranker.lam)
    if isinstance(ranker, LSTMRanker):
        coarse = Section(section.origin, section.u, section.v, section.extent, 120)
        rough = torch.from_numpy(_values(ranker, coarse.points(), coefficients))
        fine: Tensor = nn.functional.interpolate(
            rough[None, None], (section.resolution,) * 2, mode="bicubic", align_corners=True
        )
        return fine[0, 0].numpy()
    return _values(ranker, section.points(), coefficients)


@torch.no_grad()
def _values(ranker: nn.Module, points: Array, coefficients: Array) -> Array:
    y, c = torch.from_numpy(points.copy()), torch.from_numpy(coefficients.copy())
    values: Array = (ranker(y) @ c).numpy()
    return values


@style.style()
def one_walk(weak: float = 0.08, strong: float = 0.3) -> Figure:
    """The same walk through the section, as every ranker sees it, at two strengths."""
    section, c = random_section(seed=SEED, extent=EXTENT, resolution=2), random_coefficients(seed=SEED)
    a = np.linspace(-EXTENT, EXTENT, 601)
    points = section.origin + a[:, None] * section.u
    truth = loss_of(points, c)
    figure, axes = style.figure(3, 2, width=6.8, height=6.6, sharex=True, sharey=True)
    told = []
    for axis, name in zip(axes.flat, [*METHODS, "LSTM"], strict=False):
        axis.plot(a, truth, color=style.GREY, linewidth=1.2)
        if name == "LSTM":
            values = surrogate(sorter(), points, c)[0]
            axis.plot(a, values + (truth - values).mean(), color=style.RED)
            axis.set_title("LSTM: no strength to turn")
            continue
        how = METHODS[name]
        strengths, lifts = [strength_at(name, distortion) for distortion in (weak, strong)], []
        for strength, line in zip(strengths, ("-", "--"), strict=True):
            values = surrogate(how.make(strength), points, c)[0]
            lifts.append((truth - values).mean())
            axis.plot(a, values + lifts[-1], line, color=how.colour)
        axis.set_title(f"{name}: {' and '.join(how.told(strength) for strength in strengths)}")
        told.append(
            f"{name} {' and '.join(how.told(strength) for strength in strengths)}, moved by "
            f"{' and '.join(f'{lift:+.0f}' for lift in lifts)}"
        )
    key = axes.flat[5]
    looks: dict[str, dict[str, Any]] = {
        "the loss itself": {"color": style.GREY, "linewidth": 1.2},
        f"distorted by {weak:.0%}": {"color": style.BLACK},
        f"distorted by {strong:.0%}": {"color": style.BLACK, "linestyle": "--"},
    }
    for label, look in looks.items():
        key.plot([], [], label=label, **look)
    key.legend(loc="center")
    key.set_axis_off()
    for axis in axes[:, 0]:
        axis.set_ylabel("loss")
    axes[1, 1].tick_params(labelbottom=True)
    for axis in (axes[1, 1], axes[2, 0]):
        axis.set_xlabel("way along u")
    return style.describe(
        figure,
        f"Five panels with the same grey staircase of {len(np.unique(truth.round(9)))} heights along a straight "
        "walk, and over it what a ranker makes of it, weakly and strongly smoothed, each moved up or down to the "
        f"staircase's mean height: {'; '.join(told)}. The weak curves follow the hills, the strong ones only the "
        "slope; the LSTM's one curve lies between.",
    )


@style.style()
def gradient_fields(distortion: float = 0.15) -> Figure:
    """Which way is down: five rankers on the same map, and the direction that truly gains most."""
    section, c = random_section(seed=SEED, extent=EXTENT, resolution=2), random_coefficients(seed=SEED)
    few = Section(section.origin, section.u, section.v, 0.86 * EXTENT, 7)
    a, b = np.meshgrid(*few.axes())
    figure, axes = style.figure(2, 3, width=7.2, height=5.2, sharex=True, sharey=True)
    told = []
    fields = {name: at(name, distortion) for name in METHODS} | {"LSTM": sorter()}
    basis = np.stack([section.u, section.v], axis=1)
    for axis, (name, ranker) in zip(axes.flat, fields.items(), strict=False):
        down = -surrogate(ranker, few.points(), c)[1] @ basis
        draw_map(axis, c)
        still = draw_arrows(axis, a, b, down)
        found = quality(ranker)
        axis.set_title(f"{name}\ngains {found.gained:.0%} of the best")
        told.append(f"{name} {found.gained:.0%}, no arrow at {still} of {a.size} places")
    draw_map(axes.flat[5], c)
    draw_arrows(axes.flat[5], a, b, best_in_plane(few, c))
    axes.flat[5].set_title(f"the best step of {STEP:g},\nfound by trying")
    for axis in axes.flat:
        axis.set(xticks=(-2, 0, 2), yticks=(-2, 0, 2))
    for axis in axes[:, 0]:
        axis.set_ylabel("along v")
    for axis in axes[1]:
        axis.set_xlabel("along u")
    return style.describe(
        figure,
        f"Six maps of the same loss in {BANDS} bands of height, with arrows downhill. In five, the arrows of a "
        f"surrogate, four of them at the strength that distorts the loss by {distortion:.0%}; in the last, the "
        f"direction in which a step of {STEP:g} lowers the true loss most. What a step gains, as a share of the best: "
        f"{'; '.join(told)}.",
    )


def draw_map(axis: Axes, coefficients: Array, resolution: int = 160) -> None:
    """Paint the loss on the section, in a few bands of equal height."""
    height = _map(resolution)
    side = (-EXTENT, EXTENT)
    edges = np.linspace(height.min(), height.max(), BANDS + 1)
    colours = ListedColormap(colormaps[style.LANDSCAPE](np.linspace(0.3, 1.0, BANDS)))
    axis.imshow(height, origin="lower", extent=side * 2, cmap=colours, norm=BoundaryNorm(edges, BANDS),
                interpolation="nearest")  # fmt: skip
    axis.set(xlim=side, ylim=side)


@functools.cache
def _map(resolution: int) -> Array:
    section = random_section(seed=SEED, extent=EXTENT, resolution=resolution)
    return loss_of(section.points(), random_coefficients(seed=SEED))


def draw_arrows(axis: Axes, a: Array, b: Array, down: Array) -> int:
    """Draw arrows of one length, dots where there is no gradient; return how many dots."""
    length = np.linalg.norm(down, axis=-1)
    still = length <= NOTHING * max(np.sqrt((length**2).mean()), 1e-30)
    u, v = np.moveaxis(down / np.where(still, 1.0, length)[..., None], -1, 0)
    axis.quiver(a[~still], b[~still], u[~still], v[~still], scale=13, width=0.011, pivot="mid", antialiased=False)
    axis.plot(a[still], b[still], "o", color="black", markersize=2.5, antialiased=False)
    return int(still.sum())


@style.style()
def trade_offs() -> Figure:
    """What a distortion buys: places with a gradient, steps that gain, a gradient that stands still under noise."""
    figure, axes = style.figure(1, 3, width=7.4, height=3.7, sharex=True)
    told = []
    for name, (_, found) in sweep().items():
        how = METHODS[name]
        x = [max(one.distortion, 1e-3) for one in found]
        options: Any = {"color": how.colour, "linestyle": how.line, "marker": how.marker, "markersize": 4}
        for axis, key in zip(axes, ("nothing", "gained", "steadiness"), strict=True):
            axis.plot(x, [getattr(one, key) for one in found], label=name, **options)
        best = max(found, key=lambda one: one.gained)
        told.append(f"{name} gains {best.gained:.0%} at best, at a distortion of {best.distortion:.0%}")
    learnt = quality(sorter())
    for axis, key in zip(axes, ("nothing", "gained", "steadiness"), strict=True):
        axis.plot(learnt.distortion, getattr(learnt, key), "*", color=style.RED, markersize=14, label="LSTM")
        axis.yaxis.set_major_formatter(PercentFormatter(1.0))
        axis.set(xscale="log", xlim=(0.004, 1.4), xlabel="distortion", ylim=(-0.05, 1.05))
        axis.set_xticks([0.01, 0.1, 1.0], ["1 %", "10 %", "100 %"])
    for axis, title in zip(axes, ("no gradient", f"gain of a step of {STEP:g}", "steadiness"), strict=True):
        axis.set_title(title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, handlelength=2.2)
    return style.describe(
        figure,
        "Three panels over the distortion of the loss, a curve for each method and a star for the trained LSTM: the "
        "share of score vectors without a gradient, what a step against the gradient gains as a share of the best "
        f"step, and how steady the gradient is under noise. {'; '.join(told)}; the LSTM gains {learnt.gained:.0%} at "
        f"{learnt.distortion:.0%}.",
    )


@functools.cache
def descents(
    distortion: float, starts: int = 64, steps: int = 60, length: float = 0.1
) -> dict[str, tuple[Array, float]]:
    """Walk down each surrogate from random scores, with steps of one length.

    Returns
    -------
    dict of str to (array of float of shape (steps + 1,), float)
        What is left of the way, (loss − least loss) / (loss at the start − least loss), mean over the starts; and the
        share of the walks that have come to rest, where the gradient is zero.
    """
    found = {name: _descent(at(name, distortion), starts, steps, length) for name in METHODS}
    return found | {"LSTM": _descent(sorter(), starts, steps, length)}


@functools.lru_cache(maxsize=32)
def _descent(ranker: nn.Module, starts: int, steps: int, length: float) -> tuple[Array, float]:
    """Walk down one surrogate. The sorter's walk is the same at all distortions and is taken once."""
    c = random_coefficients(seed=SEED)
    least = float(np.sort(c)[::-1] @ np.arange(1, 21))
    first = np.random.default_rng(12).standard_normal((starts, 20))
    y, left, norm = first.copy(), [], np.ones(1)
    for _ in range(steps + 1):
        left.append(((loss_of(y, c) - least) / (loss_of(first, c) - least)).mean())
        gradient = surrogate(ranker, y, c)[1]
        norm = np.linalg.norm(gradient, axis=1, keepdims=True)
        y -= length * np.divide(gradient, norm, out=np.zeros_like(y), where=norm > 1e-12)
    return np.array(left), float((norm <= 1e-12).mean())


@style.style()
def walks_down(distortions: Sequence[float] = (0.05, 0.2, 0.7)) -> Figure:
    """From 64 random score vectors down each surrogate: what remains of the true loss."""
    figure, axes = style.figure(1, 3, width=7.4, height=3.6, sharey=True, sharex=True)
    told = []
    for axis, distortion in zip(axes, distortions, strict=True):
        for name, (left, _) in descents(distortion).items():
            how = METHODS.get(name)
            look: Any = {"color": style.RED} if how is None else {"color": how.colour, "linestyle": how.line}
            axis.plot(left, label=name, **look)
        ends = ", ".join(f"{name} {left[-1]:.0%}" for name, (left, _) in descents(distortion).items())
        told.append(f"at {distortion:.0%}: {ends}")
        axis.set(title=f"distorted by {distortion:.0%}", xlabel="steps of 0.1", ylim=(-0.02, 1.02))
    axes[0].yaxis.set_major_formatter(PercentFormatter(1.0))
    axes[0].set_ylabel("what is left to gain")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, handlelength=2.2)
    return style.describe(
        figure,
        "Three panels of falling curves: the true loss, as a share of its way down to the best ranking, against steps "
        f"along the gradient of a surrogate. Left to gain after 60 steps, {'; '.join(told)}. The LSTM is the same "
        "in all.",
    )


@style.style()
def two_smoothings(scores: tuple[float, float, float] = (0.5, 0.42, 0.1)) -> Figure:
    """Three items: the projection moves the solution into the hexagon; blackbox jumps between two of its corners."""
    figure, (left, right) = style.figure(1, 2, width=7.2, height=4.0)
    for axis in (left, right):
        axis.fill(*HEXAGON.T, facecolor="#EEF2F6", edgecolor=style.BLACK, linewidth=1.2)
        for corner, ranks in zip(HEXAGON, HEXAGON_RANKS, strict=True):
            axis.text(*(1.3 * corner), " ".join(map(str, ranks)), ha="center", va="center", fontsize=11)
        axis.set(xlim=(-2.35, 2.35), ylim=(-2.1, 2.3), aspect="equal")
        axis.axis("off")
    y = np.array(scores)
    path = np.array([_project(y, strength) for strength in np.geomspace(30, 0.02, 400)])
    left.plot(*plane(path).T, color=style.PURPLE, linewidth=4, solid_capstyle="round")
    marked = (0.6, 0.18, 0.12, 0.06)
    ray = plane(-y[None] / np.array(marked)[:, None])
    far = np.abs(ray).max(1) < 2.4
    left.plot([0, *ray[far][:, 0]], [0, *ray[far][:, 1]], color=style.GREY, linewidth=1, linestyle="--", zorder=1)
    for strength, outside in zip(marked, ray, strict=True):
        inside = plane(_project(y, strength))
        left.plot(*inside, "D", color=style.PURPLE, markersize=7, zorder=4)
        if np.abs(outside).max() < 2.4:
            left.plot([outside[0], inside[0]], [outside[1], inside[1]], color=style.GREY, linewidth=1)
            left.plot(*outside, "o", color=style.GREY, markersize=5)
    left.set_title("projection: $-\\mathbf{y}/\\varepsilon$ is brought\nback to the nearest point")
    c, lam = np.array([0.0, 0.0, 1.0]), 0.6
    before, after = (plane(_ranks(z)) for z in (y, y + lam * c))
    for at_corner, label, shift in (
        (before, "$\\mathbf{rk}(\\mathbf{y})$", 0.55),
        (after, "$\\mathbf{rk}(\\mathbf{y}_\\lambda)$", 0.55),
    ):
        right.plot(*at_corner, "o", color=style.BLUE, markersize=11, zorder=4)
        right.text(*(at_corner * (1 - shift)), label, ha="center", va="center", color=style.BLUE)
    right.annotate("", after, before, arrowprops={"arrowstyle": "-|>", "color": style.BLUE, "linewidth": 2.5,
                                                    "shrinkA": 7, "shrinkB": 7})  # fmt: skip
    right.set_title("blackbox: two corners, and λ times\nthe gradient is the way between")
    shown = "; ".join(
        f"ε = {strength:g}: {', '.join(f'{r:.2f}' for r in _project(y, strength))}" for strength in marked
    )
    return style.describe(
        figure,
        "Twice the hexagon whose corners are the six rankings of three items. Left, the soft ranks of the scores "
        f"{', '.join(f'{s:g}' for s in scores)} by projection: from the centre straight to an edge, then along the "
        f"edge into the corner 1 2 3 ({shown}). Right, blackbox: an arrow from the corner "
        f"{' '.join(str(int(r)) for r in _ranks(y))} to the corner "
        f"{' '.join(str(int(r)) for r in _ranks(y + lam * c))}.",
    )


def _project(scores: Array, strength: float) -> Array:
    found: Array = ProjectionRanker(strength)(torch.from_numpy(scores)).numpy()
    return found


def _ranks(scores: Array) -> Array:
    found: Array = rank(torch.from_numpy(scores)).double().numpy()
    return found


#: Four relevant scores and twelve others; the first group is moved as a whole.
RELEVANT = np.array([0.22, 0.08, -0.05, -0.24])
IRRELEVANT = np.array([0.31, 0.24, 0.19, 0.12, 0.06, 0.01, -0.04, -0.11, -0.16, -0.2, -0.27, -0.33])


def ap_losses() -> dict[str, tuple[nn.Module, str, str]]:
    """Give the AP losses of Table 1 and Smooth-AP, at strengths that suit scores a few hundredths apart."""
    return {
        "RaMBO": (APLoss(BlackboxRanker(4.0)), style.BLUE, "-"),
        "Smooth-AP": (SmoothAPLoss(0.03), style.ORANGE, "--"),
        "FastAP": (FastAPLoss(20), style.GREEN, "-."),
        "error-driven": (ErrorDrivenAPLoss(0.1), style.PURPLE, ":"),
        "AP-SVM": (APSVMLoss(), style.RED, (0, (5, 1))),  # type: ignore[dict-item]
    }


def ap_walk(loss: nn.Module, shifts: Array) -> tuple[Array, Array]:
    """Move the relevant items together: the value of a loss, and the push that it gives them all together."""
    y = np.concatenate([RELEVANT + 0 * shifts[:, None] + shifts[:, None], IRRELEVANT + 0 * shifts[:, None]], axis=1)
    values, pushes = [], []
    relevance = torch.arange(len(RELEVANT) + len(IRRELEVANT)) < len(RELEVANT)
    for row in y:
        scores = torch.tensor(row, requires_grad=True)
        value = loss(scores, relevance)
        (gradient,) = torch.autograd.grad(value, scores)
        values.append(value.item())
        pushes.append(-gradient[relevance].sum().item())
    return np.array(values), np.array(pushes)


def margin_of_ap_svm(relevant: int, irrelevant: int) -> float:
    """How far every relevant score must be above every other one, all pairs alike, before the AP-SVM is content."""
    return irrelevant / (2 * relevant) * sum(1 / k for k in range(2, relevant + 2))


@style.style()
def what_each_optimises() -> Figure:
    """Four relevant items move past twelve others: the value of each loss, and the push that it gives."""
    shifts = np.linspace(-0.65, 0.65, 261)
    figure, (left, right) = style.figure(1, 2, width=7.4, height=4.0)
    left.plot(shifts, ap_walk(APLoss(BlackboxRanker(4.0)), shifts)[0], color=style.GREY, linewidth=5, alpha=0.5)
    told = []
    for name, (loss, colour, line) in ap_losses().items():
        values, pushes = ap_walk(loss, shifts)
        left.plot(shifts, values, color=colour, linestyle=line, label=name)
        right.plot(shifts, pushes, color=colour, linestyle=line)
        told.append(
            f"{name}: from {values[0]:.2f} to {values[-1]:.2f}, push from {pushes[0]:.2f} to {abs(pushes[-1]):.2f}"
        )
    left.set(xlabel="shift of the relevant items", title="loss", ylim=(-0.05, 2.4))
    right.set(xlabel="shift of the relevant items", title="push on the relevant items", ylim=(-0.25, 2.6))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, handlelength=2.0)
    return style.describe(
        figure,
        "Two panels over the shift of four relevant items past twelve others. Left, the values: a grey staircase, one "
        "minus AP, which RaMBO's follows exactly and Smooth-AP's, FastAP's and the error-driven one with small ramps; "
        "AP-SVM's is a convex line far above them. Right, the push that the relevant items get together. "
        f"{'; '.join(told)}.",
    )


@style.style()
def most_violated() -> Figure:
    """Eight items by their scores, and in the ranking that an AP-SVM trains against."""
    scores = torch.tensor([0.95, 0.8, 0.72, 0.6, 0.45, 0.4, 0.2, 0.1], dtype=torch.float64)
    relevance = torch.tensor([True, False, True, True, False, True, False, False])
    columns = {
        "by score": rank(scores),
        "most violated": most_violated_ranking(scores, relevance),
        "the same, scores × 10": most_violated_ranking(10 * scores, relevance),
    }
    figure, axis = style.figure(width=6.8, height=4.2)
    for (one, other), x in zip(
        [("by score", "most violated"), ("most violated", "the same, scores × 10")], (0, 1), strict=True
    ):
        for item in range(8):
            colour = style.POSITIVE if relevance[item] else style.NEGATIVE
            ends = [-columns[one][item], -columns[other][item]]
            axis.plot([x + 0.12, x + 0.88], ends, color=colour, linewidth=1.4, alpha=0.6)
    for x, (title, ranks) in enumerate(columns.items()):
        for item in range(8):
            look: Any = {"facecolor": style.POSITIVE if relevance[item] else "white"}
            axis.scatter(x, -ranks[item], s=420, marker="o" if relevance[item] else "s", edgecolor=style.POSITIVE if
                         relevance[item] else style.NEGATIVE, linewidth=2, zorder=3, **look)  # fmt: skip
            axis.text(x, -int(ranks[item]), f"{scores[item]:.2f}".lstrip("0"), ha="center", va="center", zorder=4,
                      fontsize=9, color="white" if relevance[item] else style.BLACK)  # fmt: skip
        axis.text(x, -0.2, title, ha="center")
    axis.set(xlim=(-0.45, 2.45), ylim=(-8.6, 0.2), yticks=range(-8, 0), yticklabels=range(8, 0, -1), ylabel="rank")
    axis.set_xticks([])
    axis.spines[["left", "bottom"]].set_visible(False)
    swaps = {
        title: int(
            ((ranks[relevance][:, None] > ranks[~relevance]) & (scores[relevance][:, None] > scores[~relevance])).sum()
        )
        for title, ranks in columns.items()
    }
    return style.describe(
        figure,
        "Three columns of eight items in ranks 1 to 8, four relevant (blue discs) and four not (red squares). In the "
        f"first they stand by score, from {scores.max():.2f} to {scores.min():.2f}. The most "
        f"violated ranking turns {swaps['most violated']} rightly ordered pairs round; "
        f"with ten times the scores it turns {swaps['the same, scores × 10']} round. Relevant items keep their order "
        "among themselves in all three, and so do the others.",
    )


@style.style()
def measured_table(seconds: dict[str, dict[int, float]]) -> Figure:
    """Seconds against list length for every row of the table, with the fitted exponents.

    Parameters
    ----------
    seconds : dict of dict
        Method → list length → seconds, as measured.

    Source
    ------
    RaMBO Tab. 1.
    """
    figure, axes = style.figure(width=7.2, height=4.4)
    told = []
    colours = [style.BLUE, style.SKY, style.PURPLE, style.RED, style.GREEN, style.BLACK, style.ORANGE, style.GREY]
    for (method, times), marker, colour in zip(seconds.items(), "osD^vP*X", colours, strict=False):
        exponent, margin = fitted_exponent(times)
        axes.loglog(list(times), list(times.values()), marker + "-", color=colour, label=f"{method}: {exponent:.2f}")
        told.append(f"{method}: exponent {exponent:.2f} ± {margin:.2f} over {min(times)} to {max(times)} items")
    axes.set(xlabel="items in the list", ylabel="seconds, forward + backward")
    axes.legend(title="fitted exponent", loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=10)
    return style.describe(
        figure, f"Nearly straight lines on logarithmic axes, time against list length. {'; '.join(told)}."
    )
