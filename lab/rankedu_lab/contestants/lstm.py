"""The ranker of SoDeep: a network that has learned to sort lists of one length; and how much a list's order matters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.checks import check_choice, check_count, check_finite, check_values
from rankedu.rankers.base import Ranker, wide

#: Architecture → hidden size and layers that sort lists of 20 well after a minute of training on one core.
ARCHITECTURES: dict[str, tuple[int, int]] = {"lstm": (32, 2), "gru": (32, 2), "conv": (64, 4), "mlp": (256, 2)}


class LSTMRanker(Ranker):
    r"""Rank by a network whose weights θ are learned.

    .. math:: \mathbf{rk}_\theta(\mathbf{y}) = n \, g_\theta(\mathbf{y})

    A new one is untrained and its ranks mean nothing: :func:`rankedu_lab.training.train_sorter` makes one that sorts,
    :func:`rankedu_lab.training.trained_sorter` keeps it.

    ``n`` ≥ 2 is the length of the lists, to which the last layer ties the network. The ``architecture`` reads the list:
    "lstm" or "gru", recurrent in both directions, "conv", convolutions of growing reach, or "mlp", dense layers;
    ``hidden`` and ``layers`` are its sizes, by default those of `ARCHITECTURES`.

    Notes
    -----
    O(n h² + n² h) for each row and hidden size h. Nothing is guaranteed, neither ranks in [1, n], nor their sum, nor
    equal ranks for equal scores, nor that the items may be reordered (:func:`equivariance_error`). Outside of the range
    of its training, [-1, 1] and standard normal scores, the error grows without bound. The network has no way to leave
    an item out, so losses that rank within the relevant items cannot take it. Explained in chapter 11. Raises
    ValueError for an unknown architecture, n < 2, or a size < 1, when called also for another length, an item left out,
    another device, or an infinity; TypeError for a size that is not an int.
    Source: RaMBO Tab. 1.

    >>> ranker = LSTMRanker(4)
    >>> scores = torch.tensor([[0.9, 0.1, 0.5, -0.3]], requires_grad=True)
    >>> ranker(scores).shape
    torch.Size([1, 4])
    """

    def __init__(
        self, n: int, architecture: str = "lstm", *, hidden: int | None = None, layers: int | None = None
    ) -> None:
        super().__init__()
        check_choice(architecture, tuple(ARCHITECTURES), name="architecture")
        usual = ARCHITECTURES[architecture]
        self.n = check_count(n, "n", least=2)
        self.architecture = architecture
        self.hidden = check_count(usual[0] if hidden is None else hidden, "hidden")
        self.layers = check_count(usual[1] if layers is None else layers, "layers")
        self.body, features = _body(architecture, self.n, self.hidden, self.layers)
        self.head = nn.Linear(features, self.n)

    def extra_repr(self) -> str:
        return f"n={self.n}, architecture={self.architecture!r}, hidden={self.hidden}, layers={self.layers}"

    def _ranks(self, scores: Tensor, members: Tensor | None, where: Tensor | None) -> Tensor:
        if members is not None and not members.all():
            raise ValueError(
                f"where and members must be all True, for a learned sorter ranks lists of exactly n={self.n} items, "
                f"got {int((~members).sum())} of {members.numel()} left out (losses of the ranks alone, as "
                "SpearmanLoss, need no such thing; where p items remain in each row, give them to train_sorter(p); "
                "or take SigmoidRanker)"
            )
        length, device = scores.shape[-1], self.head.weight.device
        if length != self.n:
            raise ValueError(
                f"scores must have {self.n} items in a row, the length that this sorter is made for, got "
                f"{tuple(scores.shape)} (train one for that length: rankedu_lab.training.train_sorter({length}))"
            )
        if scores.device != device:
            raise ValueError(
                f"scores must be on the device of the ranker, {device}, got {scores.device} "
                "(move the ranker with ranker.to(scores.device))"
            )
        check_finite(scores, None, "a network takes no infinity: clip them, e.g. scores.clamp(-1, 1)")
        rows = scores.reshape(-1, self.n).to(self.head.weight.dtype)
        if len(rows) == 0:
            return wide(scores)
        ranks: Tensor = self.n * self.head(self.body(rows))
        return ranks.view(scores.shape).to(wide(scores))


class _Recurrent(nn.Module):
    """Read the row from both ends; at every place, what has been read so far."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU], hidden: int, layers: int) -> None:
        super().__init__()
        self.rnn: Any = kind(1, hidden, layers, batch_first=True, bidirectional=True)

    def forward(self, rows: Tensor) -> Tensor:
        places: Tensor = self.rnn(rows.unsqueeze(-1))[0]
        return places.flatten(1)

    def train(self, mode: bool = True) -> _Recurrent:
        """Stay in training mode: cuDNN gives a gradient in no other, and without dropout the two are the same."""
        super().train(True)
        return self


def _body(architecture: str, n: int, hidden: int, layers: int) -> tuple[nn.Module, int]:
    """Make the network under the last layer, rows (B, n) to features (B, f), and say f."""
    if architecture == "mlp":
        sizes = [n] + [hidden] * layers
        dense = [nn.Linear(*pair) for pair in pairwise(sizes)]
        return nn.Sequential(*(part for layer in dense for part in (layer, nn.ReLU()))), hidden
    if architecture == "conv":
        reach = [2**layer for layer in range(layers)]
        filters = [nn.Conv1d(hidden if d > 1 else 1, hidden, 3, padding=d, dilation=d) for d in reach]
        stack = [part for layer in filters for part in (layer, nn.ReLU())]
        return nn.Sequential(nn.Unflatten(1, (1, n)), *stack, nn.Flatten()), n * hidden
    kind = nn.LSTM if architecture == "lstm" else nn.GRU
    return _Recurrent(kind, hidden, layers), 2 * n * hidden


@torch.no_grad()
def equivariance_error(ranker: nn.Module, scores: Tensor, *, draws: int = 8, seed: int = 0) -> float:
    r"""Measure how much the order of the items matters to a ranker, in ranks.

    .. math:: \mathop{\mathbb{E}}_{\pi, i} \bigl| \mathbf{rk}(\mathbf{y} \circ \pi)_i
              - (\mathbf{rk}(\mathbf{y}) \circ \pi)_i \bigr|

    The mean is over ``draws`` random permutations π, each applied to all lists (..., n), and over items: 0 for the
    rankers that compare or sort. Where scores tie, a ranker that breaks ties by position is not equivariant.
    Explained in chapter 11.

    >>> from rankedu.rankers import BlackboxRanker
    >>> scores = torch.tensor([[0.9, 0.1, 0.5, -0.3]])
    >>> equivariance_error(BlackboxRanker(lam=1.0), scores)
    0.0
    >>> equivariance_error(LSTMRanker(4), scores) > 0
    True
    """
    check_values(scores)
    draws = check_count(draws, "draws")
    generator = torch.Generator().manual_seed(seed)
    ranks, total = ranker(scores), 0.0
    for _ in range(draws):
        permutation = torch.randperm(scores.shape[-1], generator=generator).to(scores.device)
        difference = ranker(scores[..., permutation]) - ranks[..., permutation]
        total += difference.double().abs().mean().item()
    return total / draws
