"""How each baseline is made: one function a loss, whose docstring says what the loss optimises."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.checks import check_count
from rankedu.extras import needed

#: A loss, and its miner or None; from settings.
Made = tuple[Any, Any]
Maker = Callable[..., Made]


def _pml(module: str) -> Any:
    """Import a part of pytorch-metric-learning, which the core does not need."""
    return needed(f"pytorch_metric_learning.{module}", "baseline() needs pytorch-metric-learning")


def contrastive(pos_margin: float = 0.0, neg_margin: float = 1.0) -> Made:
    """Distances of pairs: those of one class shrink to 0, all others grow to a margin."""
    return _pml("losses").ContrastiveLoss(pos_margin, neg_margin), None


def triplet_semihard(margin: float = 0.2) -> Made:
    """Order of two distances: a negative farther off than the positive, but by less than a margin, is moved away."""
    miner = _pml("miners").TripletMarginMiner(margin=margin, type_of_triplets="semihard")
    return _pml("losses").TripletMarginLoss(margin), miner


def triplet_distance_weighted(margin: float = 0.2, cutoff: float = 0.5, nonzero_loss_cutoff: float = 1.4) -> Made:
    """Order of two distances: negatives are drawn at random, so that near and far ones are met alike."""
    miner = _pml("miners").DistanceWeightedMiner(cutoff, nonzero_loss_cutoff)
    return _pml("losses").TripletMarginLoss(margin), miner


def margin(
    margin: float = 0.2,
    beta: float = 1.2,
    learn_beta: bool = False,
    nu: float = 0.0,
    cutoff: float = 0.5,
    nonzero_loss_cutoff: float = 1.4,
) -> Made:
    """Distances against one boundary: positives stay within it, randomly drawn negatives beyond, both by a margin."""
    miner = _pml("miners").DistanceWeightedMiner(cutoff, nonzero_loss_cutoff)
    return _pml("losses").MarginLoss(margin, nu, beta, learn_beta=learn_beta), miner


def lifted_structure(pos_margin: float = 0.0, neg_margin: float = 1.0) -> Made:
    """Each positive pair against all negatives of both its ends at once, by a soft maximum."""
    return _pml("losses").LiftedStructureLoss(neg_margin, pos_margin), None


def n_pair() -> Made:
    """Softmax over one partner for each class of the batch: the item's own must have the largest dot product."""
    # As published, lengths count; the library would normalise them, and logits in [−1, 1] teach little.
    raw = _pml("distances").DotProductSimilarity(normalize_embeddings=False)
    return _pml("losses").NPairsLoss(distance=raw), None


def angular(alpha: float = 40.0) -> Made:
    """The angle at the negative in a triangle with a positive pair: it must be below alpha degrees."""
    return _pml("losses").AngularLoss(alpha), None


def multi_similarity(alpha: float = 2.0, beta: float = 50.0, base: float = 0.5, epsilon: float = 0.1) -> Made:
    """Pairs in the wrong order with one of the other kind, or nearly, weighted by own and by relative similarity."""
    return _pml("losses").MultiSimilarityLoss(alpha, beta, base), _pml("miners").MultiSimilarityMiner(epsilon)


def histogram(n_bins: int = 100) -> Made:
    """The probability that a random negative pair is more similar than a random positive pair, all queries in one."""
    return HistogramLoss(n_bins), None


def normalized_softmax(n_classes: int, dim: int, temperature: float = 0.05) -> Made:
    """Classification by cosine to one learnt vector for each class: softmax over cosines divided by a temperature."""
    return _pml("losses").NormalizedSoftmaxLoss(n_classes, dim, temperature), None


def proxy_nca_pp(n_classes: int, dim: int, scale: float = 9.0) -> Made:
    """Classification by squared distance to one learnt vector for each class: softmax over minus scale times it."""
    return _pml("losses").ProxyNCALoss(n_classes, dim, softmax_scale=scale), None


class HistogramLoss(nn.Module):
    r"""The probability that a random negative pair is more similar than a random positive pair.

    pytorch-metric-learning's raises an IndexError as soon as a cosine is 1.

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


#: By their names. Those that learn a vector for each class take n_classes and dim, too.
BASELINES: dict[str, Maker] = {
    make.__name__: make
    for make in (
        *(contrastive, triplet_semihard, triplet_distance_weighted, margin, lifted_structure, n_pair, angular),
        *(multi_similarity, histogram, normalized_softmax, proxy_nca_pp),
    )
}
