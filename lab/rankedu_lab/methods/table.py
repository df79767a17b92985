"""The table of methods: a function each, its keywords the settings, their defaults the published ones.

λ is in the released code's scale, that is of ranks divided by their number, as everywhere where RaMBO's training is
quoted.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn

from rankedu import hierarchy, losses
from rankedu.memory import EmbeddingMemory
from rankedu.rankers import PRESETS, BlackboxRanker, HistogramRanker, IdentityRanker, SigmoidRanker, SupremumRanker
from rankedu_lab import contestants
from rankedu_lab.training.loading import leaves


class TrainingSet(NamedTuple):
    """The facts of the training set and the network that a loss may need."""

    dim: int
    n_classes: int | None
    labels: Tensor | None  # classes (N,), or paths (N, L)


@dataclass(frozen=True)
class Method:
    """A row of a table of the papers, and how its loss is made."""

    name: str  #: the value of the labs' parameter `loss`
    title: str  #: what the tables call it
    source: str  #: the paper and its tables
    settings: Mapping[str, Any]  #: what can be set, each with its default
    make: Callable[..., nn.Module]  #: of a TrainingSet and settings
    paths: bool = False  #: whether it wants label paths from root to leaf; else the class alone
    proxies: bool = False  #: whether it learns a vector for each class
    takes_items: bool = False  #: whether it needs the numbers of the items in a batch
    is_sum: bool = False  #: over the levels, each of which numbers its own classes

    def check(self, settings: Iterable[str]) -> None:
        """Raise TypeError for a setting that the method does not have."""
        for setting in settings:
            if setting not in self.settings:
                has = ", ".join(self.settings) or "none"
                raise TypeError(f"settings of {self.name!r} must be among {has}, got {setting!r}")


#: Every method by its name.
METHODS: dict[str, Method] = {}


def _enter(name: str, title: str, source: str, make: Callable[..., nn.Module], **wants: bool) -> None:
    """Enter a function from the training set and settings to a loss on embeddings, and what it wants."""
    METHODS[name] = Method(name, title, source, _keywords(make), make, **wants)


def _ranked(name: str, title: str, source: str, score_loss: Callable[..., Any], *, paths: bool = False) -> None:
    """Enter a function from settings to a loss of scores; a memory and the query itself can be set for all of them."""

    def make(train: TrainingSet, *, memory: int = 0, exclude_self: bool = True, **settings: Any) -> nn.Module:
        made = score_loss(train, **settings) if "train" in names else score_loss(**settings)
        loss, relevance = made if isinstance(made, tuple) else (made, None)
        return losses.OnEmbeddings(loss, exclude_self, _memory(memory), relevance)

    names = inspect.signature(score_loss).parameters
    METHODS[name] = Method(name, title, source, {**_keywords(score_loss), **_keywords(make)}, make, paths)


def _keywords(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _memory(length: int) -> EmbeddingMemory | None:
    return EmbeddingMemory(length) if length else None


def _labels(train: TrainingSet, name: str) -> Tensor:
    if train.labels is None:
        raise ValueError(f"labels must be those of the training set for {name!r}, got None (it keeps a table of them)")
    return train.labels


def _step(name: str, temperature: float) -> dict[str, Any]:
    """The keywords of a step of HAPPIER or ROADMAP, by the name of its setting."""
    if name not in PRESETS:
        raise ValueError(f"step must be one of {', '.join(map(repr, PRESETS))}, got {name!r}")
    return {"temperature": temperature, **PRESETS[name]}


def _blackbox(lam: float) -> BlackboxRanker:
    return BlackboxRanker(lam, normalized=True)


def _supremum(step: str, temperature: float) -> SupremumRanker:
    return SupremumRanker(**_step(step, temperature))


def _graded(alpha: float, monotone: bool = False) -> Callable[..., Tensor]:
    """How relevance follows from the paths."""
    return partial(hierarchy.relevance, alpha=alpha, monotone=monotone)


def _weighted_ap(train: TrainingSet, temperature: float = 0.01, step: str = "happier") -> tuple[nn.Module, Any]:
    depth = 1 if train.labels is None or train.labels.ndim == 1 else train.labels.shape[1]
    relevance = partial(hierarchy.weighted_ap_relevance, weights=[1.0] * depth)  # all levels weigh the same
    return losses.HAPLoss(_supremum(step, temperature)), relevance


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
    return losses.HAPPIERLoss(
        *_sizes(train),
        weight,
        alpha,
        monotone=monotone,
        temperature=proxy_temperature,
        ranker=_supremum(step, temperature),
        exclude_self=exclude_self,
        memory=_memory(memory),
    )


# fmt: off
_ranked("rambo_log", "RaMBO log", "RaMBO Tab. 2–4",
        lambda margin=0.02, lam=4.0: losses.RecallLoss(_blackbox(lam), margin, "log"))
_ranked("rambo_loglog", "RaMBO log log", "RaMBO Tab. 2–4",
        lambda margin=0.02, lam=4.0: losses.RecallLoss(_blackbox(lam), margin, "loglog"))
_ranked("rambo_ap", "Blackbox AP", "Smooth-AP supp. Tab. S2",
        lambda margin=0.02, lam=4.0: losses.APLoss(_blackbox(lam), margin))
_ranked("smooth_ap", "Smooth-AP", "HAPPIER Tab. 1–4",
        lambda temperature=0.01, margin=0.0: losses.APLoss(SigmoidRanker(temperature), margin, within_grad=True))
_ranked("fast_ap", "FastAP", "RaMBO Tab. 2 and 4",
        lambda bins=20: losses.FastAPLoss(bins))
_ranked("soft_bin_ap", "Soft-binned AP", "not in a table",
        lambda bins=20, margin=0.0: losses.APLoss(HistogramRanker(bins), margin, within_grad=True))
_ranked("sup_ap", "SupAP", "not in a table",
        lambda temperature=0.01, step="roadmap": losses.SupAPLoss(**_step(step, temperature)))
_ranked("roadmap", "ROADMAP", "HAPPIER Tab. 1–4",
        lambda weight=0.5, temperature=0.01, step="roadmap": losses.ROADMAPLoss(weight, **_step(step, temperature)))
_ranked("identity", "Identity", "not in a table",
        lambda margin=0.02: losses.RecallLoss(IdentityRanker(), margin, "log"))
_ranked("recall_at_k_surrogate", "Recall at k, sigmoids", "not in a table",
        lambda temperature=0.01, rank_temperature=1.0: (
            losses.RecallAtKSurrogateLoss(SigmoidRanker(temperature), temperature=rank_temperature)))
_ranked("error_driven_ap", "Error-driven AP", "RaMBO Tab. 1",
        lambda delta=1.0: contestants.ErrorDrivenAPLoss(delta))
_ranked("ap_svm", "AP-SVM", "RaMBO Tab. 1",
        lambda: contestants.APSVMLoss())
_ranked("hap_sigmoid", "H-AP by a sigmoid", "HAPPIER Tab. 5",
        lambda temperature=0.01, alpha=1.0, margin=0.0: (
            losses.HAPLoss(SigmoidRanker(temperature), margin, within_grad=True), _graded(alpha)), paths=True)
_ranked("hap", "H-AP", "HAPPIER Tab. 5–6",
        lambda temperature=0.01, alpha=1.0, monotone=False, step="happier": (
            losses.HAPLoss(_supremum(step, temperature)), _graded(alpha, monotone)), paths=True)
_ranked("blackbox_hap", "Blackbox H-AP", "not in a table",
        lambda margin=0.02, lam=4.0, alpha=1.0, monotone=False: (
            losses.HAPLoss(_blackbox(lam), margin), _graded(alpha, monotone)), paths=True)
_ranked("weighted_ap", "ΣwAP", "HAPPIER Tab. 6", _weighted_ap, paths=True)
_enter("happier", "HAPPIER", "HAPPIER Tab. 1–5", happier, paths=True, proxies=True)
_enter("csl", "CSL", "HAPPIER Tab. 1–4",
       lambda train, scale=32.0: contestants.CSLLoss(_labels(train, "csl").unique(dim=0), train.dim, scale=scale),
       paths=True, proxies=True)
_enter("soap", "SOAP", "not in a table",
       lambda train, temperature=0.01, gamma=0.9: (
           contestants.SOAPLoss(leaves(_labels(train, "soap")), temperature, gamma)), takes_items=True)
# fmt: on

METHODS["happier_f"] = replace(  # on iNaturalist α is 3
    METHODS["happier"],
    name="happier_f",
    title="HAPPIER, fine",
    source="HAPPIER Tab. 3–4",
    settings={**METHODS["happier"].settings, "alpha": 5.0},
    make=lambda train, **settings: happier(train, **{"alpha": 5.0, **settings}),
)


def _sizes(train: TrainingSet) -> tuple[int, int]:
    if train.n_classes is None:
        raise ValueError("n_classes must be given with a loss that learns a vector for each class, got None")
    return train.n_classes, train.dim


#: The names of the baselines in the tables, and which tables.
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


def _baseline(name: str) -> Method:
    """Make the row of a baseline, which has proxies if it needs the number of classes."""
    title, source = _TITLES.get(name, (name.replace("_", " ").capitalize(), "not in a table"))
    settings = contestants.baseline_settings(name)
    proxies = "n_classes" in settings

    def make(train: TrainingSet, **settings: Any) -> nn.Module:
        return contestants.baseline(name, *(_sizes(train) if proxies else ()), **settings)

    own = {key: value for key, value in settings.items() if key not in ("n_classes", "dim")}
    return Method(name, title, source, own, make, proxies=proxies)


METHODS |= {name: _baseline(name) for name in contestants.baseline_names()}

#: The methods of which the tables have the sum over levels.
_SUMS = {
    "triplet_semihard": "HAPPIER Tab. 1–2",
    "normalized_softmax": "HAPPIER Tab. 1–2",
    "proxy_nca_pp": "HAPPIER Tab. 1",
}


def _sum(method: Method) -> Method:
    """Make the row of the sum of a method over all levels."""
    name = f"sum_{method.name}"

    def make(train: TrainingSet, **settings: Any) -> nn.Module:
        if train.labels is None or train.labels.ndim != 2:
            shape = "None" if train.labels is None else f"shape {tuple(train.labels.shape)}"
            raise ValueError(f"labels must be the paths (N, L) of the training set for {name!r}, got {shape}")
        return contestants.SumOverLevels(
            lambda n: method.make(TrainingSet(train.dim, n, None), **settings), train.labels
        )

    source = _SUMS.get(method.name, "not in a table")
    return replace(method, name=name, title=f"Σ {method.title}", source=source, paths=True, make=make, is_sum=True)


_OF_A_LEVEL = [method for method in METHODS.values() if not (method.paths or method.takes_items)]
METHODS |= {row.name: row for row in map(_sum, _OF_A_LEVEL)}
