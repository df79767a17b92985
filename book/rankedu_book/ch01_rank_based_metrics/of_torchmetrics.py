"""The average precision of torchmetrics, whose import needs help beside a torch for the CPU: it imports torchvision."""

import warnings
from contextlib import suppress

from rankedu_lab.models import load_torchvision

with suppress(ImportError), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    load_torchvision("torchmetrics")

from torchmetrics.functional.retrieval import retrieval_average_precision

__all__ = ["retrieval_average_precision"]
