"""Rankers: modules that map scores to ranks and give the scores a gradient. A loss is a formula applied to one."""

from rankedu.rankers._pairwise import PairwiseRanker
from rankedu.rankers.base import Ranker
from rankedu.rankers.blackbox import BlackboxRanker
from rankedu.rankers.histogram import HistogramRanker
from rankedu.rankers.registry import RANKERS, Strength, register
from rankedu.rankers.sigmoid import SigmoidRanker, operating_region
from rankedu.rankers.supremum import PRESETS, InfimumStep, SupremumRanker

__all__ = [
    "PRESETS",
    "RANKERS",
    "BlackboxRanker",
    "HistogramRanker",
    "InfimumStep",
    "PairwiseRanker",
    "Ranker",
    "SigmoidRanker",
    "Strength",
    "SupremumRanker",
    "operating_region",
    "register",
]
