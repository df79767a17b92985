"""What is searched for each method: the learning rate, which all share, and one or two settings of its own.

The same number of trials is fair only if the spaces have similar sizes. Each range includes the published setting, and
reaches about as far to either side as makes a difference. Where a first round of searches ended near an edge, the range
was widened.
"""

from collections.abc import Collection, Mapping
from typing import Any

from optuna.distributions import FloatDistribution as Between
from optuna.distributions import IntDistribution

from rankedu_lab.methods import find_method

RATE = {"lr": Between(1e-4, 2e-2, log=True)}
_MARGIN, _LAM = Between(0.0, 0.3), Between(0.02, 50.0, log=True)
_TEMPERATURE = Between(0.001, 0.5, log=True)
#: How many times faster proxies learn than the network.
_PROXIES = Between(1.0, 10_000.0, log=True)

_BLACKBOX, _SIGMOID = {"margin": _MARGIN, "lam": _LAM}, {"temperature": _TEMPERATURE}
_SMOOTH, _TRIPLET = {**_SIGMOID, "margin": _MARGIN}, {"margin": Between(0.005, 0.6, log=True)}
_PAIRS = {"pos_margin": Between(0.0, 0.5), "neg_margin": Between(0.5, 1.4)}
_HAPPIER = {"weight": Between(0.0, 0.9), "loss_lr": _PROXIES}
_OWN: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("rambo_log", "rambo_loglog", "rambo_ap", "blackbox_hap"), _BLACKBOX),
    **dict.fromkeys(("smooth_ap", "hap_sigmoid"), _SMOOTH),
    **dict.fromkeys(("sup_ap", "hap", "weighted_ap"), _SIGMOID),
    **dict.fromkeys(("happier", "happier_f"), _HAPPIER),
    **dict.fromkeys(("contrastive", "lifted_structure"), _PAIRS),
    **dict.fromkeys(("triplet_semihard", "triplet_distance_weighted"), _TRIPLET),
    "fast_ap": {"bins": IntDistribution(5, 50)},
    "identity": {"margin": _MARGIN},
    "recall_at_k_surrogate": {**_SIGMOID, "rank_temperature": Between(0.1, 10.0, log=True)},
    "soap": {**_SIGMOID, "gamma": Between(0.05, 1.0)},
    "soft_bin_ap": {"bins": IntDistribution(5, 50), "margin": _MARGIN},
    "roadmap": {**_SIGMOID, "weight": Between(0.0, 1.0)},
    "error_driven_ap": {"delta": Between(0.05, 2.0, log=True)},
    "ap_svm": {},
    "n_pair": {},
    "csl": {"scale": Between(8.0, 64.0, log=True), "loss_lr": _PROXIES},
    "normalized_softmax": {"temperature": Between(0.01, 1.0, log=True), "loss_lr": _PROXIES},
    "proxy_nca_pp": {"scale": Between(0.5, 30.0, log=True), "loss_lr": _PROXIES},
    "margin": {**_TRIPLET, "beta": Between(0.6, 1.4)},
    "angular": {"alpha": Between(20.0, 60.0)},
    "histogram": {"n_bins": IntDistribution(20, 200, log=True)},
    "multi_similarity": {"alpha": Between(1.0, 10.0, log=True), "beta": Between(10.0, 80.0, log=True)},
}

#: In the lab `detection` the classifier's loss is added to three others, with this weight. With as many trials for both
#: losses, the two additional settings are to RaMBO's disadvantage.
_WEIGHT = {"weight": Between(1.0, 30.0, log=True)}
_DETECTION: dict[str, dict[str, Any]] = {"cross_entropy": _WEIGHT, "rambo_map": {**_WEIGHT, **_BLACKBOX}}


def space_of(method: str, *, without: Collection[str] = ()) -> dict[str, Any]:
    """What is searched for a method, or a loss of the lab `detection`, but for what is held; of a sum, for its part."""
    own = _DETECTION.get(method) or _OWN[find_method(method).name.removeprefix("sum_")]
    space = {**RATE, **own}
    return {setting: between for setting, between in space.items() if setting not in without}


def as_parameters(point: Mapping[str, Any], lab: Mapping[str, Any]) -> dict[str, Any]:
    """A point of a space as parameters of a lab: what the lab has no parameter for is added to its `settings`."""
    own = {name: value for name, value in point.items() if name in lab}
    more = [f"{name}={value!r}" for name, value in point.items() if name not in lab]
    return {**own, "settings": " ".join(filter(None, [lab["settings"], *more]))} if more else own
