"""Rankers: modules that map scores to ranks and give the scores a gradient. A loss is a formula applied to one."""

from typing import TYPE_CHECKING

from rankedu._lazy import lazy

if TYPE_CHECKING:
    from rankedu.rankers.base import Ranker
    from rankedu.rankers.blackbox import BlackboxRanker, LongStepWarning, NoStepWarning, crossings
    from rankedu.rankers.histogram import HistogramRanker
    from rankedu.rankers.identity import IdentityRanker
    from rankedu.rankers.pairwise import PairwiseRanker
    from rankedu.rankers.sigmoid import SigmoidRanker, operating_region
    from rankedu.rankers.suggest import suggest_lam
    from rankedu.rankers.supremum import PRESETS, InfimumStep, SupremumRanker
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "base": "Ranker",
            "blackbox": "BlackboxRanker LongStepWarning NoStepWarning crossings",
            "histogram": "HistogramRanker",
            "identity": "IdentityRanker",
            "pairwise": "PairwiseRanker",
            "sigmoid": "SigmoidRanker operating_region",
            "suggest": "suggest_lam",
            "supremum": "InfimumStep PRESETS SupremumRanker",
        },
    )

__all__ = [
    "PRESETS",
    "BlackboxRanker",
    "HistogramRanker",
    "IdentityRanker",
    "InfimumStep",
    "LongStepWarning",
    "NoStepWarning",
    "PairwiseRanker",
    "Ranker",
    "SigmoidRanker",
    "SupremumRanker",
    "crossings",
    "operating_region",
    "suggest_lam",
]
