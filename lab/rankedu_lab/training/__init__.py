"""Training: batches with a few items of each class, one readable loop for each kind of network, and learned sorters."""

from rankedu_lab.training.detection import detect, evaluate_detector, proposal_scores, train_detector
from rankedu_lab.training.device import pick_device
from rankedu_lab.training.recipe import Recipe
from rankedu_lab.training.retrieval import History, evaluate, train
from rankedu_lab.training.samplers import ClassBalancedSampler, SuperClassSampler
from rankedu_lab.training.sorter_data import draw_scores
from rankedu_lab.training.sorters import fit_sorter, rank_error, sorter_errors, train_sorter, trained_sorter

__all__ = ["ClassBalancedSampler", "History", "Recipe", "SuperClassSampler", "detect", "draw_scores", "evaluate"]
__all__ += ["evaluate_detector", "fit_sorter", "pick_device", "proposal_scores", "rank_error", "sorter_errors", "train"]
__all__ += ["train_detector", "train_sorter", "trained_sorter"]
