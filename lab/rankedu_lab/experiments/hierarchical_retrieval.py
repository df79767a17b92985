"""The lab `hierarchical_retrieval`: train with a hierarchy of labels, and measure every level, as HAPPIER."""

import copy
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankedu_lab.datasets import DATASETS
from rankedu_lab.experiments._experiment import check, fit, open_test
from rankedu_lab.experiments._outcome import RetrievalOutcome, timed
from rankedu_lab.experiments.retrieval import measure
from rankedu_lab.experiments.retrieval_data import Data, embed_all, open_data
from rankedu_lab.runs.parameters import complete, defaults_of

__all__ = ["DEFAULTS", "check", "level_names", "open_test", "run"]

#: Every parameter of the lab.
DEFAULTS = defaults_of("hierarchical_retrieval")
#: The metrics of a level.
LEVEL_METRICS = {"R@1": "recall_at_1", "AP": "average_precision"}
#: The plural of a level, where that is not the name with an s.
_PLURALS = (
    {"species": "species", "genus": "genera", "family": "families", "class": "classes", "phylum": "phyla"}
    | {"category": "categories", "super-category": "super-categories", "super-class": "super-classes"}
    | {"coarse": "coarse classes", "middle": "middle classes", "fine": "fine classes"}
)


def run(
    parameters: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    data: Data | None = None,
    progress: bool = True,
) -> RetrievalOutcome:
    """Train by a method of `rankedu_lab.methods`, and measure the whole test split level by level.

    The arguments and errors are those of :func:`rankedu_lab.experiments.retrieval.run`. The metrics are "H-AP", "ASI"
    and "NDCG" of all levels together, of each level "AP of characters", "R@1 of characters" and so on, and their means
    over the levels (of AP this is HAPPIER's ΣwAP with equal weights). H-AP is measured with α = 1, whatever it was
    trained with. Of DyML, as in its paper: AP, R@1 and ASI of each level, and none of all levels together.

    Source: HAPPIER Sec. 4.1; HAPPIER Tab. 1; HAPPIER Tab. 2; HAPPIER Tab. 3; HAPPIER Tab. 4; HAPPIER Tab. 5;
    HAPPIER Tab. 6.
    """
    chosen = complete("hierarchical_retrieval", parameters)
    outcome = fit(chosen, folder, data=data, progress=progress)
    evaluate = _one_by_one if chosen["dataset"].startswith("dyml_") else _together
    with timed(outcome.history):
        outcome.metrics = evaluate(outcome, chosen, progress)
    outcome.metrics |= outcome.times()
    return outcome


def _together(outcome: RetrievalOutcome, parameters: Mapping[str, Any], progress: bool) -> dict[str, float]:
    """Measure all levels at once."""
    names = ("h_ap", "asi", "ndcg", "average_precision", "recall_at_1")
    measured = measure(outcome, names, progress=progress, monotone=parameters["monotone"])
    rows = dict(zip(level_names(outcome.data.levels), measured["levels"].values(), strict=True))
    flat = {"H-AP": measured["h_ap"], "ASI": measured["asi"], "NDCG": measured["ndcg"]}
    return {**flat, **_by_level(rows, LEVEL_METRICS), **outcome.metrics}


def _one_by_one(outcome: RetrievalOutcome, parameters: Mapping[str, Any], progress: bool) -> dict[str, float]:
    """Measure each level by itself, as the test of DyML does, with its own queries and gallery, where it has them."""
    metrics, rows, levels = {**LEVEL_METRICS, "ASI": "asi"}, {}, outcome.data.levels
    for place, (level, name) in enumerate(zip(levels, level_names(levels), strict=True)):
        data, embeddings = outcome.data, outcome.embeddings
        if DATASETS[parameters["dataset"]].benchmarks:
            data = open_data(parameters, level=level).part(parameters["test_images"])
            embeddings = embed_all(outcome.net, data, parameters).cpu()
        else:
            test = copy.copy(data.test)
            test.labels = test.labels[:, [place]]
            data = replace(data, test=test)
        rows[name] = measure(replace(outcome, data=data, embeddings=embeddings), [*metrics.values()], progress=progress)
    return _by_level(rows, metrics)


def _by_level(rows: Mapping[str, Mapping[str, float]], metrics: Mapping[str, str]) -> dict[str, float]:
    """List each metric of each level, from the finest to the coarsest, and its mean."""
    values: dict[str, float] = {}
    for metric, key in metrics.items():
        values |= {f"{metric} of {name}": row[key] for name, row in reversed([*rows.items()])}
        values[f"{metric}, mean of levels"] = sum(row[key] for row in rows.values()) / len(rows)
    return values


def level_names(levels: tuple[str, ...]) -> list[str]:
    """Return the plurals of the levels: scripts, base letters, characters."""
    return [_PLURALS.get(level, f"{level}s") for level in levels]
