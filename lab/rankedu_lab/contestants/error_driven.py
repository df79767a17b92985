"""The error-driven AP loss: the value is average precision's, the update that of a perceptron."""

from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_number
from rankedu.losses.base import ScoreLoss, with_gradient
from rankedu.pairs import CHUNK


class ErrorDrivenAPLoss(ScoreLoss):
    r"""One minus average precision; what is sent back is the error of each pair, not a derivative (Chen et al. 2019).

    Let i be relevant, j irrelevant, and H a step that rises linearly from 0 at −δ to 1 at δ.

    .. math:: L = \frac{1}{|P|} \sum_{i \in P} \sum_{j \in N} L_{ij}, \qquad
              L_{ij} = \frac{H(y_j - y_i)}{1 + \sum_{k \ne i} H(y_k - y_i)}

    What is sent back is the learning rule of a perceptron with the input :math:`y_j - y_i` and the target 0:

    .. math:: g_j = \frac{1}{|P|} \sum_{i \in P} L_{ij} \ \text{for}\ j \in N, \qquad
              g_i = -\frac{1}{|P|} \sum_{j \in N} L_{ij} \ \text{for}\ i \in P.

    ``delta``, δ ≥ 0, is half the width of the step, in units of a score; the published 1 is for the logits of a
    detector, and at 0 H is the step itself, ½ at a tie. ``reduction`` is as in :class:`~rankedu.losses.APLoss`.

    Notes
    -----
    *What backward() gives is not the gradient of the value*, nor of any other function: it ignores the slope of H. It
    sums to 0, and it vanishes exactly where the loss does: once all relevant scores are δ above all others. O(np) time;
    the memory is that of the scores and one tile of pairs. Explained in chapter 12.
    Raises ValueError for a ``delta`` that is not a finite number ≥ 0.
    Source: RaMBO Tab. 1.

    >>> scores = torch.tensor([0.9, 0.8, 0.7, 0.1], requires_grad=True)
    >>> relevance = torch.tensor([False, True, True, False])
    >>> loss = ErrorDrivenAPLoss(delta=0.01)(scores, relevance)
    >>> round(loss.item(), 4)  # 1 - (1/2 + 2/3)/2
    0.4167
    >>> loss.backward()  # the errors: 1/2 for the second item, 1/3 for the third
    >>> scores.grad
    tensor([ 0.4167, -0.2500, -0.1667,  0.0000])
    """

    def __init__(self, delta: float = 1.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.delta = check_number(delta, "delta", least=0, hint="in units of a score: 1 for logits, 0 for none")

    def extra_repr(self) -> str:
        return f"delta={self.delta:g}"

    def values(self, scores: Tensor, relevance: Tensor, where: Tensor | None, most: int, queries: Tensor) -> Tensor:
        with torch.no_grad():
            values, update = _errors(scores, relevance, where, self.delta)
        return with_gradient(values, scores, update, where)


def _errors(scores: Tensor, positive: Tensor, where: Tensor | None, delta: float) -> tuple[Tensor, Tensor]:
    """Count, for each relevant item, what is above; then look at the pairs again, since none is stored."""
    here = torch.ones_like(positive) if where is None else where
    y = scores.masked_fill(~here, 0.0)
    query, item = positive.nonzero(as_tuple=True)
    above, negatives = y.new_empty(2, len(query))
    for tile, steps in tiles(y, here, query, item, delta):
        above[tile] = steps.sum(-1) - 0.5  # less its own H(0)
        negatives[tile] = steps.masked_fill_(positive[query[tile]], 0.0).sum(-1)
    error = negatives / (1 + above)
    weight = 1 / positive.sum(-1)[query].to(y)
    factor = weight / (1 + above)  # L_ij = H / (1 + above), times the weight
    update = torch.zeros_like(y)
    for tile, steps in tiles(y, here, query, item, delta):
        update.index_add_(0, query[tile], steps.mul_(factor[tile, None]))
    update.masked_fill_(positive, 0.0)
    update[query, item] = -weight * error
    return y.new_zeros(len(y)).index_add_(0, query, weight * error), update


def tiles(scores: Tensor, here: Tensor, query: Tensor, item: Tensor, delta: float) -> Any:
    """Yield H(y_k − y_i) for some positives i at a time and all items k of their queries; 0 outside ``here``."""
    size = max(1, CHUNK.get(scores.device.type, CHUNK["cuda"]) // scores.shape[1])
    for start in range(0, len(query), size):
        tile = slice(start, start + size)
        steps = scores[query[tile]] - scores[query[tile], item[tile]].unsqueeze(1)
        steps.nan_to_num_(0.0)  # two equal infinities tie
        if delta == 0:
            steps.sign_().mul_(0.5).add_(0.5)
        else:
            steps.div_(2 * delta).add_(0.5).clamp_(0.0, 1.0)
        yield tile, steps.mul_(here[query[tile]])
