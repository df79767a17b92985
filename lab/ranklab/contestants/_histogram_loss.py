"""The histogram loss, for pytorch-metric-learning's raises an IndexError as soon as a cosine is 1."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankedu.checks import check_count


class HistogramLoss(nn.Module):
    r"""The probability that a random negative pair is more similar than a random positive pair.

    .. math:: L = \sum_{r=0}^{R} h^-_r \sum_{q \le r} h^+_q

    h⁺, h⁻: soft histograms, on the nodes −1, −1 + 2/R, …, 1, of the cosines of all positive and of all negative pairs.
    """

    def __init__(self, n_bins: int = 100) -> None:
        super().__init__()
        self.n_bins = check_count(n_bins, "n_bins", hint="published: 100")

    def extra_repr(self) -> str:
        return f"n_bins={self.n_bins}"

    def forward(
        self, embeddings: Tensor, labels: Tensor, miner: None, references: Tensor | None, ref_labels: Tensor | None
    ) -> Tensor:
        """Compute the loss; 0, with a zero gradient, if there is no positive or no negative pair."""
        own = references is None or ref_labels is None
        others, other_labels = (embeddings, labels) if own else (references, ref_labels)
        assert others is not None and other_labels is not None
        cosines = (embeddings @ others.T).clamp(-1.0, 1.0)  # of length 1
        same = labels.unsqueeze(1) == other_labels
        pairs = torch.ones_like(same).triu(1) if own else torch.ones_like(same)  # each pair once, none with itself
        positive, negative = cosines[same & pairs], cosines[~same & pairs]
        if len(positive) == 0 or len(negative) == 0:
            return 0.0 * cosines.sum()
        return (self._histogram(negative) * self._histogram(positive).cumsum(0)).sum()

    def _histogram(self, cosines: Tensor) -> Tensor:
        place = (cosines + 1) * (self.n_bins / 2)
        left = place.detach().floor().clamp(max=self.n_bins - 1).long()
        share = place - left
        nodes = cosines.new_zeros(self.n_bins + 1)
        return nodes.index_add(0, left, 1 - share).index_add(0, left + 1, share) / len(cosines)
