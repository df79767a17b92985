"""Figures of the hierarchical experiments: a map of the classes, how severe mistakes are, and retrievals by level."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from rankedu.labels import check_paths
from rankedu_book.kit import pictures as _pictures
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure
from rankedu_book.kit.short_runs import Pictures, characters
from rankedu_book.lab_hierarchical_retrieval import study
from rankedu_book.lab_retrieval.study import check, class_of, gaining, in_words, ranked, spread

#: Groups that get a look of their own on a map; the others are grey.
SHOWN = 8
_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE, style.BLACK, style.SKY, style.YELLOW)
LOOKS = tuple(zip("os^Dv*XP", _COLOURS, strict=True))


def class_map(
    embeddings: Tensor | Mapping[str, Tensor],
    labels: Tensor,
    names: Sequence[Sequence[str]],
    levels: Sequence[int] = (0,),
) -> Figure:
    """Draw a t-SNE map of the classes' mean embeddings, a dot each, in the look of its group at a coarser level.

    Embeddings (N, dim), of several networks by name a column of maps each; labels (N, L), L ≥ 2, are paths from root to
    leaf, ``names`` those of each level; each of ``levels``, 0 the coarsest, is a row of maps. At most 800 classes are
    mapped. Distances between clusters, and their sizes, mean nothing on such a map; the share above it does.
    """
    named = embeddings if isinstance(embeddings, Mapping) else {"": embeddings}
    figure, axes = style.figure(
        len(levels), len(named), width=1.6 + 2.85 * len(named), height=0.2 + 3.2 * len(levels), squeeze=False
    )
    facts = []
    for column, (name, embedded) in enumerate(named.items()):
        means, paths = study.class_means(embedded, labels)
        mapped = spread(torch.arange(len(means)), 800)
        places = study.tsne(means[mapped])
        for row, level in enumerate(levels):
            groups, axis = paths[:, level], axes[row, column]
            share = study.same_neighbours(means, groups)
            shown = _draw_map(axis, places, groups[mapped], names[level])
            axis.set_title(f"{name}\n{share:.0%} beside their own".strip())
            facts.append(f"level {level}{f', {name}' if name else ''} {share:.0%}")
            if column == len(named) - 1:
                style.legend_beside(axis, handletextpad=0.2)
                facts[-1] += f" (groups: {', '.join(shown)})"
    return style.describe(
        figure,
        f"{'A t-SNE map' if axes.size == 1 else 't-SNE maps'} of the mean embeddings of {len(mapped)} classes, in "
        "colours and markers by their group. Measured among the embeddings themselves, the share of classes whose "
        f"nearest neighbour is of their own group: {'; '.join(facts)}.",
    )


def _draw_map(axes: Axes, places: Any, groups: Tensor, names: Sequence[str]) -> list[str]:
    """The dots, the largest groups in colours and the others grey; the names of what is shown."""
    distinct, counts = torch.unique(groups, return_counts=True)
    largest = distinct[counts.argsort(descending=True, stable=True)[:SHOWN]]
    shown = []
    for (marker, colour), group in zip(LOOKS, largest.tolist(), strict=False):
        members = (groups == group).numpy()
        edge = style.BLACK if colour == style.YELLOW else "white"
        shown.append(_short(names[group]))
        look: dict[str, Any] = {"marker": marker, "color": colour, "s": 34, "linewidths": 0.5, "edgecolors": edge}
        axes.scatter(places[members, 0], places[members, 1], label=shown[-1], **look)
    others = ~torch.isin(groups, largest).numpy()
    if others.any():
        axes.scatter(places[others, 0], places[others, 1], color="#B8B8B8", s=9, zorder=0, label="the rest")
        shown.append(f"{len(distinct) - len(largest)} others")
    axes.axis("off")
    return shown


def _short(name: str) -> str:
    """A group's name, as it stands in a legend: "Latin", "Greek eta"."""
    words = in_words(name).replace(" small letter", "").replace(" capital letter", "")
    words = words.capitalize() if words.isupper() else words
    return textwrap.shorten(words, 16, placeholder="…")


#: Of the bars of two and more methods.
BARS = ((style.ORANGE, "//"), (style.GREEN, ""), (style.BLUE, ".."), (style.PURPLE, "xx"), (style.SKY, "\\\\"))


def draw_severity(embeddings: Mapping[str, Tensor], labels: Tensor, levels: Sequence[str], k: int = 5) -> Figure:
    """Draw how severe mistakes are, of some networks side by side: at the first place, and at the first k.

    Embeddings (N, dim) by the network's name, at most five; labels (N, L) are paths from root to leaf, whose ``levels``
    have these names. At most 2048 queries are looked at, evenly spaced.
    """
    n_levels, kinds = len(levels), _kinds(levels)[:-1]
    figure, axes = style.figure(1, 2, width=7.2, height=3.7, sharey=True)
    width, facts = 0.8 / len(embeddings), []
    for axis, depth, title in zip(axes, (1, k), ("first result", f"first {k} results"), strict=True):
        for number, ((name, embedded), (colour, hatch)) in enumerate(zip(embeddings.items(), BARS, strict=False)):
            top = study.levels_of_top(embedded, labels, depth, limit=2048)
            shares = 100 * study.severity(top, n_levels)[:-1].flip(0)
            places = np.arange(n_levels) + (number - (len(embeddings) - 1) / 2) * width
            look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
            bars = axis.bar(places, shares.numpy(), 0.94 * width, label=name, **look)
            axis.bar_label(bars, [f"{share:.0f}" for share in shares])
            parts = ", ".join(f"{s:.1f} % {kind}" for kind, s in zip(kinds[::-1], shares, strict=True))
            facts.append(f"{title}, {name}: {shares.sum():.1f} % wrong, of which {parts}")
        axis.set_title(f"{title}: mistakes")
        axis.set_xticks(range(n_levels), [textwrap.fill(kind, 11) for kind in kinds[::-1]])
        axis.tick_params(axis="x", length=0)
        axis.margins(y=0.1)
    axes[0].set_ylabel("% of results")
    style.legend_below(figure, axes[0], 3)
    return style.describe(
        figure,
        "Bars of wrong results by what they still share with the query, from the mildest mistakes on the left to the "
        f"worst, in percent of all results. {'. '.join(facts)}.",
    )


def _kinds(levels: Sequence[str]) -> list[str]:
    """What a result of each level is called, from 0, nothing in common, to L."""
    return [f"another {levels[0]}", *(f"same {level}" for level in levels)]


def hierarchical_retrievals(
    images: Any,
    embeddings: Mapping[str, Tensor],
    labels: Tensor,
    queries: Mapping[str, int] | None = None,
    k: int = 10,
    *,
    levels: Sequence[str],
    classes: Sequence[str] | None = None,
) -> Figure:
    """Draw what some queries retrieve first, by some networks, each result marked by the level that it shares.

    Arguments as for :func:`rankedu_book.lab_retrieval.figures.before_and_after`, embeddings by the network's name,
    labels (N, L) from root to leaf. Without ``queries`` three are chosen by the H-AP of the first network and the last.
    """
    rows = {name: check(embedded, labels)[0] for name, embedded in embeddings.items()}
    networks, paths = list(rows.values()), check_paths(labels, "labels").cpu()
    n_levels = paths.shape[1]
    kinds, marks = _kinds(levels), _pictures.marks_of(n_levels)
    chosen = gaining(networks[0], networks[-1], paths, metric=study.h_ap) if queries is None else queries
    tall = 1.72 * len(rows) - 0.1
    figure, axes = style.figure(len(chosen), 1, width=7.4, height=0.55 + 0.68 * tall * len(chosen), squeeze=False)
    facts = []
    for axis, (title, query) in zip(axes[:, 0], chosen.items(), strict=True):
        _pictures.draw_query(axis, images, query, title, y=(tall - 0.9) / 2 - 0.1)
        facts.append(f"{title}, {class_of(query, paths, classes)}")
        for number, (name, embedded) in enumerate(rows.items()):
            items, shared = ranked(embedded, paths, query)
            y, shown = 1.72 * (len(rows) - 1 - number), [marks[level] for level in shared[:k].tolist()]
            value = study.h_ap_of_list(shared)
            _pictures.draw_list(axis, images, items, shown, f"{name}: H-AP {value:.2f}", x=1.6, y=y)
            facts[-1] += f"; {name} H-AP {value:.2f}, levels {shared[:k].tolist()}"
        _pictures.bare(axis, 1.6 + k, -0.42, tall - 0.35)
    handles = [
        Patch(fill=False, edgecolor=mark.colour, linestyle=mark.line, linewidth=2, label=f"{mark.sign} {kind}")
        for mark, kind in zip(reversed(marks), reversed(kinds), strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4), handlelength=1.2)
    return style.describe(
        figure,
        f"Queries, and beside each a row of the {k} pictures retrieved first for each of {', '.join(rows)}, framed by "
        f"the level that they share with the query, which a sign below tells as well: a cross is {kinds[0]}, "
        + "".join(f"{level} {kinds[level]}, " for level in range(1, n_levels))
        + f"a tick {kinds[-1]}. {'. '.join(facts)}.",
    )


def _pair() -> tuple[dict[str, Tensor], Pictures]:
    """Two networks that a short run has trained, and what they are shown.

    One seed, on letters and with a λ that were chosen because the difference shows there: an illustration, no evidence.
    The results page has networks that nobody chose, and a table over seeds.
    """
    run = characters()
    names = {"leaves alone": "Smooth-AP", "HAPPIER, λ = 0": "HAPPIER, λ = 0"}
    return {shown: run.embeddings[name] for shown, name in names.items()}, run.test


@paper_figure("HAPPIER Fig. 5")
def classes_on_a_map() -> Figure:
    """Draw characters by script and by base letter, trained shortly for their leaves alone, and along the hierarchy."""
    pair, test = _pair()
    return class_map(pair, test.labels, test.names, levels=(0, 1))


@paper_figure("HAPPIER Fig. 6")
def mistakes_on_glyphs() -> Figure:
    """Draw retrievals by level, trained for the leaves alone and along the hierarchy, for some seconds."""
    pair, test = _pair()
    rows = [check(each, test.labels)[0] for each in pair.values()]
    queries = gaining(rows[0], rows[1], test.labels, metric=study.h_ap) | study.query_that_fails(rows, test.labels)
    levels = ("script", "base letter", "character")
    return hierarchical_retrievals(test.images, pair, test.labels, queries, levels=levels, classes=test.names[-1])
