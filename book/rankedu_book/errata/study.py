"""Numbers of the errata page: what a text says against what its tables give, and what bins do to a list."""

import functools
from dataclasses import dataclass
from typing import Any

import torch

from rankedu_book.ch10_fastap_histograms.study import fast_ap
from rankedu_lab import CHECKOUT

#: The papers' tables as printed.
PRINTED = CHECKOUT / "book" / "data" / "printed"
#: The four scores of the perfectly ranked batch: angles in radians, two classes of two.
ANGLES = (0.0, 0.01, 0.5, 0.51)


@functools.cache
def printed(table: str) -> dict[str, Any]:
    """A printed table of the papers, such as ``"rambo_tab_7"``: columns, rows and a note."""
    import yaml

    return yaml.safe_load((PRINTED / f"{table}.yaml").read_text(encoding="utf-8"))


def row(table: str, method: str) -> dict[str, Any]:
    """The one row of a printed table that is about a method."""
    [found] = [found for found in printed(table)["rows"] if found["method"] == method]
    return dict(found)


def values(table: str, data: str, metric: str, group: str | None = None) -> dict[str, float]:
    """One column of a printed table, of all methods or of one group, without the cells that are empty.

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
#: What a part of HAPPIER is called beside its gain.
PARTS = {_SIGMOIDS: "by the surrogate", _SURROGATE: "by clustering", _WEIGHTED: "by H-AP", _TRAINED: "by ΣwAP"}
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


def perfect_list_loss(bins: int) -> float:
    """FastAP's loss of the perfectly ranked batch at `ANGLES`, the query left out.

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
