"""Compute what chapter 15 shows: sixteen losses on one batch, and how they are related to ranks."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn.functional import normalize

from rankedu import hierarchy
from rankedu.losses import (
    APLoss,
    HAPLoss,
    HAPPIERLoss,
    OnEmbeddings,
    ROADMAPLoss,
    SmoothAPLoss,
)
from rankedu.metrics import average_precision, hierarchical_average_precision
from rankedu.rankers import BlackboxRanker
from rankedu_book.kit.ranks import Array
from rankedu_lab.contestants import CSLLoss, SumOverLevels, baseline

Loss = Callable[[Tensor, Tensor], Tensor]
#: The batch: angles in degrees, three items of each of three classes.
ANGLES = (0.0, 22.0, 72.0, 42.0, 58.0, 98.0, 83.0, 121.0, 147.0)
#: A batch that every query ranks perfectly, levels included, with positive cosines above 0.9 and all others below 0.6.
SORTED = (0.0, 6.0, 13.0, 67.0, 72.0, 79.0, 165.0, 172.0, 177.0)
#: A batch that every query ranks perfectly, too, but c is so wide that no single threshold serves all queries.
UNCALIBRATED = (0.0, 2.0, 4.0, 55.0, 57.0, 59.0, 168.0, 211.0, 252.0)
#: Parent and class of each item; the classes are a, b and c.
PATHS = torch.tensor([[0, 0]] * 3 + [[0, 1]] * 3 + [[1, 2]] * 3)
CLASS_PATHS = torch.tensor([[0, 0], [0, 1], [1, 2]])
DIM = 2 + len(ANGLES)
#: The losses of the chapter, by family, in the order of all its figures.
FAMILIES: dict[str, tuple[str, ...]] = {
    "pairs": ("contrastive", "margin", "multi_similarity"),
    "tuples": ("triplet_semihard", "triplet_distance_weighted", "lifted_structure", "n_pair", "angular"),
    "distributions": ("histogram",),
    "proxies": ("normalized_softmax", "proxy_nca_pp", "csl"),
    "ranks": ("smooth_ap", "rambo_ap", "roadmap", "happier"),
}

LOSSES = tuple(name for family in FAMILIES.values() for name in family)
TITLES = {
    "multi_similarity": "multi-similarity",
    "triplet_semihard": "triplet, semi-hard",
    "triplet_distance_weighted": "triplet, dist.-weighted",
    "lifted_structure": "lifted structure",
    "n_pair": "N-pair",
    "normalized_softmax": "normalised softmax",
    "proxy_nca_pp": "ProxyNCA++",
    "csl": "CSL",
    "smooth_ap": "Smooth-AP",
    "rambo_ap": "RaMBO, AP",
    "roadmap": "ROADMAP",
    "happier": "HAPPIER",
}

RANDOM = ("triplet_distance_weighted", "margin")  # losses that draw their triplets
RANKED: dict[str, Callable[[], OnEmbeddings]] = {
    "smooth_ap": lambda: OnEmbeddings(SmoothAPLoss()),
    "rambo_ap": lambda: OnEmbeddings(APLoss(BlackboxRanker(lam=10.0))),
    "roadmap": lambda: OnEmbeddings(ROADMAPLoss()),
}


def title(name: str) -> str:
    """Return the name of a loss in the text, with a Σ for a sum over levels."""
    return f"Σ {title(name[2:])}" if name.startswith("Σ ") else TITLES.get(name, name)


def embed(angles: Sequence[float] | Tensor) -> Tensor:
    """Return unit vectors in the plane of the first two dimensions, shape (n, DIM)."""
    radians = torch.deg2rad(torch.as_tensor(angles, dtype=torch.float64))
    flat = radians.new_zeros(*radians.shape, DIM)
    flat[..., 0], flat[..., 1] = radians.cos(), radians.sin()
    return flat


def proxies(angles: Sequence[float] = ANGLES) -> Tensor:
    """Return one unit vector per class, in the direction of the mean of its items, in place of learned proxies."""
    return normalize(embed(angles).reshape(3, 3, DIM).mean(1), dim=1)


def make(name: str, at: Tensor | None = None, class_paths: Tensor = CLASS_PATHS) -> Loss:
    """Make a loss of embeddings and label paths, with its proxies from ``at``, shape (classes, dim).

    A name that begins with Σ is that of a sum over both levels. Losses that draw their triplets average 100 draws.
    """
    at = proxies() if at is None else at
    if name.startswith("Σ "):
        return SumOverLevels(lambda n: RANKED[name[2:]]() if name[2:] in RANKED else baseline(name[2:]), CLASS_PATHS)
    if name == "hap":
        return OnEmbeddings(HAPLoss())
    if name in ("csl", "happier"):
        by_path: Any = CSLLoss(class_paths, at.shape[1]) if name == "csl" else HAPPIERLoss(*at.shape)
        (by_path.cluster if name == "happier" else by_path).proxies = Parameter(at.clone())
        return cast("Loss", by_path)
    module: Any = RANKED[name]() if name in RANKED else baseline(name, *at.shape)
    if name == "normalized_softmax":
        module.loss.W = Parameter(at.T.clone())
    if name == "proxy_nca_pp":
        module.loss.proxies = Parameter(at.clone())
    draws = 100 if name in RANDOM else 1
    return lambda embeddings, paths: torch.stack([module(embeddings, paths[:, -1]) for _ in range(draws)]).mean()


def descent(loss: Loss, embeddings: Tensor, paths: Tensor = PATHS) -> tuple[float, Tensor]:
    """Return the value and minus the gradient at each embedding."""
    leaf = embeddings.detach().clone().requires_grad_()
    with torch.random.fork_rng():
        torch.manual_seed(15)
        value = loss(leaf, paths)
        (gradient,) = torch.autograd.grad(value, leaf)
    return value.item(), -gradient


@functools.cache
def pulls(name: str) -> Tensor:
    """Return minus the derivative with respect to the cosine of each pair of items, (9, 9); > 0 pulls it together.

    Item i gets a small component in a dimension of its own. Then the gradient of item j has a component along it only
    because of the product of the two.
    """
    lifted, little = embed(ANGLES), 1e-6
    lifted[:, 2:] += little * torch.eye(len(ANGLES), dtype=lifted.dtype)
    return (descent(make(name), lifted)[1][:, 2:] / little).fill_diagonal_(0.0)


@functools.cache
def proxy_pulls(name: str) -> Tensor:
    """Return the same for each item and each proxy, (9, 3); 0 for losses without proxies."""
    at, little = proxies(), 1e-6
    at[:, 2:5] += little * torch.eye(3, dtype=at.dtype)
    has_proxies = name in (*FAMILIES["proxies"], "happier")
    return descent(make(name, at), embed(ANGLES))[1][:, 2:5] / little * has_proxies


def measures(embeddings: Tensor, paths: Tensor = PATHS) -> tuple[float, float]:
    """Return mean AP and mean H-AP over all queries of a batch, each without itself."""
    vectors = normalize(embeddings, dim=1)
    scores, others = vectors @ vectors.T, ~torch.eye(len(vectors), dtype=torch.bool)
    levels = hierarchy.levels(paths)
    relevance = hierarchy.relevance(levels, n_levels=paths.shape[1], where=others)
    ap = average_precision(scores, levels == paths.shape[1], where=others)
    return ap.mean().item(), hierarchical_average_precision(scores, relevance, where=others).mean().item()


def along_the_arc(name: str, item: int, angles: tuple[float, ...]) -> tuple[Array, Array]:
    """Return the loss and the mean AP of the batch for each angle of one item, with fixed proxies."""
    loss, losses, aps = make(name), [], []
    for angle in angles:
        at = embed([*ANGLES[:item], angle, *ANGLES[item + 1 :]])
        with torch.no_grad():
            losses.append(loss(at, PATHS).item())
        aps.append(measures(at)[0])
    return np.array(losses), np.array(aps)


def pair_groups() -> list[list[tuple[int, int]]]:
    """List pairs of the same class, of cousins, of strangers, each from the farthest to the nearest."""
    levels = hierarchy.levels(PATHS)
    found: list[list[tuple[int, int]]] = [[], [], []]
    for i in range(len(ANGLES)):
        for j in range(i + 1, len(ANGLES)):
            found[2 - int(levels[i, j])].append((i, j))
    return [sorted(pairs, key=lambda pair: -abs(ANGLES[pair[0]] - ANGLES[pair[1]])) for pairs in found]


@functools.cache
def heat() -> Array:
    """Return one row per loss: pulls on the pairs by group, then on items with their own and with other proxies."""
    rows = []
    for name in LOSSES:
        of_pairs = [float(pulls(name)[i, j]) for pairs in pair_groups() for i, j in pairs]
        own = torch.nn.functional.one_hot(PATHS[:, 1]).bool()
        to_proxies = proxy_pulls(name)
        rows.append([*of_pairs, *to_proxies[own].tolist(), *to_proxies[~own].tolist()])
    return np.array(rows)


@functools.cache
def folded(name: str, factors: tuple[float, ...]) -> Array:
    """Return the loss of the batch with all angles, of items and of proxies, multiplied by each factor."""
    found = []
    for factor in factors:
        angles = [factor * angle for angle in ANGLES]
        found.append(descent(make(name, proxies(angles)), embed(angles))[0])
    return np.array(found)


@functools.cache
def pull_at_place(name: str, most: int = 9) -> Array:
    """Return the pull on the only positive of one query, with 1, …, most negatives above it and the rest far below.

    The nearest negative is always 0.01 above it, and no two scores are equal.
    """
    module = RANKED[name]() if name in RANKED else baseline(name)
    high, low = np.linspace(0.6, 0.9, most), np.linspace(-0.6, -0.2, most)
    query, found = torch.tensor([[1.0, 0.0]], dtype=torch.float64), []
    for above in range(1, most + 1):
        cosines = [0.5, 0.51, *high[: above - 1], *low[: most - above]]
        candidates = torch.tensor(cosines, dtype=torch.float64, requires_grad=True)
        vectors = torch.stack([candidates, (1 - candidates**2).sqrt()], 1)
        classes = torch.arange(len(cosines)).clamp(max=1)
        value = module(query, torch.tensor([0]), ref_emb=vectors, ref_labels=classes)
        found.append(-torch.autograd.grad(value, candidates)[0][0].item())
    return np.array(found)


def knowledge_table() -> str:
    """Write in words, one line per loss, what it knows of ranks and of the hierarchy.

    "same value": multiplying all angles by 0.7, which keeps every ranking, does not change it. "rests if sorted": no
    gradient on a batch ranked perfectly by a common threshold. "wants one threshold": a gradient on a batch that every
    query ranks perfectly, without a common threshold. "uses parents": its value changes when b gets the parent of c.
    """
    others = PATHS.clone()
    others[:, 0] = torch.tensor([0] * 3 + [1] * 6)
    lines = [f"{'':23}{'same ranks,':>11}{'rests if':>10}{'wants one':>11}{'uses':>9}"]
    lines += [f"{'':23}{'same value':>11}{'sorted':>10}{'threshold':>11}{'parents':>9}"]
    for name in LOSSES:
        value, messy = descent(make(name), embed(ANGLES))
        steps = (descent(make(name, proxies(angles)), embed(angles))[1] for angles in (SORTED, UNCALIBRATED))
        in_order, uncalibrated = (float(step.norm() / messy.norm()) for step in steps)
        moved = descent(make(name, class_paths=others[::3]), embed(ANGLES), others)[0]
        answers = (abs(folded(name, (0.7,))[0] / value - 1) < 1e-9, in_order < 1e-3, uncalibrated > 1e-2)
        same, rests, threshold, parents = ("yes" if a else "no" for a in (*answers, abs(moved / value - 1) > 1e-9))
        if rests == "no":  # then a gradient on the uncalibrated batch proves nothing
            threshold = "–"
        lines.append(f"{title(name):23}{same:>11}{rests:>10}{threshold:>11}{parents:>9}")
    return "\n".join(lines)


def inverted_triplets() -> tuple[int, int, int, int]:
    """Count triplets of the batch: all, mistakes, those that a semi-hard miner takes, and mistakes among these."""
    vectors = embed(ANGLES)
    distance, fine = torch.cdist(vectors, vectors), PATHS[:, 1]
    same = fine[:, None] == fine
    positive, negative = same & ~torch.eye(len(fine), dtype=torch.bool), ~same
    triplets = positive[:, :, None] & negative[:, None, :]
    gap = distance[:, None, :] - distance[:, :, None]
    semihard = triplets & (gap > 0) & (gap <= 0.2)
    wrong = triplets & (gap < 0)
    return int(triplets.sum()), int(wrong.sum()), int(semihard.sum()), int((semihard & wrong).sum())


@functools.cache
def pulls_by_group(name: str) -> Array:
    """Return the total pull on pairs of the same class, on cousins and on strangers, as shares of all pull and push."""
    found = [np.array([float(pulls(name)[i, j]) for i, j in pairs]) for pairs in pair_groups()]
    return np.array([part.sum() for part in found]) / sum(np.abs(part).sum() for part in found)


BY_LEVEL = ("contrastive", "Σ contrastive", "triplet_semihard", "Σ triplet_semihard", "smooth_ap", "Σ smooth_ap", "hap")
