"""Figures of the retrieval experiments: what queries retrieve before and after training, and how a run went."""

import functools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankedu_book.kit import pictures as _pictures
from rankedu_book.kit import style
from rankedu_book.kit.figures import paper_figure
from rankedu_book.kit.pictures import IRRELEVANT, QUERY, RELEVANT
from rankedu_book.kit.ranks import Array
from rankedu_book.kit.short_runs import ShortRuns, characters, letters
from rankedu_book.lab_retrieval.study import check, choose_queries, class_of, gaining, pr_curve, ranked, spread, values

#: How the two networks are drawn.
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": style.ORANGE, "linestyle": "--"},
    {"color": style.GREEN, "linestyle": "-"},
)


def _draw_curve(axes: Axes, relevant: Tensor, look: Mapping[str, Any], name: str) -> float:
    """Draw the curve of a list from first to last; returns the area under it, the average precision."""
    recall, precision = pr_curve(relevant)
    axes.step([0, *recall.tolist()], [precision[0], *precision.tolist()], where="pre", label=name, **look)
    return float(precision.mean())


def _curve_axes(axes: Axes) -> None:
    ticks, names = [0, 0.5, 1], ["0", "½", "1"]
    axes.set(xlim=(0, 1), ylim=(0, 1.04), ylabel="precision")
    axes.set(xticks=ticks, xticklabels=names, yticks=ticks, yticklabels=names)


def before_and_after(
    images: Any,
    embeddings_before: Tensor,
    embeddings_after: Tensor,
    labels: Tensor,
    queries: Mapping[str, int] | None = None,
    k: int = 8,
    *,
    names: tuple[str, str] = ("before", "after"),
    classes: Sequence[str] | None = None,
    candidates: Tensor | None = None,
) -> Figure:
    """Draw what some queries retrieve first, by two networks, and the precision-recall curves of both.

    ``images`` is a tensor (N, H, W) or (N, 3, H, W), or a data set of files with ``load(index)``; of embeddings
    (N, dim) the cosines count, of labels (N,) or (N, L) the last column is the class. Without ``queries``, indices with
    a name each, three are chosen among 256 by their average precision. ``candidates``, bool (N,), says what may be
    retrieved where queries and gallery are apart. Items that tie with a positive stand before it.
    """
    before, paths = check(embeddings_before, labels, name="embeddings_before")
    after, _ = check(embeddings_after, labels, name="embeddings_after")
    chosen = gaining(before, after, paths, candidates) if queries is None else queries
    shape: dict[str, Any] = {"height": 0.5 + 1.95 * len(chosen), "width_ratios": (2.8, 1), "squeeze": False}
    figure, axes = style.figure(len(chosen), 2, width=7.4, **shape)
    facts = []
    for (left, right), (title, query) in zip(axes, chosen.items(), strict=True):
        _pictures.draw_query(left, images, query, title, y=1.2)
        aps = []
        for name, embedded, look, y in zip(names, (before, after), LOOKS, (1.85, 0.0), strict=True):
            items, levels = ranked(embedded, paths, query, candidates)
            relevant = levels == paths.shape[1]
            ap = _draw_curve(right, relevant, look, name)
            marks = [RELEVANT if hit else IRRELEVANT for hit in relevant[:k]]
            _pictures.draw_list(left, images, items, marks, f"{name}: AP {ap:.2f}", x=1.75, y=y)
            aps.append(f"{name} {int(relevant[:k].sum())} of the first {k} are right, AP {ap:.2f}")
        _pictures.bare(left, 1.75 + k, -0.42, 3.15)
        _curve_axes(right)
        facts.append(f"{title}, {class_of(query, paths, classes)}: {'; '.join(aps)}")
    right.set_xlabel("recall")
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return style.describe(
        figure,
        f"A query in each of {len(chosen)} parts, and beside it two rows of the {k} pictures that are retrieved first, "
        f"by the network {names[0]} and the one {names[1]}. A solid blue frame and a tick is an item of the query's "
        "class, a dashed red frame and a cross is another. On the right the precision-recall curves of both lists, "
        f"{names[0]} dashed and {names[1]} solid. {'. '.join(facts)}.",
    )


def curves(
    runs: Mapping[str, Sequence[Mapping[str, Any]]] | Sequence[Mapping[str, Any]], metric: str = "R@1"
) -> Figure:
    """Draw the loss of every step, and a metric wherever it was evaluated, of one run or of several by name.

    A row has "step", and "loss", the metric or both. The thick line is a running mean of a twentieth of the run.
    """
    named = runs if isinstance(runs, Mapping) else {"": runs}
    measured = any(_series(rows, metric).size for rows in named.values())
    figure, axes = style.figure(1, 1 + measured, width=7.0 if measured else 5.0, height=3.3, squeeze=False)
    facts = []
    for (name, look), rows in zip(style.looks(named).items(), named.values(), strict=True):
        (steps, losses), (at, found) = _series(rows, "loss"), _series(rows, metric)
        if not len(steps):
            facts.append(f"{name or 'loss'}: no step was taken")
            continue
        width = max(1, len(losses) // 20)
        total = np.convolve(losses, np.ones(width))[: len(losses)]  # of each and those before it
        smooth = total / np.minimum(np.arange(1, len(losses) + 1), width)
        axes[0, 0].plot(steps, losses, color=look["color"], linewidth=0.7, alpha=0.35)
        axes[0, 0].plot(steps, smooth, label=name, **look | {"marker": ""})
        facts.append(f"{name or 'loss'}: from {smooth[0]:.3f} to {smooth[-1]:.3f} in {steps[-1]:g} steps")
        if len(at):
            axes[0, 1].plot(at, found, markersize=5, clip_on=False, **look)
            facts[-1] += f", {metric} {found[-1]:.3f} at the end and {found.max():.3f} at best"
    axes[0, 0].set(xlabel="step", title="loss")
    if measured:
        axes[0, 1].set(xlabel="step", title=metric, xlim=axes[0, 0].get_xlim(), ylim=(0, None))
    if len(named) > 1:
        style.legend_below(figure, axes[0, 0], 3)
    return style.describe(
        figure, f"The loss{f' and {metric}' if measured else ''} against the step of training. {'. '.join(facts)}."
    )


def _series(rows: Sequence[Mapping[str, Any]], name: str) -> Array:
    """The steps at which a column has a number, and the numbers, which may be strings; shape (2, numbers)."""
    given = [(float(row["step"]), float(row[name])) for row in rows if row.get(name) not in (None, "")]
    table = np.array(given).reshape(-1, 2).T
    return table[:, ~np.isnan(table[1])]


def _of_run(run: ShortRuns, names: tuple[str, str], queries: dict[str, int] | None = None) -> Figure:
    """Draw what two of the networks of a short run retrieve."""
    before, after = (run.embeddings[name] for name in names)
    test = run.test
    return before_and_after(test.images, before, after, test.labels, queries, names=names, classes=test.names[-1])


@paper_figure("RaMBO Fig. 4")
def glyphs_by_rambo() -> Figure:
    """Draw retrievals of glyphs by a random network, and by one that RaMBO has trained for some seconds."""
    return _of_run(characters(), ("start", "RaMBO"))


@functools.cache
def letter_queries() -> dict[str, int]:
    """Queries of letters with two hundred positives at least, chosen by what Smooth-AP adds to the softmax."""
    run = letters()
    sizes = run.test.labels[:, 0].bincount()[run.test.labels[:, 0]]
    asked = spread((sizes > 200).nonzero()[:, 0])
    pair = (check(run.embeddings[name], run.test.labels) for name in ("softmax", "softmax + Smooth-AP"))
    before, after = (values(embedded, paths, asked) for embedded, paths in pair)
    return choose_queries(before, after, asked)


def _letter_page(choice: str, baseline: str, k: int = 79, columns: int = 20) -> Figure:
    """Draw what a query retrieves first without and with Smooth-AP, both curves, and how soon positives come."""
    run, query, names = letters(), letter_queries()[choice], (baseline, f"{baseline} + Smooth-AP")
    rows = math.ceil((k + 1) / columns)
    figure, whole = style.figure(width=7.4, height=2.6 + 0.76 * rows)
    whole.remove()
    parts = figure.subplot_mosaic([[names[0]] * 2, [names[1]] * 2, ["curve", "found"]], height_ratios=(rows, rows, 4.6))
    curve, found, facts = parts["curve"], parts["found"], []
    for name, look in zip(names, LOOKS, strict=True):
        items, levels = ranked(*check(run.embeddings[name], run.test.labels), query)
        relevant = levels == 1
        right, ranks = int(relevant[:k].sum()), relevant.nonzero()[:, 0].numpy() + 1
        _draw_page(parts[name], run.test.images, [query, *items[:k].tolist()], relevant[:k], columns)
        ap = _draw_curve(curve, relevant, look, name)
        parts[name].set_title(f"{name}: AP {ap:.3f}, {right} of {k} right")
        best = np.arange(1, len(ranks) + 1)
        found.step(ranks, best / len(ranks), where="post", **look)
        facts.append(
            f"{name}: AP {ap:.3f}, {right} of the first {k} are right, and half of all {len(ranks)} positives stand at "
            f"rank {statistics.median(ranks.tolist()):g} or before"
        )
    _curve_axes(curve)
    curve.set_xlabel("recall")
    curve.legend(loc="lower left")
    found.plot(best, best / len(ranks), ":", color=style.GREY)
    found.set(xscale="log", xlim=(1, len(items) + 1), ylim=(0, 1.04), xlabel="rank", ylabel=f"found of {len(ranks)}")
    found.xaxis.set_major_formatter("{x:g}")
    found.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    return style.describe(
        figure,
        "Two pages of small pictures. The first of each, framed in black, is the query, "
        f"{class_of(query, run.test.labels, run.test.names[-1])}; then follow the {k} that are retrieved first, row by "
        f"row, framed solid blue if of its class, else dashed red with a cross. {'. '.join(facts)}. "
        "Below, the two precision-recall curves, and the share of positives found up to each rank, on a logarithmic "
        "axis, with a dotted line for the best that can be.",
    )


def _draw_page(axes: Axes, images: Any, items: list[int], relevant: Tensor, columns: int) -> None:
    """Draw the query and what it retrieves, row by row."""
    marks = [QUERY, *(RELEVANT if hit else IRRELEVANT for hit in relevant)]
    starts = range(0, len(items), columns)
    for row, start in enumerate(starts):
        part = slice(start, start + columns)
        _pictures.draw_row(axes, images, items[part], marks[part], y=-float(row), signs="inside")
    _pictures.bare(axes, columns, 0.94 - len(starts), 0.94)


@paper_figure("Smooth-AP supp. Fig. S1")
def most_improved_page() -> Figure:
    """Draw the query that gains most when Smooth-AP is appended to a softmax."""
    return _letter_page("most improved", "softmax")


@paper_figure("Smooth-AP supp. Fig. S2")
def typical_page() -> Figure:
    """Draw the query that gains as much as half of the others do."""
    return _letter_page("typical", "softmax")


@paper_figure("Smooth-AP supp. Fig. S3")
def worst_page() -> Figure:
    """Draw the query that gains least, or loses most. (The printed one gains.)"""
    return _letter_page("worst", "softmax")


@paper_figure("Smooth-AP supp. Fig. S4")
def worst_page_of_another_baseline() -> Figure:
    """Draw the same query, by another baseline: one proxy a class."""
    return _letter_page("worst", "proxies")


@paper_figure("Smooth-AP supp. Fig. S5")
def small_classes() -> Figure:
    """Draw four queries with few positives: characters, of which there are seven to eleven other pictures."""
    run = characters()
    rows, paths = zip(*(check(run.embeddings[name], run.test.labels) for name in ("start", "Smooth-AP")), strict=True)
    asked = spread(torch.arange(len(run.test.labels)))
    before, after = (values(each, paths[0], asked) for each in rows)
    by_gain = asked[(after - before).argsort(descending=True, stable=True)]
    shares = {"most improved": 0.0, "upper third": 1 / 3, "lower third": 2 / 3, "worst": 1.0}
    queries = {name: int(by_gain[round(share * (len(by_gain) - 1))]) for name, share in shares.items()}
    return _of_run(run, ("start", "Smooth-AP"), queries)


@paper_figure("Smooth-AP supp. Fig. S6")
def large_and_small_classes() -> Figure:
    """Draw three queries whose classes are of very different size: letters with all their marks."""
    run = letters()
    sizes = run.test.labels[:, 0].bincount()
    order = sizes.argsort(descending=True, stable=True)
    queries = {}
    for letter in (order[0], order[len(order) // 2], order[-1]):
        members = (run.test.labels[:, 0] == letter).nonzero()[:, 0]
        queries[f"|P| = {len(members) - 1}"] = int(members[len(members) // 2])
    return _of_run(run, ("start", "softmax + Smooth-AP"), queries)
