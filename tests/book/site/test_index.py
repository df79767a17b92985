"""The notation table agrees with the package, and every public function says where it is explained."""

from __future__ import annotations

import importlib
import inspect

from tools.site import generate

import ranklab.contestants  # noqa: F401  its rankers enter the table
from rankedu.rankers import RANKERS

#: Parameters that belong to one function alone and are explained in its docstring; all others are in the vocabulary.
LOCAL = """
    above architecture at_least at_most below bins boxes chunk_size class_agnostic_weight class_labels costs
    delta detections device dim distributed draws embeddings exclude_self gallery gallery_labels hidden hits ignored
    images inference interpolation iou layers loss lower make_loss margins matching memory metrics monotone moves n
    n_classes n_levels name normalized offset others places progress ranker scale score_range seed settings slope start
    strength taken target threshold truths weights within_grad
"""
ROOMS = {
    "rankedu": "ranks blackbox solvers memory",
    "rankedu.rankers": "blackbox histogram sigmoid supremum",
    "rankedu.metrics": "binary retrieval graded boxes detection",
    "rankedu.losses": """average_precision recall on_embeddings margin on_proposals fast_ap spearman calibration
        hierarchical clustering csl""",
    "ranklab.contestants": "ap_svm baselines error_driven exact_sorter over_levels",
}
MODULES = {f"{room}.{name}" for room, listed in ROOMS.items() for name in listed.split()}
MODULES |= {known.ranker.__module__ for known in RANKERS.values()}


def public() -> dict[str, object]:
    """The functions and classes that the modules offer, but for warnings."""
    found = {}
    for name in sorted(MODULES):
        module = importlib.import_module(name)
        package = importlib.import_module(name.rpartition(".")[0])
        own = [one for one in package.__all__ if getattr(vars(module).get(one), "__module__", "") == name]
        offered = {f"{name}.{one}": getattr(module, one) for one in getattr(module, "__all__", own)}
        found |= {one: value for one, value in offered.items() if inspect.isfunction(value) or inspect.isclass(value)}
    return {name: value for name, value in found.items() if not (inspect.isclass(value) and issubclass(value, Warning))}


def test_every_parameter_is_in_the_vocabulary():
    known = {row["identifier"] for row in generate.vocabulary()}
    assert known >= {"scores", "relevance", "where", "lam", "margin", "alpha", "temperature", "labels"}
    for name, value in public().items():
        assert set(inspect.signature(value).parameters) <= known | set(LOCAL.split()), name


def test_every_public_function_names_its_chapter_and_has_an_example():
    assert len(public()) > 50
    for name, value in public().items():
        docstring = inspect.getdoc(value) or ""
        assert "Explained in chapter" in docstring and ">>>" in docstring, name
