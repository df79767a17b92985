"""Figures of chapter 12: every way of giving ranks a gradient, on one section of score space and on one walk."""

from __future__ import annotations

from rankbook.ch12_surrogates_side_by_side.ap_losses import most_violated, what_each_optimises
from rankbook.ch12_surrogates_side_by_side.curves import LOOKS, measured_table, trade_offs, two_items, walks_down
from rankbook.ch12_surrogates_side_by_side.landscapes import every_landscape, four_landscapes
from rankbook.ch12_surrogates_side_by_side.maps import BANDS, draw_arrows, gradient_fields, one_walk
from rankbook.ch12_surrogates_side_by_side.smoothings import two_smoothings

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
