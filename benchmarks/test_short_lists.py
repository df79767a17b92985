"""What is made for long lists does not make short ones slow: forward and backward at n = 10.

The goals stand in `goals.py`. The readable definition runs under the same checks, in the same losses.
"""

from unittest.mock import patch

import pytest
import torch

from rankedu import rank, ranks
from rankedu.losses import APLoss, RecallLoss, SmoothAPLoss, SupAPLoss
from rankedu.rankers import BlackboxRanker
from rankedu.rankers._ranker import Ranker

TIMES = 300
WORK = {
    "ap": lambda: APLoss(BlackboxRanker(4.0), margin=0.1),
    "recall": lambda: RecallLoss(BlackboxRanker(4.0), margin=0.1),
    "smooth ap": SmoothAPLoss,
    "sup ap": SupAPLoss,
    "rank": None,
}


@pytest.mark.parametrize("name", WORK)
def test_ten_items(interleaved, step, name):
    scores = torch.rand(10, generator=torch.Generator().manual_seed(0)).requires_grad_()
    relevance = torch.arange(10) % 3 == 0
    if name == "rank":

        def once():
            return rank(scores)

        def definition():
            with patch.object(ranks, "MANY", 1 << 40):
                once()

    else:
        loss = WORK[name]()
        once = step(lambda s: loss(s, relevance), scores)

        def definition():
            with patch.object(type(loss.ranker), "loss_of_positives", Ranker.loss_of_positives):
                once()

    interleaved(
        lambda: [once() for _ in range(TIMES)],
        {"the readable definition": lambda: [definition() for _ in range(TIMES)]},
        7,
    )
