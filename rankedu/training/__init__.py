"""Training: batches with a few items of each class, one readable loop, and the experiments that use it."""

from rankedu.training.retrieval import History, evaluate, train
from rankedu.training.samplers import ClassBalancedSampler

__all__ = ["ClassBalancedSampler", "History", "evaluate", "train"]
