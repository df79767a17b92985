"""Figures of the hierarchical experiments: a map of the classes, how severe mistakes are, and retrievals by level."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from rankedu._validation import check_k
from rankedu.book.figures import _pictures, paper_figure, style
from rankedu.book.figures._rankings import (
    check,
    choose_queries,
    class_of,
    in_words,
    offered,
    ranked,
    spread,
    values,
    who_asks,
)
from rankedu.book.figures._short_runs import characters
from rankedu.hierarchy import levels as common_levels
from rankedu.hierarchy import relevance
from rankedu.metrics import hierarchical_average_precision

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "class_map",
    "class_means",
    "draw_severity",
    "hierarchical_retrievals",
    "levels_of_top",
    "same_neighbours",
    "severity",
]

#: Groups that get a look of their own on a map; the others are grey.
SHOWN = 8
LOOKS = tuple(
    zip(
        "os^Dv*XP",
        (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.BLACK, style.SKY, style.YELLOW),
        strict=True,
    )
)


def class_means(embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The mean embedding of each class, and the class's path.

    Parameters
    ----------
    embeddings : Tensor, shape (N, dim)
    labels : Tensor of int, shape (N,) or (N, L)

    Returns
    -------
    means : Tensor of float32, shape (classes, dim)
    paths : Tensor of int64, shape (classes, L)
    """
    rows, paths = check(embeddings, labels)
    distinct, place, sizes = torch.unique(paths, dim=0, return_inverse=True, return_counts=True)
    sums = torch.zeros(len(distinct), rows.shape[1]).index_add_(0, place, rows)
    return sums / sizes[:, None], distinct


def same_neighbours(means: Tensor, groups: Tensor) -> float:
    """The share of classes whose nearest other class, by the distance of their means, is of the same group.

    Parameters
    ----------
    means : Tensor, shape (classes, dim)
    groups : Tensor of int, shape (classes,)

    Notes
    -----
    Measured among the embeddings, not on a map of them: a map in two dimensions may show what is not there.
    """
    distance = torch.cdist(means.double(), means.double()).fill_diagonal_(torch.inf)
    return (groups[distance.argmin(1)] == groups).double().mean().item()


@style.style()
def class_map(
    embeddings: Tensor | Mapping[str, Tensor],
    labels: Tensor,
    names: Sequence[Sequence[str]] | None = None,
    *,
    levels: Sequence[int] = (0,),
    perplexity: float = 30.0,
    seed: int = 0,
    limit: int | None = 800,
) -> Figure:
    """A t-SNE map of the classes' mean embeddings, a dot each, in the look of its group at a coarser level.

    Parameters
    ----------
    embeddings : Tensor, shape (N, dim), or dict of str to Tensor
        Of one network or of several, by name: a column of maps each.
    labels : Tensor of int, shape (N, L)
        Paths from root to leaf, L ≥ 2.
    names : sequence of sequence of str, optional
        ``names[level][label]``, as data sets have them.
    levels : sequence of int
        Columns of the labels that group the classes, 0 is the coarsest: a row of maps each.
    perplexity : float
        Of t-SNE: about how many neighbours count. At most a third of the classes.
    seed : int
        Of t-SNE.
    limit : int, optional
        Map so many classes only, evenly spaced; None: all. The share above a map is of all.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        For labels of one level, a level that is none or the last, embeddings of another length, or less than five
        classes.
    ModuleNotFoundError
        Without scikit-learn.

    Notes
    -----
    The eight groups of most classes have a look of their own. Distances between clusters, and their sizes, mean
    nothing on such a map; the number above does.
    """
    named = embeddings if isinstance(embeddings, Mapping) else {"": embeddings}
    if labels.ndim != 2 or labels.shape[1] < 2:
        raise ValueError(f"labels must have shape (N, L) with L >= 2, got {tuple(labels.shape)} (a group and a class)")
    if not levels or not all(0 <= level < labels.shape[1] - 1 for level in levels):
        raise ValueError(f"levels must be of 0 to {labels.shape[1] - 2}, got {tuple(levels)} (the last is the class)")
    figure, axes = style.figure(
        len(levels), len(named), width=1.6 + 2.85 * len(named), height=0.2 + 3.2 * len(levels), squeeze=False
    )
    told = []
    for column, (name, embedded) in enumerate(named.items()):
        means, paths = class_means(embedded, labels)
        mapped = spread(torch.arange(len(means)), limit)
        places = _tsne(means[mapped], perplexity, seed)
        for row, level in enumerate(levels):
            groups, axis = paths[:, level], axes[row, column]
            share = same_neighbours(means, groups)
            shown = _draw_map(axis, places, groups[mapped], None if names is None else names[level])
            axis.set_title(f"{name}\n{share:.0%} beside their own".strip())
            told.append(f"level {level}{f', {name}' if name else ''} {share:.0%}")
            if column == len(named) - 1:
                axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handletextpad=0.2)
                told[-1] += f" (groups: {', '.join(shown)})"
    return style.describe(
        figure,
        f"{'A t-SNE map' if axes.size == 1 else 't-SNE maps'} of the mean embeddings of {len(mapped)} classes, in "
        "colours and markers by their group. Measured among the embeddings themselves, the share of classes whose "
        f"nearest neighbour is of their own group: {'; '.join(told)}.",
    )


def _draw_map(axes: Axes, places: Any, groups: Tensor, names: Sequence[str] | None) -> list[str]:
    """The dots, the largest groups in colours and the others grey; the names of what is shown."""
    distinct, counts = torch.unique(groups, return_counts=True)
    largest = distinct[counts.argsort(descending=True, stable=True)[:SHOWN]]
    shown = []
    for (marker, colour), group in zip(LOOKS, largest.tolist(), strict=False):
        mine = (groups == group).numpy()
        edge = style.BLACK if colour == style.YELLOW else "white"
        shown.append(f"group {group}" if names is None else _short(names[group]))
        look: dict[str, Any] = {"marker": marker, "color": colour, "s": 34, "linewidths": 0.5, "edgecolors": edge}
        axes.scatter(places[mine, 0], places[mine, 1], label=shown[-1], **look)
    others = ~torch.isin(groups, largest).numpy()
    if others.any():
        axes.scatter(places[others, 0], places[others, 1], color="#B8B8B8", s=9, zorder=0, label="the rest")
        shown.append(f"{len(distinct) - len(largest)} others")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    return shown


def _short(name: str) -> str:
    """A group's name, as it stands in a legend: "Latin", "Greek eta"."""
    words = in_words(name).replace(" small letter", "").replace(" capital letter", "")
    words = words.capitalize() if words.isupper() else words
    return textwrap.shorten(words, 16, placeholder="…")


def _tsne(means: Tensor, perplexity: float, seed: int) -> Any:
    """The map, shape (classes, 2)."""
    try:
        from sklearn.manifold import TSNE
    except ModuleNotFoundError:
        raise ModuleNotFoundError("class_map needs scikit-learn (pip install 'rankedu[lab]')") from None
    if len(means) < 5:
        raise ValueError(f"labels must have five classes at least to be mapped, got {len(means)}")
    perplexity = min(perplexity, (len(means) - 1) / 3)
    return TSNE(init="pca", perplexity=perplexity, random_state=seed, n_jobs=1).fit_transform(means.numpy())


def levels_of_top(
    embeddings: Tensor, labels: Tensor, k: int = 1, *, limit: int | None = None, candidates: Tensor | None = None
) -> Tensor:
    """The level that each query shares with each of its first k results.

    Parameters
    ----------
    embeddings : Tensor, shape (N, dim)
    labels : Tensor of int, shape (N,) or (N, L)
    k : int
        At least 1.
    limit : int, optional
        Look at so many queries only, evenly spaced. Default: all.
    candidates : Tensor of bool, shape (N,), optional
        What may be retrieved, where queries and gallery are apart; the others are then the queries. Default: all.

    Returns
    -------
    Tensor of int64, shape (q, k)
        From 0, nothing in common, to L, the same class. −1 where a query has no more positives than there are places
        before: what stands there is no mistake that could be avoided.

    Notes
    -----
    O(q N dim). An item that ties with a more relevant one stands before it.

    Examples
    --------
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.9, 0.1], [0.0, 1.0]])
    >>> levels_of_top(embeddings, torch.tensor([[0, 0], [0, 0], [0, 1], [1, 2]]), k=2)
    tensor([[ 1, -1],
            [ 1, -1],
            [-1, -1],
            [-1, -1]])
    """
    check_k(k)
    rows, paths = check(embeddings, labels)
    queries, missing = who_asks(paths, candidates, limit), ~offered(paths, candidates)
    found = []
    for chunk in torch.split(queries, 256):
        shared = common_levels(paths[chunk], paths)
        out = missing.repeat(len(chunk), 1)
        out[torch.arange(len(chunk)), chunk] = True
        shared.masked_fill_(out, -1)
        scores = (rows[chunk] @ rows.T).double().masked_fill_(out, -torch.inf)
        # of equal scores the smaller level first: float32 scores, in float64, leave room for it
        keys = scores - shared * 1e-12
        top = keys.topk(min(k, len(paths) - 1), dim=1).indices
        levels = torch.nn.functional.pad(shared.gather(1, top), (0, k - top.shape[1]), value=-1)
        positives = (shared == paths.shape[1]).sum(1)
        found.append(levels.masked_fill(torch.arange(k) >= positives[:, None], -1))
    return torch.cat(found)


def severity(levels_of_top: Tensor, n_levels: int | None = None) -> Tensor:
    """The share of results at each level: the last is what is right, the others are mistakes, the first the worst.

    Parameters
    ----------
    levels_of_top : Tensor of int, any shape
        As :func:`levels_of_top` gives them; −1 is not counted.
    n_levels : int, optional
        L. Default: the largest level that occurs.

    Returns
    -------
    Tensor of float64, shape (L + 1,)
        Sums to 1.

    Raises
    ------
    ValueError
        If nothing is counted, or a level exceeds ``n_levels``.

    Examples
    --------
    >>> severity(torch.tensor([[2, 2, 1], [2, 0, -1]]))
    tensor([0.2000, 0.2000, 0.6000], dtype=torch.float64)
    """
    counted = levels_of_top[levels_of_top >= 0]
    if not len(counted):
        raise ValueError("levels_of_top must have a level >= 0, got none (has every class but one item?)")
    n_levels = int(counted.max()) if n_levels is None else n_levels
    if counted.max() > n_levels:
        raise ValueError(f"levels_of_top must be at most n_levels={n_levels}, got {int(counted.max())}")
    return torch.bincount(counted, minlength=n_levels + 1).double() / len(counted)


#: Of the bars of two and more methods.
BARS = ((style.ORANGE, "//"), (style.GREEN, ""), (style.BLUE, ".."), (style.PURPLE, "xx"), (style.SKY, "\\\\"))


@style.style()
def draw_severity(
    embeddings: Mapping[str, Tensor],
    labels: Tensor,
    levels: Sequence[str] | None = None,
    k: int = 5,
    *,
    limit: int | None = 2048,
    candidates: Tensor | None = None,
) -> Figure:
    """How severe mistakes are, of some networks side by side: at the first place, and at the first k.

    Parameters
    ----------
    embeddings : dict of str to Tensor, shape (N, dim) each
        By the network's name, at most five.
    labels : Tensor of int, shape (N, L)
        Paths from root to leaf.
    levels : sequence of str, optional
        What the levels are called, from root to leaf, such as ("script", "base letter", "character").
    k : int
        Places that are looked at on the right. Those that a query's class cannot fill do not count.
    limit : int, optional
        Queries that are looked at, evenly spaced; None: all.
    candidates : Tensor of bool, shape (N,), optional
        As for :func:`levels_of_top`.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        For no or more than five networks; else as :func:`levels_of_top`.
    """
    if not 1 <= len(embeddings) <= len(BARS):
        raise ValueError(f"embeddings must be of one to {len(BARS)} networks, got {len(embeddings)}")
    n_levels = 1 if labels.ndim == 1 else labels.shape[1]
    kinds = _kinds(levels, n_levels)[:-1]
    figure, axes = style.figure(1, 2, width=7.2, height=3.7, sharey=True)
    width, told = 0.8 / len(embeddings), []
    for axis, depth, title in zip(axes, (1, k), ("first result", f"first {k} results"), strict=True):
        for number, ((name, embedded), (colour, hatch)) in enumerate(zip(embeddings.items(), BARS, strict=False)):
            top = levels_of_top(embedded, labels, depth, limit=limit, candidates=candidates)
            shares = 100 * severity(top, n_levels)[:-1].flip(0)
            places = np.arange(n_levels) + (number - (len(embeddings) - 1) / 2) * width
            look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
            bars = axis.bar(places, shares.numpy(), 0.94 * width, label=name, **look)
            axis.bar_label(bars, [f"{share:.0f}" for share in shares], fontsize=10)
            parts = ", ".join(f"{s:.1f} % {kind}" for kind, s in zip(kinds[::-1], shares, strict=True))
            told.append(f"{title}, {name}: {shares.sum():.1f} % wrong, of which {parts}")
        axis.set_title(f"{title}: mistakes")
        axis.set_xticks(range(n_levels), [textwrap.fill(kind, 11) for kind in kinds[::-1]])
        axis.tick_params(axis="x", length=0)
        axis.margins(y=0.1)
    axes[0].set_ylabel("% of results")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return style.describe(
        figure,
        "Bars of wrong results by what they still share with the query, from the mildest mistakes on the left to the "
        f"worst, in percent of all results. {'. '.join(told)}.",
    )


def _kinds(levels: Sequence[str] | None, n_levels: int) -> list[str]:
    """What a result of each level is called, from 0, nothing in common, to L."""
    if levels is None:
        return ["nothing shared", *(f"{level} of {n_levels} levels" for level in range(1, n_levels)), "same class"]
    if len(levels) != n_levels:
        raise ValueError(f"levels must name each of the {n_levels} levels, got {len(levels)}")
    return [f"another {levels[0]}", *(f"same {level}" for level in levels)]


def h_ap(scores: Tensor, levels: Tensor, where: Tensor) -> Tensor:
    """H-AP of each row, with relevances that keep the order of the levels."""
    graded = relevance(levels, where=where, monotone=True)
    return hierarchical_average_precision(scores, graded, where=where)


@style.style()
def hierarchical_retrievals(
    images: Any,
    embeddings: Mapping[str, Tensor],
    labels: Tensor,
    queries: Mapping[str, int] | None = None,
    k: int = 10,
    *,
    levels: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    candidates: Tensor | None = None,
) -> Figure:
    """What some queries retrieve first, by some networks, each result marked by the level that it shares.

    Parameters
    ----------
    images : Tensor or data set
        Shape (N, H, W) or (N, 3, H, W), or a data set of files with ``load(index)``.
    embeddings : dict of str to Tensor, shape (N, dim) each
        By the network's name.
    labels : Tensor of int, shape (N, L)
        Paths from root to leaf.
    queries : dict of str to int, optional
        Indices by name. Default: :func:`choose_queries` among 256, by the H-AP of the first network and the last.
    k : int
        Pictures in a row.
    levels : sequence of str, optional
        What the levels are called, from root to leaf.
    classes : sequence of str, optional
        Names of the finest classes, for the description only.
    candidates : Tensor of bool, shape (N,), optional
        As for :func:`levels_of_top`.

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        As :func:`levels_of_top`; for no network; for a query outside [0, N).
    """
    check_k(k)
    if not embeddings:
        raise ValueError("embeddings must be of one network at least, got none")
    rows = {name: check(embedded, labels)[0] for name, embedded in embeddings.items()}
    paths = check(next(iter(embeddings.values())), labels)[1]
    n_levels = paths.shape[1]
    kinds, marks = _kinds(levels, n_levels), _pictures.marks_of(n_levels)
    chosen = _by_h_ap(list(rows.values()), paths, candidates) if queries is None else dict(queries)
    tall = 1.72 * len(rows) - 0.1
    figure, axes = style.figure(len(chosen), 1, width=7.4, height=0.55 + 0.68 * tall * len(chosen), squeeze=False)
    told = []
    for axis, (title, query) in zip(axes[:, 0], chosen.items(), strict=True):
        if not 0 <= query < len(paths):
            raise ValueError(f"queries must be in [0, {len(paths)}), got {query}")
        middle = (tall - 0.9) / 2 - 0.1
        _pictures.draw_row(axis, images, [query], [_pictures.QUERY], x=0.3, y=middle)
        axis.text(0.73, middle - 0.1, textwrap.fill(title, 9), ha="center", va="top")
        told.append(f"{title}, {class_of(query, paths, classes)}")
        for number, (name, embedded) in enumerate(rows.items()):
            items, shared = ranked(embedded, paths, query, candidates)
            y = 1.72 * (len(rows) - 1 - number)
            _pictures.draw_row(axis, images, items[:k], [marks[level] for level in shared[:k].tolist()], x=1.6, y=y)
            value = _one_h_ap(shared)
            axis.text(1.6, y + 0.93, f"{name}: H-AP {value:.2f}", va="bottom")
            told[-1] += f"; {name} H-AP {value:.2f}, levels {shared[:k].tolist()}"
        _pictures.bare(axis, 1.6 + k, -0.42, tall - 0.35)
    _legend(figure, marks, kinds)
    return style.describe(
        figure,
        f"Queries, and beside each a row of the {k} pictures retrieved first for each of {', '.join(rows)}, framed by "
        f"the level that they share with the query, which a sign below tells as well: a cross is {kinds[0]}, "
        + "".join(f"{level} {kinds[level]}, " for level in range(1, n_levels))
        + f"a tick {kinds[-1]}. {'. '.join(told)}.",
    )


def _by_h_ap(rows: list[Tensor], paths: Tensor, candidates: Tensor | None = None) -> dict[str, int]:
    """Queries chosen by what the last network gains over the first."""
    asked = who_asks(paths, candidates)
    found = choose_queries(*(values(each, paths, asked, candidates, h_ap) for each in (rows[0], rows[-1])))
    return {name: int(asked[place]) for name, place in found.items()}


def _one_h_ap(shared: Tensor) -> float:
    """H-AP of one list of levels, from first to last."""
    scores = torch.arange(len(shared), 0, -1, dtype=torch.float64)
    return h_ap(scores[None], shared[None], torch.ones(1, len(shared), dtype=torch.bool)).item()


def _legend(figure: Figure, marks: Sequence[_pictures.Mark], kinds: Sequence[str]) -> None:
    """The frames, each with its sign and its meaning."""
    from matplotlib.patches import Patch

    handles = [
        Patch(fill=False, edgecolor=mark.colour, linestyle=mark.line, linewidth=2, label=f"{mark.sign} {kind}")
        for mark, kind in zip(reversed(marks), reversed(kinds), strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4), handlelength=1.2)


@paper_figure("HAPPIER Fig. 5")
def classes_on_a_map() -> Figure:
    """Characters by script and by base letter, trained shortly for their leaves alone, and along the hierarchy.

    One seed, on letters and with a λ that were chosen because the difference shows there: an illustration, no evidence.
    The results page has networks that nobody chose, and a table over seeds.
    """
    run = characters()
    pair = {"leaves alone": run.embeddings["Smooth-AP"], "HAPPIER, λ = 0": run.embeddings["HAPPIER, λ = 0"]}
    return class_map(pair, run.test.labels, run.test.names, levels=(0, 1))


@paper_figure("HAPPIER Fig. 6")
def mistakes_on_glyphs() -> Figure:
    """Retrievals by level, trained for the leaves alone and along the hierarchy, for some seconds.

    Of the networks of :func:`classes_on_a_map`: an illustration, no evidence.
    """
    run = characters()
    pair = {"leaves alone": run.embeddings["Smooth-AP"], "HAPPIER, λ = 0": run.embeddings["HAPPIER, λ = 0"]}
    rows, paths = zip(*(check(each, run.test.labels) for each in pair.values()), strict=True)
    queries = _by_h_ap(list(rows), paths[0]) | _both_fail(rows, paths[0])
    levels = ("script", "base letter", "character")
    return hierarchical_retrievals(
        run.test.images, pair, run.test.labels, queries, levels=levels, classes=run.test.names[-1]
    )


def _both_fail(rows: Sequence[Tensor], paths: Tensor, k: int = 10) -> dict[str, int]:
    """Fig. 6b: of the queries that find nothing right among the first k by any network, the one of middle gain."""
    asked = who_asks(paths, None)
    failed = torch.ones(len(asked), dtype=torch.bool)
    for embedded in rows:
        failed &= (levels_of_top(embedded, paths, k)[asked] < paths.shape[1]).all(1)
    gains = values(rows[-1], paths, asked, metric=h_ap) - values(rows[0], paths, asked, metric=h_ap)
    places = failed.nonzero()[:, 0]
    order = places[gains[places].argsort(stable=True)]
    return {"both fail": int(asked[order[len(order) // 2]])} if len(order) else {}
