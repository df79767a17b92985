"""Figures of chapter 14: what is smoothed, steps and their bound, another ranker, HAPPIER's α and λ."""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

import rankedu
from rankedu import hierarchy
from rankedu.book.figures import paper_figure, style
from rankedu.book.figures._cached import cached
from rankedu.lab.datasets import augment
from rankedu.lab.models import ConvNet
from rankedu.lab.training.happier import HELD, MEASURES, batches, glyph_tree, one_run, results
from rankedu.losses import HAPLoss, HAPPIERLoss
from rankedu.metrics import hierarchical_average_precision
from rankedu.proofs.bounds import upper_bound
from rankedu.rankers import PRESETS, BlackboxRanker, SupremumRanker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

#: One colour a level, from nothing in common to the same leaf.
COLOURS = (style.RED, style.ORANGE, style.POSITIVE)
#: The five items of the chapter, from rank 1 to 5: score and relevance.
FIVE = {"A": (0.9, 1.0), "B": (0.8, 2.0), "C": (0.7, 0.0), "D": (0.6, 1.0), "E": (0.5, 0.0)}


def five() -> tuple[Tensor, Tensor]:
    """Scores and relevances of the five items, shape (5,)."""
    scores, relevance = torch.tensor(list(FIVE.values()), dtype=torch.float64).T
    return scores, relevance


def losses(scores: Tensor, relevance: Tensor, step: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """Eq. 5 for each query, by all pairs: with a step for items of lower relevance, or hard; shape (...)."""
    difference = scores.unsqueeze(-2) - scores.unsqueeze(-1)  # (..., k, j): j outranks k where it is > 0
    mine, other = relevance.unsqueeze(-1), relevance.unsqueeze(-2)
    above = torch.where(other < mine, difference > 0, difference >= 0).to(scores)
    h_rank = (torch.minimum(mine, other) * above).sum(-1)
    counted = above if step is None else torch.where(other < mine, step(difference), above)
    return 1 - (h_rank / counted.sum(-1)).sum(-1) / relevance.sum(-1)


@style.style()
def five_items() -> Figure:
    """All comparisons behind the denominators of five items: which are counted, and which are smoothed."""
    figure, axes = style.figure(width=6.6, height=3.7)
    ranker = SupremumRanker.preset("happier")
    scores, relevance = five()
    names, told = list(FIVE), []
    rows = [k for k in range(5) if relevance[k] > 0]
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "pad": 0.15}
    for row, k in enumerate(rows):
        y = len(rows) - 1 - row
        total = 0.0
        for j in range(5):
            value, colour, hatch, text = 1.0, style.GREY, "", "1"
            if relevance[j] < relevance[k]:
                value = float(ranker.step(scores[j] - scores[k]))
                colour, hatch, text = style.ORANGE, "//", f"{value:.2f}"
            elif scores[j] < scores[k]:
                value, text = 0.0, "0"
            face = style.YELLOW if hatch else "#E6E6E6"
            axes.bar(j, 0.84, 0.9, bottom=y - 0.42, color=face, edgecolor=colour, hatch=hatch, linewidth=0.8)
            axes.text(j, y, text, ha="center", va="center", bbox=box)
            total += value
        axes.text(4.65, y, f"rank({names[k]}) = {total:.2f}", va="center")
        told.append(f"{names[k]} has {total:.2f}")
    axes.set(xlim=(-0.5, 6.5), ylim=(-0.5, 2.5))
    axes.set_xticks(range(5), [f"{name}\nrel {r:g}\n{s:g}" for name, (s, r) in FIVE.items()])
    axes.set_yticks(range(3), [names[k] for k in reversed(rows)])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_ylabel("whose rank")
    axes.set_xlabel("compared with        grey: counted        hatched: by the step", loc="left")
    return style.describe(
        figure,
        "A table of comparisons. A row for each relevant item, A, B and D, a column for each of the five. What is of "
        "equal or higher relevance counts 1 if it stands at least as high, the item itself included; what is of lower "
        f"relevance counts by the step of the happier preset. The ranks that come out: {', '.join(told)}.",
    )


SHOWN = {"start ½, joined": "continuous", "HAPPIER": "happier", "its iNaturalist setting": "happier_inat"}


@style.style()
def steps() -> Figure:
    """Three settings of the step beside the staircase that they stand for, and their slope."""
    figure, axes = style.figure(1, 2, width=7.2, height=3.8, width_ratios=(1.7, 1))
    left, right = axes
    told = []
    for (label, name), line, colour in zip(
        SHOWN.items(), ("-", "--", "-."), (style.BLUE, style.GREEN, style.ORANGE), strict=True
    ):
        ranker = SupremumRanker.preset(name)
        for number, part in enumerate(_parts(ranker, -0.05, 0.062)):
            left.plot(part, ranker.step(part), line, color=colour, label=label if number == 0 else None)
        x = torch.tensor([0.0, 1e-9, 0.05, 0.05 + 1e-9], dtype=torch.float64)
        zero, just, end, beyond = ranker.step(x).tolist()
        told.append(f"{label}: from {zero:g} to {just:g} at 0, from {end:.4f} to {beyond:.4f} at 0.05")
    left.step([-0.05, 0, 0.062], [0, 0, 1], where="pre", color=style.BLACK, linewidth=1.2, zorder=0)
    left.axvline(0.05, color=style.GREY, linewidth=1, linestyle=":")
    left.text(0.0505, 0.06, "δ", color=style.GREY)
    left.set(xlabel="$x = s_j - s_k$", title="what $j$ adds to the rank of $k$", ylim=(-0.05, 2.4))
    left.legend(loc="upper left")
    ranker = SupremumRanker.preset("happier")
    for part in _parts(ranker, -0.05, 0.1):
        right.plot(part, ranker.slope(part), color=style.BLACK)
    right.set(xlabel="$x = s_j - s_k$", title="slope, the same for all", ylim=(0, 112))
    return style.describe(
        figure,
        "Left, a step from 0 to 1 at x = 0 and three functions in its place, each half a sigmoid up to 0, half a "
        f"sigmoid between 0 and 0.05 and a steep line beyond. {'; '.join(told)}. The third lies below 1 "
        "between 0 and 0.05. Right, the slope that all three share: a bell of height 25 at 0, and 100 beyond 0.05.",
    )


def _parts(ranker: SupremumRanker, low: float, high: float) -> list[Tensor]:
    """Points of each part of the step, so that no line is drawn across a jump."""
    ends = (low, 0.0, ranker.delta, high)
    parts = []
    for begin, end in pairwise(ends):
        if end > begin:
            x = torch.linspace(begin, end, 120, dtype=torch.float64)
            parts.append(x if begin == low else torch.cat([x[:1] + 1e-12, x[1:]]))
    return parts


SPREADS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def draws(spread: float, rankings: int = 4000, n: int = 8, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random scores of this standard deviation, and random relevances 0, 1 or 2 with one 2 at least; (rankings, n)."""
    generator = torch.Generator().manual_seed(seed)
    scores = spread * torch.randn(rankings, n, generator=generator, dtype=torch.float64)
    relevance = torch.randint(0, 3, (rankings, n), generator=generator).double()
    relevance[:, 0] = 2
    return scores, relevance


@functools.cache
def broken_share(preset: str, spread: float) -> float:
    """Share of random rankings of eight items whose loss is below the true one."""
    scores, relevance = draws(spread)
    ranker = SupremumRanker.preset(preset)
    return (losses(scores, relevance, ranker.step) < losses(scores, relevance) - 1e-12).double().mean().item()


@style.style()
def broken_bounds() -> Figure:
    """How often each setting breaks its promise, by the spread of the scores."""
    figure, axes = style.figure(height=3.6)
    told = []
    looks = (("^-", style.BLUE, 10), ("s--", style.GREEN, 6), ("o-.", style.ORANGE, 7))
    for (label, name), (line, colour, size) in zip(SHOWN.items(), looks, strict=True):
        shares = [100 * broken_share(name, spread) for spread in SPREADS]
        axes.semilogx(SPREADS, shares, line, color=colour, label=label, markersize=size)
        told.append(
            f"{label}: {', '.join(f'{value:.0f} % at {s:g}' for value, s in zip(shares, SPREADS, strict=True))}"
        )
    axes.set(xlabel="standard deviation of the scores", ylabel="rankings below 1 − H-AP, %", ylim=(-2, 36))
    axes.set_xticks(SPREADS, [f"{s:g}" for s in SPREADS])
    axes.minorticks_off()
    axes.legend()
    return style.describe(
        figure,
        "Share of random rankings of eight items whose surrogate is below the true loss, against the standard "
        f"deviation of the scores. {'. '.join(told)}.",
    )


@style.style()
def two_gradients(lam: float = 32.0) -> Figure:
    """Where a descent step moves each item of one list: by HAPPIER's step, and by blackbox ranks.

    Source
    ------
    HAPPIER Fig. 2c.
    """
    scores, relevance = example()
    figure, axes = style.figure(3, 1, width=6.8, height=5.6, sharex=True)
    told = []
    rankers = {
        "HAPPIER's step": HAPLoss(),
        f"blackbox, λ = {lam:g}, H-rank stopped": HAPLoss(BlackboxRanker(lam)),
        f"blackbox, λ = {lam:g}, both": HAPLoss(BlackboxRanker(lam), within_grad=True),
    }
    for axis, (name, loss) in zip(axes, rankers.items(), strict=True):
        leaf = scores.clone().requires_grad_()
        value = loss(leaf, relevance)
        (slope,) = torch.autograd.grad(value, leaf)
        pushes = -slope / slope.abs().max()
        arrows(axis, scores, relevance, pushes)
        axis.set_title(f"{name}: loss {value.item():.2f}", loc="left")
        moved = [f"{s:g} of relevance {r:g} by {p:+.2f}" for s, r, p in zip(scores, relevance, pushes, strict=True)]
        told.append(f"{name}: loss {value.item():.2f}, moves {', '.join(moved)}")
    axes[2].set_xlabel("score   (arrow up: raised by a descent step)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return style.describe(
        figure,
        "Eight items of relevance 2, 1 and 0 on a line of scores, with an arrow for the negative gradient, the longest "
        f"set to 1. {'. '.join(told)}.",
    )


def example() -> tuple[Tensor, Tensor]:
    """Eight items in which far and near mistakes meet; scores and relevance, shape (8,)."""
    scores = torch.tensor([0.90, 0.86, 0.74, 0.70, 0.67, 0.50, 0.46, 0.20], dtype=torch.float64)
    return scores, torch.tensor([1, 2, 0, 1, 2, 0, 0, 2], dtype=torch.float64)


def arrows(axes: Axes, scores: Tensor, relevance: Tensor, pushes: Tensor) -> None:
    """A row of items, each in the colour of its relevance, with an arrow for its push."""
    axes.axhline(0, color=style.GREY, linewidth=1, zorder=0)
    for level, marker in ((2, "o"), (1, "s"), (0, "X")):
        mask = (relevance == level).numpy()
        x, length = scores.numpy()[mask], pushes.numpy()[mask]
        axes.plot(x, 0 * x, marker, color=COLOURS[level], markersize=9, antialiased=False, label=f"relevance {level}")
        moves = np.abs(length) > 0.02
        zeros = np.zeros(int(moves.sum()))
        axes.quiver(
            *(x[moves], zeros, zeros, length[moves]),
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.006,
            color=COLOURS[level],
            antialiased=False,
        )
    axes.set(ylim=(-1.15, 1.15), xlim=(0.1, 1.0), yticks=())
    axes.spines["left"].set_visible(False)


@dataclass(frozen=True)
class Descent:
    """Training H-AP at each step; one row a seed."""

    h_ap: Array

    def end(self) -> float:
        """The median over seeds of the last twenty steps."""
        return float(np.median(self.h_ap[:, -20:].mean(1)))


@cached
def descend(name: str, seeds: int = 20, steps: int = 100) -> Descent:
    """Train linear scorers of 20 features on lists of 40 items, 4 of relevance 2, 8 of relevance 1.

    Every step has the same length, 0.05 in weights, so that a loss gains nothing from a larger gradient.

    Parameters
    ----------
    name : str
        "supremum" for HAPPIER's loss; "stopped 64" for blackbox ranks with λ = 64, "both 64" for the same with a
        gradient through H-rank.
    seeds, steps : int
    """
    kind, _, lam = name.partition(" ")  # the mean over lists divides the step of each by their number
    loss = HAPLoss() if kind == "supremum" else HAPLoss(BlackboxRanker(seeds * float(lam)), within_grad=kind == "both")
    items, features = 40, 20
    generator = torch.Generator().manual_seed(0)
    relevance = (torch.arange(items) < 12).float() + (torch.arange(items) < 4).float()
    relevance = relevance.expand(seeds, items)
    x = torch.randn(seeds, items, features, generator=generator)
    x[..., 0] += 0.5 * relevance
    weight = 0.1 * torch.randn(seeds, features, generator=generator)
    values = []
    for _ in range(steps):
        weight.requires_grad_()
        scores = (x @ weight[..., None])[..., 0]
        values.append(hierarchical_average_precision(scores.detach(), relevance))
        (slope,) = torch.autograd.grad(loss(scores, relevance), weight)
        weight = weight.detach() - 0.05 * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12)
    return Descent(torch.stack(values, 1).double().numpy())


RUNS = ("supremum", "stopped 16", "stopped 64", "both 64")


def said(name: str) -> str:
    """How a figure names a run."""
    kind, _, lam = name.partition(" ")
    return "HAPPIER's step" if kind == "supremum" else f"blackbox, λ = {lam}{', both' if kind == 'both' else ''}"


@style.style()
def toy_training(names: Sequence[str] = RUNS) -> Figure:
    """Training H-AP by the step of HAPPIER, and by blackbox ranks at several λ."""
    figure, axes = style.figure(height=3.7)
    told = []
    for name, line in zip(names, ("-", ":", "--", "-."), strict=False):
        run = descend(name)
        low, middle, high = np.quantile(run.h_ap, (0.25, 0.5, 0.75), axis=0)
        label = said(name)
        (drawn,) = axes.plot(middle, line, label=label)
        axes.fill_between(np.arange(len(middle)), low, high, color=drawn.get_color(), alpha=0.15, linewidth=0)
        told.append(f"{label}: {run.end():.2f}")
    axes.set(xlabel="step", ylabel="training H-AP", ylim=(0.1, 1.02))
    axes.legend(loc="lower right")
    return style.describe(
        figure,
        "Training H-AP against the step of gradient descent, median and middle half of 20 seeds. Median over the last "
        f"twenty steps: {'; '.join(told)}.",
    )


LENGTHS = (256, 512, 1024, 2048, 4096, 8192)


@cached
def seconds(lengths: tuple[int, ...] = LENGTHS, repeats: int = 5) -> dict[str, list[float]]:
    """Median time of a forward and a backward pass for one query, by the length of its list, on one thread.

    A tenth of the items are of relevance 2, four tenths of relevance 1; the contenders take turns.
    """
    contenders = {"pairwise": HAPLoss(), "blackbox": HAPLoss(BlackboxRanker(16.0))}
    found: dict[str, list[float]] = {name: [] for name in contenders}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for n in lengths:
            scores = torch.randn(n, generator=torch.Generator().manual_seed(n))
            relevance = (torch.arange(n) < n // 2).float() + (torch.arange(n) < n // 10).float()
            taken: dict[str, list[float]] = {name: [] for name in contenders}
            for _ in range(repeats + 2):
                for name, loss in contenders.items():
                    leaf, begin = scores.clone().requires_grad_(), time.perf_counter()
                    torch.autograd.backward(loss(leaf, relevance))
                    taken[name].append(time.perf_counter() - begin)
            for name, times in taken.items():
                found[name].append(statistics.median(times[2:]))
    finally:
        torch.set_num_threads(threads)
    return found


@style.style()
def cost_by_length(lengths: tuple[int, ...] = LENGTHS) -> Figure:
    """Time of the loss by all pairs and by sorting, against the length of the list."""
    found = seconds(lengths)
    figure, axes = style.figure(height=3.5)
    for (name, times), line in zip(found.items(), ("o-", "s--"), strict=True):
        axes.loglog(lengths, [1000 * t for t in times], line, label=name)
    axes.set(xlabel="items in the list", ylabel="milliseconds")
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.minorticks_off()
    axes.legend()
    ratios = [a / b for a, b in zip(*found.values(), strict=True)]
    return style.describe(
        figure,
        "Time of one forward and backward pass against the number of items, both axes logarithmic: by pairs and with "
        f"blackbox ranks. By pairs takes {ratios[0]:.2g} times as long at {lengths[0]} items and {ratios[-1]:.2g} "
        f"times as long at {lengths[-1]}.",
    )


# --- HAPPIER Fig. 4 on glyphs ---------------------------------------------------------------------------------------

#: The runs of `STEPS` steps that are made while the page is made; longer ones of more values are in the file `STORED`.
WEIGHTS, ALPHAS, STEPS = (0.0, 0.1, 0.5, 1.0), (0.5, 1.0, 5.0), 40
#: In a checkout: the file that ``python -m rankedu.lab.training.happier`` writes.
STORED = Path(rankedu.__file__).resolve().parents[1] / "book" / "data" / "happier_weight.json"


@cached
def below_while_training(preset: str, looks: tuple[int, ...] = (0, 60, 120)) -> dict[int, tuple[int, int, float]]:
    """How often a setting is below the true loss in batches of glyphs, while HAPPIER is trained.

    Returns
    -------
    dict of int to (int, int, float)
        By the number of steps: queries whose surrogate is below the true loss, queries, and the mean standard deviation
        of a query's scores. Each item of a batch queries the 63 others.
    """
    images, labels = glyph_tree("train")
    torch.manual_seed(0)
    net, step, found = ConvNet(32, channels=(16, 32, 64)), SupremumRanker.preset(preset).step, {}
    loss: nn.Module = HAPPIERLoss(int(labels[:, 2].max()) + 1, 32)
    optimiser = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=2e-3)
    generator = torch.Generator().manual_seed(0)
    for number, batch in enumerate(batches(labels, looks[-1] + 1, 0)):
        if number in looks:
            seen = [_graded(net, images[other], labels[other]) for other in batches(labels, 6, 99)]
            scores, relevance = (torch.cat(parts) for parts in zip(*seen, strict=True))
            below = losses(scores, relevance, step) < losses(scores, relevance) - 1e-12
            found[number] = int(below.sum()), len(below), scores.std(1).mean().item()
        value = loss(net(augment(images[batch], generator=generator, strength=0.5)), labels[batch])
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    return found


def _graded(net: nn.Module, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and relevance of a batch, (n, n − 1): each item queries the others."""
    with torch.no_grad():
        embeddings = net(augment(images, generator=torch.Generator().manual_seed(0), strength=0.5)).double()
    others = ~torch.eye(len(images), dtype=torch.bool)
    relevance = hierarchy.relevance(hierarchy.levels(labels), where=others)
    shape = len(images), len(images) - 1
    return (embeddings @ embeddings.T)[others].view(shape), relevance[others].view(shape)


@cached
def short_run(alpha: float, weight: float, steps: int = STEPS) -> dict[str, float]:
    """Measures of one short run of :func:`rankedu.lab.training.happier.one_run`."""
    run = one_run(alpha, weight, 0, steps=steps)
    return {name: run[name] for name in MEASURES}


def first_losses() -> tuple[float, float, int]:
    """Before the first step: the clustering loss and the ranking loss of a batch, and the number of classes."""
    images, labels = glyph_tree("train")
    classes = int(labels[:, 2].max()) + 1
    torch.manual_seed(0)
    net, loss = ConvNet(32, channels=(16, 32, 64)), HAPPIERLoss(classes, 32)
    batch = next(batches(labels, 1, 0))
    with torch.no_grad():
        embeddings = net(augment(images[batch], generator=torch.Generator().manual_seed(0), strength=0.5))
        clustering = loss.cluster(embeddings, labels[batch]).item()
        mixed = loss(embeddings, labels[batch]).item()
    return clustering, (mixed - HELD["weight"] * clustering) / (1 - HELD["weight"]), classes


def sweep(steps: int = STEPS) -> dict[str, dict[float, dict[str, float]]]:
    """Short runs, one seed each: along α at λ = 0.1, and along λ at α = 1."""
    return {
        "alpha": {alpha: short_run(alpha, HELD["weight"], steps) for alpha in ALPHAS},
        "weight": {weight: short_run(HELD["alpha"], weight, steps) for weight in WEIGHTS},
    }


def stored(key: str, measure: str, path: Path = STORED) -> dict[float, Array]:
    """One measure of the stored runs, an array over the seeds for each value of "alpha" or "weight".

    Empty where there is no such file, as in an installed package.
    """
    return {value: np.array([run[measure] for run in runs]) for value, runs in results(path)[key].items()}


def told_of_stored(path: Path = STORED) -> str:
    """One line on the stored runs: how many, how long, where; or how to make them."""
    runs = [run for group in results(path)["alpha"].values() for run in group]
    if not runs:
        return f"No longer runs are stored here: python -m rankedu.lab.training.happier --out {path.name} makes them."
    steps, seeds = runs[0]["steps"], len({run["seed"] for run in runs})
    made = sorted({f"torch {run['versions']['torch']}, {run['device']}" for run in runs})
    return f"stored: {steps} steps, {seeds} seeds; {' / '.join(made)}"


@paper_figure("HAPPIER Fig. 4")
@style.style()
def alpha_and_weight(steps: int = STEPS, path: Path = STORED) -> Figure:
    """What α and λ do to a short training on glyphs; beside it, if they are there, stored longer ones."""
    found = sweep(steps)
    figure, axes = style.figure(1, 2, width=7.4, height=4.0)
    told = []
    for axis, key in zip(axes, ("alpha", "weight"), strict=True):
        for name, line, colour in (("AP", "o", style.BLUE), ("H-AP", "s", style.PURPLE)):
            long = {value: float(seeds.mean()) for value, seeds in stored(key, name, path).items()}
            if long:
                axis.plot(list(long), list(long.values()), f"{line}-", color=colour, label=f"{name}, long")
            short = {value: run[name] for value, run in found[key].items()}
            label = f"{name}, {steps} steps"
            axis.plot(list(short), list(short.values()), f"{line}:", color=colour, label=label, markerfacecolor="white")
            words = ", ".join(f"{y:.2f} at {x:g}" for x, y in short.items())
            words += "; after long ones " + ", ".join(f"{y:.2f} at {x:g}" for x, y in long.items()) if long else ""
            told.append(f"{name} against {'α' if key == 'alpha' else 'λ'}: {words}")
        axis.set_ylim(0.1, 0.65)
    axes[0].set(xlabel="exponent α (λ = 0.1)", ylabel="on unseen letters")
    axes[1].set(xlabel="weight λ of the clustering (α = 1)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return style.describe(
        figure,
        f"AP of the characters, and H-AP, on letters that were not trained on, after runs of {steps} steps. "
        f"{'. '.join(told)}. The long runs: {told_of_stored(path)}",
    )


def verdict(preset: str) -> str:
    """One line on a published setting: does it keep the bound, does it fall, is it continuous."""
    found = upper_bound(**PRESETS[preset])
    falls = [f"falls at {float(jump.at):g}" for jump in found.jumps if not jump.up]
    jumps = [f"jumps at {float(jump.at):g}" for jump in found.jumps if jump.up]
    return f"{'an upper bound' if found.holds else 'no bound':<15} {', '.join(jumps + falls)}"
