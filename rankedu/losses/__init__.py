"""Losses: the formula of a metric applied to a ranker, averaged over the queries that have a relevant item."""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.losses.average_precision import APLoss, MAPLoss, SmoothAPLoss, SupAPLoss
    from rankedu.losses.base import NoPositivesWarning
    from rankedu.losses.calibration import CalibrationLoss, ROADMAPLoss
    from rankedu.losses.clustering import ClusterLoss
    from rankedu.losses.fast_ap import FastAPLoss
    from rankedu.losses.happier import HAPPIERLoss
    from rankedu.losses.hierarchical import HAPLoss
    from rankedu.losses.margin import shift_by_margin
    from rankedu.losses.ndcg import NDCGLoss
    from rankedu.losses.on_embeddings import OnEmbeddings
    from rankedu.losses.recall import RecallAtKSurrogateLoss, RecallLoss
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "average_precision": "APLoss MAPLoss SmoothAPLoss SupAPLoss",
            "base": "NoPositivesWarning",
            "calibration": "CalibrationLoss ROADMAPLoss",
            "clustering": "ClusterLoss",
            "fast_ap": "FastAPLoss",
            "happier": "HAPPIERLoss",
            "hierarchical": "HAPLoss",
            "margin": "shift_by_margin",
            "ndcg": "NDCGLoss",
            "on_embeddings": "OnEmbeddings",
            "recall": "RecallAtKSurrogateLoss RecallLoss",
        },
    )

__all__ = [
    "APLoss",
    "CalibrationLoss",
    "ClusterLoss",
    "FastAPLoss",
    "HAPLoss",
    "HAPPIERLoss",
    "MAPLoss",
    "NDCGLoss",
    "NoPositivesWarning",
    "OnEmbeddings",
    "ROADMAPLoss",
    "RecallAtKSurrogateLoss",
    "RecallLoss",
    "SmoothAPLoss",
    "SupAPLoss",
    "shift_by_margin",
]
