"""What the library is compared with: losses and rankers that the chapters, the labs and the speed tables set beside it.

Importing it adds its rankers to the table `rankedu.rankers.RANKERS`.
"""

from rankedu.rankers.registry import RANKERS, Strength, register
from ranklab.contestants.ap_svm import APSVMLoss, most_violated_ranking
from ranklab.contestants.baselines import baseline, baseline_names, baseline_settings, describe_baseline
from ranklab.contestants.error_driven import ErrorDrivenAPLoss
from ranklab.contestants.exact_sorter import exact_sorter, exact_sorter_temperature
from ranklab.contestants.lstm import LSTMRanker, equivariance_error
from ranklab.contestants.over_levels import SumOverLevels
from ranklab.contestants.projection import ProjectionRanker
from ranklab.contestants.soap import SOAPLoss

__all__ = ["APSVMLoss", "ErrorDrivenAPLoss", "LSTMRanker", "ProjectionRanker", "SOAPLoss", "SumOverLevels", "baseline"]
__all__ += ["baseline_names", "baseline_settings", "describe_baseline", "equivariance_error", "exact_sorter"]
__all__ += ["exact_sorter_temperature", "most_violated_ranking"]

register("projection", ProjectionRanker, Strength("ε", 1e-4, 0.1, 30.0, ProjectionRanker))
register(
    "LSTM",
    LSTMRanker,
    example=lambda n: LSTMRanker(n).double(),
    breaks={
        "order": "a network may err",
        "sum": "its ranks are independent outputs",
        "reordering": "it reads a list from both ends",
        "shift": "nobody told it that only differences count",
        "where": "it is made for lists of one length",
    },
)
RANKERS["supremum"] = RANKERS.pop("supremum")  # the last in the book's order
