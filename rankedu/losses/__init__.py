"""Losses: the formula of a metric applied to a ranker, averaged over the queries that have a positive."""

from rankedu.losses._loss import NoPositivesWarning
from rankedu.losses.average_precision import APLoss, MAPLoss
from rankedu.losses.margin import shift_by_margin
from rankedu.losses.on_embeddings import OnEmbeddings
from rankedu.losses.recall import RecallLoss

__all__ = ["APLoss", "MAPLoss", "NoPositivesWarning", "OnEmbeddings", "RecallLoss", "shift_by_margin"]
