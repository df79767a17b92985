"""Figures of chapter 12: every way of giving ranks a gradient, on one section of score space and on one walk.

The methods are those of :data:`rankedu.rankers.RANKERS` that have a strength to turn: a new row there is a new curve,
panel and landscape here.
"""

from __future__ import annotations

from rankedu.book.figures._ap_losses import most_violated, what_each_optimises
from rankedu.book.figures._smoothings import two_smoothings
from rankedu.book.figures._surrogate_curves import LOOKS, measured_table, trade_offs, two_items, walks_down
from rankedu.book.figures._surrogate_landscapes import every_landscape, four_landscapes
from rankedu.book.figures._surrogate_maps import BANDS, draw_arrows, gradient_fields, one_walk

__all__ = [
    "BANDS",
    "LOOKS",
    "draw_arrows",
    "every_landscape",
    "four_landscapes",
    "gradient_fields",
    "measured_table",
    "most_violated",
    "one_walk",
    "trade_offs",
    "two_items",
    "two_smoothings",
    "walks_down",
    "what_each_optimises",
]
