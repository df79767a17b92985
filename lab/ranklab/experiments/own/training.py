"""Train on pictures of your own in a folder that holds the settings, the checkpoint and, at the end, all that came."""

import csv
import json
import shutil
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rankedu.checks import check_count, check_number
from rankedu.files import written
from ranklab.datasets.cache import cached_arrays
from ranklab.experiments._experiment import start_note
from ranklab.experiments._weights import weights_hash
from ranklab.experiments.own.judging import card, curves, per_query, queries, table
from ranklab.experiments.own.reading import OwnPictures, Read
from ranklab.methods import find_method, make_loss, parse_settings
from ranklab.models.build import build
from ranklab.models.resnet import RESNETS
from ranklab.runs.results import write_json
from ranklab.training import Recipe, pick_device
from ranklab.training import train as train_by
from ranklab.training.retrieval import embed

#: A loss of classes, one that the book advises to begin with, and one of a hierarchy, where none is asked for.
LOSSES = ("roadmap", "happier")
#: All that decides what comes out, beside the pictures; None stands for what fits, see `settled`.
SETTINGS: dict[str, Any] = {
    "loss": None,
    "settings": "",
    "model": "convnet_wide",
    "weights": None,
    "pretrained": False,
    "frozen": False,
    "size": None,
    "dim": None,
    "steps": 300,
    "batch_size": 128,
    "per_class": 4,
    "lr": None,
    "mirror": False,
    "seed": 0,
}
#: So many steps are lost by Ctrl-C at most.
CHECKPOINT = 10


def settled(given: Mapping[str, Any], data: Read) -> dict[str, Any]:
    """All of `SETTINGS`: the loss by the labels, size, rate and batch by network and classes; ValueError if unfit."""
    chosen = {**SETTINGS, **given}
    large, imagenet = chosen["model"] in RESNETS, chosen["pretrained"] and not chosen["frozen"]
    for name in ("steps", "batch_size", "per_class"):
        check_count(chosen[name], name, least=2 if name == "per_class" else 1)
    fitting: dict[str, Any] = {
        "loss": LOSSES[len(data.levels) > 1],
        "size": 224 if large else 32,
        "dim": 512 if large else 64,
    }
    fitting |= {"lr": 1e-5 if imagenet else 1e-3}
    chosen |= {name: value for name, value in fitting.items() if chosen[name] is None}
    check_number(chosen["lr"], "lr", above=0)
    method, own = find_method(chosen["loss"]), parse_settings(chosen["settings"])
    usual = {"lam": "auto", "margin": 0.1} if "lam" in method.settings else {}
    method.check(own)
    counts = Counter(row.names for row in data.rows if row.part == "train")
    enough = sum(count >= chosen["per_class"] for count in counts.values())
    if enough < 2:
        raise ValueError(
            f"per_class must leave two classes to train on, got {chosen['per_class']}, which leaves {enough}"
        )
    return {**chosen, "settings": usual | own, "batch_size": min(chosen["batch_size"], enough * chosen["per_class"])}


def train(
    data: Read,
    folder: Path,
    *,
    device: str = "auto",
    workers: int = 0,
    command: str = "",
    progress: bool = True,
    **given: Any,
) -> list[list[str]] | None:
    """Train, judge, and leave all files in the folder: the table of the card, or None for a run that was done before.

    The settings that are given are of `SETTINGS`. A run that was stopped goes on. The folder must be new, empty, or of
    the same run: ValueError else, and for settings that do not fit.
    """
    chosen, on = settled(given, data), pick_device(device)
    if data.source.is_dir() and folder.resolve().is_relative_to(data.source.resolve()):
        raise ValueError(
            f"out must not lie in {data.source}, got {folder} (else its pictures would be taken for yours)"
        )
    torch.manual_seed(chosen["seed"])
    net: Any = build(
        chosen["model"], in_channels=3, **{name: chosen[name] for name in ("dim", "pretrained", "weights")}
    )
    if chosen["frozen"] and net.pretrained == "random":
        raise ValueError("frozen must go with a network that knows something (give --weights FILE, or --pretrained)")
    if chosen["pretrained"] and net.pretrained == "random":
        raise ValueError(
            f"pretrained must find ImageNet's weights on this machine, got none for {chosen['model']} "
            "(give --weights FILE, or leave it out)"
        )
    fit, test = (OwnPictures(data, side, size=chosen["size"], mirror=chosen["mirror"]) for side in ("train", "test"))
    loss = make_loss(chosen["loss"], dim=chosen["dim"], labels=fit.labels, **chosen["settings"]).to(on)
    start = weights_hash(net.state_dict())
    if _claimed(folder, {"data": data.digest, "start": start, **chosen}):
        return None
    few = int((fit.labels[:, -1].unique(return_counts=True)[1] < chosen["per_class"]).sum())
    notes = [*data.notes, *start_note(net, chosen)]
    notes += [f"{few} training classes have fewer than {chosen['per_class']} pictures and train nothing"] * bool(few)
    net, began = net.to(on), "untrained network" if net.pretrained == "random" else "network at first"
    trained: Any = net
    inputs: Any = (fit, test)
    if chosen["frozen"]:
        trained, began, workers = net.embed, "frozen features", 0
        inputs = _features(net, inputs, f"{data.digest[:16]}-{start}-{chosen['size']}")
    pixels = OwnPictures(data, "test", size=32)
    first = inputs[1].features if chosen["frozen"] else embed(net, test, workers=workers).cpu()
    made = {began: first, "pixels": torch.stack([pixels.load(at).flatten() for at in range(len(test))])}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = train_by(
            trained,
            inputs[0],
            loss,
            **{name: chosen[name] for name in ("steps", "batch_size", "per_class", "lr", "seed")},
            recipe=Recipe(head_lr=10.0 if chosen["pretrained"] and not chosen["frozen"] else 1.0),
            test=inputs[1],
            evaluate_every=max(1, chosen["steps"] // 10),
            folder=folder / "state",
            checkpoint_every=CHECKPOINT,
            workers=workers,
            progress=progress,
        )
    notes += dict.fromkeys(str(warning.message) for warning in caught)
    made["trained"] = F.normalize(embed(trained, inputs[1], workers=workers).cpu(), dim=1)
    values = {name: per_query(embeddings, test.labels, data.levels) for name, embeddings in made.items()}
    rows = table(values, test.labels[:, -1])
    _write(folder, data, test, made["trained"], values["trained"])
    with written(folder / "model.pt") as part:
        torch.save(net.cpu().state_dict(), part)
    curves(history, folder / "curves.png")
    queries(made["trained"], test, values["trained"]["mAP"], folder / "queries.png")
    if history.interrupted:
        notes.append(f"stopped after step {', '.join(map(str, history.interrupted))}, and taken up again")
    text = card(data, test.labels, chosen, net, loss.loss, history, rows, notes, command)
    with written(folder / "card.md") as part:
        part.write_text(text, encoding="utf-8")
    shutil.rmtree(folder / "state")
    return rows


def _claimed(folder: Path, known: Mapping[str, Any]) -> bool:
    """Write what the run is known by into a new folder, or compare it with what stands there; whether it is done."""
    path = folder / "run.json"
    if not folder.exists() or not any(folder.iterdir()):
        write_json(path, known)
    if not path.is_file():
        raise ValueError(f"{folder} holds other files, and nothing is overwritten (name another folder with --out)")
    then = json.loads(path.read_text(encoding="utf-8"))
    for name, value in known.items():
        if then.get(name) != value:
            told = f"with {name}={then.get(name)!r}, got {value!r}"
            raise ValueError(f"{folder} is of another run, {told} (name another folder with --out)")
    return (folder / "card.md").is_file()


def _features(net: Any, sides: tuple[OwnPictures, ...], key: str) -> tuple[Any, ...]:
    """What the backbone makes of each side, (n, f), computed once for all runs that begin with it."""
    kept = cached_arrays(
        f"features-{key}.npz", lambda: {side.split: embed(net.features, side).cpu().numpy() for side in sides}
    )

    def of(side: OwnPictures) -> Any:
        values = torch.from_numpy(kept[side.split])
        return SimpleNamespace(labels=side.labels, features=values, load=lambda index, generator=None: values[index])

    return tuple(map(of, sides))


def _write(folder: Path, data: Read, test: OwnPictures, embeddings: Tensor, values: Mapping[str, Tensor]) -> None:
    """Write embeddings and labels of the test, as `rankedu evaluate` reads them, and a line a query."""
    with written(folder / "embeddings.npy") as part, part.open("wb") as file:
        np.save(file, embeddings.numpy())
    words = [[names[label] for names, label in zip(test.names, path, strict=True)] for path in test.labels.tolist()]
    files = [path.relative_to(data.folder).as_posix() for path in test.paths]
    numbers = [[f"{value:.4f}" for value in row] for row in zip(*values.values(), strict=True)]
    whole = [[file, *names, *row] for file, names, row in zip(files, words, numbers, strict=True)]
    tables = {"labels.csv": [data.levels, *words], "queries.csv": [("path", *data.levels, *values), *whole]}
    for name, lines in tables.items():
        with written(folder / name) as part, part.open("w", newline="", encoding="utf-8") as text:
            csv.writer(text, lineterminator="\n").writerows(lines)
