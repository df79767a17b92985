"""Numbers and figures of the errata page: what a text says against what its tables give, and what bins do to a list."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

import rankedu
from rankedu.book.figures import style
from rankedu.book.figures.fastap_histograms import fast_ap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["GAINS", "Gain", "bins_of_a_perfect_list", "gains", "printed", "row", "values"]

#: The papers' tables as printed.
PRINTED = Path(rankedu.__file__).resolve().parents[1] / "book" / "data" / "printed"
#: The four scores of the perfectly ranked batch: angles in radians, two classes of two.
ANGLES = (0.0, 0.01, 0.5, 0.51)


@functools.cache
def printed(table: str) -> dict[str, Any]:
    """A printed table of the papers, such as ``"rambo_tab_7"``: columns, rows and a note.

    Examples
    --------
    >>> printed("rambo_tab_8")["source"]
    'RaMBO Tab. 8'
    """
    import yaml

    found: dict[str, Any] = yaml.safe_load((PRINTED / f"{table}.yaml").read_text(encoding="utf-8"))
    return found


def row(table: str, method: str) -> dict[str, Any]:
    """The one row of a printed table that is about a method."""
    [found] = [found for found in printed(table)["rows"] if found["method"] == method]
    return dict(found)


def values(table: str, data: str, metric: str, group: str | None = None) -> dict[str, float]:
    """One column of a printed table, of all methods or of one group, without the cells that are empty.

    Examples
    --------
    >>> values("rambo_tab_5", "R50, 07", "AP50")
    {'Cross entropy': 74.2, 'RaMBO': 75.7}
    """
    whole = printed(table)
    at = [(heading, name) for heading, names in whole["columns"].items() for name in names].index((data, metric))
    rows = [found for found in whole["rows"] if group is None or found.get("group") == group]
    return {found["method"]: found["values"][at] for found in rows if found["values"][at] is not None}


@dataclass(frozen=True)
class Gain:
    """A gain of HAPPIER that its text quotes, and where the table has it."""

    text: float  #: as printed in the text
    table: str
    data: str
    metric: str
    over: str  #: a group, of which the best counts, or a method
    ours: str = "HAPPIER"

    @property
    def given(self) -> float:
        """The difference of the two printed numbers."""
        column = values(self.table, self.data, self.metric)
        group = values(self.table, self.data, self.metric, self.over)
        group.pop(self.ours, None)
        return round(column[self.ours] - (max(group.values()) if group else column[self.over]), 1)

    @property
    def reach(self) -> float:
        """How far text and table may lie apart by rounding: 0.05 for each of the table's numbers, and half a unit."""
        return 0.1 + (0.5 if float(self.text).is_integer() else 0.05)

    @property
    def verdict(self) -> str:
        """How the text's number may have come about: "same", "rounded", "cut" to whole points, or "differs"."""
        if self.text == self.given:
            return "same"
        if round(100 * abs(self.text - self.given)) < round(100 * self.reach):
            return "rounded"
        return "cut" if self.text == int(self.given) else "differs"

    def __str__(self) -> str:
        against = {"fine": "the best fine-grained", "hierarchical": "the best hierarchical"}.get(self.over, self.over)
        return f"{self.metric} on {self.data}, over {against}"


_FINE, _TREE, _CSL = "fine", "hierarchical", "CSL"
_SIGMOIDS, _SURROGATE = "sigmoids, without clustering", "the surrogate, without clustering"
_TRAINED, _WEIGHTED = "trained with H-AP", "trained with ΣwAP"
#: Every gain in the text of HAPPIER's Sec. 4.2 and 4.3 that can be looked up in one of its tables.
GAINS = (
    Gain(16.1, "happier_tab_1", "Online Products", "H-AP", _FINE),
    Gain(13.0, "happier_tab_1", "iNat-base", "H-AP", _FINE),
    Gain(12.7, "happier_tab_1", "iNat-full", "H-AP", _FINE),
    Gain(6.3, "happier_tab_1", "Online Products", "H-AP", _TREE),
    Gain(4.2, "happier_tab_1", "iNat-base", "H-AP", _TREE),
    Gain(6.0, "happier_tab_1", "Online Products", "H-AP", _CSL),
    Gain(8.0, "happier_tab_1", "Online Products", "ASI", _CSL),
    Gain(2.6, "happier_tab_1", "Online Products", "NDCG", _CSL),
    Gain(9.0, "happier_tab_2", "DyML-Vehicle", "mAP", _FINE),
    Gain(10.0, "happier_tab_2", "DyML-Vehicle", "ASI", _FINE),
    Gain(4.8, "happier_tab_2", "DyML-Vehicle", "mAP", _TREE),
    Gain(0.9, "happier_tab_2", "DyML-Animal", "mAP", _TREE),
    Gain(1.8, "happier_tab_2", "DyML-Product", "mAP", _TREE),
    Gain(43.9, "happier_tab_3", "Online Products", "AP coarse", _FINE),
    Gain(5.0, "happier_tab_4", "iNat-full", "AP species", _CSL),
    Gain(3.0, "happier_tab_4", "iNat-full", "AP kingdom", _CSL),
    Gain(0.8, "happier_tab_5", "iNat-base", "H-AP", _SIGMOIDS, _SURROGATE),
    Gain(1.3, "happier_tab_5", "iNat-base", "H-AP", _SURROGATE, "the surrogate and clustering (HAPPIER)"),
    Gain(1.1, "happier_tab_6", "iNat-base", "H-AP", _WEIGHTED, _TRAINED),
    Gain(0.7, "happier_tab_6", "iNat-base", "ΣwAP", _TRAINED, _WEIGHTED),
)


#: Colour and marker of a verdict.
LOOKS = {
    "same": (style.BLACK, "o"),
    "rounded": (style.POSITIVE, "o"),
    "cut": (style.ORANGE, "s"),
    "differs": (style.RED, "D"),
}


@style.style()
def gains() -> Figure:
    """How far each gain in HAPPIER's text lies from that of its table, and how far rounding reaches."""
    figure, axes = style.figure(width=7.0, height=4.4)
    for verdict, (colour, marker) in LOOKS.items():
        axes.plot([], [], marker, color=colour, label=verdict)
    axes.legend(loc="lower right")
    for at, gain in enumerate(GAINS):
        colour, marker = LOOKS[gain.verdict]
        axes.barh(len(GAINS) - at, 2 * gain.reach, 0.7, left=-gain.reach, color="#DDDDDD", edgecolor="none")
        axes.plot(gain.text - gain.given, len(GAINS) - at, marker, color=colour)
    axes.set_yticks(range(len(GAINS), 0, -1), [_short(gain) for gain in GAINS], fontsize=7)
    axes.set_xlabel("gain in the text − gain in the table, in points")
    counts = {verdict: sum(gain.verdict == verdict for gain in GAINS) for verdict in LOOKS}
    far = [gain for gain in GAINS if gain.verdict == "differs"]
    named = "; ".join(f"{gain}: {gain.text:g} in the text, {gain.given:g} in the table" for gain in far)
    style.describe(
        figure,
        f"{len(GAINS)} gains that the text of HAPPIER quotes, less those of its tables. {counts['same']} are the same, "
        f"{counts['rounded']} may be rounded, {counts['cut']} are cut to whole points, {counts['differs']} differ: "
        f"{named}.",
    )
    return figure


def _short(gain: Gain) -> str:
    """A label for an axis."""
    part = {_SIGMOIDS: "by the surrogate", _SURROGATE: "by clustering", _WEIGHTED: "by H-AP", _TRAINED: "by ΣwAP"}
    return f"{gain.data}, {gain.metric}, {part.get(gain.over, f'over {gain.over}')}"


def perfect_list_loss(bins: int) -> float:
    """FastAP's loss of the perfectly ranked batch at `ANGLES`, the query left out.

    Examples
    --------
    >>> round(perfect_list_loss(5), 3)
    0.581
    """
    angles = torch.tensor(ANGLES, dtype=torch.float64)
    embeddings = torch.stack([angles.cos(), angles.sin()], 1)
    labels = torch.tensor([0, 0, 1, 1])
    others = ~torch.eye(4, dtype=torch.bool)
    scores = (embeddings @ embeddings.T)[others].view(4, 3)
    same = (labels[:, None] == labels)[others].view(4, 3)
    return float(1 - fast_ap(scores, same, bins).mean())


@style.style()
def bins_of_a_perfect_list(bins: Sequence[int] = tuple(range(2, 41))) -> Figure:
    """The loss of a perfectly ranked batch by the number of FastAP's bins."""
    figure, axes = style.figure(width=5.6, height=2.8)
    losses = [perfect_list_loss(count) for count in bins]
    axes.plot(bins, losses, "o-", color=style.POSITIVE, markersize=3, label="FastAP")
    axes.axhline(0, color=style.BLACK, linewidth=0.8, label="1 − AP")
    axes.set_xlabel("bins")
    axes.set_ylabel("loss of a perfect ranking")
    axes.legend()
    told = ", ".join(f"{perfect_list_loss(count):.3f} with {count}" for count in (5, 10, 20, 40))
    style.describe(
        figure, f"FastAP's loss of a perfectly ranked batch, which should be 0, falls with the bins: {told}."
    )
    return figure
