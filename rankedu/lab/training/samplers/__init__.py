"""Which items make a batch: a ranking loss learns nothing from a batch in which no two items share a class."""

from rankedu.lab.training.samplers.class_balanced import ClassBalancedSampler
from rankedu.lab.training.samplers.shared import BatchSampler
from rankedu.lab.training.samplers.super_class import SuperClassSampler

__all__ = ["BatchSampler", "ClassBalancedSampler", "SuperClassSampler"]
