"""How each method is made: one function a method, its keywords the settings, their defaults the published ones.

λ is in the released code's scale, that is of ranks divided by their number, as everywhere where RaMBO's training is
quoted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn

from rankedu import hierarchy
from rankedu.losses import (
    APLoss,
    APSVMLoss,
    CSLLoss,
    ErrorDrivenAPLoss,
    FastAPLoss,
    HAPLoss,
    HAPPIERLoss,
    OnEmbeddings,
    RecallLoss,
    ROADMAPLoss,
    SupAPLoss,
    baseline,
    baseline_names,
)
from rankedu.losses._recipes import RECIPES as BASELINES
from rankedu.memory import EmbeddingMemory
from rankedu.rankers import PRESETS, BlackboxRanker, HistogramRanker, SigmoidRanker, SupremumRanker

__all__ = ["RECIPES", "Recipe", "TrainingSet"]


class TrainingSet(NamedTuple):
    """What a loss may need to know of the training set, and of the network."""

    dim: int
    n_classes: int | None
    labels: Tensor | None  # classes (N,), or paths (N, L)


class Recipe(NamedTuple):
    """A method's title in the tables, where it stands, what it wants, and how it is made of a training set."""

    title: str
    source: str
    paths: bool
    proxies: bool
    settings: Mapping[str, Any]
    make: Callable[..., nn.Module]


RECIPES: dict[str, Recipe] = {}


def _enter(title: str, source: str, *, paths: bool = False, proxies: bool = False) -> Callable[[Any], Any]:
    """Enter a function from the training set and settings to a loss on embeddings."""

    def enter(make: Callable[..., nn.Module]) -> Callable[..., nn.Module]:
        RECIPES[make.__name__] = Recipe(title, source, paths, proxies, _keywords(make), make)
        return make

    return enter


def _ranked(title: str, source: str, *, paths: bool = False) -> Callable[[Any], Any]:
    """Enter a function from settings to a loss of scores; a memory and the query itself can be set for all of them."""

    def enter(score_loss: Callable[..., Any]) -> Callable[..., Any]:
        def make(train: TrainingSet, *, memory: int = 0, exclude_self: bool = True, **settings: Any) -> nn.Module:
            found = score_loss(train, **settings) if "train" in names else score_loss(**settings)
            loss, relevance = found if isinstance(found, tuple) else (found, None)
            return OnEmbeddings(loss, exclude_self, EmbeddingMemory(memory) if memory else None, relevance)

        names = inspect.signature(score_loss).parameters
        settings = {**_keywords(score_loss), **_keywords(make)}
        RECIPES[score_loss.__name__] = Recipe(title, source, paths, False, settings, make)
        return score_loss

    return enter


def _keywords(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _step(name: str, temperature: float) -> dict[str, Any]:
    """The keywords of a step of HAPPIER or ROADMAP, by the name of its setting."""
    if name not in PRESETS:
        raise ValueError(f"step must be one of {', '.join(map(repr, PRESETS))}, got {name!r}")
    return {"temperature": temperature, **PRESETS[name]}


@_ranked("RaMBO log", "RaMBO Tab. 2–4")
def rambo_log(margin: float = 0.02, lam: float = 4.0) -> nn.Module:
    return RecallLoss(BlackboxRanker(lam, normalized=True), margin, "log")


@_ranked("RaMBO log log", "RaMBO Tab. 2–4")
def rambo_loglog(margin: float = 0.02, lam: float = 4.0) -> nn.Module:
    return RecallLoss(BlackboxRanker(lam, normalized=True), margin, "loglog")


@_ranked("Blackbox AP", "Smooth-AP supp. Tab. S2")
def rambo_ap(margin: float = 0.02, lam: float = 4.0) -> nn.Module:
    return APLoss(BlackboxRanker(lam, normalized=True), margin)


@_ranked("Smooth-AP", "HAPPIER Tab. 1–4")
def smooth_ap(temperature: float = 0.01, margin: float = 0.0) -> nn.Module:
    return APLoss(SigmoidRanker(temperature), margin, within_grad=True)


@_ranked("FastAP", "RaMBO Tab. 2 and 4")
def fast_ap(bins: int = 20) -> nn.Module:
    return FastAPLoss(bins)


@_ranked("Soft-binned AP", "not in a table")
def soft_bin_ap(bins: int = 20, margin: float = 0.0) -> nn.Module:
    return APLoss(HistogramRanker(bins), margin, within_grad=True)


@_ranked("SupAP", "not in a table")
def sup_ap(temperature: float = 0.01, step: str = "roadmap") -> nn.Module:
    return SupAPLoss(**_step(step, temperature))


@_ranked("ROADMAP", "HAPPIER Tab. 1–4")
def roadmap(weight: float = 0.5, temperature: float = 0.01, step: str = "roadmap") -> nn.Module:
    return ROADMAPLoss(weight, **_step(step, temperature))


@_ranked("Error-driven AP", "RaMBO Tab. 1")
def error_driven_ap(delta: float = 1.0) -> nn.Module:
    return ErrorDrivenAPLoss(delta)


@_ranked("AP-SVM", "RaMBO Tab. 1")
def ap_svm() -> nn.Module:
    return APSVMLoss()


@_ranked("H-AP by a sigmoid", "HAPPIER Tab. 5", paths=True)
def hap_sigmoid(temperature: float = 0.01, alpha: float = 1.0, margin: float = 0.0) -> tuple[nn.Module, Any]:
    return HAPLoss(SigmoidRanker(temperature), margin, within_grad=True), partial(hierarchy.relevance, alpha=alpha)


@_ranked("H-AP", "HAPPIER Tab. 5–6", paths=True)
def hap(
    temperature: float = 0.01, alpha: float = 1.0, monotone: bool = False, step: str = "happier"
) -> tuple[nn.Module, Any]:
    relevance = partial(hierarchy.relevance, alpha=alpha, monotone=monotone)
    return HAPLoss(SupremumRanker(**_step(step, temperature))), relevance


@_ranked("Blackbox H-AP", "not in a table", paths=True)
def blackbox_hap(
    margin: float = 0.02, lam: float = 4.0, alpha: float = 1.0, monotone: bool = False
) -> tuple[nn.Module, Any]:
    relevance = partial(hierarchy.relevance, alpha=alpha, monotone=monotone)
    return HAPLoss(BlackboxRanker(lam, normalized=True), margin), relevance


@_ranked("ΣwAP", "HAPPIER Tab. 6", paths=True)
def weighted_ap(train: TrainingSet, temperature: float = 0.01, step: str = "happier") -> tuple[nn.Module, Any]:
    depth = 1 if train.labels is None or train.labels.ndim == 1 else train.labels.shape[1]
    relevance = partial(hierarchy.weighted_ap_relevance, weights=[1.0] * depth)  # all levels weigh the same
    return HAPLoss(SupremumRanker(**_step(step, temperature))), relevance


@_enter("HAPPIER", "HAPPIER Tab. 1–5", paths=True, proxies=True)
def happier(
    train: TrainingSet,
    weight: float = 0.1,
    alpha: float = 1.0,
    temperature: float = 0.01,
    monotone: bool = False,
    step: str = "happier",
    proxy_temperature: float = 0.05,
    memory: int = 0,
    exclude_self: bool = True,
) -> nn.Module:
    return HAPPIERLoss(
        *_sizes(train),
        weight,
        alpha,
        monotone=monotone,
        temperature=proxy_temperature,
        ranker=SupremumRanker(**_step(step, temperature)),
        exclude_self=exclude_self,
        memory=EmbeddingMemory(memory) if memory else None,
    )


# On iNaturalist α is 3.
RECIPES["happier_f"] = RECIPES["happier"]._replace(
    title="HAPPIER, fine",
    source="HAPPIER Tab. 3–4",
    settings={**RECIPES["happier"].settings, "alpha": 5.0},
    make=lambda train, **settings: happier(train, **{"alpha": 5.0, **settings}),
)


@_enter("CSL", "HAPPIER Tab. 1–4", paths=True, proxies=True)
def csl(train: TrainingSet, scale: float = 32.0) -> nn.Module:
    if train.labels is None:
        raise ValueError("labels must be the paths of the training set for 'csl', got None (it has proxies of them)")
    return CSLLoss(train.labels.unique(dim=0), train.dim, scale=scale)


def _sizes(train: TrainingSet) -> tuple[int, int]:
    if train.n_classes is None:
        raise ValueError("n_classes must be given with a loss that learns a vector for each class, got None")
    return train.n_classes, train.dim


#: What the tables call the baselines, and which tables.
_TITLES = {
    "angular": ("Angular", "RaMBO Tab. 2–3"),
    "contrastive": ("Contrastive", "RaMBO Tab. 2–3"),
    "histogram": ("Histogram", "RaMBO Tab. 2–3"),
    "lifted_structure": ("LiftedStruct", "RaMBO Tab. 2–3"),
    "margin": ("Margin", "RaMBO Tab. 2–3"),
    "n_pair": ("N-Pair", "RaMBO Tab. 2–3"),
    "normalized_softmax": ("NSM", "HAPPIER Tab. 1–4"),
    "proxy_nca_pp": ("NCA++", "HAPPIER Tab. 1, 3 and 4"),
    "triplet_semihard": ("Triplet SH", "HAPPIER Tab. 1–4"),
}


def _enter_baselines() -> None:
    def maker(name: str) -> Callable[..., nn.Module]:
        def make(train: TrainingSet, **settings: Any) -> nn.Module:
            return baseline(name, *(_sizes(train) if BASELINES[name].proxies else ()), **settings)

        return make

    for name in baseline_names():
        title, source = _TITLES.get(name, (name.replace("_", " ").capitalize(), "not in a table"))
        RECIPES[name] = Recipe(
            title, source, False, BASELINES[name].proxies, _keywords(BASELINES[name].make), maker(name)
        )


_enter_baselines()
