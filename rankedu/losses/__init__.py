"""Losses: the formula of a metric applied to a ranker, averaged over the queries that have a relevant item."""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.losses.average_precision import APLoss as APLoss
    from rankedu.losses.average_precision import MAPLoss as MAPLoss
    from rankedu.losses.average_precision import SmoothAPLoss as SmoothAPLoss
    from rankedu.losses.average_precision import SupAPLoss as SupAPLoss
    from rankedu.losses.base import NoPositivesWarning as NoPositivesWarning
    from rankedu.losses.calibration import CalibrationLoss as CalibrationLoss
    from rankedu.losses.calibration import ROADMAPLoss as ROADMAPLoss
    from rankedu.losses.clustering import ClusterLoss as ClusterLoss
    from rankedu.losses.fast_ap import FastAPLoss as FastAPLoss
    from rankedu.losses.happier import HAPPIERLoss as HAPPIERLoss
    from rankedu.losses.hierarchical import HAPLoss as HAPLoss
    from rankedu.losses.margin import shift_by_margin as shift_by_margin
    from rankedu.losses.ndcg import NDCGLoss as NDCGLoss
    from rankedu.losses.on_embeddings import OnEmbeddings as OnEmbeddings
    from rankedu.losses.recall import RecallAtKSurrogateLoss as RecallAtKSurrogateLoss
    from rankedu.losses.recall import RecallLoss as RecallLoss
else:
    __getattr__, __dir__, __all__ = lazy(__spec__)
