"""The losses that rank losses are measured against, made by name, called in one way."""

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankedu.checks import check_count, check_like, did_you_mean
from rankedu.labels import check_labels, check_rows
from rankedu.losses.base import eager
from rankedu.losses.clustering import check_class_ids
from rankedu.losses.on_embeddings import check_references
from rankedu_lab.contestants import _baseline_table as table


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
        if (ref_emb is None) != (ref_labels is None):
            raise ValueError("ref_emb and ref_labels must be given together, got one of the two")
        if ref_emb is not None and ref_labels is not None:
            if self.n_classes is not None or self.name == "n_pair":
                raise ValueError(
                    f"ref_emb must be None for {self.name!r}, got a Tensor (it compares with its proxies, or with "
                    "items of the batch alone)"
                )
            ref_labels = check_references(ref_emb, ref_labels, embeddings, labels)
        with torch.autocast(embeddings.device.type, enabled=False):
            batch = (self._prepare(embeddings), labels)
            references = (None if ref_emb is None else self._prepare(ref_emb), ref_labels)
            if indices_tuple is None and self.miner is not None:
                indices_tuple = self.miner(*batch, *references)
            return self.loss(*batch, indices_tuple, *references)

    def _prepare(self, embeddings: Tensor) -> Tensor:
        """At length 1, if the loss wants that, in float32 at least."""
        wide = embeddings.to(torch.promote_types(embeddings.dtype, torch.float32))
        return wide if self.name == "n_pair" else normalize(wide, dim=1)


def baseline(name: str, n_classes: int | None = None, dim: int | None = None, **settings: Any) -> nn.Module:
    r"""Make a loss that others have published, most of them from pytorch-metric-learning.

    ``name`` is one of :func:`baseline_names`; :func:`describe_baseline` says what it optimises. ``n_classes`` and
    ``dim`` are for the losses that learn a vector for each class, ``normalized_softmax`` and ``proxy_nca_pp``, whose
    parameters must be given to the optimiser. Settings are those of the loss and of its miner, by the library's names:
    ``margin``, ``temperature``, ``n_bins``, …

    Notes
    -----
    Returns Module: ``loss(embeddings, labels, indices_tuple=None, ref_emb=None, ref_labels=None)`` with the shapes of
    :class:`~rankedu.losses.OnEmbeddings`; a Tensor of shape (), 0 with a zero gradient where the batch holds nothing to
    compare.
    Embeddings are normalised in it, but for ``n_pair``, and compared in float32 at least.
    Those with distance-weighted mining draw from torch's global random numbers. ProxyNCA++ is the softmax over −9‖x̂ −
    p̂‖² with the positive proxy in the denominator. Explained in chapter 15.
    Raises ValueError for an unknown name, missing or bad ``n_classes`` or ``dim``; when called, as
    :class:`~rankedu.losses.OnEmbeddings`, for references where the loss takes none, or labels that are no class ids
    where it has proxies; TypeError for a setting that the loss does not have; ImportError if pytorch-metric-learning is
    missing.
    Source: HAPPIER Tab. 1.

    >>> loss = baseline("contrastive", neg_margin=0.5)
    >>> embeddings = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.0, 1.0]])
    >>> round(loss(embeddings, torch.tensor([0, 0, 1, 1])).item(), 4)
    0.8944
    >>> len(list(baseline("proxy_nca_pp", n_classes=100, dim=2).parameters()))
    1
    """
    known = baseline_settings(name)
    allowed = [setting for setting in known if setting not in ("n_classes", "dim")]
    for setting in settings:
        if setting not in allowed:
            raise TypeError(f"settings of {name!r} must be among {', '.join(allowed) or 'none'}, got {setting!r}")
    if "n_classes" not in known:
        return Baseline(name, *_maker(name)(**settings), None)
    hint = f"{name!r} learns a vector for each class: baseline({name!r}, n_classes=100, dim=512)"
    for key, value in (("n_classes", n_classes), ("dim", dim)):
        check_count(value, key, hint=hint)  # type: ignore[arg-type]
    return Baseline(name, *_maker(name)(n_classes, dim, **settings), n_classes)


def baseline_names() -> tuple[str, ...]:
    """List what :func:`baseline` can make. Explained in chapter 15.

    >>> "triplet_semihard" in baseline_names()
    True
    """
    return tuple(sorted(table.BASELINES))


def baseline_settings(name: str) -> dict[str, Any]:
    """List what can be set of a baseline: each keyword of :func:`baseline` with its default.

    ``n_classes`` and ``dim``, None, are among them where the loss learns a vector for each class. ValueError for an
    unknown name. Explained in chapter 15.

    >>> baseline_settings("contrastive")
    {'pos_margin': 0.0, 'neg_margin': 1.0}
    """
    keywords = inspect.signature(_maker(name)).parameters.values()
    return {keyword.name: None if keyword.default is keyword.empty else keyword.default for keyword in keywords}


def describe_baseline(name: str) -> str:
    """Say in one line what a baseline optimises; ValueError for an unknown name. Explained in chapter 15.

    >>> describe_baseline("contrastive")
    'Distances of pairs: those of one class shrink to 0, all others grow to a margin.'
    """
    return _maker(name).__doc__ or ""


def _maker(name: str) -> table.Maker:
    """Look up a name; a wrong one is answered by the nearest, and all there are."""
    if name not in table.BASELINES:
        hint = did_you_mean(str(name).lower().replace("-", "_").replace(" ", "_"), table.BASELINES)
        raise ValueError(f"name must be one of {', '.join(map(repr, baseline_names()))}, got {name!r}{hint}")
    return table.BASELINES[name]
