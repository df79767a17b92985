"""Which items make a batch: a ranking loss learns nothing from a batch in which no two items share a class."""

from rankedu.training.samplers.class_balanced import ClassBalancedSampler
from rankedu.training.samplers.shared import BatchSampler
from rankedu.training.samplers.super_class import SuperClassSampler

__all__ = ["BatchSampler", "ClassBalancedSampler", "SuperClassSampler"]
