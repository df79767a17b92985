"""Weights that are named by what they hold: a file that any later run finds by its hash, whatever wrote it."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from rankedu.files import written
from rankedu_lab.models import EmbeddingNet
from rankedu_lab.models.build import load_state, read_state
from rankedu_lab.runs.folders import find_records
from rankedu_lab.runs.results import RESULT_FOLDER

#: With this a value of the parameter `weights` begins that is a hash and no path.
KEPT = "sha256:"
HEAD = "embed."


def weights_hash(state: Mapping[str, Tensor]) -> str:
    """A hash of the names, types, shapes and numbers of a state dict."""
    digest = hashlib.sha256()
    for name, values in sorted(state.items()):
        values = values.detach().cpu().contiguous()
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode() + values.numpy().tobytes())
    return digest.hexdigest()[:16]


def keep_weights(file: Path, folder: Path, *, head: bool = True) -> str:
    """Keep the weights of a file as ``<hash>.pt`` in a folder, if asked for without the head; the name they have now.

    The name, ``sha256:<hash>``, is a value of the parameter `weights`.
    """
    state = {name: values for name, values in read_state(file).items() if head or not name.startswith(HEAD)}
    name = KEPT + weights_hash(state)
    if not kept_file(name, folder).exists():
        with written(kept_file(name, folder)) as part:
            torch.save(state, part)
    return name


def kept_file(name: str, folder: Path) -> Path:
    """Where weights of this name are kept in a folder."""
    return folder / f"{name.removeprefix(KEPT)}.pt"


def load_kept(net: EmbeddingNet, name: str, run: str | os.PathLike[str] | None = None) -> None:
    """Start a network from weights by their name; a head that was not kept stays as the seed made it.

    They are looked for beside the folder of the run, by default the current one, in ``<runs>/weights``, and with the
    records of the checkout.
    """
    kept = name.removeprefix(KEPT)
    here = Path(run or os.environ.get(RESULT_FOLDER) or ".").resolve()
    tried = [here.parent.parent / "weights" / f"{kept}.pt", find_records() / "weights" / f"{kept}.pt"]
    file = next((path for path in tried if path.is_file()), None)
    if file is None:
        raise FileNotFoundError(f"weights {name} must be in one of {', '.join(str(path.parent) for path in tried)}")
    state = read_state(file)
    if weights_hash(state) != kept:
        raise ValueError(f"weights in {file} must have the hash {kept}, got {weights_hash(state)}: it was changed")
    new = {key: values for key, values in net.state_dict().items() if key.startswith(HEAD) and key not in state}
    load_state(net, {**state, **new}, file, of=type(net).__name__)
    net.pretrained = f"weights {kept}, head {'new' if new else 'kept'}"
