"""Losses and rankers that chapters, labs and tables of speed compare with those of the library."""

from rankedu_lab.contestants.ap_svm import APSVMLoss, most_violated_ranking
from rankedu_lab.contestants.baselines import baseline, baseline_names, baseline_settings, describe_baseline
from rankedu_lab.contestants.csl import CSLLoss
from rankedu_lab.contestants.error_driven import ErrorDrivenAPLoss
from rankedu_lab.contestants.exact_sorter import exact_sorter, exact_sorter_temperature
from rankedu_lab.contestants.lstm import LSTMRanker, equivariance_error
from rankedu_lab.contestants.over_levels import SumOverLevels
from rankedu_lab.contestants.projection import ProjectionRanker
from rankedu_lab.contestants.soap import SOAPLoss
from rankedu_lab.contestants.spearman import SpearmanLoss

__all__ = ["APSVMLoss", "CSLLoss", "ErrorDrivenAPLoss", "LSTMRanker", "ProjectionRanker", "SOAPLoss", "SpearmanLoss"]
__all__ += ["SumOverLevels", "baseline", "baseline_names", "baseline_settings", "describe_baseline"]
__all__ += ["equivariance_error", "exact_sorter", "exact_sorter_temperature", "most_violated_ranking"]
