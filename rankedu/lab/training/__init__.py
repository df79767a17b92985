"""Training: batches with a few items of each class, one readable loop for each kind of network, and learned sorters."""

from rankedu.lab.training.detection import detect, evaluate_detector, proposal_scores, train_detector
from rankedu.lab.training.device import pick_device
from rankedu.lab.training.recipe import Recipe
from rankedu.lab.training.retrieval import History, evaluate, train
from rankedu.lab.training.samplers import ClassBalancedSampler, SuperClassSampler
from rankedu.lab.training.sorter_cache import trained_sorter
from rankedu.lab.training.sorter_data import draw_scores
from rankedu.lab.training.sorters import fit_sorter, rank_error, sorter_errors, train_sorter

__all__ = [
    "ClassBalancedSampler",
    "History",
    "Recipe",
    "SuperClassSampler",
    "detect",
    "draw_scores",
    "evaluate",
    "evaluate_detector",
    "fit_sorter",
    "pick_device",
    "proposal_scores",
    "rank_error",
    "sorter_errors",
    "train",
    "train_detector",
    "train_sorter",
    "trained_sorter",
]
