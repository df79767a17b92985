"""The losses that rank losses are measured against, made by name, called in one way.

One function makes a loss and its miner, or None; its docstring says what the loss optimises, its keywords are settings.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankedu.checks import check_count, check_like, did_you_mean
from rankedu.extras import needed
from rankedu.labels import check_labels, check_rows
from rankedu.losses.base import eager
from rankedu.losses.clustering import check_class_ids
from rankedu.losses.on_embeddings import check_references
from rankedu.rankers.base import wide

Made = tuple[Any, Any]
#: Losses that compare with their proxies, or with items of the batch alone.
WITHOUT_REFERENCES = ("n_pair", "normalized_softmax", "proxy_nca_pp")


def _pml(module: str) -> Any:
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
    """Classification by cosine to one learned vector for each class: softmax over cosines divided by a temperature."""
    return _pml("losses").NormalizedSoftmaxLoss(n_classes, dim, temperature), None


def proxy_nca_pp(n_classes: int, dim: int, scale: float = 9.0) -> Made:
    """Classification by squared distance to one learned vector for each class: softmax over minus scale times it."""
    return _pml("losses").ProxyNCALoss(n_classes, dim, softmax_scale=scale), None


class HistogramLoss(nn.Module):
    r"""Estimate the probability that a random negative pair is more similar than a random positive pair.

    pytorch-metric-learning's raises an IndexError as soon as a cosine is 1.

    .. math:: L = \sum_{r=0}^{R} h^-_r \sum_{q \le r} h^+_q

    h⁺, h⁻: soft histograms, on the nodes −1, −1 + 2/R, …, 1, of the cosines of all positive and of all negative pairs.
    """

    def __init__(self, n_bins: int) -> None:
        super().__init__()
        self.n_bins = check_count(n_bins, "n_bins", hint="published: 100")

    def forward(
        self, unit: Tensor, labels: Tensor, miner: None, references: Tensor | None, ref_labels: Tensor | None
    ) -> Tensor:
        """Compute the loss; 0, with a zero gradient, if there is no positive or no negative pair."""
        cosines = (unit @ (unit if references is None else references).T).clamp(-1.0, 1.0)
        same = labels[:, None] == (labels if ref_labels is None else ref_labels)
        pairs = torch.ones_like(same).triu(1) if references is None else torch.ones_like(same)  # each pair once
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


_MAKERS: tuple[Callable[..., Made], ...] = (
    *(contrastive, triplet_semihard, triplet_distance_weighted, margin, lifted_structure, n_pair, angular),
    *(multi_similarity, histogram, normalized_softmax, proxy_nca_pp),
)
BASELINES = {make.__name__: make for make in _MAKERS}


class Baseline(nn.Module):
    """A loss and its miner, if it has one, called as `OnEmbeddings` is."""

    def __init__(self, name: str, loss: Any, miner: Any, n_classes: int | None) -> None:
        super().__init__()
        self.name, self.loss, self.miner, self.n_classes = name, loss, miner, n_classes

    def extra_repr(self) -> str:
        return repr(self.name)

    @eager
    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        indices_tuple: Any = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of a batch, a Tensor of shape (); see :func:`baseline`."""
        check_rows(embeddings, "embeddings")
        labels = check_labels(labels, embeddings)
        check_like(labels, embeddings[:, 0], name="labels", other="embeddings[:, 0]")
        if self.n_classes is not None:
            check_class_ids(labels, self.n_classes)
        if ref_emb is embeddings and ref_labels is labels:
            ref_emb = ref_labels = None
        if ref_emb is not None:
            if self.name in WITHOUT_REFERENCES:
                raise ValueError(f"ref_emb must be None for {self.name!r}, which compares with nothing else")
            ref_labels = check_references(ref_emb, ref_labels, embeddings, labels)
        with torch.autocast(embeddings.device.type, enabled=False):
            given = (self._prepare(embeddings), labels)
            references = (None if ref_emb is None else self._prepare(ref_emb), ref_labels)
            if indices_tuple is None and self.miner is not None:
                indices_tuple = self.miner(*given, *references)
            return self.loss(*given, indices_tuple, *references)

    def _prepare(self, embeddings: Tensor) -> Tensor:
        """Return them in float32 at least, at length 1 if the loss wants that."""
        return wide(embeddings) if self.name == "n_pair" else normalize(wide(embeddings), dim=1)


def baseline(name: str, n_classes: int | None = None, dim: int | None = None, **settings: Any) -> nn.Module:
    r"""Make a loss that others have published, most of them by pytorch-metric-learning. Explained in chapter 15.

    Parameters
    ----------
    name : str
        One of :func:`baseline_names`; :func:`describe_baseline` says what it optimises.
    n_classes, dim : int, optional
        For the losses that learn a vector for each class, ``normalized_softmax`` and ``proxy_nca_pp``, whose parameters
        must be given to the optimiser.
    **settings : Any
        Those of the loss and of its miner, by the library's names: ``margin``, ``temperature``, ``n_bins``, …

    Returns
    -------
    Module
        ``loss(embeddings, labels, indices_tuple=None, ref_emb=None, ref_labels=None)`` with the shapes of
        :class:`~rankedu.losses.OnEmbeddings`; a Tensor of shape (), 0 with a zero gradient where the batch holds
        nothing to compare. Embeddings are normalised in it, but for ``n_pair``, and compared in float32 at least.

    Raises
    ------
    ValueError, TypeError
        For an unknown name or setting, or a missing ``n_classes`` or ``dim``.

    Notes
    -----
    Those with distance-weighted mining draw from torch's global random numbers. ProxyNCA++ is the softmax over
    −9‖x̂ − p̂‖² with the positive proxy in the denominator. Source: HAPPIER Tab. 1.

    Examples
    --------
    >>> loss = baseline("contrastive", neg_margin=0.5)
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 1.0]])
    >>> round(loss(embeddings, torch.tensor([0, 0, 1, 1])).item(), 4)
    0.8944
    """
    allowed = baseline_settings(name)
    sizes = {key: value for key, value in {"n_classes": n_classes, "dim": dim}.items() if key in allowed}
    for key, value in sizes.items():
        del allowed[key]
        hint = f"{name!r} learns a vector for each class: baseline({name!r}, n_classes=100, dim=512)"
        check_count(value, key, hint=hint)  # type: ignore[arg-type]
    for setting in settings:
        if setting not in allowed:
            raise TypeError(f"settings of {name!r} must be among {', '.join(allowed) or 'none'}, got {setting!r}")
    return Baseline(name, *BASELINES[name](**sizes, **settings), sizes.get("n_classes"))


def baseline_names() -> tuple[str, ...]:
    """List what :func:`baseline` can make. Explained in chapter 15.

    >>> "triplet_semihard" in baseline_names()
    True
    """
    return tuple(sorted(BASELINES))


def baseline_settings(name: str) -> dict[str, Any]:
    """List each keyword of a baseline with its default; `n_classes` and `dim`, where it has them, are None.

    Explained in chapter 15.

    >>> baseline_settings("contrastive")
    {'pos_margin': 0.0, 'neg_margin': 1.0}
    """
    if name not in BASELINES:
        hint = did_you_mean(str(name).lower().replace("-", "_").replace(" ", "_"), BASELINES)
        raise ValueError(f"name must be one of {', '.join(map(repr, baseline_names()))}, got {name!r}{hint}")
    keywords = inspect.signature(BASELINES[name]).parameters.values()
    return {keyword.name: None if keyword.default is keyword.empty else keyword.default for keyword in keywords}


def describe_baseline(name: str) -> str:
    """Say in one line what a baseline optimises. Explained in chapter 15.

    >>> describe_baseline("contrastive")
    'Distances of pairs: those of one class shrink to 0, all others grow to a margin.'
    """
    return BASELINES[name].__doc__ or ""
