"""A network by its name, as a lab's parameters name it, and where its weights come from."""

import hashlib
import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankedu.checks import check_choice
from rankedu_lab.models.convnet import ConvNet, WideConvNet
from rankedu_lab.models.head import EmbeddingNet
from rankedu_lab.models.head import freeze_batch_norm as freeze
from rankedu_lab.models.resnet import RESNETS, ResNetEmbedding, resnet

#: The names that `build` takes, smallest first.
NAMES = ("convnet", "convnet_wide", *RESNETS)


def build(
    name: str = "convnet",
    *,
    dim: int | None = None,
    pretrained: bool = False,
    layer_norm: bool = False,
    in_channels: int | None = None,
    freeze_batch_norm: bool = False,
    weights: str | Path | None = None,
) -> EmbeddingNet:
    """Make an embedding network by its name in ``NAMES``; set the seed before: ``torch.manual_seed(0)``.

    ``dim`` is 64, and 512 for a ResNet, as in the papers; pictures have ``in_channels`` 1, and 3 for a ResNet (one for
    a single channel gets the small stem for 32 × 32 glyphs). ``pretrained`` starts a ResNet from ImageNet, if
    torchvision's folder has the weights. ``weights`` is a file made by ``torch.save(net.state_dict(), …)``, of such a
    network or, for a ResNet, of torchvision's own, less its classifier. ``net.pretrained`` says how it starts.

    Examples
    --------
    >>> net = build("convnet", dim=64)
    >>> type(net).__name__, net.pretrained
    ('ConvNet', 'random')
    """
    check_choice(name, NAMES, name="name")
    check_start(name, pretrained, weights, RESNETS)
    if name == "convnet" and in_channels not in (None, 1):
        raise ValueError(f"in_channels must be 1 for 'convnet', got {in_channels} (take 'convnet_wide' or a ResNet)")
    usual_dim, usual_channels = (512, 3) if name in RESNETS else (64, 1)
    dim, channels = usual_dim if dim is None else dim, usual_channels if in_channels is None else in_channels
    net: EmbeddingNet
    if name == "convnet":
        net = ConvNet(dim, layer_norm=layer_norm)
    elif name == "convnet_wide":
        net = WideConvNet(dim, layer_norm=layer_norm, in_channels=channels)
    else:
        net = resnet(name, dim, pretrained=pretrained, layer_norm=layer_norm, in_channels=channels)
    if weights is not None:
        net.pretrained = _load(net, Path(weights))
    return freeze(net) if freeze_batch_norm else net


def check_start(name: str, pretrained: bool, weights: str | Path | None, known: Iterable[str]) -> None:
    """Refuse ImageNet's weights where there are none, or beside a file."""
    if pretrained and name not in known:
        raise ValueError(f"pretrained must be False for {name!r}, got True (weights= takes a file of your own)")
    if pretrained and weights is not None:
        raise ValueError("pretrained and weights must not both be given (choose where the start comes from)")


def _load(net: EmbeddingNet, file: Path) -> str:
    """Load a state dict of the whole network, or of a torchvision ResNet; say what the start is."""
    state = read_state(file)
    if isinstance(net, ResNetEmbedding) and "fc.weight" in state:
        new = ("fc.", "conv1.") if net.new_stem else ("fc.",)
        return load_state(net.features, state, file, of=type(net).__name__, new=new)
    return load_state(net, state, file, of=type(net).__name__)


def read_state(file: Path) -> dict[str, Any]:
    """Read a state dict of tensors, and of nothing that could run code."""
    if not file.is_file():
        raise FileNotFoundError(f"weights must be a file, got {file} (save with torch.save(net.state_dict(), path))")
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise ValueError(f"weights must be a state dict, got {file}, which cannot be read ({error})") from error
    if not isinstance(state, dict):
        raise ValueError(f"weights must be a state dict, got {type(state).__name__} in {file}")
    return state


def load_state(target: Any, state: dict[str, Any], file: Path, *, of: str, new: tuple[str, ...] = ()) -> str:
    """Load what was read, but for the keys that begin so, which stay new; say what the start is."""
    own = {key: value for key, value in target.state_dict().items() if key.startswith(new)}
    state = {key: value for key, value in state.items() if not key.startswith(new)} | own
    try:
        target.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as error:
        first = " ".join(str(error).split("\n\t")[:2])[:300]
        raise ValueError(f"weights must fit the {of}, got {file}, which does not: {first}") from error
    return f"file {file.name}"


def weights_hash(state: Mapping[str, Tensor]) -> str:
    """Hash the names, types, shapes and numbers of a state dict."""
    digest = hashlib.sha256()
    for name, values in sorted(state.items()):
        values = values.detach().cpu().contiguous()
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}\n".encode() + values.numpy().tobytes())
    return digest.hexdigest()[:16]
