"""Train on pictures of your own, in a folder for the settings, the checkpoint and, at the end, all results."""

import csv
import json
import os
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from filelock import FileLock, Timeout
from torch import Tensor
from torch.nn.functional import normalize

from rankedu.checks import check_count, check_number
from rankedu.files import written
from rankedu_lab.datasets.cache import cached_arrays
from rankedu_lab.experiments._experiment import start_note
from rankedu_lab.experiments.own.card import card
from rankedu_lab.experiments.own.evaluation import baselines, collapsed, per_query, queries, table
from rankedu_lab.experiments.own.reading import OwnPictures, Read
from rankedu_lab.methods import find_method, make_loss, parse_settings
from rankedu_lab.models.build import build, weights_hash
from rankedu_lab.models.resnet import RESNETS
from rankedu_lab.runs.results import write_json
from rankedu_lab.training import Recipe, pick_device
from rankedu_lab.training import train as train_by
from rankedu_lab.training.checkpoints import write_packed
from rankedu_lab.training.retrieval import embed

#: A loss of classes, one that the book advises to begin with, and one of a hierarchy, where none is given.
LOSSES = ("roadmap", "happier")
#: All that decides what comes out, beside the pictures; None stands for what fits, see `settled`.
SETTINGS: dict[str, Any] = {
    "loss": None,
    "settings": "",
    "model": "convnet_wide",
    **dict.fromkeys(("weights", "size", "dim", "lr")),
    **dict.fromkeys(("pretrained", "frozen", "mirror"), False),
    "steps": 300,
    "batch_size": 128,
    "per_class": 4,
    "seed": 0,
}
#: The number of steps between checkpoints of a short run, and the number of checkpoints of a long one.
STEPS, CHECKPOINTS = 10, 100
#: The file that claims a folder for one run.
LOCK = "run.lock"


@contextmanager
def claimed(folder: Path, source: Path) -> Iterator[None]:
    """Claim a folder for one run, before any work; a ValueError if it is not free, an OSError if not writable."""
    if source.is_dir() and folder.resolve().is_relative_to(source.resolve()):
        message = "else its pictures would be taken for yours: name a folder elsewhere with --out"
        raise ValueError(f"out must not be in {source}, got {folder} ({message})")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"out must be a folder, got the file {folder} (name another with --out)")
    held = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if held and held.isdisjoint({"run.json", LOCK}):
        raise ValueError(f"{folder} holds other files, and nothing is overwritten (name another folder with --out)")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise ValueError(f"{folder} is in use by another run (wait for its end, or name another with --out)") from None
    try:
        yield
    finally:
        lock.release()
        (folder / LOCK).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()


def settled(given: Mapping[str, Any]) -> dict[str, Any]:
    """Complete `SETTINGS` with size, dimension and rate by the network; ValueError for what fits no pictures."""
    chosen = {**SETTINGS, **given}
    large, imagenet = chosen["model"] in RESNETS, chosen["pretrained"] and not chosen["frozen"]
    for name in ("steps", "batch_size", "per_class"):
        check_count(chosen[name], name, least=2 if name == "per_class" else 1)
    fitting = {"size": 224 if large else 32, "dim": 512 if large else 64, "lr": 1e-5 if imagenet else 1e-3}
    chosen |= {name: value for name, value in fitting.items() if chosen[name] is None}
    check_count(chosen["size"], "size")
    check_number(chosen["lr"], "lr", above=0)
    own = parse_settings(chosen["settings"])
    if chosen["loss"]:
        find_method(chosen["loss"]).check(own)
    return {**chosen, "settings": own}


def _fitted(chosen: Mapping[str, Any], data: Read) -> dict[str, Any]:
    """Complete the settings that depend on the pictures: the loss and the size of a batch; ValueError if unfit."""
    loss = chosen["loss"] or LOSSES[len(data.levels) > 1]
    method = find_method(loss)
    method.check(chosen["settings"])
    usual = {"lam": "auto", "margin": 0.1} if "lam" in method.settings else {}
    counts = Counter(row.names for row in data.rows if row.part == "train")
    enough = sum(count >= chosen["per_class"] for count in counts.values())
    if enough < 2:
        raise ValueError(
            f"per_class must leave two classes to train on, got {chosen['per_class']}, which leaves {enough} "
            f"(the training classes have up to {max(counts.values())} pictures)"
        )
    batch = min(chosen["batch_size"], enough * chosen["per_class"])
    return {**chosen, "loss": loss, "settings": usual | chosen["settings"], "batch_size": batch, "size": data.size}


def train(
    data: Read, folder: Path, *, device: str = "auto", command: str = "", progress: bool = True, **given: Any
) -> list[list[str]] | None:
    """Train, evaluate, and write all files into the folder.

    Parameters
    ----------
    data : Read
        The pictures.
    folder : Path
        New, empty, or of the same run, which goes on if it was stopped.
    device : str
        "auto", "cpu", "cuda" or "cuda:1".
    command : str
        What was typed, for the card.
    progress : bool
        Show bars, and print a warning of embeddings that are alike.
    **given
        Of `SETTINGS`.

    Returns
    -------
    list of list of str, or None
        The table of the card; None for a run that was done before.
    """
    chosen, on = _fitted(settled(given), data), pick_device(device)
    net, start = _network(chosen)
    sides = fit, test = [OwnPictures(data, side, mirror=chosen["mirror"]) for side in ("train", "test")]
    loss = make_loss(chosen["loss"], dim=chosen["dim"], labels=fit.labels, **chosen["settings"]).to(on)
    if _begun(folder, {"data": data.digest, "start": start, **chosen}):
        return None
    few = int((fit.labels[:, -1].unique(return_counts=True)[1] < chosen["per_class"]).sum())
    notes = [*data.notes, *start_note(net, chosen)]
    notes += [f"{few} training classes have fewer than {chosen['per_class']} pictures and train nothing"] * bool(few)
    net, simple = net.to(on), baselines(fit, test)
    trained, inputs = net, list[Any](sides)
    if chosen["frozen"]:
        trained, inputs = net.embed, _features(net, sides, f"{data.digest[:16]}-{start}")
        made = {"frozen features": inputs[1].features, **simple}
    else:
        began = "untrained network" if net.pretrained == "random" else "network at first"
        made = {began: embed(net, test).cpu(), **simple}
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
            checkpoint_every=max(STEPS, chosen["steps"] // CHECKPOINTS),
            progress=progress,
        )
        made["trained"] = normalize(embed(trained, inputs[1]).cpu(), dim=1)
        values = {name: per_query(embeddings, test.labels, data.levels) for name, embeddings in made.items()}
    notes += dict.fromkeys(str(warning.message).partition(" (")[0] for warning in caught)  # there is Python in brackets
    notes += (alike := collapsed(made))
    if alike and progress:
        print("\n".join(alike), file=sys.stderr, flush=True)
    if history.interrupted:
        notes.append(f"stopped after step {', '.join(map(str, history.interrupted))}, and taken up again")
    rows = table(values, test.labels[:, -1])
    _write(folder, data, test, made["trained"], values["trained"])
    write_packed(folder / "model.pt", lambda file: torch.save(net.cpu().state_dict(), file))
    said = "".join(["\n## Notes\n\n", *(f"* {note}\n" for note in notes)] if notes else [])
    with written(folder / "card.md") as part:
        part.write_text(card(data, test, chosen, net, rows, folder, command) + said, encoding="utf-8")
    os.replace(folder / "state" / "log.csv", folder / "log.csv")
    shutil.rmtree(folder / "state")
    return rows


def _network(chosen: Mapping[str, Any]) -> tuple[Any, str]:
    """Make the network and a hash of its first weights; ValueError for weights that are not there."""
    torch.manual_seed(chosen["seed"])
    starting = {name: chosen[name] for name in ("dim", "pretrained", "weights")}
    net: Any = build(chosen["model"], in_channels=3, **starting)
    if chosen["frozen"] and net.pretrained == "random":
        raise ValueError("frozen must go with a network that knows something (give --weights FILE, or --pretrained)")
    if chosen["pretrained"] and net.pretrained == "random":
        raise ValueError(
            f"pretrained must find ImageNet's weights on this machine, got none for {chosen['model']} "
            "(give --weights FILE, or leave it out)"
        )
    return net, weights_hash(net.state_dict())


def _begun(folder: Path, known: Mapping[str, Any]) -> bool:
    """Write the settings of the run into a new folder, or compare them with those there; return whether it is done."""
    path = folder / "run.json"
    if not path.is_file():
        write_json(path, known)
    then = json.loads(path.read_text(encoding="utf-8"))
    for name, value in known.items():
        if then.get(name) != value:
            message = f"with {name}={then.get(name)!r}, got {value!r}"
            raise ValueError(f"{folder} is of another run, {message} (name another folder with --out)")
    return (folder / "card.md").is_file()


def _features(net: Any, sides: Sequence[OwnPictures], key: str) -> list[Any]:
    """Compute the backbone's features of each side, (n, f), once for all runs that start from it."""
    kept = cached_arrays(
        f"features-{key}.npz", lambda: {side.split: embed(net.features, side).cpu().numpy() for side in sides}
    )

    def of(side: OwnPictures) -> Any:
        values = torch.from_numpy(kept[side.split])
        return SimpleNamespace(labels=side.labels, features=values, load=lambda index, generator=None: values[index])

    return [*map(of, sides)]


def _write(folder: Path, data: Read, test: OwnPictures, embeddings: Tensor, values: Mapping[str, Tensor]) -> None:
    """Write embeddings and labels of the test, as `rankedu evaluate` reads them, and its queries."""
    write_packed(folder / "embeddings.npy", lambda file: np.save(file, embeddings.numpy()))
    cells = [[f"{value:.4f}" for value in line] for line in zip(*values.values(), strict=True)]
    tables: dict[str, list[Sequence[str]]] = {
        "labels.csv": [data.levels, *(row.names for row in test.rows)],
        "queries.csv": [
            ("path", *data.levels, *values),
            *((row.file, *row.names, *line) for row, line in zip(test.rows, cells, strict=True)),
        ],
    }
    for name, lines in tables.items():
        with written(folder / name) as part, part.open("w", newline="", encoding="utf-8") as text:
            csv.writer(text, lineterminator="\n").writerows(lines)
    queries(embeddings, data, test, values["mAP"], folder / "queries.png")
