"""Losses and rankers that chapters, labs and tables of speed compare with those of the library."""

from ranklab.contestants.ap_svm import APSVMLoss, most_violated_ranking
from ranklab.contestants.baselines import baseline, baseline_names, baseline_settings, describe_baseline
from ranklab.contestants.csl import CSLLoss
from ranklab.contestants.error_driven import ErrorDrivenAPLoss
from ranklab.contestants.exact_sorter import exact_sorter, exact_sorter_temperature
from ranklab.contestants.lstm import LSTMRanker, equivariance_error
from ranklab.contestants.over_levels import SumOverLevels
from ranklab.contestants.projection import ProjectionRanker
from ranklab.contestants.soap import SOAPLoss
from ranklab.contestants.spearman import SpearmanLoss

__all__ = [
    "APSVMLoss",
    "CSLLoss",
    "ErrorDrivenAPLoss",
    "LSTMRanker",
    "ProjectionRanker",
    "SOAPLoss",
    "SpearmanLoss",
    "SumOverLevels",
    "baseline",
    "baseline_names",
    "baseline_settings",
    "describe_baseline",
    "equivariance_error",
    "exact_sorter",
    "exact_sorter_temperature",
    "most_violated_ranking",
]
