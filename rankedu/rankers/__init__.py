"""Rankers: modules that map scores to ranks and give the scores a gradient. A loss is a formula applied to one."""

from rankedu.rankers._pairwise import PairwiseRanker
from rankedu.rankers._ranker import Ranker
from rankedu.rankers.blackbox import BlackboxRanker
from rankedu.rankers.equivariance import equivariance_error
from rankedu.rankers.exact_sorter import exact_sorter, exact_sorter_temperature
from rankedu.rankers.histogram import HistogramRanker
from rankedu.rankers.lstm import LSTMRanker
from rankedu.rankers.projection import ProjectionRanker
from rankedu.rankers.registry import RANKERS, Strength, register
from rankedu.rankers.sigmoid import SigmoidRanker, operating_region
from rankedu.rankers.supremum import PRESETS, InfimumStep, SupremumRanker

__all__ = [
    "PRESETS",
    "RANKERS",
    "BlackboxRanker",
    "HistogramRanker",
    "InfimumStep",
    "LSTMRanker",
    "PairwiseRanker",
    "ProjectionRanker",
    "Ranker",
    "SigmoidRanker",
    "Strength",
    "SupremumRanker",
    "equivariance_error",
    "exact_sorter",
    "exact_sorter_temperature",
    "operating_region",
    "register",
]
