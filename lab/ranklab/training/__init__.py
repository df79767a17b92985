"""Training: batches with a few items of each class, one readable loop for each kind of network, and learned sorters."""

from ranklab.training.detection import detect, evaluate_detector, proposal_scores, train_detector
from ranklab.training.device import pick_device
from ranklab.training.recipe import Recipe
from ranklab.training.retrieval import History, evaluate, train
from ranklab.training.samplers import ClassBalancedSampler, SuperClassSampler
from ranklab.training.sorter_data import draw_scores
from ranklab.training.sorters import fit_sorter, rank_error, sorter_errors, train_sorter, trained_sorter

__all__ = ["ClassBalancedSampler", "History", "Recipe", "SuperClassSampler", "detect", "draw_scores", "evaluate"]
__all__ += ["evaluate_detector", "fit_sorter", "pick_device", "proposal_scores", "rank_error", "sorter_errors", "train"]
__all__ += ["train_detector", "train_sorter", "trained_sorter"]
