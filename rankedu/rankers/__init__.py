"""Rankers: modules that map scores to ranks and give the scores a gradient. A loss is a formula applied to one."""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.rankers.base import Ranker as Ranker
    from rankedu.rankers.blackbox import BlackboxRanker as BlackboxRanker
    from rankedu.rankers.blackbox import LongStepWarning as LongStepWarning
    from rankedu.rankers.blackbox import NoStepWarning as NoStepWarning
    from rankedu.rankers.histogram import HistogramRanker as HistogramRanker
    from rankedu.rankers.identity import IdentityRanker as IdentityRanker
    from rankedu.rankers.pairwise import PairwiseRanker as PairwiseRanker
    from rankedu.rankers.sigmoid import SigmoidRanker as SigmoidRanker
    from rankedu.rankers.sigmoid import operating_region as operating_region
    from rankedu.rankers.supremum import PRESETS as PRESETS
    from rankedu.rankers.supremum import InfimumStep as InfimumStep
    from rankedu.rankers.supremum import SupremumRanker as SupremumRanker
else:
    __getattr__, __dir__, __all__ = lazy(__spec__)
