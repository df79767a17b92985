"""How each baseline is made: one function a loss, whose docstring says what the loss optimises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankedu.extras import needed
from ranklab.contestants._histogram_loss import HistogramLoss

#: From settings to the loss, and its miner or None.
Maker = Callable[..., tuple[Any, Any]]


def _pml(module: str) -> Any:
    """Import a part of pytorch-metric-learning, which the core does not need."""
    return needed(f"pytorch_metric_learning.{module}", "baseline() needs pytorch-metric-learning")


def contrastive(pos_margin: float = 0.0, neg_margin: float = 1.0) -> tuple[Any, Any]:
    """Distances of pairs: those of one class shrink to 0, all others grow to a margin."""
    return _pml("losses").ContrastiveLoss(pos_margin, neg_margin), None


def triplet_semihard(margin: float = 0.2) -> tuple[Any, Any]:
    """Order of two distances: a negative farther off than the positive, but by less than a margin, is moved away."""
    miner = _pml("miners").TripletMarginMiner(margin=margin, type_of_triplets="semihard")
    return _pml("losses").TripletMarginLoss(margin), miner


def triplet_distance_weighted(
    margin: float = 0.2, cutoff: float = 0.5, nonzero_loss_cutoff: float = 1.4
) -> tuple[Any, Any]:
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
) -> tuple[Any, Any]:
    """Distances against one boundary: positives stay within it, randomly drawn negatives beyond, both by a margin."""
    miner = _pml("miners").DistanceWeightedMiner(cutoff, nonzero_loss_cutoff)
    return _pml("losses").MarginLoss(margin, nu, beta, learn_beta=learn_beta), miner


def lifted_structure(pos_margin: float = 0.0, neg_margin: float = 1.0) -> tuple[Any, Any]:
    """Each positive pair against all negatives of both its ends at once, by a soft maximum."""
    return _pml("losses").LiftedStructureLoss(neg_margin, pos_margin), None


def n_pair() -> tuple[Any, Any]:
    """Softmax over one partner for each class of the batch: the item's own must have the largest dot product."""
    # As published, lengths count; the library would normalise them, and logits in [−1, 1] teach little.
    raw = _pml("distances").DotProductSimilarity(normalize_embeddings=False)
    return _pml("losses").NPairsLoss(distance=raw), None


def angular(alpha: float = 40.0) -> tuple[Any, Any]:
    """The angle at the negative in a triangle with a positive pair: it must be below alpha degrees."""
    return _pml("losses").AngularLoss(alpha), None


def multi_similarity(
    alpha: float = 2.0, beta: float = 50.0, base: float = 0.5, epsilon: float = 0.1
) -> tuple[Any, Any]:
    """Pairs in the wrong order with one of the other kind, or nearly, weighted by own and by relative similarity."""
    return _pml("losses").MultiSimilarityLoss(alpha, beta, base), _pml("miners").MultiSimilarityMiner(epsilon)


def histogram(n_bins: int = 100) -> tuple[Any, Any]:
    """The probability that a random negative pair is more similar than a random positive pair, all queries in one."""
    return HistogramLoss(n_bins), None


def normalized_softmax(n_classes: int, dim: int, temperature: float = 0.05) -> tuple[Any, Any]:
    """Classification by cosine to one learnt vector for each class: softmax over cosines divided by a temperature."""
    return _pml("losses").NormalizedSoftmaxLoss(n_classes, dim, temperature), None


def proxy_nca_pp(n_classes: int, dim: int, scale: float = 9.0) -> tuple[Any, Any]:
    """Classification by squared distance to one learnt vector for each class: softmax over minus scale times it."""
    return _pml("losses").ProxyNCALoss(n_classes, dim, softmax_scale=scale), None


#: By their names. Those that learn a vector for each class take n_classes and dim, too.
BASELINES: dict[str, Maker] = {
    make.__name__: make
    for make in (
        *(contrastive, triplet_semihard, triplet_distance_weighted, margin, lifted_structure, n_pair, angular),
        *(multi_similarity, histogram, normalized_softmax, proxy_nca_pp),
    )
}
