"""The lab `detection`: train a Faster R-CNN by cross entropy or by an AP loss, and measure it by AP50."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rankedu.losses import MAPLoss
from rankedu.memory import ScoreMemory
from rankedu.rankers import BlackboxRanker
from rankedu_lab.datasets.registry import DETECTION_NAMES
from rankedu_lab.datasets.scenes import SPLITS
from rankedu_lab.detections import OnProposals, match_detections
from rankedu_lab.experiments._experiment import make_recipe, start_note, state_folder
from rankedu_lab.experiments._outcome import Trained, noting, resumed, timed
from rankedu_lab.experiments.detection_data import (
    Data,
    Detections,
    Findings,
    Proposals,
    first_of,
    first_ones,
    halves,
    open_data,
    thin_out,
)
from rankedu_lab.experiments.retrieval import table
from rankedu_lab.models import StandInWarning, build_detector, operators
from rankedu_lab.models.build import weights_hash
from rankedu_lab.models.detectors import DETECTORS
from rankedu_lab.runs.parameters import check_known, complete, defaults_of
from rankedu_lab.runs.runner import code_hash
from rankedu_lab.training import detect, pick_device, proposal_scores, train_detector

__all__ = ["DEFAULTS", "LOSSES", "PROBE", "DetectionOutcome", "check", "make_loss", "measure", "run", "table"]

#: Every parameter of the lab.
DEFAULTS = defaults_of("detection")
#: The losses of the classifier, and their names in the tables.
LOSSES = {"cross_entropy": "cross entropy", "rambo_map": "RaMBO"}
#: The number of test pictures that are looked at before and after the training, and at intervals.
PROBE = 64


@dataclass(kw_only=True)
class DetectionOutcome(Trained):
    """The results of a run of the lab."""

    data: Data
    detections: list[Detections]  #: in each test picture "boxes", "scores" and "labels", best score first
    ap: Tensor  #: (C,) AP50 of each class; nan where the test has no object of it
    findings: Findings | None = None  #: for the figures

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The log, with the sum of all losses, the classifier's, its cross entropy, and AP50 of a part of the test."""
        names = {"loss": "loss", "loss_classifier": "classifier's loss", "cross_entropy": "cross entropy"}
        return self.history.rows(names, " of a part")

    def series(self) -> dict[str, list[dict[str, Any]]]:
        """Return the log as two curves with a column "loss": the loss of the classifier, and its cross entropy."""
        rows = self.rows
        learned = [{**row, "loss": row["classifier's loss"]} for row in rows]
        beside = [{"step": row["step"], "loss": row["cross entropy"]} for row in rows]
        same = all(abs(one["loss"] - other["loss"]) < 1e-6 for one, other in zip(learned, beside, strict=True))
        return {"classifier's loss": learned} if same else {"AP loss": learned, "cross entropy": beside}


def run(
    parameters: Mapping[str, Any] | None = None, folder: str | os.PathLike[str] | None = None, *, progress: bool = True
) -> DetectionOutcome:
    """Train a detector and measure it on the whole test split: :func:`measure`, and where the time went.

    Arguments and errors are those of :func:`rankedu_lab.experiments.retrieval.run`. ImportError without torchvision.

    Source: RaMBO Sec. 5.2; RaMBO Tab. 5; RaMBO Tab. 8.
    """
    chosen = complete("detection", parameters)
    notes = check(chosen)
    recipe, loss, device = make_recipe(chosen), make_loss(chosen), pick_device(chosen["device"])
    data = open_data(chosen)
    net = _network(chosen, len(data.names), loss, notes)
    evidence = {"code": code_hash(), "start": weights_hash(dict(net.named_parameters()))}
    net = net.to(device)
    probe, state = first_of(data.test, PROBE), state_folder(chosen, folder)
    state.mkdir(parents=True, exist_ok=True)
    before = _look(net, probe, chosen) if chosen["pictures"] else None
    with noting(notes):
        history = train_detector(
            net,
            data.train,
            **{name: chosen[name] for name in ("steps", "batch_size", "lr", "seed", "weight", "workers")},
            test=probe if chosen["evaluate_every"] else None,
            evaluate_every=chosen["evaluate_every"] or None,
            recipe=recipe,
            folder=state,
            checkpoint_every=chosen["checkpoint_every"] or None,
            progress=progress,
        )
    notes += resumed(history)
    with timed(history):
        detections = detect(net, data.test, workers=chosen["workers"], progress=progress)
        metrics, ap = measure(detections, data)
    if empty := int(ap.isnan().sum()):
        notes.append(f"{empty} of {len(ap)} classes have no object in the test, and no AP50")
    about: dict[str, Any] = {"history": history, "state": state, "notes": notes}
    outcome = DetectionOutcome(net=net, data=data, detections=detections, ap=ap, evidence=evidence, **about)
    outcome.metrics = {**metrics, **outcome.times()}
    outcome.findings = Findings(*before, *_look(net, probe, chosen)) if before else None
    return outcome


def measure(detections: list[Detections], data: Data) -> tuple[dict[str, float], Tensor]:
    """Compute AP50 on the test split, and that of each class, (C,), nan where the test has no object of it.

    Also "AP50 11-point" (as in VOC 2007), and "AP50 of frequent classes", the mean of the half of the classes that the
    training has more objects of, and "AP50 of rare classes". Means are over the classes that the test has.
    """
    targets = [data.test.target(index) for index in range(len(data.test))]
    matches = match_detections(detections, targets, n_classes=len(data.names))
    ap = matches.average_precision("all-point")
    found = {"AP50": ap, "AP50 11-point": matches.average_precision("11-point")}
    found |= {f"AP50 of {half}": ap[labels - 1] for half, labels in halves(data.frequency).items()}
    return {name: float(values.nanmean()) for name, values in found.items()}, ap


def make_loss(parameters: Mapping[str, Any]) -> nn.Module | None:
    """Make the AP loss of RaMBO, of class logits (P, C + 1) and labels (P,); None for the network's own cross entropy.

    Source: RaMBO Sec. 5.2.
    """
    if parameters["loss"] == "cross_entropy":
        return None
    memory = ScoreMemory(parameters["memory"]) if parameters["memory"] else None
    ranker = BlackboxRanker(parameters["lam"], normalized=parameters["normalized"])
    loss = MAPLoss(ranker, parameters["margin"], memory, parameters["class_agnostic_weight"])
    return OnProposals(loss, parameters["scores"], background="first")


def check(parameters: Mapping[str, Any]) -> list[str]:
    """Raise ValueError for an unknown name; return notes on settings that are not used."""
    known = {"dataset": DETECTION_NAMES, "model": DETECTORS, "loss": LOSSES, "test_split": SPLITS[1:]}
    for name, names in known.items():
        check_known(name, parameters[name], names)
    if parameters["test_split"] != "test" and parameters["dataset"] != "scenes":
        raise ValueError(f"test_split must be 'test' for {parameters['dataset']!r}, got {parameters['test_split']!r}")
    if parameters["loss"] != "cross_entropy":
        return []
    settings = ("margin", "lam", "normalized", "memory", "class_agnostic_weight", "scores")
    changed = [name for name in settings if parameters[name] != DEFAULTS[name]]
    return [f"cross entropy has no {name}: {parameters[name]} is not used" for name in changed]


def _network(parameters: Mapping[str, Any], classes: int, loss: nn.Module | None, notes: list[str]) -> Any:
    """Make the detector with the weights that the seed determines."""
    torch.manual_seed(parameters["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)  # it becomes a note
        net: Any = build_detector(
            parameters["model"],
            classes,
            classifier_loss=loss,
            image_size=parameters["image_size"],
            weights=parameters["weights"] or None,
            pretrained=parameters["pretrained"],
        )
    if operators() == "PyTorch":
        notes.append(
            "torchvision's compiled operators do not load here: non-maximum suppression and RoIAlign are PyTorch's"
        )
    notes.extend(start_note(net, parameters))
    return net


def _look(net: Any, probe: Any, parameters: Mapping[str, Any]) -> tuple[list[Detections], Proposals]:
    """Detect objects in some pictures, in each as many as it has, and score proposals."""
    detections = detect(net, probe, workers=parameters["workers"])
    counts = [len(probe.target(index)["labels"]) for index in range(len(probe))]
    first = [first_ones(found, count) for found, count in zip(detections, counts, strict=True)]
    return first, thin_out(*proposal_scores(net, probe, workers=parameters["workers"]))
