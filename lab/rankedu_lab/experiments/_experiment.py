"""The part that the training labs share: from parameters to a trained network, which a second call goes on training."""

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankedu_lab.datasets import DATASETS
from rankedu_lab.datasets.unicode_tree import SHARES
from rankedu_lab.experiments._outcome import RetrievalOutcome, noting, resumed, timed
from rankedu_lab.experiments.retrieval_data import PROBE, Data, embed_all, open_data, small_classes
from rankedu_lab.methods import Objective, find_method, make_loss, parse_settings
from rankedu_lab.models.build import NAMES, build, weights_hash
from rankedu_lab.runs.parameters import check_known, defaults_of
from rankedu_lab.runs.results import RESULT_FOLDER
from rankedu_lab.runs.runner import code_hash
from rankedu_lab.training import History, Recipe, SuperClassSampler, pick_device, train

#: The parameters of the lab `retrieval`. The value -1 or 0 means the method's own value, see the lab.
DEFAULTS = defaults_of("retrieval")
#: Parameters that change no number of the training, so that it may go on with another value.
_FREE = ("data_root", "pictures", "workers", "recall_at", "checkpoint_every")


def chosen_settings(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the given settings that the loss has, and a note on each that it has not.

    ``margin`` and ``weight`` are set from 0 on, ``lam``, ``temperature`` and ``alpha`` above it; ``memory`` always.
    """
    method = find_method(parameters["loss"])
    given = {name: parameters[name] for name in ("margin", "weight") if parameters[name] >= 0}
    given |= {name: parameters[name] for name in ("lam", "temperature", "alpha") if parameters.get(name, 0) > 0}
    given |= {"memory": parameters["memory"]} if parameters["memory"] else {}
    notes = [f"{method.title} has no {one}: {given[one]:g} is not used" for one in given if one not in method.settings]
    used = {name: value for name, value in given.items() if name in method.settings}
    return {**used, **parse_settings(parameters["settings"])}, notes


def fit(
    parameters: Mapping[str, Any],
    folder: str | os.PathLike[str] | None = None,
    *,
    watch: Callable[[Any, Objective, Data], nn.Module] | None = None,
    data: Data | None = None,
    progress: bool = True,
) -> RetrievalOutcome:
    """Train with all of `DEFAULTS`, or go on training, and embed the test images; the outcome has no metrics yet.

    The checkpoint is in a folder of these parameters below `folder`, by default ``$RANKEDU_RESULT_FOLDER``, else the
    current one. `watch` makes of network, loss and data a module that replaces the loss; `data` are open already.
    """
    settings, notes = check(parameters)
    recipe, device = make_recipe(parameters), pick_device(parameters["device"])
    data = open_test(parameters) if data is None else data
    net, loss = _network_and_loss(parameters, data.train, settings)
    evidence = {"code": code_hash(), "start": weights_hash(net.state_dict())}
    net, loss, shown = net.to(device), loss.to(device), data.part(PROBE)
    notes += small_classes(data.train, parameters["per_class"]) + start_note(net, parameters)
    before = embed_all(net, shown, parameters).cpu() if parameters["pictures"] else None
    state = state_folder({**parameters, "code": evidence["code"]}, folder)
    objective, history = loss if watch is None else watch(net, loss, data), History()
    if parameters["steps"]:  # else a network that was trained before is only measured
        state.mkdir(parents=True, exist_ok=True)
        passed = ("steps", "batch_size", "per_class", "lr", "seed", "strength", "workers")
        with noting(notes):
            history = train(
                net,
                data.train,
                objective,
                **{name: parameters[name] for name in passed},
                test=shown.test if parameters["evaluate_every"] else None,
                evaluate_every=parameters["evaluate_every"] or None,
                progress=progress,
                sampler=_sampler(parameters, data.train.labels),
                recipe=recipe,
                folder=state,
                checkpoint_every=parameters["checkpoint_every"] or None,
            )
    notes += resumed(history)
    about: dict[str, Any] = {"history": history, "state": state, "notes": notes, "evidence": evidence}
    with timed(history):
        embeddings = embed_all(net, data, parameters).cpu()
    outcome = RetrievalOutcome(net=net, loss=loss, objective=objective, data=data, embeddings=embeddings, **about)
    if before is not None:
        outcome.shown, outcome.before = shown, before
        outcome.after = embed_all(net, shown, parameters).cpu()
    return outcome


def open_test(parameters: Mapping[str, Any]) -> Data:
    """Open the data of a run, with as many test images as the parameters say."""
    return open_data(parameters).part(parameters["test_images"])


def check(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Check names, settings and splits, and return the settings of the loss, and notes; ValueError or TypeError."""
    settings, notes = chosen_settings(parameters)
    find_method(parameters["loss"]).check(settings)
    check_known("dataset", parameters["dataset"], DATASETS)
    check_known("model", parameters["model"], NAMES)
    names = ("train_split", "test_split", "salt", "letters")
    changed = [name for name in names if parameters[name] != DEFAULTS[name]]
    if changed and parameters["dataset"] != "glyphs":
        raise ValueError(f"{changed[0]} is for dataset 'glyphs' alone, got it with {parameters['dataset']!r}")
    splits = (parameters["train_split"], parameters["test_split"])
    if splits not in {("train", "test"), ("test", "train"), *itertools.permutations(SHARES, 2)}:
        raise ValueError(
            f"train_split and test_split must be train and test, or two of {', '.join(SHARES)}, got "
            f"{splits[0]!r} and {splits[1]!r} (else a letter may be in both)"
        )
    return settings, notes


def start_note(net: Any, parameters: Mapping[str, Any]) -> list[str]:
    """Write a note on the origin of the weights, unless they are random and were meant to be."""
    if not parameters["pretrained"] and net.pretrained == "random":
        return []
    lost = ": no pretrained weights were found" if net.pretrained == "random" else ""
    return [f"the network begins {net.pretrained}{lost}"]


def _sampler(parameters: Mapping[str, Any], labels: torch.Tensor) -> SuperClassSampler | None:
    """Make the sampler of batches from a few super-classes; None stands for the sampler of the loop."""
    if not parameters["super_classes"]:
        return None
    names = ("batch_size", "per_class", "super_classes", "batches_per_pair", "seed")
    return SuperClassSampler(labels, batches=parameters["steps"], **{name: parameters[name] for name in names})


def _network_and_loss(parameters: Mapping[str, Any], train: Any, settings: dict[str, Any]) -> tuple[Any, Objective]:
    """Make both with the weights that the seed determines."""
    torch.manual_seed(parameters["seed"])
    net = build(
        parameters["model"],
        in_channels=1 if hasattr(train, "images") else 3,
        weights=parameters["weights"] or None,
        **{name: parameters[name] for name in ("dim", "pretrained", "layer_norm", "freeze_batch_norm")},
    )
    return net, make_loss(parameters["loss"], dim=parameters["dim"], labels=train.labels, **settings)


def make_recipe(parameters: Mapping[str, Any]) -> Recipe:
    """Make the recipe of a training from those of the parameters that it has."""
    settings = {field.name: parameters[field.name] for field in fields(Recipe) if field.name in parameters}
    settings |= {name: settings[name] or None for name in ("clip", "chunk") if name in settings}  # 0 is none
    return Recipe(**settings)


def state_folder(parameters: Mapping[str, Any], folder: str | os.PathLike[str] | None = None) -> Path:
    """Name the folder of the checkpoint of these parameters, within the one that is given."""
    deciding = {name: value for name, value in parameters.items() if name not in _FREE}
    own = hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:12]
    return Path(folder or os.environ.get(RESULT_FOLDER) or ".") / f"state-{own}"
