"""Figures of chapter 12: every way of giving ranks a gradient, on one section of score space and on one walk.

The methods are those of :data:`rankedu.rankers.RANKERS` that have a strength to turn: a new row there is a new curve,
panel and landscape here.
"""

from __future__ import annotations

from rankedu.book.figures._ap_losses import ap_losses, ap_walk, margin_of_ap_svm, most_violated, what_each_optimises
from rankedu.book.figures._smoothings import two_smoothings
from rankedu.book.figures._surrogate_curves import measured_table, trade_offs, two_items, walks_down
from rankedu.book.figures._surrogate_landscapes import every_landscape, four_landscapes
from rankedu.book.figures._surrogate_maps import best_in_plane, draw_arrows, gradient_fields, one_walk
from rankedu.book.figures._surrogate_quality import (
    Quality,
    at,
    best_steps,
    cloud,
    descents,
    quality,
    strength_at,
    sweep,
)
from rankedu.book.figures._surrogates import BANDS, EXTENT, METHODS, NOISE, SEED, STEP, loss_of, sorter, surrogate
from rankedu.book.figures.interpolated_ranking import fitted_exponent
from rankedu.rankers.registry import SCORE_RANGE, bins_of

__all__ = [
    "BANDS",
    "EXTENT",
    "METHODS",
    "NOISE",
    "SCORE_RANGE",
    "SEED",
    "STEP",
    "Quality",
    "ap_losses",
    "ap_walk",
    "at",
    "best_in_plane",
    "best_steps",
    "bins_of",
    "cloud",
    "descents",
    "draw_arrows",
    "every_landscape",
    "fitted_exponent",
    "four_landscapes",
    "gradient_fields",
    "loss_of",
    "margin_of_ap_svm",
    "measured_table",
    "most_violated",
    "one_walk",
    "quality",
    "sorter",
    "strength_at",
    "surrogate",
    "sweep",
    "trade_offs",
    "two_items",
    "two_smoothings",
    "walks_down",
    "what_each_optimises",
]
