"""The notation table agrees with the package, and every public function says where it is explained."""

from __future__ import annotations

import importlib
import inspect

import pytest
from tools.site import generate

import ranklab.contestants  # noqa: F401  its rankers enter the table
from rankedu.rankers import RANKERS

#: The setting of the step of HAPPIER and ROADMAP.
STEP = {"slope", "delta", "offset", "start"}
#: Parameters that belong to one function alone and are explained in its docstring; all others are in the vocabulary.
LOCAL = {
    "BlackboxRanker": {"normalized"},
    "spearman": {"target"},
    "shortest_path": {"moves"},
    "assignment": {"costs"},
    "RecallLoss": {"ranker", "weights", "within_grad"},
    "APLoss": {"ranker", "within_grad"},
    "MAPLoss": {"ranker", "within_grad", "memory", "class_agnostic_weight"},
    "OnEmbeddings": {"loss", "exclude_self", "memory"},
    "OnProposals": {"loss"},
    "HistogramRanker": {"bins", "score_range"},
    "ProjectionRanker": {"strength"},
    "FastAPLoss": {"bins"},
    "operating_region": {"threshold"},
    "SpearmanLoss": {"ranker"},
    "LSTMRanker": {"n", "architecture", "hidden", "layers"},
    "equivariance_error": {"ranker", "draws", "seed"},
    "SupremumRanker": STEP,
    "InfimumStep": {"below", "above"},
    "SupAPLoss": STEP,
    "CalibrationLoss": {"at_least", "at_most"},
    "ROADMAPLoss": STEP | {"at_least", "at_most"},
    "levels": {"gallery_labels"},
    "relevance": {"n_levels", "monotone"},
    "weighted_ap_relevance": {"weights"},
    "average_precision_per_level": {"n_levels"},
    "evaluate_retrieval": {"embeddings", "gallery", "gallery_labels", "metrics", "monotone", "chunk_size"}
    | {"device", "progress", "distributed"},
    "RetrievalMetrics": {"metrics", "settings"},
    "box_iou": {"boxes", "others"},
    "DetectionMatches": {"hits", "ignored", "images", "places", "taken", "truths"},
    "match_detections": {"detections", "truths", "n_classes", "iou", "matching"},
    "evaluate_detections": {"detections", "truths", "n_classes", "iou", "interpolation", "matching"},
    "ErrorDrivenAPLoss": {"delta"},
    "APSVMLoss": {"inference"},
    "most_violated_ranking": {"inference"},
    "baseline": {"name", "n_classes", "dim", "settings"},
    "describe_baseline": {"name"},
    "baseline_settings": {"name"},
    "SumOverLevels": {"make_loss"},
    "HAPLoss": {"ranker", "within_grad", "lower"},
    "HAPPIERLoss": {"n_classes", "dim", "monotone", "ranker", "within_grad", "lower", "exclude_self", "memory"},
    "ClusterLoss": {"n_classes", "dim"},
    "CSLLoss": {"class_labels", "dim", "margins", "scale"},
}
LOSSES = ["losses.average_precision", "losses.recall", "losses.on_embeddings", "losses.margin", "memory"]
OTHERS = ["losses.on_proposals"]
CONTESTANTS = [
    f"ranklab.contestants.{name}" for name in ("ap_svm", "baselines", "error_driven", "exact_sorter", "over_levels")
]
SOFT = ["rankers.histogram", "losses.fast_ap", "losses.spearman"]
HIERARCHICAL = ["losses.hierarchical", "losses.clustering", "losses.csl"]
SMOOTH = ["rankers.sigmoid"]
SUPREMUM = ["rankers.supremum", "losses.calibration"]
DETECTION = ["metrics.boxes", "metrics.detection"]
MODULES = [
    "ranks",
    "blackbox",
    "solvers",
    "rankers.blackbox",
    "metrics.binary",
    "metrics.retrieval",
    "metrics.graded",
    *LOSSES,
    *OTHERS,
    *SOFT,
    *SMOOTH,
    *SUPREMUM,
    *CONTESTANTS,
    *HIERARCHICAL,
    *DETECTION,
]
#: A ranker of the table is judged without being listed here.
MODULES += sorted({known.ranker.__module__.removeprefix("rankedu.") for known in RANKERS.values()} - {*MODULES})


def public(module: str) -> dict[str, object]:
    found = importlib.import_module(module if module.startswith("ranklab.") else f"rankedu.{module}")
    package = importlib.import_module(found.__name__.rpartition(".")[0])
    own = [name for name in package.__all__ if getattr(vars(found).get(name), "__module__", "") == found.__name__]
    offered = {name: getattr(found, name) for name in getattr(found, "__all__", own)}
    kinds = inspect.isfunction, inspect.isclass
    return {name: x for name, x in offered.items() if any(kind(x) for kind in kinds) and not is_warning(x)}


def is_warning(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Warning)


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_is_in_the_vocabulary(module):
    known = {row["identifier"] for row in generate.vocabulary()}
    for name, value in public(module).items():
        allowed = known | LOCAL.get(name, set()) | ({"costs"} if module == "solvers" else set())
        assert set(inspect.signature(value).parameters) <= allowed, name


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_names_its_chapter_and_has_an_example(module):
    for name, value in public(module).items():
        docstring = inspect.getdoc(value) or ""
        assert "Explained in chapter" in docstring, name
        assert ">>>" in docstring, f"{name} has no example"


@pytest.mark.parametrize("name", ["scores", "relevance", "where", "lam", "margin", "alpha", "temperature", "labels"])
def test_the_binding_names_are_in_the_vocabulary(name):
    assert name in {row["identifier"] for row in generate.vocabulary()}
